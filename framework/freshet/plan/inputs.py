"""Plan how the other inputs are read: which commits, which version, which partitions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint, Position
from freshet.hudi.table import StateReader, TableState
from freshet.plan.stages import Stage
from freshet.project.model.pipeline import InputSpec, PipelineSpec, SourceSpec
from freshet.sources.hudi.look.late import completion_of, position_at, refuse_late
from freshet.sources.hudi.look.lookback import look_back
from freshet.sources.hudi.look.partitions import known_partitions, touched_partitions
from freshet.sources.hudi.look.replaced import refuse_replaced
from freshet.sources.hudi.look.taken_back import refuse_taken_back
from freshet.sources.hudi.look.unreadable import refuse_unreadable
from freshet.sources.hudi.look.versions import (
    deletes_some,
    is_kept,
    refuse_cleaned,
    version_at_end,
    version_before,
    version_now,
)
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.reads import (
    DriveRows,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadSnapshot,
    Version,
    Window,
    counted,
)


@dataclass(frozen=True)
class InputTables:
    """The tables of a run's other inputs at the moment of planning, by the inputs' names.

    Args:
        states: Each table's state; None for the pipeline's own target before its first run.
        drivers: What is new in each input that drives.
    """

    states: Mapping[str, TableState | None]
    drivers: Mapping[str, Window]

    @property
    def driving(self) -> Mapping[str, Window]:
        """Return the drivers in which something is new."""
        return {name: window for name, window in self.drivers.items() if window.kind in ("increment", "whole_table")}


def look_at_inputs(spec: PipelineSpec, state: StateReader, before: Checkpoint | None) -> InputTables:
    """Look at the inputs' tables, and at what is new in those that drive.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        before: The target's checkpoint.

    Raises:
        StateError: INPUT_MISSING, PARTITION_UNREADABLE, NOT_A_PARTITION, or what the window of an incremental input raises.
    """
    states: dict[str, TableState | None] = {}
    drivers: dict[str, Window] = {}
    for one in spec.inputs:
        found = states[one.name] = state.table(one.table)
        if found is None:
            if one.table.path == spec.target.ref.path:
                continue
            raise StateError(
                "INPUT_MISSING",
                f"{spec.name}: input {one.name}: there is no Hudi table at {one.table.path}.",
                "Nothing was read or written.",
                f"See {spec.file}:{one.line}.",
                path=one.table.path,
            )
        refuse_unreadable(f"{spec.name}: input {one.name}", found)
        for column, _ in one.on:
            if column not in found.config.partition_by:
                raise StateError(
                    "NOT_A_PARTITION",
                    f"{spec.name}: inputs.{one.name}.on: {column} is no partition column of "
                    f"{one.table.name} ({', '.join(found.config.partition_by) or 'not partitioned'}).",
                    "Nothing was read or written.",
                    f"See {spec.file}:{one.line}.",
                    input=one.name,
                    column=column,
                )
        if one.read == "incremental" and before is not None and before.main is not None:
            news = _news(spec, one, found, before.positions.get(one.name))
            if news is not None:
                drivers[one.name] = news
    return InputTables(states, drivers)


def with_drivers(window: Window, tables: InputTables) -> Window:
    """Return the main source's window with what its driving inputs add.

    Args:
        window: The main source's.
        tables: The inputs.
    """
    waiting = tables.driving
    if not waiting or window.kind not in ("idle", "increment") or not window.end_inclusive:
        return window
    words = ", ".join(
        f"{name}: {'the whole table' if w.kind == 'whole_table' else counted(len(w.requested), 'commit')}"
        for name, w in sorted(waiting.items())
    )
    return replace(
        window,
        kind="driven" if window.kind == "idle" else window.kind,
        reason=f"{window.reason}; {words}",
        waiting_commits=window.waiting_commits + sum(w.waiting_commits for w in waiting.values()),
        waiting_rows=window.waiting_rows + sum(w.waiting_rows for w in waiting.values()),
    )


def positions(spec: PipelineSpec, tables: InputTables, window: Window, before: Checkpoint | None) -> dict[str, Position]:
    """Return where each incremental input stands after the run: what it drives was read, or all that there is.

    Args:
        spec: The pipeline.
        tables: The inputs.
        window: What is read of the main source; where that is all, it was joined with all of the inputs.
        before: The target's checkpoint.
    """
    found: dict[str, Position] = {}
    for one in spec.inputs:
        state = tables.states[one.name]
        if one.read == "incremental" and state is not None and state.commits:
            driven = tables.drivers.get(one.name) if window.kind in ("increment", "driven") else None
            began = before.positions.get(one.name) if before and driven and driven.kind != "whole_table" else None
            found[one.name] = position_at(state, driven.end_inclusive if driven else state.commits[-1].completed, began)
    return found


def read_inputs(
    spec: PipelineSpec,
    tables: InputTables,
    window: Window,
    source: TableState,
    before: Checkpoint | None,
) -> tuple[Stage, ...]:
    """Return the stages that read the other inputs, those that add rows to ``SRC`` first.

    Args:
        spec: The pipeline.
        tables: The inputs.
        window: What is read of the main source.
        source: The main source.
        before: The target's checkpoint.
    """
    main = before.main if before else None
    read_upto = completion_of(spec.name, source, main) if main else ""
    # The rows as they were before this change; where all is read again, nobody knows what they were.
    wanted = any(one.as_of == "checkpoint" for one in spec.inputs) and window.kind != "whole_table"
    if main and wanted:
        refuse_late(spec.name, source, window)
    previous = version_before(spec.name, source, window, read_upto) if main and wanted else Version("")
    driving = tables.driving if window.kind in ("increment", "driven") else {}
    drive: list[DriveRows] = []
    for one in spec.inputs:
        if one.name in driving:
            drive.append(_drive(spec.name, one, tables, window, source, before, drive))
    # One that brings all leaves nothing to the others.
    drive = next(([replace(one, earlier=())] for one in drive if one.every_row), drive)
    others: list[Stage] = []
    for one in spec.inputs:
        state = tables.states[one.name]
        empty = state is None or not state.commits or (one.as_of == "checkpoint" and not previous.as_of)
        version = Version("") if empty else _version(one, state, previous)
        if one.read == "incremental" and state is not None:
            looked = look_back(one, state, source, window, driving.get(one.name), read_upto)
            others.append(
                ReadLookback(
                    view=one.name,
                    table=one.table,
                    window=looked,
                    partitions=touched_partitions(state, looked),
                    as_of=version_at_end(state, looked.end_inclusive),
                )
            )
        elif one.read == "affected_partitions" and window.kind != "whole_table" and not empty:
            known = known_partitions(one, source, window)
            others.append(
                ReadPartitions(
                    view=one.name,
                    table=one.table,
                    on=one.on,
                    as_of=version.as_of,
                    known=None if driving else known,
                    also=known or () if driving else (),
                    overtakers=version.overtakers,
                )
            )
        else:
            own = one.table.path == spec.target.ref.path and (state is None or not state.commits)
            others.append(
                ReadSnapshot(
                    view=one.name,
                    table=one.table,
                    as_of=version.as_of,
                    columns=spec.target.columns if own else (),
                    empty=empty,
                    overtakers=version.overtakers,
                )
            )
    return (*drive, *others)


def deferred_inputs(spec: PipelineSpec) -> tuple[Stage, ...]:
    """Return the stages as far as the files alone tell them."""
    later = Window(kind="deferred", reason="decided when the run looks at the tables")
    found: list[Stage] = [
        DriveRows(
            changes=ReadIncrement(table=one.table, window=later, with_deletes=False),
            on=one.drives,
            source=spec.source.table,
            as_of="",
            partition_by=(),
        )
        for one in spec.inputs
        if one.drives
    ]
    for one in spec.inputs:
        match one.read:
            case "incremental":
                found.append(ReadLookback(view=one.name, table=one.table, window=later))
            case "affected_partitions":
                found.append(ReadPartitions(view=one.name, table=one.table, on=one.on))
            case "snapshot":
                found.append(ReadSnapshot(view=one.name, table=one.table))
    return tuple(found)


def _news(spec: PipelineSpec, one: InputSpec, state: TableState, position: Position | None) -> Window | None:
    # Of a table that the input did not read before, all is news.
    known = position if position is not None and position.table == one.table.path else None
    source = SourceSpec(
        table=one.table,
        max_commits=spec.source.max_commits,
        missing_checkpoint="READ_UPTO_LATEST_COMMIT",
        full_scan_when_expired=spec.source.full_scan_when_expired,
        incremental_format="auto",
    )
    name = f"{spec.name}: input {one.name}"
    try:
        if one.drives:
            return next_window(name, state, source, known)
        if known is not None:
            refuse_taken_back(name, state, known.instant)
            refuse_replaced(name, state, known)
        return None
    except StateError as error:
        # `checkpoint set` moves the main source alone, which would leave a gap there and mend nothing here.
        raise StateError(
            error.code,
            error.message,
            error.effect,
            f"To read the whole main source with the whole input again: freshet checkpoint reset {spec.name}, with "
            "hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT",
            **{**error.details, "input": one.name},
        ) from error


def _drive(
    name: str,
    one: InputSpec,
    tables: InputTables,
    window: Window,
    source: TableState,
    before: Checkpoint | None,
    earlier: list[DriveRows],
) -> DriveRows:
    state, changes = tables.states[one.name], tables.drivers[one.name]
    assert state is not None
    own = before.positions.get(one.name) if before else None
    if _leaves_keys(one, state, replace(changes, requested=changes.late)):
        refuse_late(name, state, changes)
    expired = changes.kind == "whole_table" and own is not None
    wanted = expired or _leaves_keys(one, state, changes)
    # Of a table whose place another one has taken no version is at hand: nobody can tell what its rows had named.
    held = own if own is not None and own.table == one.table.path else None
    then = (version_before(name, state, changes, held.instant),) if held and wanted else ()
    then = then if not expired or all(is_kept(state, version) for version in then) else ()
    as_of = version_at_end(source, window.end_inclusive)
    refuse_cleaned(name, source, Version(as_of))
    end = version_at_end(state, changes.end_inclusive)
    read = ReadIncrement(
        table=one.table,
        window=changes,
        with_deletes=False,
        before=then,
        as_of=end,
        partitions=touched_partitions(state, changes),
    )
    return DriveRows(
        changes=read,
        on=one.drives,
        source=source.ref,
        as_of=as_of,
        partition_by=source.config.partition_by,
        held=window.requested,
        earlier=tuple((drive.changes, drive.on) for drive in earlier),
        every_row=expired and not then,
    )


def _leaves_keys(one: InputSpec, state: TableState, changes: Window) -> bool:
    """Say whether the window's rows may have named rows of the main source before that they name no longer."""
    if changes.kind != "increment":
        return False
    if deletes_some(state, changes):
        return True
    updates = any(state.info(i).updates for i in state.data_commits if i.requested in changes.requested)
    # A row's key never changes. MERGE_ON_READ counts what it appends to a log as updates, whatever it is.
    return updates and not {column for column, _ in one.drives} <= set(state.config.record_key)


def _version(one: InputSpec, state: TableState | None, previous: Version) -> Version:
    return previous if one.as_of == "checkpoint" else Version("" if one.as_of == "latest" else version_now(state))
