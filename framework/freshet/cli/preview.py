"""``freshet preview``: what the next run, or a backfill, would write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from freshet.backfill.chunks import BackfillRequest, Chunk
from freshet.backfill.plan import compile_chunk, plan_backfill
from freshet.backfill.run import window_of
from freshet.cli.options import load, project_options
from freshet.cli.output import Output, reporting_rows
from freshet.cli.preview_text import KINDS, csv_text, json_of, text_of
from freshet.cli.progress import phases, progress
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit, Plan
from freshet.problems import did_you_mean
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project

if TYPE_CHECKING:
    from freshet.run.preview import Changed, Preview

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


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
        output.result(csv_text(rows), None)
    else:
        output.result(text_of(spec, plan, found, rows), json_of(plan, found, rows))
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
                "counts": dict.fromkeys(KINDS, 0),
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
