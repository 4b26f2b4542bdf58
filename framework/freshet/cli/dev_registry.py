"""``freshet dev registry``."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.dev_server import directory_option, in_words, say_stopped, wait_option
from freshet.cli.output import Output, message, reporting
from freshet.dev.registry.server import Found, look, start, stop
from freshet.errors import Exit

_directory = directory_option("registry", "schemas, port and log")


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
@wait_option(20, "answers")
@reporting
def up(output: Output, directory: Path | None, wait_seconds: float) -> Exit:
    """Start the stub and wait until it answers; where it is up already, say so.

    \b
    Examples:
      freshet dev registry up
      freshet dev registry up --dir /tmp/registry --wait 5
    """
    found = start(directory, wait_seconds, message)
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
    found, ended = stop(directory, purge, message)
    say_stopped(output, "stub of a schema registry", "schemas", found, ended, purge)
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
        "log": str(found.log),
        "pid": str(found.pid or "none"),
        "address": found.url if found.port else "none yet",
    }
    return in_words(f"the stub of a schema registry is {found.state}", facts, {})
