"""Results on stdout as text or JSON, messages on stderr; nothing passes that a secret stands in."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import Any, TypeVar, cast

import click

from freshet.cli.early import over, wants_json
from freshet.cli.rows import json_of
from freshet.cli.signals import (
    BEFORE_LAST_WORDS,
    INTERRUPTED,
    PUBLISHED,
    READER_GONE,
    UNFINISHED,
    Terminated,
    stopped,
    told,
)
from freshet.cli.terminal import are_one_place, for_eyes
from freshet.errors import Exit, FreshetError, SpecError, UnknownName, unforeseen
from freshet.events.event import Listener
from freshet.jvm.java_end import java_ended
from freshet.secrets import redact, redact_tree

Command = TypeVar("Command", bound=Callable[..., Any])


class Output:
    """Where a command says what it found.

    Args:
        as_json: JSON on stdout instead of text.
        as_csv: CSV; a command that has none does not take the word.
    """

    def __init__(self, as_json: bool, as_csv: bool = False) -> None:
        self.as_json, self.as_csv = as_json, as_csv
        self.began = False
        #: Errors that stderr has been told while they happened.
        self.told: set[str] = set()
        #: True where the document holds the notices of the work, and not only its outcome.
        self.has_notices = False
        #: Notices that are left to the document: of a command that fails, stderr has to say them.
        self.held_back: list[str] = []
        #: What else hears the command's events, by name.
        self.listeners: dict[str, Listener] = {}

    def result(self, text: str, data: object) -> None:
        """Print a command's result.

        Args:
            text: For people.
            data: The same for machines, JSON-serialisable.
        """
        if self.as_json:
            self._print(json_of(redact_tree(data)))
        elif text:
            self._print(for_eyes(redact(text), sys.stdout))

    def command(self, words: list[str]) -> None:
        """Print a command line as it has to be typed: its maker has left secrets out, and a path must stay whole."""
        self._print(json.dumps({"command": words}, indent=2) if self.as_json else shlex.join(words))

    def document(self, text: str) -> None:
        """Print a text that holds nothing of the project, as it is."""
        self._print(text)

    @property
    def is_beside_words(self) -> bool:
        """Whether the JSON document is read together with stderr, as on a terminal: what it holds is not said there."""
        return self.as_json and are_one_place(sys.stdout, sys.stderr)

    def aside(self, text: str) -> None:
        """Print a line for people on stderr whose content the JSON document holds too."""
        if not self.is_beside_words:
            message(text)

    def notice(self, text: str) -> None:
        """Print a line for people on stderr that the document will hold, too, if the command ends well."""
        if self.is_beside_words:
            self.held_back.append(text)
        else:
            message(text)

    def error(self, error: FreshetError) -> None:
        """Print an error: in words on stderr, and with ``--output json`` as an object on stdout.

        Where both are read together the object is all: it has the words.
        """
        for text in self.held_back:
            message(text)
        # A result that was printed stays the only document.
        printed = self.as_json and not self.began and _printed(_document(error))
        if not (printed and self.is_beside_words):
            if str(error) not in self.told:
                message(str(error))
            if isinstance(error, SpecError) and not isinstance(error, UnknownName):
                message(f"{error.code}: {error.message} {error.effect}")
        trace(error)

    def last_words(self, error: FreshetError) -> None:
        """Say an error past all buffers, from whatever the process is in the middle of."""
        for put_away in BEFORE_LAST_WORDS:
            put_away()
        has_document = self.as_json and not self.began
        if not (has_document and self.is_beside_words):
            with suppress(OSError):
                os.write(2, f"{for_eyes(redact(str(error)), sys.stderr)}\n".encode(errors="replace"))
        if has_document:
            with suppress(OSError):
                os.write(1, f"{_document(error)}\n".encode(errors="replace"))

    def _print(self, text: str) -> None:
        # Half of it may be out when this fails, so that no second document must follow.
        self.began = True
        click.echo(text)


def usage(words: Sequence[str], error: click.ClickException) -> bool:
    """Print a wrong command line as JSON where it asks for that.

    Returns:
        Whether click has to say it on stderr, too.
    """
    over()
    if not wants_json(words):
        return True
    found = FreshetError("USAGE", error.format_message(), "Nothing was read or written.", "See --help.")
    return not (_printed(_document(found)) and are_one_place(sys.stdout, sys.stderr))


def _printed(document: str) -> bool:
    with suppress(OSError, ValueError):
        click.echo(document)
        return True
    return False


def _document(error: FreshetError) -> str:
    return json_of({"error": redact_tree(error.as_json())})


def trace(error: BaseException) -> None:
    """Print where an error was raised, for whoever asked for it by FRESHET_DEBUG=1."""
    if os.environ.get("FRESHET_DEBUG", "0") not in ("", "0"):
        message("".join(traceback.format_exception(error)).rstrip())


def message(text: str) -> None:
    """Print a line for people on stderr; a run goes on when nobody reads them any longer."""
    with suppress(OSError):
        click.echo(for_eyes(redact(text), sys.stderr), err=True)


def reporting(command: Command, formats: Sequence[str] = ("text", "json")) -> Command:
    """Wrap a command so that it takes ``--output`` and ends with the documented code of whatever error it raises."""

    @click.option(
        "--output",
        "output_format",
        type=click.Choice(formats),
        default="text",
        show_default=True,
        help="How results are printed on stdout; messages go to stderr.",
    )
    @wraps(command)
    def wrapped(output_format: str, **arguments: Any) -> None:
        output = Output(output_format == "json", output_format == "csv")
        PUBLISHED.clear()
        UNFINISHED.clear()
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "it is closed")
            with told(output.last_words):
                code = command(output=output, **arguments)
                sys.stdout.flush()
        except KeyboardInterrupt:
            output.error(stopped("the keyboard"))
            sys.exit(INTERRUPTED)
        except Terminated as ended:
            output.error(stopped(ended.by))
            sys.exit(ended.exit_code)
        except BrokenPipeError:
            _give_up_stdout()
            sys.exit(READER_GONE)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # whatever it is, it ends as one line and a documented code
            lost = sys.stdout is None or (output.began and isinstance(error, OSError))
            found = _stdout_failed(error) if lost else java_ended(error) or unforeseen(error)
            output.error(found)
            if found.code == "STDOUT_FAILED":
                _give_up_stdout()
            sys.exit(found.exit_code)
        sys.exit(code or Exit.OK)

    return cast("Command", wrapped)


#: The same for a command whose rows may be had as CSV.
reporting_rows: Callable[[Command], Command] = partial(reporting, formats=("text", "json", "csv"))


def stdout_lost(error: OSError) -> int:
    """Say that something could not be printed on stdout; returns what the process ends with.

    Args:
        error: What kept it from being printed.
    """
    _give_up_stdout()
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    found = _stdout_failed(error)
    message(str(found))
    return found.exit_code


def _stdout_failed(error: Exception) -> FreshetError:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    published = "".join(f" Published: {pipeline} ({commit})." for pipeline, commit in PUBLISHED)
    return FreshetError(
        "STDOUT_FAILED",
        f"the result could not be printed on stdout: {said}.",
        published.strip() or "Nothing was written by this command, or it said so above.",
        "Name a stdout that can be written, and run the same command.",
    )


def _give_up_stdout() -> None:
    # Python would flush what is left once more at its end, and complain.
    if sys.stdout is not None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
