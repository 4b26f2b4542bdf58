"""Hold what a plan reads and writes against the files that are there: when it is made, and again just before that happens.

A plan and a run find the same by it, and neither needs a JVM.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.keys.options import INDEX_TYPE, METADATA_ENABLE
from freshet.hudi.table import StateReader, TableState
from freshet.plan.checks import CheckBatch
from freshet.plan.row_stages import MergeColumns, MergeEvents
from freshet.plan.stages import Commit, Plan, Stage
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.look.partitions import partition_values
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.read.missing import hold_files, hold_metadata, hold_version
from freshet.sources.hudi.reads import (
    DriveRows,
    Partitions,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadQuarantine,
    ReadRange,
    ReadSnapshot,
    Version,
)
from freshet.storage.failures import told
from freshet.storage.files import is_local, local_path, storage_for

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
# Data files, partitions in Hive's style, and a log of Delta's. Of Iceberg two folders tell.
_OF_OTHERS = re.compile(r"^(?![._]).*\.(?:parquet|orc|avro|csv|json|gz|zst)$|^[^._][^=]*=|^_delta_log$|^_SUCCESS$")


def hold_plan(plan: Plan, state: StateReader, *, is_run_next: bool = False) -> None:
    """Refuse a plan whose reads or write would be refused for the files of its tables.

    Args:
        plan: The plan; one without stages has nothing to look at.
        state: Reader of the tables.
        is_run_next: True where the plan is carried out at once, which holds each table again just before it is read or written.

    Raises:
        StateError: TARGET_OCCUPIED, QUARANTINE_OCCUPIED, FILE_MISSING or FILE_CORRUPT.
        RetryableError: SOURCE_CHANGED_UNDER_READ or COMMIT_CONFLICT.
    """
    if plan.first_run and plan.stages:
        _hold_place(plan.target)
    for stage in _all_of(plan):
        if isinstance(stage, CheckBatch) and stage.quarantine is not None:
            _hold_place(stage.quarantine, is_quarantine=True)
        # Listings of a store take their time: the second look would be at the same files.
        if is_run_next and not is_local(_held_of(stage)):
            continue
        if not isinstance(stage, Commit):
            hold_read(stage)
        elif (target := state.table(stage.table)) is not None and target.commits:
            hold_target(target, stage)


def _hold_place(target: TableRef, is_quarantine: bool = False) -> None:
    """Refuse to make a table where rows of another one lie: Hudi would write beside them, and read some of them as its own."""
    base = local_path(target.path)
    names = set(told(target, storage_for(base).names)(base))
    found = sorted(name for name in names if _OF_OTHERS.search(name)) or sorted(
        {"data", "metadata"} if {"data", "metadata"} <= names else ()
    )
    if found and ".hoodie" not in names:
        raise StateError(
            "QUARANTINE_OCCUPIED" if is_quarantine else "TARGET_OCCUPIED",
            f"{target.name}: there is no Hudi table at {target.path}, and what lies there is something "
            f"else: {', '.join(found[:3])}{', ...' * (len(found) > 3)}.",
            "Nothing was read or written.",
            "Move them away, or name another place by LOCATION in the DDL"
            + (" (the quarantine lies beside the target)" if is_quarantine else "")
            + "; where a Hudi table lost its .hoodie, restore that.",
            path=target.path,
            found=found[:10],
        )


def _held_of(stage: Stage) -> str:
    match stage:
        case ReadIncrement() | ReadLookback() | ReadSnapshot() | ReadPartitions() | ReadRange() | ReadQuarantine():
            return stage.table.path
        case MergeColumns() | MergeEvents() | Commit():
            return stage.table.path
        case DriveRows():
            return stage.source.path
        case _:
            return ""


def _all_of(plan: Plan) -> Iterator[Stage]:
    for stage in plan.stages:
        of_source = isinstance(stage, ReadIncrement) or (isinstance(stage, ReadRange) and stage.view == MAIN)
        if not of_source or plan.source_kind == HUDI:
            # A source of another kind has no files of a table; its reader refuses what is gone.
            yield stage
        if isinstance(stage, DriveRows):
            yield stage.changes


def hold_read(stage: Stage) -> None:
    """Refuse to read what a stage reads where files of it are gone or cut; what only the batch tells is held once it does.

    Args:
        stage: Any stage of a plan.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
        RetryableError: SOURCE_CHANGED_UNDER_READ.
    """
    match stage:
        case ReadIncrement():
            _hold_increment(stage)
        case ReadLookback() if stage.window.kind != "idle":
            _hold_increment(
                ReadIncrement(
                    table=stage.table,
                    window=stage.window,
                    with_deletes=False,
                    before=(),
                    as_of=stage.as_of,
                    partitions=stage.partitions,
                )
            )
        case DriveRows():
            hold_version(stage.source, Version(stage.as_of), _UNTOUCHED)
        case ReadSnapshot() if not (stage.columns or stage.empty):
            hold_version(stage.table, Version(stage.as_of, stage.overtakers), _UNTOUCHED)
        case ReadPartitions() if stage.known is not None:
            hold_partitions(stage, {*stage.known, *stage.also})
        case ReadRange():
            hold_version(stage.table, Version(stage.as_of), _UNTOUCHED, partial(_may_hold, stage))
        case ReadQuarantine():
            hold_version(stage.table, Version(""), _UNTOUCHED)
        case MergeColumns() | MergeEvents() if stage.target_exists:
            hold_version(stage.table, Version(""), _UNTOUCHED, changed="COMMIT_CONFLICT")
        case _:
            pass


def hold_partitions(stage: ReadPartitions, wanted: Collection[tuple[str, ...]]) -> None:
    """Refuse to read partitions of a table of which files are gone or cut.

    Args:
        stage: The table.
        wanted: The partitions' values, in the order of ``stage.on``.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
        RetryableError: SOURCE_CHANGED_UNDER_READ.
    """
    columns = [column for column, _ in stage.on]
    hold_version(stage.table, Version(stage.as_of, stage.overtakers), _UNTOUCHED, partial(_is_among, columns, wanted))


def hold_target(target: TableState, commit: Commit) -> None:
    """Refuse to write over files of the target that are gone or cut: Hudi logs over them unseen, or makes others instead.

    Args:
        target: The target now.
        commit: What is to be written; one that replaces partitions is how such files are got rid of.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
        RetryableError: COMMIT_CONFLICT.
    """
    # A write without one deletes it.
    if commit.options.get(METADATA_ENABLE, "true").lower() != "false":
        hold_metadata(target, _UNTOUCHED, commit.options.get(INDEX_TYPE) == "RECORD_INDEX")
    if not commit.empty and not commit.operation.startswith("insert_overwrite"):
        hold_version(target, Version(""), _UNTOUCHED, changed="COMMIT_CONFLICT", is_listed=False)


def _hold_increment(stage: ReadIncrement) -> None:
    window = stage.window
    if window.kind == "whole_table":
        hold_version(stage.table, Version(stage.as_of), _UNTOUCHED)
    elif window.kind == "increment":
        hold_files(stage.table, window.requested, stage.as_of, _UNTOUCHED, window.whole_files)
    # Of rows that a version lacks for want of a file nobody could tell that they were deleted.
    for version in stage.before:
        hold_version(stage.table, version, _UNTOUCHED, partial(_is_one_of, stage.partitions))


def _is_one_of(partitions: Partitions, state: TableState, folder: str) -> bool:
    return not partitions.paths or folder in partitions.paths


def _is_among(columns: list[str], wanted: Collection[tuple[str, ...]], state: TableState, folder: str) -> bool:
    by, encoded = state.config.partition_by, state.config.url_encoded
    values = partition_values(folder, by, encoded) if state.config.plain_paths else None
    return values is None or tuple(values[by.index(column)] for column in columns) in wanted


def _may_hold(stage: ReadRange, state: TableState, folder: str) -> bool:
    columns = state.config.partition_by
    values = partition_values(folder, columns, state.config.url_encoded)
    day = values[columns.index(stage.column)][:10] if values and stage.column in columns else ""
    return not re.fullmatch(r"\d{4}-\d\d-\d\d", day) or stage.start[:10] <= day <= stage.end[:10]
