"""``freshet preview``: what the next run, or a backfill, would write."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freshet.backfill.chunks import BackfillRequest, Chunk
from freshet.backfill.plan import compile_chunk, plan_backfill
from freshet.backfill.run import window_of
from freshet.cli.options import load, project_options
from freshet.cli.output import Output, reporting_rows, table
from freshet.cli.progress import phases, progress
from freshet.cli.rows import cell, csv_of, grid
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit, Plan
from freshet.problems import did_you_mean
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.result import older_in_words

if TYPE_CHECKING:
    from freshet.run.preview import Changed, Preview

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
#: What would become of rows, in the order and by the words in which people are told.
_KINDS = {
    "inserted": "inserted",
    "updated": "updated",
    "moved": "moved to another partition",
    "deleted": "deleted",
    "unchanged": "written again as they stand",
    "older": "ignored: a newer row stands",
    "nothing": "ignored: they delete nothing that stands",
    "unsure": "not known",
}
_TITLES = {
    "updated": "rows that change",
    "moved": "rows that move",
    "inserted": "new rows",
    "deleted": "rows that go",
    "older": "rows that are ignored, beside the newer ones that stand (theirs -> the batch's)",
    "unsure": "rows not known",
}


@click.command(short_help="Show what the next run would write, without writing.")
@click.argument("name")
@click.option("--where", default="", metavar="SQL", help="Only rows of the target for which this is true.")
@click.option("--columns", default="", metavar="COLUMN,...", help="Show only these columns, and the key.")
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=10_000),
    default=10,
    show_default=True,
    help="How many rows of each kind are shown.",
)
@click.option("--start", type=_MOMENT, default=None, help="Of a backfill: begin of the range of event times, inclusive, UTC.")
@click.option("--end", type=_MOMENT, default=None, help="Of a backfill: end of the range, exclusive, UTC.")
@project_options
@reporting_rows
def preview(
    output: Output,
    name: str,
    where: str,
    columns: str,
    limit: int,
    start: datetime | None,
    end: datetime | None,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show what the next run would write: rows that it inserts, changes, moves, deletes or ignores, and what its checks find.

    Reads, transforms and checks as the run does, and holds the result against the target as it stands. Writes nothing,
    neither rows nor the quarantine, and waits for no other run. Ends with the code that the run would end with. Where nothing
    is new, no Spark starts. With --start and --end it shows what a backfill of that range would write.

    \b
    Examples:
      freshet preview trip_earnings
      freshet preview trip_earnings --where "driver_id = 'd00042'" --columns fare_amount,tip_amount
      freshet preview trip_earnings --limit 10000 --output csv > changes.csv
      freshet preview driver_daily_earnings --start 2026-01-01 --end 2026-01-08 --output json
    """
    if (start is None) != (end is None):
        raise click.UsageError("--start goes with --end: a range of a backfill.")
    state = TimelineState()
    if start is not None and end is not None:
        project = load_project(root, env, overrides, names=(name,), environ=os.environ, window=window_of(start, end))
        backfill = plan_backfill(
            project.pipelines[0], state, BackfillRequest(start=start, end=end, reprocess="all", accept_changes=True)
        )
        # All of the range at once: its chunks write the same rows.
        plan = compile_chunk(project.pipelines[0], state, backfill, Chunk(start, end))
    else:
        project = load(root, env, overrides, (name,))
        plan = compile_plan(project.pipelines[0], state, RunRequest())
    spec = project.pipelines[0]
    wanted = _wanted(spec, columns)
    if not plan.stages or (isinstance(plan.stages[0], Commit) and plan.stages[0].empty):
        return _without_rows(output, plan)
    found = _previewed(output, project, plan, where, limit)
    rows = {kind: tuple(_narrowed(row, spec.target.record_key, wanted) for row in of) for kind, of in found.rows.items()}
    if output.as_csv:
        output.result(_csv(rows), None)
    else:
        output.result(_text(spec, plan, found, rows), _json(plan, found, rows))
    return found.error.exit_code if found.error is not None else Exit.OK


def _previewed(output: Output, project: Project, plan: Plan, where: str, limit: int) -> Preview:
    from freshet.run.preview import preview_run

    with progress(output) as listen:
        return preview_run(
            project,
            project.pipelines[0],
            TimelineState(),
            plan,
            phases(listen, plan.pipeline),
            where=where,
            limit=limit,
        )


def _without_rows(output: Output, plan: Plan) -> Exit:
    said = f"a checkpoint without rows: {plan.window.reason}" if plan.stages else f"nothing new: {plan.window.reason}"
    if output.as_csv:
        output.result("_change", None)
    else:
        output.result(
            f"{plan.pipeline}: {said}",
            {
                "pipeline": plan.pipeline,
                "reads": "",
                "reason": plan.window.reason,
                "batch": 0,
                "superseded": 0,
                "counts": dict.fromkeys(_KINDS, 0),
                "quarantined": 0,
                "rows": {},
                "checks": [],
                "error": None,
            },
        )
    return Exit.OK


