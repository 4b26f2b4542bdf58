"""``freshet dev registry``."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.output import Output, reporting
from freshet.dev.registry.server import Found, look, start, stop
from freshet.errors import Exit

_directory = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Where its schemas, port and log are kept.  [default: registry in $FRESHET_CACHE]",
)


@click.group()
def registry() -> None:
    """Start and stop a stub of a schema registry on this machine, for trying and testing.

    It is no registry: it answers as one does to what producers and freshet ask, on a free port of 127.0.0.1, and checks
    neither schemas nor their compatibility. Schemas and port stay from start to start.

    \b
    Examples:
      freshet dev registry up                 start it; prints its address
      freshet dev registry status             whether it is up, and where
      freshet dev registry down --purge       stop it and delete its schemas
    """


@registry.command()
@_directory
@click.option(
    "--wait",
    "wait_seconds",
    type=click.FloatRange(min=0),
    default=20,
    show_default=True,
    metavar="SECONDS",
    help="How long it may take until it answers.",
)
@reporting
def up(output: Output, directory: Path | None, wait_seconds: float) -> Exit:
    """Start the stub and wait until it answers; where it is up already, say so.

    \b
    Examples:
      freshet dev registry up
      freshet dev registry up --dir /tmp/registry --wait 5
    """
    found = start(directory, wait_seconds)
    output.result(_in_words(found), found.as_json())
    return Exit.OK


@registry.command()
@_directory
@click.option("--purge", is_flag=True, help="Delete its schemas, port and log too.")
@reporting
def down(output: Output, directory: Path | None, purge: bool) -> Exit:
    """Stop the stub; its schemas stay. Where nothing runs it ends with 0, too.

    \b
    Examples:
      freshet dev registry down
      freshet dev registry down --purge --dir /tmp/registry
    """
    found, ended = stop(directory, purge)
    what = "no stub runs" if ended == "gone" else f"the stub was stopped (pid {found.pid})"
    kept = "its schemas are deleted" if purge and found.port else "its schemas stay" if found.port else "it has none"
    facts = {"ended": ended, "pid": found.pid, "purged": purge and found.port > 0, "directory": str(found.directory)}
    output.result(f"{what} in {found.directory}; {kept}", facts)
    return Exit.OK


@registry.command()
@_directory
@reporting
def status(output: Output, directory: Path | None) -> Exit:
    """Show whether the stub is up, its process, and where its schemas are.

    Ends with 0 where it is up, and with 1 where it is down or does not answer.

    \b
    Examples:
      freshet dev registry status
      freshet dev registry status --dir /tmp/registry --output json
    """
    found = look(directory)
    output.result(_in_words(found), found.as_json())
    return Exit.OK if found.state == "up" else Exit.FAILED


def _in_words(found: Found) -> str:
    facts = {
        "directory": str(found.directory),
        "pid": str(found.pid or "none"),
        "address": found.url if found.port else "none yet",
    }
    return "\n".join(
        [f"the stub of a schema registry is {found.state}", *(f"  {name:<10} {value}" for name, value in facts.items())]
    )
