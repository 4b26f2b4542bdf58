"""When cleaning and archiving are left: they would cut off a reader, or take files that a compaction is planned for. Pure."""

from __future__ import annotations

from dataclasses import replace

from freshet.errors import FreshetError
from freshet.hudi.checkpoint import PIPELINE_KEY, Checkpoint
from freshet.hudi.options import compaction_is_left
from freshet.hudi.table import Instant, StateReader, TableState
from freshet.plan.stages import Commit, Notice, Plan
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.model.readers import Reader
from freshet.sources.hudi.history import cuts_off

#: What turns both off for one commit.
HELD: dict[str, str] = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
# Hudi 1.0.2's defaults: commits that the cleaner keeps, and that the archive leaves in the active timeline.
_CLEAN_KEEPS = 10
_ARCHIVE_KEEPS = 20


def held_back(spec: PipelineSpec, state: StateReader, target: TableState | None, commits_to_come: int) -> tuple[Notice, ...]:
    """Say why cleaning and archiving must be left this time; nothing where no reader would lose anything.

    Args:
        spec: The pipeline that writes the table.
        state: Read-only view of the tables.
        target: The table; None before its first commit.
        commits_to_come: How many commits are made before the services look at the timeline.
    """
    if target is None:
        return ()
    first_kept = _first_kept(spec, target, commits_to_come)
    if first_kept is None:
        return ()
    notices = []
    for reader in spec.readers:
        try:
            table = state.table(reader.target)
            checkpoint = _checkpoint_of(reader, table) if table else None
        except FreshetError as error:
            # It stops its own pipeline; this one goes on, and keeps what that may have to read yet.
            notices.append(
                Notice(
                    "RETENTION_HELD",
                    f"{spec.name}: cleaning and archiving are left this time: how far {reader.name} has read "
                    f"{spec.target.ref.name} is unknown ({error.code}: {error.message})",
                )
            )
            continue
        for position in checkpoint.positions.values() if checkpoint else ():
            if not position.is_at(spec.target.ref.path) or not position.is_exact:
                continue
            if cuts_off(target, position, first_kept):
                notices.append(
                    Notice(
                        "RETENTION_HELD",
                        f"{spec.name}: cleaning and archiving are left this time: they would cut off "
                        f"{reader.name}, which has read {spec.target.ref.name} up to {position.text}.",
                    )
                )
    return tuple(notices)


def left_unfinished(spec: PipelineSpec, target: TableState | None) -> tuple[Notice, ...]:
    """Say what others began, and did not end, that Hudi's cleaner would spoil.

    It may delete the logs that a compaction is planned for. And it carries out the rollbacks that are planned, also of a commit
    that has completed since: its writer had been taken for dead.

    Args:
        spec: The pipeline that writes the table.
        target: The table; None before its first commit.
    """
    if target is None:
        return ()
    left = f"{spec.name}: cleaning is left this time:"
    return (
        *(
            Notice("COMPACTION_PENDING", f"{left} the compaction of {one} is planned and not done.")
            for one in target.compacting
        ),
        *(
            Notice(
                "ROLLBACK_OVERTAKEN", f"{left} it would carry out the rollback {rollback}, of {commit}, which has completed."
            )
            for rollback, commit in target.load_overtaken()
        ),
    )


def left_by_a_run(spec: PipelineSpec, state: StateReader, target: TableState | None) -> tuple[Notice, ...]:
    """Say why a commit must be followed neither by cleaning nor by archiving; nothing where it may be.

    Hudi cleans before it carries out a compaction that it finds planned, in one and the same run.

    Args:
        spec: The pipeline that writes the table.
        state: Read-only view of the tables.
        target: The table; None before its first commit.
    """
    cleans = not compaction_is_left(spec) and spec.write_options.get("hoodie.clean.automatic", "").lower() != "false"
    return (*held_back(spec, state, target, 1), *(left_unfinished(spec, target) if cleans else ()))


def has_read(reader: Reader, state: StateReader, ref: TableRef) -> bool:
    """Say whether a pipeline's target holds rows of a table, as far as its checkpoint tells.

    Args:
        reader: The pipeline.
        state: Read-only view of the tables.
        ref: The table.
    """
    target = state.table(reader.target)
    checkpoint = _checkpoint_of(reader, target) if target is not None else None
    return checkpoint is not None and any(position.is_at(ref.path) for position in checkpoint.positions.values())


def hold_services(plan: Plan, spec: PipelineSpec, state: StateReader, target: TableState | None) -> Plan:
    """Return the plan with cleaning and archiving turned off for its commit, where they must be left.

    Args:
        plan: A plan that may commit.
        spec: Its pipeline.
        state: Read-only view of the tables.
        target: The target's state.
    """
    notices = left_by_a_run(spec, state, target) if plan.stages else ()
    if not notices:
        return plan
    stages = tuple(
        replace(stage, options={**stage.options, **HELD}) if isinstance(stage, Commit) else stage for stage in plan.stages
    )
    return replace(plan, stages=stages, notices=(*plan.notices, *notices))


def _checkpoint_of(reader: Reader, table: TableState) -> Checkpoint | None:
    # Its own, and where there is none, the newest: of a pipeline that has got another name.
    newest: Checkpoint | None = None
    for _, info, checkpoint in table.checkpoints(reader.co_writers, reader.name):
        if info.extra.get(PIPELINE_KEY, reader.name) == reader.name:
            return checkpoint
        newest = newest or checkpoint
    return newest


def _first_kept(spec: PipelineSpec, target: TableState, commits_to_come: int) -> Instant | None:
    """Return the oldest commit that both services would leave; None where they would leave all."""
    options = spec.write_options
    if commits_to_come and all(options.get(key, "").lower() == "false" for key in HELD):
        return None
    keeps = min(
        _number(options.get("hoodie.clean.commits.retained", options.get("hoodie.cleaner.commits.retained")), _CLEAN_KEEPS),
        _number(options.get("hoodie.keep.min.commits"), _ARCHIVE_KEEPS),
    )
    if options.get("hoodie.clean.policy", options.get("hoodie.cleaner.policy", "KEEP_LATEST_COMMITS")) != "KEEP_LATEST_COMMITS":
        # By hours or by versions of a file the timeline does not tell what goes: the newest commit is sure to stay.
        keeps = 1
    by_request = sorted(target.commits, key=lambda i: i.requested)
    index = len(by_request) + commits_to_come - keeps
    return by_request[min(index, len(by_request) - 1)] if index > 0 and by_request else None


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdigit() else default