def _wanted(spec: PipelineSpec, columns: str) -> tuple[str, ...]:
    known = {c.name.lower(): c.name for c in spec.target.columns}
    wanted = tuple(name.strip() for name in columns.split(",") if name.strip())
    for name in wanted:
        if name.lower() not in known:
            raise click.BadParameter(
                f"{spec.target.file} has no column {name}. {did_you_mean(name, known.values())}".strip(), param_hint="--columns"
            )
    return tuple(known[name.lower()] for name in wanted)


def _narrowed(changed: Changed, key: Sequence[str], wanted: Sequence[str]) -> Changed:
    if not wanted:
        return changed
    names = dict.fromkeys((*key, *wanted))
    return type(changed)(
        {name: changed.row.get(name) for name in names}, {name: value for name, value in changed.was.items() if name in names}
    )


def _json(plan: Plan, found: Preview, rows: Mapping[str, tuple[Changed, ...]]) -> dict[str, Any]:
    return {
        "pipeline": plan.pipeline,
        "reads": found.reads,
        "reason": plan.window.reason,
        "batch": found.batch,
        "superseded": found.superseded,
        "mixed": ["older_kept"] if found.older.at_least else [],
        "counts": {kind: found.counts.get(kind, 0) for kind in _KINDS},
        "quarantined": found.quarantined,
        "older_kept": found.older.kept,
        "undeletable": found.older.undeletable,
        "not_known": list(found.unknown),
        "rows": {kind: [{"row": dict(one.row), "was": dict(one.was)} for one in of] for kind, of in rows.items()},
        "checks": [one.as_json() for one in found.outcomes],
        "error": found.error.as_json() if found.error is not None else None,
    }


def _csv(rows: Mapping[str, tuple[Changed, ...]]) -> str:
    """Return a line for each row: what becomes of it, its values, and of a column that differs the value that stands."""
    names = list(dict.fromkeys(name for of in rows.values() for one in of for name in one.row))
    return csv_of(
        ["_change", *names, *(f"_was_{name}" for name in names)],
        (
            [kind, *(one.row.get(name) for name in names), *(one.was.get(name) for name in names)]
            for kind, of in rows.items()
            for one in of
        ),
    )


def _text(spec: PipelineSpec, plan: Plan, found: Preview, rows: Mapping[str, tuple[Changed, ...]]) -> str:
    lines = [f"{plan.pipeline}: {found.reads}"]
    lines += [f"  {found.counts[kind]:>9,} {words}" for kind, words in _KINDS.items() if found.counts.get(kind)]
    if not found.counts:
        lines.append("  no row would be written")
    if found.superseded:
        lines.append(f"  {found.superseded:>9,} of the batch ignored: it holds a newer row of the key")
    if found.quarantined:
        older = older_in_words(found.older.kept, found.older.undeletable, found.older.at_least)
        lines.append(f"  {found.quarantined:>9,} to the quarantine{older}")
    lines += [f"  schema: {c.change} {c.column}: {c.before or '-'} -> {c.after}" for c in plan.schema_changes]
    lines += [f"  {n.code}: {n.message}" for n in plan.notices]
    lines += [f"  not known: {said}" for said in found.unknown]
    for kind, of in rows.items():
        more = f", {len(of):,} of {found.counts[kind]:,}" if len(of) < found.counts[kind] else ""
        lines += ["", f"{_TITLES[kind]}{more}:"]
        whole = kind in ("inserted", "deleted")
        lines += (
            [grid(list(of[0].row), [list(one.row.values()) for one in of])]
            if whole
            else [line for one in of for line in _beside(spec.target.record_key, one)]
        )
    if found.outcomes:
        told: list[tuple[str, ...]] = [
            (o.name, o.severity, o.status, str(o.rows or "-"), o.seen, o.expected) for o in found.outcomes
        ]
        lines += ["", table(("CHECK", "SEVERITY", "STATUS", "BAD ROWS", "SEEN", "EXPECTED"), told)]
        lines += [f"{o.name}: {row}" for o in found.outcomes for row in o.sample]
    if found.error is not None:
        lines += ["", f"The run would publish nothing: {found.error}"]
    return "\n".join(lines)


def _beside(key: Sequence[str], one: Changed) -> list[str]:
    """Return a row that differs from the one that stands, column by column: what stands -> what would."""
    lines = [", ".join(f"{name}={cell(one.row.get(name))}" for name in key)]
    width = max(map(len, one.was), default=0)
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for name, was in one.was.items():
        line = f"  {name.ljust(width)}  {cell(was)} -> {cell(one.row.get(name))}"
        if most is None or len(line) <= most:
            lines.append(line)
        else:
            lines += [f"  {name}", f"    {cell(was)}", f"    -> {cell(one.row.get(name))}"]
    return lines if one.was else [*lines, "  differs in other columns"]
