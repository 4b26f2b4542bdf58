"""What a backfill will do: its chunks, and the plan of the first one that is to be done."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import BackfillPlan, compile_chunk, plan_backfill
from freshet.backfill.run import Load, logic_of_runs, window_of
from freshet.hudi.table import StateReader
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.secrets import redact, redact_tree
from freshet.sources.hudi.read.held import hold_plan
from freshet.sources.hudi.reads import counted


@dataclass(frozen=True)
class BackfillPreview:
    """What a backfill will do.

    Args:
        plan: Its chunks, in order: which of them are done, failed, or to be done.
        first: The plan of the first chunk that is to be done; None where none is. It holds the writer's options as they are,
            passwords included, which ``as_json`` and ``str`` leave out.
    """

    plan: BackfillPlan
    first: Plan | None = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the preview as a JSON-serialisable mapping, without secrets."""
        plan = self.plan
        found: dict[str, Any] = redact_tree(
            {
                "backfill": plan.name,
                "pipeline": plan.pipeline,
                "write": plan.write,
                "concurrency": plan.concurrency,
                "chunks": [
                    {"start": c.chunk.start.isoformat(), "end": c.chunk.end.isoformat(), "status": c.status, "wanted": c.wanted}
                    for c in plan.chunks
                ],
                "first": plan_json(self.first) if self.first else None,
            }
        )
        return found

    def __str__(self) -> str:
        plan = self.plan
        wanted = sum(one.wanted for one in plan.chunks)
        lines = [
            f"{plan.pipeline}: {counted(len(plan.chunks), 'chunk')}, {plan.count('done')} done, {plan.count('failed')} "
            f"failed, {wanted} to do; by {plan.write}, {plan.concurrency}"
        ]
        lines += [
            f"  {'do  ' if one.wanted else 'skip'}  {one.label}" + ("" if one.status == "todo" else f"  ({one.status})")
            for one in plan.chunks
        ]
        return redact("\n".join([*lines, *(["", "The first chunk:", plan_text(self.first)] if self.first else [])]))


def preview_backfill(load: Load, request: BackfillRequest, state: StateReader) -> BackfillPreview:
    """Plan a backfill, and compile its first chunk.

    Args:
        load: Loads the pipeline for a range.
        request: The range and what of it.
        state: Read-only view of the tables.

    Raises:
        FreshetError: What ``plan_backfill``, ``compile_chunk`` and ``hold_plan`` refuse.
    """

    def loaded(start: datetime, end: datetime) -> PipelineSpec:
        return load(window_of(start, end)).pipelines[0]

    plan = plan_backfill(loaded(request.start, request.end), state, request, logic_of_runs(load))
    one = next((one.chunk for one in plan.chunks if one.wanted), None)
    first = compile_chunk(loaded(one.start, one.end), state, plan, one) if one else None
    if first is not None:
        hold_plan(first, state)
    return BackfillPreview(plan, first)
