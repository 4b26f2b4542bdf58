"""What the commands of each server of ``freshet dev`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import click

from freshet.cli.output import Output
from freshet.dev.process import Ended


class Found(Protocol):
    """A server as it was found."""

    @property
    def directory(self) -> Path:
        """Where its files lie."""

    @property
    def port(self) -> int:
        """Its port; 0 where it was never started."""

    @property
    def pid(self) -> int:
        """Id of its process; 0 where none runs."""


def directory_option(short: str, what: str) -> Callable[[Any], Any]:
    """Return the option ``--dir`` of a server.

    Args:
        short: Its name in the command.
        what: What lies there, for the help.
    """
    return click.option(
        "--dir",
        "directory",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        help=f"Where its {what} are kept.  [default: {short} in $FRESHET_CACHE]",
    )


def wait_option(seconds: int, until: str) -> Callable[[Any], Any]:
    """Return the option ``--wait`` of a server.

    Args:
        seconds: The default.
        until: What it is waited for, for the help.
    """
    return click.option(
        "--wait",
        "wait_seconds",
        type=click.FloatRange(min=0),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help=f"How long it may take until it {until}.",
    )


def say_stopped(output: Output, server: str, content: str, found: Found, ended: Ended, purge: bool) -> None:
    """Write how a server was stopped.

    Args:
        output: Where to.
        server: Its name.
        content: What it keeps, in the plural.
        found: What it was.
        ended: How its process ended.
        purge: Whether what it keeps was to be deleted.
    """
    what = {
        "gone": f"no {server} of {found.directory} runs",
        "terminated": f"the {server} of {found.directory} was stopped (pid {found.pid})",
        "killed": f"the {server} of {found.directory} did not stop and was killed (pid {found.pid})",
    }[ended]
    purged = purge and found.port > 0
    kept = f"its {content} are deleted" if purged else f"its {content} stay" if found.port else f"it has no {content}"
    facts = {"ended": ended, "pid": found.pid, "purged": purged, "directory": str(found.directory)}
    output.result(f"{what}; {kept}", facts)


def in_words(title: str, facts: Mapping[str, object], hoodie: Mapping[str, object]) -> str:
    """Return the text of a server as it was found.

    Args:
        title: Its name and state.
        facts: What is known of it, by name.
        hoodie: What to write under ``hoodie:`` of a pipeline; empty where there is nothing yet.
    """
    width = max(map(len, facts)) + 1
    lines = [title, *(f"  {name:<{width}} {value}" for name, value in facts.items())]
    if hoodie:
        lines += ["", "hoodie:", *(f"  {key}: {value}" for key, value in hoodie.items())]
    return "\n".join(lines)
