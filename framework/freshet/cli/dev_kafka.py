"""``freshet dev kafka``."""

from __future__ import annotations

import time
from pathlib import Path

import click

from freshet.cli.dev_server import directory_option, in_words, say_stopped, wait_option
from freshet.cli.output import Output, message, reporting
from freshet.dev.kafka.look import Kafka, look
from freshet.dev.kafka.server import start, stop
from freshet.errors import Exit

_directory = directory_option("kafka", "topics, log and port")


@click.group()
def kafka() -> None:
    """Start and stop a real Kafka on this machine, for pipelines that read topics.

    Broker and controller (KRaft) run in one JVM, on free ports of 127.0.0.1, from jars that never reach Spark. Topics and port
    stay from start to start. It is for trying and testing: nothing is replicated and nobody is asked for a password. A topic
    is not made by naming it.

    \b
    Examples:
      freshet dev kafka up                 start it; prints what to write under hoodie:
      freshet dev kafka status             whether it is up, and where
      freshet dev kafka down --purge       stop it and delete its topics
    """


@kafka.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=None,
    metavar="PORT",
    help="The port of its clients.  [default: that of the last time, at first a free one]",
)
@_directory
@wait_option(60, "serves")
@click.option(
    "--heap",
    "heap_mib",
    type=click.IntRange(128),
    default=256,
    show_default=True,
    metavar="MIB",
    help="What its Java may take at most.",
)
@reporting
def up(output: Output, port: int | None, directory: Path | None, wait_seconds: float, heap_mib: int) -> Exit:
    """Start the Kafka and wait until it serves; where it is up already, say so.

    The first start fetches its jars. One that does not serve in time is stopped again, and the end of its log is shown.

    \b
    Examples:
      freshet dev kafka up
      freshet dev kafka up --port 9092 --dir /tmp/kafka
      freshet dev kafka up --heap 1024 --wait 120 --output json
    """
    begin = time.monotonic()
    found = start(directory, port, wait_seconds, message, heap_mib)
    message(f"ready after {time.monotonic() - begin:.1f} s")
    output.result(_in_words(found), found.as_json())
    return Exit.OK


@kafka.command()
@_directory
@click.option("--purge", is_flag=True, help="Delete its topics, log and port too.")
@reporting
def down(output: Output, directory: Path | None, purge: bool) -> Exit:
    """Stop the Kafka; its topics stay. One that does not end within 20 seconds is killed.

    Only the process that `up` started is ended, never another one that has its id by now. Where nothing runs it ends
    with 0, too.

    \b
    Examples:
      freshet dev kafka down
      freshet dev kafka down --purge
      freshet dev kafka down --dir /tmp/kafka --output json
    """
    found, ended = stop(directory, purge, message)
    say_stopped(output, "Kafka", "topics", found, ended, purge)
    return Exit.OK


@kafka.command()
@_directory
@reporting
def status(output: Output, directory: Path | None) -> Exit:
    """Show whether the Kafka is up, its process, its port and where its topics lie.

    Ends with 0 where it is up, and with 1 where it is down or does not answer.

    \b
    Examples:
      freshet dev kafka status
      freshet dev kafka status --dir /tmp/kafka --output json
    """
    found = look(directory)
    output.result(_in_words(found), found.as_json())
    return Exit.OK if found.state == "up" else Exit.FAILED


def _in_words(found: Kafka) -> str:
    facts = {
        "directory": str(found.directory),
        "log": str(found.log),
        "pid": str(found.pid or "none"),
        "servers": found.servers if found.port else "none yet",
        "cluster": found.cluster or "none yet",
    }
    return in_words(f"Kafka is {found.state}", facts, found.hoodie if found.port else {})
