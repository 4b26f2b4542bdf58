"""Compile a run of a pipeline whose increments equal a recompute, and of no other."""

from __future__ import annotations

from freshet.hudi.table import StateReader
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec


def compile_run(spec: PipelineSpec, state: StateReader) -> Plan:
    """Compile the next run of a pipeline.

    Args:
        spec: The validated pipeline.
        state: Read-only view of the tables.

    Raises:
        SpecError: There is something to do, and the increments do not equal a recompute.
        StateError: The tables forbid the run.
    """
    plan = compile_plan(spec, state, RunRequest())
    if plan.stages:
        # What parses SQL takes a fifth of a second to import, which an idle run must not pay.
        from freshet.verdict.describe import refuse_inexact
        from freshet.verdict.judged import judged
        from freshet.verdict.tables import facts_of

        refuse_inexact({spec.name: judged(spec, facts_of(spec, {}, state=state))})
    return plan
