"""``freshet dev connect``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from freshet.cli.dev_server import directory_option, in_words, say_stopped, wait_option
from freshet.cli.output import Output, message, reporting
from freshet.connect.rest import Connect, Running
from freshet.dev.connect.look import Worker, look
from freshet.dev.connect.server import start, stop
from freshet.errors import Exit

_directory = directory_option("connect", "settings, log and port")


@click.group()
def connect() -> None:
    """Start and stop a real Kafka Connect on this machine, with Debezium for PostgreSQL and MariaDB.

    One worker in distributed mode runs in one JVM, on a free port of 127.0.0.1, from jars that never reach Spark or the broker.
    Its connectors and their positions are kept in Kafka, by default that of `freshet dev kafka`, and the port in its folder;
    both stay from start to start. It is for trying and testing: nobody is asked for a password.

    A config may name a password as ${env:NAME}, which the worker reads from the environment that it was started in.

    \b
    Examples:
      freshet dev connect up                 start it; prints its address
      freshet dev connect status             whether it is up, where, and how its connectors are
      freshet dev connect down --purge       stop it and forget its connectors
    """


@connect.command()
@click.option(
    "--kafka",
    "servers",
    default=None,
    metavar="HOST:PORT",
    help="The Kafka into which it writes.  [default: that of the last time, at first that of freshet dev kafka]",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=None,
    metavar="PORT",
    help="The port of its REST interface.  [default: that of the last time, at first a free one]",
)
@_directory
@wait_option(90, "serves")
@click.option(
    "--heap",
    "heap_mib",
    type=click.IntRange(256),
    default=512,
    show_default=True,
    metavar="MIB",
    help="What its Java may take at most.",
)
@reporting
def up(
    output: Output, servers: str | None, port: int | None, directory: Path | None, wait_seconds: float, heap_mib: int
) -> Exit:
    """Start the Kafka Connect and wait until it serves; where it is up already, say so.

    The first start fetches its jars. One that does not serve in time is stopped again, and the end of its log is shown.
    Another Kafka than the last time means another group: connectors of the last one are not there.

    \b
    Examples:
      freshet dev connect up
      SHOP_PASSWORD=... freshet dev connect up --kafka 127.0.0.1:9092 --port 8083
      freshet dev connect up --dir /tmp/connect --heap 1024 --wait 120 --output json
    """
    begin = time.monotonic()
    found = start(directory, port, servers, wait_seconds, message, heap_mib)
    message(f"ready after {time.monotonic() - begin:.1f} s")
    output.result(_in_words(found), found.as_json())
    return Exit.OK


@connect.command()
@_directory
@click.option("--purge", is_flag=True, help="Forget its connectors, log and port too.")
@reporting
def down(output: Output, directory: Path | None, purge: bool) -> Exit:
    """Stop the Kafka Connect; its connectors stay. One that does not end within 20 seconds is killed.

    Only the process that `up` started is ended, never another one that has its id by now. Where nothing runs it ends
    with 0, too. Topics stay in Kafka, and the slots of connectors in PostgreSQL, where they hold back its log:
    SELECT pg_drop_replication_slot('NAME').

    \b
    Examples:
      freshet dev connect down
      freshet dev connect down --purge
      freshet dev connect down --dir /tmp/connect --output json
    """
    found, ended = stop(directory, purge, message)
    say_stopped(output, "Kafka Connect", "connectors", found, ended, purge)
    return Exit.OK


@connect.command()
@_directory
@reporting
def status(output: Output, directory: Path | None) -> Exit:
    """Show whether the Kafka Connect is up, its process, its address, and how its connectors are.

    Ends with 0 where it is up and every connector runs, and with 1 otherwise.

    \b
    Examples:
      freshet dev connect status
      freshet dev connect status --dir /tmp/connect --output json
    """
    found = look(directory)
    running = Connect(found.url).connectors() if found.state == "up" else ()
    output.result(
        "\n".join([_in_words(found), *_connectors(running)]),
        {**found.as_json(), "connectors": [one.as_json() for one in running]},
    )
    return Exit.OK if found.state == "up" and all(one.is_up for one in running) else Exit.FAILED


def _in_words(found: Worker) -> str:
    facts = {
        "directory": str(found.directory),
        "log": str(found.log),
        "pid": str(found.pid or "none"),
        "address": found.url if found.port else "none yet",
        "kafka": found.servers or "none yet",
        "group": found.group or "none yet",
    }
    return in_words(f"Kafka Connect is {found.state}", facts, {})


def _connectors(running: Sequence[Running]) -> list[str]:
    lines = []
    for one in running:
        tasks = f"tasks {', '.join(one.tasks)}" if one.tasks else "no task yet"
        lines.append(f"  connector {one.name}: {one.state}, {tasks}" + (f": {one.error}" if one.error else ""))
    return lines
