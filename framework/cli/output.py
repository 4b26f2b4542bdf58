"""Results on stdout as text or JSON, messages on stderr; nothing passes that a secret stands in."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import click

from framework.errors import Exit, FreshetError
from framework.metrics.events import Listener
from framework.spec.secrets import redact, redact_tree

Command = TypeVar("Command", bound=Callable[..., Any])


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
        click.echo(json.dumps(redact_tree(data), indent=2, default=str) if self.as_json else redact(text))

    def error(self, error: FreshetError) -> None:
        """Print an error: in words on stderr, and with ``--output json`` as an object on stdout."""
        click.echo(redact(str(error)), err=True)
        if self.as_json:
            click.echo(json.dumps({"error": redact_tree(error.as_json())}, indent=2, default=str))


def message(text: str) -> None:
    """Print a line for people on stderr."""
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
        except FreshetError as error:
            output.error(error)
            sys.exit(error.exit_code)
        sys.exit(code or Exit.OK)

    return wrapped  # type: ignore[return-value]


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

