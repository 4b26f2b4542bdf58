"""Where a pipeline stands, with what only this machine and the project know: what runs now, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from freshet.errors import FreshetError, unforeseen
from freshet.hudi.timeline import TimelineState
from freshet.lease.choice import leases_for
from freshet.lease.local import backfill_lease, service_lease
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.read.held import hold_plan
from freshet.status.logic_report import report_logic
from freshet.status.status import PipelineStatus, pipeline_status, unfinished_backfill
from freshet.status.upstream import waits_for
from freshet.storage.files import is_local


def status_of(
    project: Project,
    spec: PipelineSpec,
    more: Callable[[tuple[str, ...]], Project],
    failed: Callable[[FreshetError], None] = lambda error: None,
    audited: Callable[[PipelineSpec], Mapping[str, Any] | None] = lambda spec: None,
) -> PipelineStatus:
    """Look at a pipeline's target, source and leases; an error becomes its ``state``.

    Args:
        project: The pipelines that were asked for.
        spec: One of them.
        more: Loads others of the project by their names.
        failed: Told the error.
        audited: Returns what the last audit of a pipeline found.
    """
    state, leases = TimelineState(), leases_for(spec.target.ref, spec.lease_across_machines)

    def hold(plan: Plan) -> None:
        # A store that is not this machine's own takes seconds to list what a hundred pipelines would read: plan and run do.
        source = (spec.source.table,) if spec.source.kind == HUDI else ()
        tables = (spec.target.ref, *source, *(one.table for one in spec.inputs))
        if all(is_local(table.path) for table in tables):
            hold_plan(plan, state)

    try:
        found = pipeline_status(spec, state, hold)
        holder = leases.holder(spec.target.ref)
        found = replace(found, running=holder if holder is not None else leases.holder(service_lease(spec.target.ref)))
        before = waits_for(project, spec, state, more) if found.state in ("new", "SOURCE_MISSING", "INPUT_MISSING") else ()
        if before:
            found = replace(found, state="waiting", waits_for=before, message="")
        found = replace(found, logic=report_logic(spec, state), audit=audited(spec))
        if spec.backfill is None:
            return found
        return replace(
            found, backfill=unfinished_backfill(spec, state), backfill_running=leases.is_held(backfill_lease(spec.target.ref))
        )
    except Exception as unknown:  # one unreadable table must not hide the others
        error = unforeseen(unknown, spec.name)
        failed(error)
        return PipelineStatus(pipeline=spec.name, state=error.code, message=str(error))
