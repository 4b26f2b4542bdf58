"""``freshet init``: a project, or one more pipeline, that validates as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
from importlib import resources
from pathlib import Path

import click

from freshet.cli.init_files import CONFIG, Config, config_of, need, read_config, root_of, stands_in, write_files
from freshet.cli.init_source import EXAMPLE, beginning_of
from freshet.cli.init_steps import from_options, land_sample, next_steps, sample_files, told_of
from freshet.cli.init_texts import in_sql, marks_of
from freshet.cli.options import size_of
from freshet.cli.output import Output, reporting
from freshet.cli.patterns import PATTERNS, contents_of, steps_of
from freshet.cli.sample_data import order_files
from freshet.errors import Exit
from freshet.hudi.buckets import buckets_for
from freshet.problems import Problems
from freshet.project.shape.json_schema import json_schema

Patterns = tuple[str, ...]
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Of what a new pipeline writes.
_TARGETS = "derived"
_IGNORED = ".gitignore"
_SCHEMA = "configs/pipeline.schema.json"
_PROJECT = {CONFIG: "base.yml", "configs/local.yml": "local.yml", _IGNORED: "gitignore"}
_PIPELINE = {
    "pipelines/@NAME@.yml": "pipeline.yml",
    "ddl/@NAME@.sql": "table.sql",
    "transformers/@NAME@.sql": "transformer.sql",
    "pipelines/tests/@NAME@.yml": "cases.yml",
}


@click.command(short_help="Scaffold a project, or one more pipeline.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--pipeline", "name", default=None, metavar="NAME", help="Add a pipeline of this name to the project in FOLDER.")
@click.option(
    "--source",
    default="raw.orders",
    show_default=True,
    metavar="TABLE",
    help="Table that the pipeline reads, of a database of 'warehouse:'; without one, of raw. Where it stands, the "
    "new files have its columns, key, ordering field and partitions.",
)
@click.option(
    "--partition-size",
    "size",
    default="100MB",
    show_default=True,
    metavar="SIZE",
    help="What a partition of the new table will hold as Parquet, or all of a table without partitions. It gets a "
    "bucket for each 120 MB.",
)
@click.option(
    "--with-sample-data",
    "sample",
    is_flag=True,
    help="Write sample files to data/ and land the first one in the source, so that the new project runs at once.",
)
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    type=click.Choice(list(PATTERNS)),
    help="Write pipelines that work, with sample data, checks, cases and reasons; repeatable. Into the project in "
    "FOLDER, or a new one.",
)
@from_options
@reporting
def init(
    output: Output,
    folder: Path,
    name: str | None,
    source: str,
    size: str,
    sample: bool,
    patterns: tuple[str, ...],
    address: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    password_env: str,
    servers: str,
) -> Exit:
    """Scaffold a project in FOLDER, or one more pipeline in it. Never overwrites a file.

    \b
    Patterns:
      fact             one row an event, corrected and deleted as its source is
      dimension        one row a thing, with columns that two pipelines own
      daily_aggregate  sums of each group and day, exact when a row changes its day
      late_join        two tables joined, either of which may come late, change or go
      moving_rows      rows that go from partition to partition
      history          every version of a row, with the days from and until which it holds

    \b
    Examples:
      freshet init my_project --with-sample-data        a project that runs, over 3,000 sample orders
      freshet init my_project                           the same without data: configs and a pipeline, order_totals
      freshet init --pipeline refunds --source raw.refunds  one more, in the project here
      freshet init --pipeline visits --partition-size 2GB   its days will hold 2 GB each: 16 buckets
      freshet init shop --pattern fact --pattern history    a project of two patterns
      freshet init --from postgresql://cdc@db-1/shop --include 'public.*' --password-env SHOP_PASSWORD
      freshet init --from mysql://cdc@db-1/shop --connector 127.0.0.1:9092   by Debezium on Kafka Connect
    """
    if address is not None:
        if any(_said(option) for option in ("name", "source", "sample", "patterns")):
            raise click.UsageError(
                "--from goes with --include, --exclude, --password-env, --connector and --partition-size alone."
            )
        return _database(output, folder, (address, password_env, include, exclude), size, servers)
    if include or exclude or password_env or servers:
        raise click.UsageError("--include, --exclude, --password-env and --connector are of --from.")
    if patterns:
        if any(_said(option) for option in ("name", "source", "size", "sample")):
            raise click.UsageError("--pattern goes alone: it brings pipelines, sources and sample data of its own.")
        return _patterns(output, folder, tuple(dict.fromkeys(patterns)))
    target = "order_totals" if name is None else name
    if sample and name is not None:
        raise click.UsageError("--with-sample-data goes not with --pipeline: it is for a new project.")
    database, _, table = source.rpartition(".") if "." in source else ("raw", "", source)
    for word, hint in ((target, "--pipeline"), (table, "--source"), (database, "--source")):
        if not _NAME.fullmatch(word):
            raise click.BadParameter(
                f"{word!r} is not a name: lower-case letters, digits and _, a letter first.",
                param_hint=hint,
            )
    files = {**_PROJECT, **_PIPELINE} if name is None else _PIPELINE
    config = _new_config() if name is None else config_of(folder)
    root = root_of(database, config)
    need((_TARGETS,), config)
    held = size_of(size)
    beginning = beginning_of(folder, f"{database}.{table}") if name is not None else EXAMPLE
    marks = {
        **marks_of(beginning, target),
        "@TABLE@": in_sql(target),
        "@NAME@": target,
        "@PATH@": beginning.path or f"{root}/{table}",
        "@SIZE@": held.human_readable(decimal=True),
        "@BUCKETS@": str(buckets_for(held)),
    }
    contents = {_filled(path, marks): _filled(_template(file), marks) for path, file in files.items()}
    if sample:
        contents |= dict(zip(sample_files(table), order_files(), strict=True))
    told = [*_write(folder, contents), *told_of(beginning, f"{database}.{table}")]
    landed = land_sample(output, folder, f"{database}.{table}", folder / sample_files(table)[0]) if sample else None
    if landed is not None:
        told += landed[0]
    steps = next_steps(folder, target, f"{database}.{table}", table if sample else "", beginning)
    text = "\n".join([*told, "next:", *(f"  {step}" for step in steps)])
    output.result(
        text,
        {
            "folder": str(folder),
            "files": sorted(contents),
            "next": steps[-2 if sample else 0],
            "steps": steps,
            "columns_of": beginning.of,
            "notes": list(beginning.notes),
            **({"landed": landed[1]} if landed is not None else {}),
        },
    )
    return Exit.OK


def _patterns(output: Output, folder: Path, patterns: tuple[str, ...]) -> Exit:
    standing = stands_in(folder)
    contents = {} if standing else {path: _template(file) for path, file in _PROJECT.items()}
    config = config_of(folder) if standing else _new_config()
    need(("raw", _TARGETS), config)
    root = root_of("raw", config)
    for pattern in patterns:
        contents |= {path: _filled(text, {"@RAW@": root}) for path, text in contents_of(pattern).items()}
    told = _write(folder, contents)
    steps = [*([] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]), *steps_of(patterns)]
    output.result(
        "\n".join([*told, "next:", *(f"  {step}" for step in steps)]),
        {"folder": str(folder), "files": sorted(contents), "next": steps[0], "steps": steps},
    )
    return Exit.OK


def _database(output: Output, folder: Path, asked: tuple[str, str, Patterns, Patterns], size: str, servers: str) -> Exit:
    # Whoever captures no database needs none of its modules.
    from freshet.cli import init_connector, init_database

    standing = stands_in(folder)
    contents = {} if standing else {path: _template(file) for path, file in _PROJECT.items()}
    need(("raw",), config_of(folder) if standing else _new_config())
    known = (*asked, "raw", buckets_for(size_of(size)))
    found = init_connector.files_of(*known, servers) if servers else init_database.files_of(*known)
    if _IGNORED in contents and not servers:
        contents[_IGNORED] += "changes/\n"
    told = [*_write(folder, {**contents, **found.contents}), *found.told]
    if standing and not servers:
        told.append(f"{folder / _IGNORED} should have the line changes/")
    steps = [
        *([] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]),
        "freshet validate",
        *(init_connector.steps_of(found.name) if servers else [f"freshet ingest {found.name}"]),
    ]
    output.result(
        "\n".join([*told, "next:", *(f"  {step}" for step in steps)]),
        {"folder": str(folder), "files": sorted({**contents, **found.contents}), "notes": list(found.told), "steps": steps},
    )
    return Exit.OK


def _said(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _write(folder: Path, contents: dict[str, str]) -> list[str]:
    """Write files that do not stand yet, with the schema where it is missing; returns what is told of them."""
    if not os.path.exists(folder / _SCHEMA):
        contents[_SCHEMA] = json.dumps(json_schema(), indent=1, sort_keys=True) + "\n"
    kept = _IGNORED in contents and os.path.isfile(folder / _IGNORED)
    if kept:
        # That of a repository that has just been made, as often as not.
        lines = contents.pop(_IGNORED).split()
    write_files(folder, contents)
    told = [f"wrote {folder / path}" for path in contents]
    if kept:
        told.append(f"left {folder / _IGNORED} as it is: it should have the lines {', '.join(lines)}")
    return told


def _new_config() -> Config:
    return read_config(CONFIG, _template("base.yml"), Problems())


def _filled(text: str, marks: dict[str, str]) -> str:
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text


def _template(file: str) -> str:
    return (resources.files("freshet.cli") / "scaffold" / file).read_text("utf-8")
