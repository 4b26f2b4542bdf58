"""A plan as text for people and as JSON for machines: the same stages that the executor runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from freshet.hudi.checkpoint import Checkpoint
from freshet.plan.describe_stages import stage_json, stage_text
from freshet.plan.stages import Commit, Plan
from freshet.sources.registry import kind_named


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
        "stages": [stage_json(stage) for stage in plan.stages],
    }


def plan_text(
    plan: Plan,
    show_options: bool = False,
    now: datetime | None = None,
    logic: Sequence[str] = (),
    verdict: Sequence[str] = (),
    cost: Sequence[str] = (),
) -> str:
    """Return the plan as lines of text.

    Args:
        plan: The plan.
        show_options: List every option of the Hudi writer too.
        now: The time from which ages count; None shows none.
        logic: What is to be said of the logic by which the target's rows were made.
        verdict: What is to be said of whether the increments equal a recompute.
        cost: What is to be said of what the run will cost.
    """
    window = plan.window
    lines = [
        plan.pipeline,
        f"  target      {plan.target.name}  {plan.target.path}" + ("  (will be created)" if plan.first_run else ""),
        f"  window      {'nothing to do' if window.kind == 'idle' else window.kind}: {window.reason}",
    ]
    if window.kind == "increment":
        lines.append(f"              {kind_named(plan.source_kind, plan.pipeline).describe(window, plan.source_zone)}")
    if window.kind != "deferred":
        after = plan.checkpoint_after or plan.checkpoint_before
        lines.append(f"  checkpoint  {_position(plan, plan.checkpoint_before, now)} -> {_position(plan, after, now)}")
    lines += [f"  schema      {c.change} {c.column}: {c.before or '-'} -> {c.after}" for c in plan.schema_changes]
    lines += [f"  {'' if number else 'verdict':<12}{words}" for number, words in enumerate(verdict)]
    lines += [f"  {'' if number else 'logic':<12}{words}" for number, words in enumerate(logic)]
    lines += [f"  {'' if number else 'estimate':<12}{words}" for number, words in enumerate(cost)]
    lines += [f"  notice      {n.code}: {n.message}" for n in plan.notices]
    lines += [f"  {number}. {stage_text(stage)}" for number, stage in enumerate(plan.stages, 1)]
    if not plan.stages and window.kind != "idle":
        lines.append("  nothing to do")
    if show_options:
        commits = [stage for stage in plan.stages if isinstance(stage, Commit)]
        lines += [
            f"       {key} = {value}"
            for stage in commits
            for key, value in sorted({**stage.writer_options(), **stage.metadata}.items())
        ]
    return "\n".join(lines)


def stages_in_words(plan: Plan) -> tuple[str, ...]:
    """Return what a plan does, stage by stage."""
    return tuple(stage_text(stage) for stage in plan.stages)


def window_in_words(plan: Plan) -> str:
    """Return what a plan reads of its main source."""
    window = plan.window
    if window.kind != "increment":
        return "nothing to do" if window.kind == "idle" else f"{window.kind}: {window.reason}"
    return f"{window.reason}; {kind_named(plan.source_kind, plan.pipeline).describe(window, plan.source_zone)}"


def position_in_words(plan: Plan, checkpoint: Checkpoint | None) -> str:
    """Return a checkpoint's main position, by the plan's zone."""
    return _position(plan, checkpoint, None)


def _position(plan: Plan, checkpoint: Checkpoint | None, now: datetime | None) -> str:
    if checkpoint is None or checkpoint.main is None:
        return "none"
    return kind_named(plan.source_kind, plan.pipeline).readable(checkpoint.main.text, plan.source_zone, now)
