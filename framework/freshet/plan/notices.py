"""What a plan's reader must know and nothing forbids: deletes that go unseen, commits that are named in the past. Pure."""

from __future__ import annotations

from dataclasses import replace

from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader, TableState
from freshet.plan.inputs import InputTables
from freshet.plan.retention import hold_services
from freshet.plan.stages import Notice, Plan
from freshet.project.model.files import FilesSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.identity import refuse_occupied
from freshet.quarantine.table import lost_words, may_drop
from freshet.sources.hudi.reads import ReadIncrement
from freshet.sources.protocol import Source
from freshet.storage.conditional import OBJECT_STORES, can_be_conditional
from freshet.storage.files import is_local
from freshet.storage.remote import split_uri


def notices_of(
    spec: PipelineSpec,
    source: Source,
    inputs: InputTables,
    read: ReadIncrement,
    before: Checkpoint | None,
) -> tuple[Notice, ...]:
    """Return the notices of a run that reads.

    Args:
        spec: The pipeline.
        source: The main source.
        inputs: The other inputs.
        read: What is read of the main source.
        before: The target's checkpoint.
    """
    windows = ((source, read.window), *((inputs.states[name], window) for name, window in inputs.driving.items()))
    late = tuple(
        _late(spec, words, of_files=looked_at is source and isinstance(spec.source, FilesSpec))
        for looked_at, window in windows
        if looked_at is not None and (words := looked_at.late_words(window))
    )
    return (*_deletes(spec, source, read, before), *late)


def complete_plan(plan: Plan, spec: PipelineSpec, state: StateReader, target: TableState | None) -> Plan:
    """Return the plan of a run with what its table services wait for, and what the quarantine has lost.

    Args:
        plan: The plan.
        spec: The pipeline.
        state: Read-only view of the tables.
        target: The target's state; None before the first run.

    Raises:
        StateError: QUARANTINE_OCCUPIED.
    """
    # An idle tick, which drops no row, need not pay for the look.
    lost = ""
    if plan.stages and may_drop(spec):
        refuse_occupied(spec, state.table(spec.quarantine))
        lost = lost_words(spec, state, target)
    notices = (*plan.notices, *((Notice("QUARANTINE_LOST", lost),) if lost else ()))
    return hold_services(replace(plan, notices=notices), spec, state, target)


def one_machine_only(spec: PipelineSpec) -> tuple[Notice, ...]:
    """Return the notice of a target whose lease holds on one machine, though others reach the table.

    Args:
        spec: The pipeline.
    """
    path = spec.target.ref.path
    if is_local(path) or spec.lease_across_machines is False or can_be_conditional(path):
        return ()
    has_client = split_uri(path)[0] in OBJECT_STORES
    why = "freshet[object-store] is not installed" if has_client else "its store has no conditional writes"
    return (
        Notice(
            "ONE_MACHINE_ONLY",
            f"{spec.name}: the lease of {spec.target.ref.path} holds on this machine alone: {why}. Let one machine start the "
            "runs of this pipeline; lease: {across_machines: false} says that it does.",
        ),
    )


def _late(spec: PipelineSpec, words: str, of_files: bool) -> Notice:
    if of_files:
        return Notice("FILES_LATE", f"{spec.name}: {words}. They are not read: with a new time, as touch gives one, they are.")
    return Notice(
        "COMMIT_IN_THE_PAST",
        f"{spec.name}: {words}. They are read now. Where the clock of their writer is behind, set it, or let it write in UTC.",
    )


def _deletes(spec: PipelineSpec, source: Source, read: ReadIncrement, before: Checkpoint | None) -> tuple[Notice, ...]:
    window = read.window
    if spec.source.changelog is not None:
        # Its deletes are events.
        return ()
    if window.kind == "whole_table" and read.with_deletes and before is not None and not read.before:
        return (
            Notice(
                "DELETES_NOT_SEEN",
                f"{spec.name}: the whole source is read again, and the version that the target holds is cleaned or unknown: "
                f"rows that were deleted since stay in the target. To have them gone: freshet run {spec.name} --full-refresh",
            ),
        )
    if read.with_deletes or window.kind != "increment":
        return ()
    what = source.unseen_words(window)
    if not what:
        return ()
    if source.passes_deletes:
        # The source has what is needed, and the pipeline does not ask for it.
        why = "which hoodie.datasource.query.incremental.format: latest_state leaves out"
        advice = f"To pass deletes on, remove it, declare {IS_DELETED} BOOLEAN in the DDL and select it from <SRC>."
    else:
        why = "which an increment without change data does not show"
        advice = "Make the source with hoodie.table.cdc.enabled=true to pass deletes on."
    return (
        Notice(
            "DELETES_NOT_SEEN",
            f"{spec.name}: the source's commits hold {what}, {why}: the target keeps those rows. {advice}",
        ),
    )
