"""Results on stdout as text or JSON, messages on stderr; nothing passes that a secret stands in."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, TypeVar, cast

import click

from framework.errors import Exit, FreshetError, SpecError, unforeseen
from framework.metrics.events import Listener
from framework.spec.secrets import redact, redact_tree

Command = TypeVar("Command", bound=Callable[..., Any])

# What a shell reports for a process that SIGINT or SIGPIPE ended.
INTERRUPTED = 130
READER_GONE = 141


class Output:
    """Where a command says what it found.

    Args:
        as_json: JSON on stdout instead of text.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def result(self, text: str, data: object) -> None:
        """Print a command's result.

        Args:
            text: For people.
            data: The same for machines, JSON-serialisable.
        """
        if self.as_json:
            click.echo(json.dumps(redact_tree(data), indent=2, default=str))
        elif text:
            click.echo(redact(text))

    def command(self, words: list[str]) -> None:
        """Print a command line as it has to be typed: its maker has left secrets out, and a path must stay whole."""
        click.echo(json.dumps({"command": words}, indent=2) if self.as_json else shlex.join(words))

    def error(self, error: FreshetError) -> None:
        """Print an error: in words on stderr, and with ``--output json`` as an object on stdout."""
        message(str(error))
        if isinstance(error, SpecError):
            message(f"{error.code}: {error.message} {error.effect}")
        trace(error)
        if self.as_json:
            click.echo(json.dumps({"error": redact_tree(error.as_json())}, indent=2, default=str))


def trace(error: BaseException) -> None:
    """Print where an error was raised, for whoever asked for it by FRESHET_DEBUG=1."""
    if os.environ.get("FRESHET_DEBUG", "0") not in ("", "0"):
        message("".join(traceback.format_exception(error)).rstrip())


def message(text: str) -> None:
    """Print a line for people on stderr; a run goes on when nobody reads them any longer."""
    with suppress(OSError):
        click.echo(redact(text), err=True)


def reporting(command: Command) -> Command:
    """Wrap a command so that it takes ``--output`` and ends with the documented code of whatever error it raises."""
    @click.option("--output", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True,
                  help="How results are printed on stdout; messages go to stderr.")
    @wraps(command)
    def wrapped(output_format: str, **arguments: Any) -> None:
        output = Output(output_format == "json")
        try:
            code = command(output=output, **arguments)
        except KeyboardInterrupt:
            output.error(FreshetError(
                "INTERRUPTED", "stopped by the keyboard.", "What was not committed yet is not written, and the checkpoint "
                "goes with its commit.", "Run the same command again.",
            ))
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            # Python would flush what is left once more at its end, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(READER_GONE)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # whatever it is, it ends as one line and a documented code
            found = unforeseen(error)
            output.error(found)
            sys.exit(found.exit_code)
        sys.exit(code or Exit.OK)

    return cast("Command", wrapped)


def table(headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as aligned columns."""
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                     for row in [headers, *rows])


@contextmanager
def progress() -> Iterator[Listener]:
    """Yield a listener that shows a run's events: a live line on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda event: message(f"{time.strftime('%H:%M:%S')} {event.pipeline}: {event.message}")
        return
    from framework.cli.live import live_progress

    with live_progress() as listen:
        yield listen
