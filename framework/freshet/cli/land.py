"""``freshet land``: files become rows of a raw table."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.land_text import next_step, noting, outcome_of, text_of, untold
from freshet.cli.options import project_options, size_of, wait_option
from freshet.cli.output import Output, trace
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit, FreshetError
from freshet.hudi.timeline import TimelineState
from freshet.landing.seeds import delimiter_of, load_seeds
from freshet.project.load.warehouse import load_warehouse


@click.command(short_help="Land CSV, JSON or Parquet files in a raw table.")
@click.argument("name", metavar="[TABLE]", required=False)
@click.argument("files", nargs=-1)
@click.option("--seeds", is_flag=True, help="Land the project's seeds, seeds/<database>.<table>.csv; all, or those named.")
@click.option("--key", default="", metavar="COLUMN,...", help="Record key of a new table.")
@click.option(
    "--ordering",
    default="",
    metavar="COLUMN",
    help="Ordering field of a new table: of two rows of one key the larger value wins.",
)
@click.option("--partition-by", default=None, metavar="COLUMN,...", help="Partition columns of a new table.")
@click.option(
    "--columns",
    default="",
    metavar="'NAME TYPE, ...'",
    help="Types of columns of a new table; the others' follow from the files.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json", "parquet"]),
    default=None,
    help="Format of the files.  [default: by their names]",
)
@click.option(
    "--delimiter",
    default="",
    metavar="CHARACTER",
    callback=lambda context, option, text: _delimiter(text),
    help="What stands between two values of CSV, '\\t' for a tab.  [default: a comma]",
)
@click.option(
    "--type",
    "kind",
    type=click.Choice(["cow", "mor"]),
    default=None,
    help="COPY_ON_WRITE or MERGE_ON_READ, for a new table.  [default: cow]",
)
@click.option(
    "--partition-size",
    "size",
    default=None,
    metavar="SIZE",
    help="What a partition of a new table will hold, or all of one without partitions: it gets a bucket for each "
    "120 MB.  [default: 100MB, or the files' size]",
)
@click.option("--delete-missing", is_flag=True, help="The files hold all rows: delete those of the table that are not in them.")
@click.option("--drop", "drops", is_flag=True, help="Delete the landed table TABLE, which was made wrongly; its files stay.")
@click.option("--yes", is_flag=True, help="Needed for --drop of a table that a pipeline has read.")
@wait_option
@project_options
@reporting_events
def land(
    output: Output,
    name: str | None,
    files: tuple[str, ...],
    seeds: bool,
    key: str,
    ordering: str,
    partition_by: str | None,
    columns: str,
    form: str | None,
    delimiter: str,
    kind: str | None,
    size: str | None,
    delete_missing: bool,
    drops: bool,
    yes: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Land files in a table of the warehouse, in one commit. A new table keeps change data, so that deletes are passed on.

    Of several rows with one key the newest counts. What the table holds already is not written again: files that are landed
    twice change nothing. True in a column _hoodie_is_deleted deletes a row. A row that cannot be read, or a value that does
    not fit into its column, fails the landing, and nothing is written.

    A seed is a small table whose rows stand in the project: its file is all that the table holds, and one that is as it was
    when it was landed starts no Spark.

    Key, ordering, partitions and types of a table stay as they were made. To make it otherwise, delete it by --drop and land
    the files again. A table that a pipeline writes, or another program, is never deleted.

    \b
    Examples:
      freshet land raw.orders data/*.csv --key id --ordering updated_at
      freshet land raw.orders data/orders_2.csv            the table stands: it knows its key
      freshet land raw.trips trips.parquet --key id --ordering ts --partition-by day
      freshet land raw.events events.json.gz --key id --ordering at --columns "id STRING, amount DECIMAL(10,2)"
      freshet land dim.rates rates.csv --delete-missing    rows that left the file are deleted
      freshet land --seeds                                 every seed of the project
      freshet land raw.orders --drop                       it was made wrongly: land the files anew
    """
    said = (key, ordering, partition_by, columns, form, delimiter, kind, size, delete_missing or None)
    if drops:
        if name is None or files or seeds or any(one not in (None, "") for one in said):
            raise click.UsageError("--drop goes with one table alone: freshet land TABLE --drop")
        return _drop(output, name, yes, root, env, overrides)
    if yes:
        raise click.UsageError("--yes goes with --drop.")
    if seeds:
        if any(one not in (None, "") for one in said):
            raise click.UsageError("--seeds goes with tables alone: what is said of a seed stands in its seeds/<table>.yml.")
        return _land_seeds(output, root, env, overrides, files if name is None else (name, *files))
    if name is None or not files:
        raise click.UsageError("Say which table, and which files; or --seeds.")
    from freshet.landing.outcome import Landing
    from freshet.landing.run import land as land_files

    output.has_notices = True
    warehouse = load_warehouse(root, env, overrides)
    asked = Landing(
        table=name,
        files=files,
        key=_names(key),
        ordering=ordering.strip(),
        partition_by=None if partition_by is None else _names(partition_by),
        columns=columns,
        format=form or "",
        delimiter=delimiter,
        table_type=kind or "",
        whole=delete_missing,
        partition_bytes=None if size is None else int(size_of(size)),
    )
    told: set[str] = set()
    with progress(output) as listen:
        landed = land_files(warehouse, asked, TimelineState(), noting(listen, told))
    following = next_step(landed, root, {name for writers in warehouse.writers.values() for name in writers})
    output.result(text_of(landed, following, told), {**landed.as_json(), "next": following})
    return Exit.OK


def _drop(output: Output, name: str, sure: bool, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    from freshet.landing.drop import drop

    with progress(output) as listen:
        ref = drop(load_warehouse(root, env, overrides), name, TimelineState(), listen, sure)
    output.result(f"{ref.name}: deleted {ref.path}", {"table": ref.name, "path": ref.path, "outcome": "dropped"})
    return Exit.OK


def _land_seeds(output: Output, root: Path, env: str | None, overrides: tuple[str, ...], names: tuple[str, ...]) -> Exit:
    from freshet.landing.run_seeds import land_seeds

    output.has_notices = True
    warehouse = load_warehouse(root, env, overrides)
    found = load_seeds(warehouse, names)
    told: set[str] = set()
    with progress(output, len(found)) as listen:
        results = land_seeds(warehouse, found, TimelineState(), noting(listen, told))
    lines = [
        line
        for seed, one in zip(found, results, strict=True)
        for line in (
            (f"{seed.table}: failed: {one}",) if isinstance(one, FreshetError) else (outcome_of(one), *untold(one, told))
        )
    ]
    output.result(
        "\n".join(lines),
        {
            "seeds": [
                {"table": seed.table, "error": one.as_json()} if isinstance(one, FreshetError) else one.as_json()
                for seed, one in zip(found, results, strict=True)
            ]
        },
    )
    for result in results:
        if isinstance(result, FreshetError):
            trace(result)
    codes = {result.exit_code for result in results if isinstance(result, FreshetError)}
    return Exit.OK if not codes else codes.pop() if len(codes) == 1 else Exit.FAILED


def _delimiter(text: str) -> str:
    try:
        return delimiter_of(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
