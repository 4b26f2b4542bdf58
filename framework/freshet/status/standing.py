"""Where a pipeline stands, with what only this machine and the project know: what runs now, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from freshet.errors import FreshetError, unforeseen
from freshet.event_times.latency import latency_of
from freshet.hudi.instants import zone_of
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader
from freshet.hudi.timeline import TimelineState
from freshet.lease.choice import leases_for
from freshet.lease.local import backfill_lease, service_lease
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.read.held import hold_plan
from freshet.status.logic_report import report_logic
from freshet.status.status import Looked, PipelineStatus, look_at, unfinished_backfill
from freshet.status.upstream import waits_for
from freshet.storage.files import is_local

More = Callable[[tuple[str, ...]], Project]
Judged = Callable[[PipelineSpec, Looked, StateReader], Mapping[str, Any]]


def status_of(
    project: Project,
    spec: PipelineSpec,
    more: More,
    failed: Callable[[FreshetError], None] = lambda error: None,
    audited: Callable[[PipelineSpec], Mapping[str, Any] | None] = lambda spec: None,
    judged: Judged = lambda spec, looked, state: {},
    state: StateReader | None = None,
) -> PipelineStatus:
    """Look at a pipeline's target, source and leases; an error becomes its ``state``.

    Args:
        project: The pipelines that were asked for.
        spec: One of them.
        more: Loads others of the project by their names.
        failed: Told the error.
        audited: Returns what the last audit of a pipeline found.
        judged: Returns what else is known of a pipeline, by the standing's fields: ``slo`` and ``overdue_seconds``.
        state: Read-only view of the tables; None for the real ones as they stand now.
    """
    # Several questions below are about one table: each timeline is read once.
    state = OneLook(state or TimelineState())
    looked = standing_of(project, spec, more, state, failed)
    found = looked.status
    try:
        # Of a table that could not be looked at there is nothing more to tell.
        if looked.is_whole:
            found = replace(found, logic=report_logic(spec, state), audit=audited(spec), latency=_latency(looked))
            if spec.backfill is not None:
                found = replace(found, backfill=unfinished_backfill(spec, state))
    except Exception as unknown:  # one unreadable table must not hide the others
        looked = unforeseen_in(spec, unknown, failed)
        found = looked.status
    try:
        return replace(found, **judged(spec, looked, state))
    except Exception as unknown:
        return unforeseen_in(spec, unknown, failed).status


def _latency(looked: Looked) -> Mapping[str, Any] | None:
    if looked.last is None or looked.target is None:
        return None
    found = latency_of(*looked.last, zone_of(looked.target))
    return found.as_json() if found is not None else None


def standing_of(
    project: Project,
    spec: PipelineSpec,
    more: More,
    state: StateReader,
    failed: Callable[[FreshetError], None] = lambda error: None,
    is_planned: bool = True,
) -> Looked:
    """Look at a pipeline's target, source and leases; see ``status_of`` and ``look_at``."""
    leases = leases_for(spec.target.ref, spec.lease_across_machines)

    def hold(plan: Plan) -> None:
        # A store that is not this machine's own takes seconds to list what a hundred pipelines would read: plan and run do.
        source = (spec.source.table,) if spec.source.kind == HUDI else ()
        tables = (spec.target.ref, *source, *(one.table for one in spec.inputs))
        if all(is_local(table.path) for table in tables):
            hold_plan(plan, state)

    try:
        looked = look_at(spec, state, hold, is_planned)
        found = looked.status
        holder = leases.holder(spec.target.ref)
        found = replace(found, running=holder if holder is not None else leases.holder(service_lease(spec.target.ref)))
        before = waits_for(project, spec, state, more) if found.state in ("new", "SOURCE_MISSING", "INPUT_MISSING") else ()
        if before:
            found = replace(found, state="waiting", waits_for=before, message="")
        if spec.backfill is not None:
            found = replace(found, backfill_running=leases.is_held(backfill_lease(spec.target.ref)))
        return replace(looked, status=found, is_whole=True)
    except Exception as unknown:  # one unreadable table must not hide the others
        return unforeseen_in(spec, unknown, failed)


def unforeseen_in(
    spec: PipelineSpec,
    unknown: Exception,
    failed: Callable[[FreshetError], None] = lambda error: None,
) -> Looked:
    """Return the standing of a pipeline that could not be looked at.

    Args:
        spec: The pipeline.
        unknown: What ended the look.
        failed: Told the error.
    """
    error = unforeseen(unknown, spec.name)
    failed(error)
    return Looked(status=PipelineStatus(pipeline=spec.name, state=error.code, message=str(error)))
