"""What ``freshet init`` tells of the next steps, and the sample file that it lands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from freshet.cli.init_source import Beginning
from freshet.cli.output import Output
from freshet.cli.progress import progress
from freshet.cli.sample_data import COLUMNS, KEY, ORDERING
from freshet.hudi.instants import readable
from freshet.hudi.timeline import TimelineState
from freshet.project.load.warehouse import load_warehouse


def sample_files(table: str) -> tuple[str, str]:
    """Return the names of the two sample files of a table."""
    return f"data/{table}_1.csv", f"data/{table}_2.csv"


def land_sample(output: Output, folder: Path, source: str, file: Path) -> tuple[list[str], dict[str, object]]:
    # Spark takes a second to import, and files alone need none.
    """Land a sample file; return what is told of it, and the result as JSON."""
    from freshet.landing.outcome import Landing, in_words
    from freshet.landing.run import land

    asked = Landing(table=source, files=(str(file),), key=(KEY,), ordering=ORDERING, columns=COLUMNS)
    with progress(output) as listen:
        landed = land(load_warehouse(folder), asked, TimelineState(), listen)
    return [f"{source}: committed {readable(landed.commit)}: {in_words(landed)}"], landed.as_json()


def told_of(beginning: Beginning, source: str) -> list[str]:
    """Return what is told of where a new pipeline's columns come from."""
    said = {
        "table": f"its columns, key, ordering field and partitions are those of {source}",
        "ddl": f"its columns, key, ordering field and partitions are those that the DDL of {source} has",
    }
    return [*([said[beginning.of]] if beginning.of in said else []), *beginning.notes]


def next_steps(folder: Path, pipeline: str, source: str, sample: str, beginning: Beginning) -> list[str]:
    """Return the commands that come next."""
    steps = [] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]
    if beginning.of != "example":
        return [*steps, "freshet validate", " ".join(["freshet run", *filter(None, [beginning.writer]), pipeline])]
    if not sample:
        return [
            *steps,
            f"freshet land {source} FILE.csv --key id --ordering updated_at",
            "freshet validate",
            f"freshet run {pipeline}",
        ]
    return [
        *steps,
        f"freshet run {pipeline}",
        f"freshet show {pipeline} --limit 5",
        f"freshet land {source} {sample_files(sample)[1]}",
        f"freshet run {pipeline}",
    ]


def from_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--from`` and what goes with it."""
    options = (
        click.option(
            "--from",
            "address",
            default=None,
            metavar="ADDRESS",
            help="Write the files by which a database is captured: postgresql:// or mysql://USER@HOST:PORT/DATABASE, without a "
            "password. Into the project in FOLDER, or a new one.",
        ),
        click.option(
            "--include", multiple=True, metavar="PATTERN", help="--from: tables, schema.table with * and ?; repeatable."
        ),
        click.option("--exclude", multiple=True, metavar="PATTERN", help="--from: and those of them that are not; repeatable."),
        click.option(
            "--password-env", default="", metavar="NAME", help="--from: the environment variable that has the password."
        ),
        click.option(
            "--connector",
            "servers",
            default="",
            metavar="HOST:PORT",
            help="--from: Debezium captures it into topics of this Kafka: write its connector's config and their pipelines.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
