"""``freshet dev``."""

from __future__ import annotations

import time
from pathlib import Path

import click

from freshet.cli.dev_databases import mariadb, postgres
from freshet.cli.dev_kafka import kafka
from freshet.cli.dev_registry import registry
from freshet.cli.dev_server import directory_option, in_words, say_stopped, wait_option
from freshet.cli.output import Output, message, reporting
from freshet.dev.hbase.files import ZNODE
from freshet.dev.hbase.look import QUORUM, HBase, look
from freshet.dev.hbase.server import start, stop
from freshet.errors import Exit

_directory = directory_option("hbase", "data, log and ports")


@click.group(short_help="Start what a developer's machine lacks: a real HBase, Kafka, database; a stub of a schema registry.")
def dev() -> None:
    """Start what a developer's machine lacks, without Docker.

    \b
    Examples:
      freshet dev hbase up
      freshet dev kafka up
      freshet dev kafka down
      freshet dev registry up
      freshet dev postgres up
    """


dev.add_command(kafka)
dev.add_command(mariadb)
dev.add_command(postgres)
dev.add_command(registry)


@dev.group()
def hbase() -> None:
    """Start and stop a real HBase on this machine, for pipelines with the index HBASE.

    Master, region servers and ZooKeeper run in one JVM, on free ports of 127.0.0.1. Data and ports stay from start to
    start. It is for trying and testing: nothing is replicated and nobody is asked for a password.

    \b
    Examples:
      freshet dev hbase up                 start it; prints what to write under hoodie:
      freshet dev hbase status             whether it is up, and where
      freshet dev hbase down --purge       stop it and delete its data
    """


@hbase.command()
@click.option(
    "--region-servers",
    type=click.IntRange(1, 16),
    default=None,
    metavar="N",
    help="How many region servers.  [default: as many as the last time, at first 1]",
)
@_directory
@wait_option(60, "is ready")
@click.option(
    "--heap",
    "heap_gib",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="GIB",
    help="What its Java may take at most; it keeps blocks of indexes in three tenths of that.",
)
@reporting
def up(
    output: Output,
    region_servers: int | None,
    directory: Path | None,
    wait_seconds: float,
    heap_gib: int,
) -> Exit:
    """Start the HBase and wait until it is ready; where it is up already, say so.

    The first start fetches its jars. One that does not become ready is stopped again, and the end of its log is shown.

    \b
    Examples:
      freshet dev hbase up
      freshet dev hbase up --region-servers 2 --dir /tmp/hbase
      freshet dev hbase up --heap 4 --wait 120 --output json
    """
    begin = time.monotonic()
    found = start(directory, region_servers, wait_seconds, message, heap_gib)
    message(f"ready after {time.monotonic() - begin:.1f} s")
    output.result(_in_words(found), found.as_json())
    return Exit.OK


@hbase.command()
@_directory
@click.option("--purge", is_flag=True, help="Delete its data, log and ports too.")
@reporting
def down(output: Output, directory: Path | None, purge: bool) -> Exit:
    """Stop the HBase; its data stay. One that does not end within 20 seconds is killed.

    Only the process that `up` started is ended, never another one that has its id by now. Where nothing runs it ends
    with 0, too.

    \b
    Examples:
      freshet dev hbase down
      freshet dev hbase down --purge
      freshet dev hbase down --dir /tmp/hbase --output json
    """
    found, ended = stop(directory, purge, message)
    say_stopped(output, "HBase", "data", found, ended, purge)
    return Exit.OK


@hbase.command()
@_directory
@reporting
def status(output: Output, directory: Path | None) -> Exit:
    """Show whether the HBase is up, its process, its ports and where its data lie.

    Ends with 0 where it is up, and with 1 where it is down or does not answer.

    \b
    Examples:
      freshet dev hbase status
      freshet dev hbase status --dir /tmp/hbase --output json
    """
    found = look(directory)
    output.result(_in_words(found), found.as_json())
    return Exit.OK if found.state == "up" else Exit.FAILED


def _in_words(found: HBase) -> str:
    facts = {
        "directory": str(found.directory),
        "log": str(found.log),
        "pid": str(found.pid or "none"),
        "region servers": f"{found.region_servers} of {found.wanted_region_servers}",
        "quorum": QUORUM,
        "port": str(found.port or "none yet"),
        "znode": ZNODE,
    }
    return in_words(f"HBase is {found.state}", facts, found.hoodie if found.port else {})
