"""``freshet dev postgres`` and ``freshet dev mariadb``: the same commands for both."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from freshet.cli.dev_server import directory_option, in_words, say_stopped, wait_option
from freshet.cli.output import Output, message, reporting
from freshet.dev.databases.mariadb import MARIADB, MariaDb
from freshet.dev.databases.postgres import POSTGRES, Postgres
from freshet.dev.databases.server import Database, DatabaseServer
from freshet.dev.kept import Server
from freshet.errors import Exit


def _commands(server: Server, made: Callable[[Path | None], DatabaseServer], port: int, capture: str) -> click.Group:
    name, short = server.name, server.short
    directory_of = directory_option(short, "tables, log and port")

    def in_help(text: str) -> str:
        return text.replace("@NAME@", name).replace("@SHORT@", short).replace("@PORT@", str(port)).replace("@LOG@", capture)

    @click.group(name=short, help=in_help(_GROUP), short_help=f"Start and stop a real {name} on this machine.")
    def group() -> None:
        pass

    @group.command(help=in_help(_UP), short_help=f"Start the {name} and wait until it serves.")
    @click.option(
        "--port",
        type=click.IntRange(1, 65_535),
        default=None,
        metavar="PORT",
        help="The port of its clients.  [default: that of the last time, at first a free one]",
    )
    @directory_of
    @wait_option(60, "serves")
    @reporting
    def up(output: Output, port: int | None, directory: Path | None, wait_seconds: float) -> Exit:
        begin = time.monotonic()
        found = made(directory).up(port, wait_seconds, message)
        message(f"ready after {time.monotonic() - begin:.1f} s")
        output.result(_in_words(name, found), found.as_json())
        return Exit.OK

    @group.command(help=in_help(_DOWN), short_help=f"Stop the {name}; its tables stay.")
    @directory_of
    @click.option("--purge", is_flag=True, help="Delete its tables, log and port too.")
    @reporting
    def down(output: Output, directory: Path | None, purge: bool) -> Exit:
        found, ended = made(directory).down(purge, message)
        say_stopped(output, name, "tables", found, ended, purge)
        return Exit.OK

    @group.command(help=in_help(_STATUS), short_help=f"Show whether the {name} is up.")
    @directory_of
    @reporting
    def status(output: Output, directory: Path | None) -> Exit:
        found = made(directory).look()
        output.result(_in_words(name, found), found.as_json())
        return Exit.OK if found.state == "up" else Exit.FAILED

    return group


def _in_words(name: str, found: Database) -> str:
    facts = {
        "directory": str(found.directory),
        "log": str(found.log),
        "pid": str(found.pid or "none"),
        "url": found.url or "none yet",
    }
    return in_words(f"{name} is {found.state}", facts, {})


_GROUP = """Start and stop a real @NAME@ on this machine, for trying `freshet ingest`.

It is the one that the machine's packages have installed, on a free port of 127.0.0.1, with @LOG@. Tables and port stay from
start to start. It is for trying and testing: nobody is asked for a password.

\b
Examples:
  freshet dev @SHORT@ up                 start it; prints its address
  freshet dev @SHORT@ status             whether it is up, and where
  freshet dev @SHORT@ down --purge       stop it and delete its tables
"""
_UP = """Start the @NAME@ and wait until it serves; where it is up already, say so.

Where root starts it, it runs as the user of its package, who has to be able to enter the directory. One that does not serve in
time is stopped again, and the end of its log is shown.

\b
Examples:
  freshet dev @SHORT@ up
  freshet dev @SHORT@ up --port @PORT@ --dir /var/tmp/@SHORT@
  freshet dev @SHORT@ up --wait 120 --output json
"""
_DOWN = """Stop the @NAME@; its tables stay. One that does not end within 20 seconds is killed.

Only the process that `up` started is ended, never another one that has its id by now. Where nothing runs it ends with 0, too.

\b
Examples:
  freshet dev @SHORT@ down
  freshet dev @SHORT@ down --purge
  freshet dev @SHORT@ down --dir /var/tmp/@SHORT@ --output json
"""
_STATUS = """Show whether the @NAME@ is up, its process, its address and where its tables lie.

Ends with 0 where it is up, and with 1 where it is down or does not answer.

\b
Examples:
  freshet dev @SHORT@ status
  freshet dev @SHORT@ status --dir /var/tmp/@SHORT@ --output json
"""

postgres = _commands(POSTGRES, Postgres, 5432, "wal_level=logical, which capturing changes needs")
mariadb = _commands(MARIADB, MariaDb, 3306, "a binary log of whole rows, which capturing changes needs")
