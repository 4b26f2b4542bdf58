"""``freshet land``: files become rows of a raw table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from freshet.cli.init import size_of
from freshet.cli.options import project_options, wait_option
from freshet.cli.output import Output, trace
from freshet.cli.progress import progress, reporting_events
from freshet.cli.rows import table
from freshet.cli.terminal import are_one_place
from freshet.errors import Exit, FreshetError
from freshet.events.event import Event, Listener
from freshet.events.kinds import Notice
from freshet.hudi.instants import readable
from freshet.hudi.timeline import TimelineState
from freshet.landing.seeds import delimiter_of, load_seeds
from freshet.project.load.warehouse import load_warehouse

if TYPE_CHECKING:
    from freshet.landing.outcome import Landed


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

    \b
    Examples:
      freshet land raw.orders data/*.csv --key id --ordering updated_at
      freshet land raw.orders data/orders_2.csv            the table stands: it knows its key
      freshet land raw.trips trips.parquet --key id --ordering ts --partition-by day
      freshet land raw.events events.json.gz --key id --ordering at --columns "id STRING, amount DECIMAL(10,2)"
      freshet land dim.rates rates.csv --delete-missing    rows that left the file are deleted
      freshet land --seeds                                 every seed of the project
    """
    said = (key, ordering, partition_by, columns, form, delimiter, kind, size, delete_missing or None)
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
        landed = land_files(warehouse, asked, TimelineState(), _noting(listen, told))
    following = next_step(landed, root)
    output.result(text_of(landed, following, told), {**landed.as_json(), "next": following})
    return Exit.OK


def _land_seeds(output: Output, root: Path, env: str | None, overrides: tuple[str, ...], names: tuple[str, ...]) -> Exit:
    from freshet.landing.run_seeds import land_seeds

    output.has_notices = True
    warehouse = load_warehouse(root, env, overrides)
    found = load_seeds(warehouse, names)
    told: set[str] = set()
    with progress(output, len(found)) as listen:
        results = land_seeds(warehouse, found, TimelineState(), _noting(listen, told))
    lines = [
        line
        for seed, one in zip(found, results, strict=True)
        for line in ((f"{seed.table}: failed: {one}",) if isinstance(one, FreshetError) else (_line(one), *_untold(one, told)))
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


def _line(landed: Landed) -> str:
    from freshet.landing.outcome import in_words

    if not landed.columns:
        # A seed of which no more than its digest was looked at.
        return f"{landed.table}: nothing to do: the file is as it was when it was landed"
    return f"{landed.table}: {f'committed {readable(landed.commit)}' if landed.commit else 'nothing to do'}: {in_words(landed)}"


def _noting(listen: Listener, told: set[str]) -> Listener:
    def heard(event: Event) -> None:
        if isinstance(event, Notice):
            told.add(event.message)
        listen(event)

    return heard


def _untold(landed: Landed, told: Collection[str]) -> list[str]:
    # What was printed while it went on stands above the result where both go to one place.
    is_seen = are_one_place(sys.stdout, sys.stderr)
    return [notice for notice in landed.notices if not (is_seen and notice in told)]


def text_of(landed: Landed, following: str, told: Collection[str] = ()) -> str:
    """Return what became of files, for people.

    Args:
        landed: The result.
        following: The next command.
        told: Notices that were printed while the files were landed.
    """
    lines = [_line(landed), *_untold(landed, told)]
    if landed.made:
        lines += [
            f"made {landed.path}",
            f"  record key {', '.join(landed.key)}, ordering field {landed.ordering}"
            + (f", partitioned by {', '.join(landed.partition_by)}" if landed.partition_by else ""),
            *(f"  {line}" for line in table(("COLUMN", "TYPE"), list(landed.columns)).splitlines()),
        ]
    return "\n".join([*lines, f"next: {following}"])


def next_step(landed: Landed, root: Path) -> str:
    """Return the command that goes on with a landed table."""
    place = "" if root == Path() else f" -C {shlex.quote(str(root))}"
    if landed.readers:
        return f"freshet run {' '.join(landed.readers)}{place}"
    return f"freshet show {landed.table} --limit 5{place}"


def _delimiter(text: str) -> str:
    try:
        return delimiter_of(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
