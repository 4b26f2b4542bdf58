"""A plan as text for people and as JSON for machines: the same stages that the executor runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, assert_never

from framework.plan.stages import Commit, Conform, Plan, ReadIncrement, ReadSnapshot, RunPython, RunSql, Stage, counted
from framework.state.checkpoint import Checkpoint


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as a JSON-serialisable mapping; the same plan gives the same text."""
    return {
        "pipeline": plan.pipeline,
        "fingerprint": plan.fingerprint,
        "target": asdict(plan.target),
        "first_run": plan.first_run,
        "window": asdict(plan.window),
        "checkpoint_before": plan.checkpoint_before.as_json() if plan.checkpoint_before else None,
        "checkpoint_after": plan.checkpoint_after.as_json() if plan.checkpoint_after else None,
        "schema_changes": [asdict(change) for change in plan.schema_changes],
        "notices": [asdict(notice) for notice in plan.notices],
        "stages": [_stage_json(stage) for stage in plan.stages],
    }


def plan_text(plan: Plan, show_options: bool = False) -> str:
    """Return the plan as lines of text.

    Args:
        plan: The plan.
        show_options: List every option of the Hudi writer too.
    """
    window = plan.window
    lines = [
        plan.pipeline,
        f"  target      {plan.target.name}  {plan.target.path}" + ("  (will be created)" if plan.first_run else ""),
        f"  window      {window.kind}: {window.reason}",
    ]
    if window.kind == "increment":
        left = f"; {counted(window.waiting_commits, 'commit')} ({counted(window.waiting_rows, 'row')}) left for the next run"
        lines.append(f"              {counted(len(window.requested), 'commit')}, {counted(window.rows, 'row')}, completed "
                     f"{window.begin_inclusive} to {window.end_inclusive}" + (left if window.waiting_commits else ""))
    if window.kind != "deferred":
        lines.append(f"  checkpoint  {_position(plan.checkpoint_before)} -> "
                     f"{_position(plan.checkpoint_after or plan.checkpoint_before)}")
    lines += [f"  schema      {c.change} {c.column}: {c.before or '-'} -> {c.after}" for c in plan.schema_changes]
    lines += [f"  notice      {n.code}: {n.message}" for n in plan.notices]
    lines += [f"  {number}. {_stage_text(stage)}" for number, stage in enumerate(plan.stages, 1)]
    if not plan.stages:
        lines.append("  nothing to do")
    if show_options:
        commits = [stage for stage in plan.stages if isinstance(stage, Commit)]
        lines += [f"       {key} = {value}"
                  for stage in commits for key, value in sorted({**stage.options, **stage.metadata}.items())]
    return "\n".join(lines)


def _position(checkpoint: Checkpoint | None) -> str:
    return checkpoint.main.instant if checkpoint and checkpoint.main else "none"


def _stage_json(stage: Stage) -> dict[str, Any]:
    body: dict[str, Any] = {"stage": _name(stage), **asdict(stage)}
    if isinstance(stage, Conform):
        body["columns"] = [{"name": c.name, "type": str(c.type), "nullable": c.nullable} for c in stage.columns]
    if isinstance(stage, Commit):
        body["checkpoint"] = stage.checkpoint.as_json() if stage.checkpoint else None
    return body


def _name(stage: Stage) -> str:
    match stage:
        case ReadIncrement():
            return "read_increment"
        case ReadSnapshot():
            return "read_snapshot"
        case RunSql():
            return "run_sql"
        case RunPython():
            return "run_python"
        case Conform():
            return "conform"
        case Commit():
            return "commit"
        case _:
            assert_never(stage)


def _stage_text(stage: Stage) -> str:
    match stage:
        case ReadIncrement():
            deletes = ", deletes included" if stage.with_deletes else ""
            return f"read <SRC> incrementally from {stage.table.name}{deletes}"
        case ReadSnapshot():
            return f"read {stage.view}: all of {stage.table.name}"
        case RunSql():
            return f"run {stage.file} ({len(stage.statements)} statement{'s' * (len(stage.statements) != 1)})"
        case RunPython():
            return f"call transform() of {stage.file}"
        case Conform():
            return f"hold the batch against the DDL: {len(stage.columns)} columns, no null in {', '.join(stage.required)}"
        case Commit():
            index = stage.options["hoodie.index.type"]
            rows = "a checkpoint without rows" if stage.empty else stage.options["hoodie.datasource.write.operation"]
            return f"commit {rows} to {stage.table.name} ({stage.options['hoodie.datasource.write.table.type']}, {index})"
        case _:
            assert_never(stage)
