"""Run an audit: look, say where what differs comes from, and mend it where that is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from freshet.audit.causes import causes_of
from freshet.audit.kept import record_of
from freshet.audit.plan import AuditPlan, plan_audit
from freshet.audit.request import AuditRequest
from freshet.audit.result import AuditResult, counted_columns, some_examples, summed
from freshet.audit.scope import scope_of
from freshet.errors import RetryableError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import Notice, Phase
from freshet.hudi.checkpoint import ORIGIN_KEY, RUN_ID_KEY
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader, TableState
from freshet.lease.local import backfill_lease
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.records import remembered
from freshet.run.telling import tell_started
from freshet.run.watchdog import watched
from freshet.run.write_session import write_session
from freshet.sources.hudi.read.held import hold_plan
from freshet.sources.hudi.read.missing import hold_version
from freshet.verdict.result import Scope

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from freshet.audit.look import Looked

# A run that is at work is waited for, as by a chunk of a backfill; it waits for the repair, too.
_ALONE_SECONDS = 1800.0


def run_audit(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    request: AuditRequest,
    listen: Listener,
    scope: Callable[[PipelineSpec, StateReader], Scope] = scope_of,
) -> AuditResult:
    """Hold a target against a recompute of what its checkpoint says, and leave a record of it.

    Without ``repair`` it holds no lease and writes nothing but the record. With it the target is held while what was found
    wrong is published; where another commit came since it was looked at, it is looked at once more while it is held.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        request: What is wanted.
        listen: Told what happens.
        scope: Tells the pieces into which a pipeline's result falls.

    Raises:
        StateError: What ``plan_audit`` refuses, or REPAIR_NOT_POSSIBLE.
        CheckError: CHECK_FAILED: what would be put right breaks a check.
        RetryableError: ALREADY_RUNNING, COMMIT_CONFLICT, PARTITION_CHANGED or SOURCE_CHANGED_UNDER_READ.
    """
    with remembered(spec.target.ref, spec.name, "audit") as record:
        pieces = Scope() if request.everything else scope(spec, state)
        result = _audited(project, spec, state, request, listen, pieces)
        record.update(record_of(result))
    return result


def _audited(
    project: Project, spec: PipelineSpec, state: StateReader, request: AuditRequest, listen: Listener, scope: Scope
) -> AuditResult:
    began = time.monotonic()
    run_id = tell_started(listen, spec.name, "audit", new_run_id())
    request = replace(request, seed=request.seed or run_id)

    def planned() -> AuditPlan:
        plan = plan_audit(spec, state, request, scope, project.root)
        hold_plan(plan.plan, state)
        hold_version(spec.target.ref, plan.target, "Nothing was written.")
        return plan

    plan = planned()
    with watched(spec, listen) as told:
        phase = teller(told, Phase, spec.name)
        phase("starting Spark")
        # PySpark costs a second to import, and a refusal needs none of it.
        from freshet.jvm.at_work import at_work
        from freshet.run.spark import session_for

        spark = session_for(spec, project.root, phase)
    with at_work():
        looked = _look(plan, spark, project, state, listen, request.repair)
        result = _result(spec, state, looked)
        if request.repair and result.differing:
            result = _repaired(planned, looked, result, spark, project, state, listen, run_id)
    return replace(result, seconds=round(time.monotonic() - began, 3))


def _look(plan: AuditPlan, spark: SparkSession, project: Project, state: StateReader, listen: Listener, again: bool) -> Looked:
    from freshet.audit.look import look_at

    with watched(plan.spec, listen) as told:
        looked = look_at(plan, spark, state, project.root, project.env, teller(told, Phase, plan.spec.name), again)
    _refuse_moved(plan, state)
    return looked


def _refuse_moved(plan: AuditPlan, state: StateReader) -> None:
    """Refuse what was seen of a table that went on meanwhile and has no version of then to travel to."""
    read = [(plan.spec.target.ref, plan.target, plan.base)]
    read += [
        (plan.states[name].ref, chosen.version, plan.states[name].commits[-1].completed if plan.states[name].commits else "")
        for name, chosen in plan.tables.items()
    ]
    for ref, version, base in read:
        now = None if version.as_of else state.table(ref)
        if now is not None and now.commits_between(begin_exclusive=base):
            raise RetryableError(
                "SOURCE_CHANGED_UNDER_READ",
                f"{plan.spec.name}: {ref.name} was written while it was read, and Hudi cannot travel back to before that.",
                "Nothing was written.",
                "Run the same command again.",
                path=ref.path,
            )


def _repaired(
    planned: Callable[[], AuditPlan],
    looked: Looked,
    result: AuditResult,
    spark: SparkSession,
    project: Project,
    state: StateReader,
    listen: Listener,
    run_id: str,
) -> AuditResult:
    from freshet.audit.repair import repair

    spec = looked.plan.spec
    with (
        write_session(spec, listen, run_id, lease=backfill_lease(spec.target.ref), what="audit", pipeline=spec.name),
        write_session(
            spec, listen, run_id, wait_seconds=_ALONE_SECONDS, chunk=True, pipeline=spec.name, clears_lock=False
        ) as held,
    ):
        if _moved(state.table(spec.target.ref), looked.plan):
            words = "AUDIT_REPEATED: the target was written meanwhile, and is looked at again while it is held"
            listen(Notice(pipeline=spec.name, code="AUDIT_REPEATED", message=words))
            looked = _look(planned(), spark, project, state, held.listen, True)
            result = _result(spec, state, looked)
        if not result.differing:
            return result
        with watched(spec, held.listen) as told:
            return replace(result, repaired=repair(looked, spark, project, state, held, run_id, told))


def _moved(target: TableState | None, plan: AuditPlan) -> bool:
    return target is None or bool(target.commits_between(begin_exclusive=plan.base))


def _result(spec: PipelineSpec, state: StateReader, looked: Looked) -> AuditResult:
    plan, groups = looked.plan, looked.counted.groups
    target = state.table(spec.target.ref)
    assert target is not None, "it was looked at"
    causes, unexplained = causes_of(plan, target, groups)
    lost = summed(groups, "lost")
    return AuditResult(
        pipeline=spec.name,
        target=spec.target.ref.name,
        commit=plan.commit,
        checkpoint=plan.position,
        zone=plan.plan.source_zone,
        cleaned=plan.cleaned,
        share=plan.sample.share,
        by=tuple(column.name for column in plan.sample.columns),
        seed=plan.sample.seed,
        since=plan.since,
        checked=sum(summed(groups, kind) for kind in ("equal", "missing", "surplus", "unequal")),
        missing=summed(groups, "missing"),
        surplus=summed(groups, "surplus"),
        unequal=summed(groups, "unequal"),
        columns=counted_columns(groups),
        left_out=tuple(name for name in plan.left_out if name != IS_DELETED),
        kept_out=summed(groups, "kept_out") + lost,
        lost=lost,
        dropped_by_hand=bool(lost) and _dropped_by_hand(spec, state, target),
        pieces=looked.counted.pieces,
        wrong_pieces=looked.counted.wrong_pieces,
        examples=some_examples(groups),
        causes=causes,
        unexplained=unexplained,
    )


def _dropped_by_hand(spec: PipelineSpec, state: StateReader, target: TableState) -> bool:
    """Say whether somebody has deleted rows of the quarantine: a command on it that published none."""
    quarantine = state.table(spec.quarantine)
    if quarantine is None:
        return False
    runs = {info.extra.get(RUN_ID_KEY, "") for _, info in target.newest_first()}
    return any(
        info.extra.get(ORIGIN_KEY) == "command" and info.extra.get(RUN_ID_KEY, "") not in runs
        for _, info in quarantine.newest_first()
    )
