"""``freshet show``: a few rows of a table, for eyes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from freshet.cases.case import tables_of
from freshet.cli.options import load, project_options
from freshet.cli.output import Output, reporting_rows
from freshet.cli.progress import progress
from freshet.cli.rows import csv_of, grid
from freshet.errors import Exit, FreshetError, StateError
from freshet.events.kinds import Phase
from freshet.hudi.instants import readable, time_of, zone_of
from freshet.hudi.options import IS_DELETED
from freshet.hudi.timeline import TimelineState
from freshet.landing.plan import bare_spec
from freshet.problems import did_you_mean
from freshet.project.load.warehouse import Warehouse, load_warehouse
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef
from freshet.sources.hudi.history import before_the_newest
from freshet.sources.hudi.reads import counted
from freshet.storage.files import local_path, storage_for

if TYPE_CHECKING:
    from freshet.run.show import Shown

# The word for --changes that stands alone.
_NEWEST = "newest"
# Each costs a look into the store.
_MOST_NEAR = 5


@click.command(short_help="Show rows of a target, a source or an input.")
@click.argument("name", metavar="NAME|TABLE")
@click.option("--where", default="", metavar="SQL", help="Only rows for which this is true.")
@click.option("--columns", default="", metavar="COLUMN,...", help="Only these columns, in this order.")
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=20, show_default=True, help="How many rows.")
@click.option("--at", "at", default="", metavar="TIME", help="The rows as they stood at an instant, or at 2026-11-25 23:54:37.")
@click.option(
    "--changes",
    "since",
    is_flag=False,
    flag_value=_NEWEST,
    default="",
    metavar="[TIME]",
    help="What changed since, and how (_change: new, changed or deleted); without TIME, what the newest commit changed.",
)
@project_options
@reporting_rows
def show(
    output: Output,
    name: str,
    where: str,
    columns: str,
    limit: int,
    at: str,
    since: str,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show rows of a table: of a pipeline's target by its name, of any table that the project reads by the table's.

    In the order of the record key (of a table of more than 256 MB the rows that are found first), without Hudi's own columns.
    TIME is an instant, a time such as 2026-11-25 23:54:37, or how long ago: 30s, 5m, 2h, 3d, 1w. Times are in the zone by
    which the table's writers name instants: UTC for those that freshet writes. In JSON a number that is none or has no bounds
    is a text, "NaN" or "Infinity", and bytes are hexadecimal digits.

    --changes shows new and changed rows as they are, and deleted ones as they were. A row that moved to another partition is
    deleted in the one and new in the other. JSON and CSV have _hoodie_is_deleted too.

    \b
    Examples:
      freshet show trip_earnings
      freshet show raw.tips --where "amount < 0" --columns trip_id,amount
      freshet show trip_earnings --at "2026-11-25 23:54:37"
      freshet show trip_earnings --changes            what the newest commit changed
      freshet show raw.tips --changes 2h --output json
      freshet show trip_earnings --limit 10000 --output csv > trips.csv
    """
    if at and since:
        raise click.UsageError("Say --at or --changes: rows as they stood, or what changed since.")
    _hold_time(at, "--at")
    _hold_time("" if since == _NEWEST else since, "--changes")
    project = load(root, env, overrides)
    spec, ref = _found(project, name, lambda: load_warehouse(root, env, overrides))
    state = TimelineState().table(ref)
    if state is None:
        raise StateError(
            "TABLE_MISSING",
            f"There is no table at {ref.path} yet.",
            "Nothing is shown.",
            f"freshet run {spec.name}" if ref == spec.target.ref else f"Land {ref.name} first.",
            path=ref.path,
        )
    zone = zone_of(state)
    begin = before_the_newest(state) if since == _NEWEST else time_of(since, zone)
    with progress(output) as listen:
        listen(Phase(pipeline=name, message="starting Spark"))
        from freshet.jvm.session import start_session
        from freshet.run.show import Wanted, show_rows

        named = tuple(c.strip() for c in columns.split(",") if c.strip())
        wanted = Wanted(where=where, columns=named, limit=limit, at=time_of(at, zone), since=begin)
        spark = start_session(spec.spark_conf, short=True).newSession()
        listen(Phase(pipeline=name, message=f"reading {ref.name}"))
        shown = show_rows(spark, state, wanted)
    if output.as_csv:
        output.result(_csv(shown), None)
        return Exit.OK
    rows = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    if since and not columns:
        # Which is one of what the column before it says.
        shown = shown.without(IS_DELETED)
    since_when = f" changed since {readable(begin, zone, datetime.now(timezone.utc))}" if since else ""
    more = {"since": begin} if since else {}
    output.result(
        _text(ref, shown, since_when), {"table": ref.name, "path": ref.path, **more, "rows": rows, "more": shown.more}
    )
    return Exit.OK


def _found(project: Project, name: str, warehouse: Callable[[], Warehouse]) -> tuple[PipelineSpec, TableRef]:
    known = {
        ref.name: (spec, ref)
        for spec in project.pipelines
        for ref in (spec.quarantine, *tables_of(spec).values(), spec.target.ref)
    }
    known |= {spec.name: (spec, spec.target.ref) for spec in project.pipelines}
    near: list[str] = []
    if name not in known and name.count(".") == 1:
        # One that was landed, and that no pipeline reads yet.
        tables = warehouse()
        ref = tables.table(name) if name.partition(".")[0] in tables.roots else None
        if ref is not None and TimelineState().table(ref) is not None:
            return bare_spec(tables, ref), ref
        near = _standing_near(name, tables)
    if name not in known:
        raise FreshetError(
            "TABLE_UNKNOWN",
            f"No pipeline has the name {name}, and none reads or writes a table of that name.",
            "Nothing is shown.",
            did_you_mean(name, (*known, *near)),
        )
    return known[name]


def _standing_near(name: str, warehouse: Warehouse) -> list[str]:
    """Return tables that stand in the warehouse and whose names come near."""
    found: dict[str, str] = {}
    for database, root in warehouse.roots.items():
        found |= {f"{database}.{folder}": f"{local_path(root)}/{folder}" for folder in _names(local_path(root))}
    return [one for one in get_close_matches(name, found, n=_MOST_NEAR) if _names(f"{found[one]}/.hoodie")]


def _names(folder: str) -> list[str]:
    # A store that does not answer must not hide what is wrong with the name.
    with suppress(Exception):
        return storage_for(folder).names(folder)
    return []


def _hold_time(text: str, option: str) -> None:
    if text and not time_of(text):
        said = f"{text!r} is no time: write one such as 2026-11-25 23:54:37, or how long ago: 5m, 2h, 3d."
        raise click.BadParameter(said, param_hint=option)


def _text(ref: TableRef, shown: Shown, since: str = "") -> str:
    if not shown.rows:
        return f"no row of {ref.name}{since}"
    count = f"{counted(len(shown.rows), 'row')} of {ref.name}{since}{', and there are more' * shown.more}"
    return f"{grid(shown.columns, shown.rows)}\n{count}"


def _csv(shown: Shown) -> str:
    return csv_of(shown.columns, shown.rows)
