"""Plan how the other inputs are read: which commits, which version, which partitions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import StateReader
from freshet.plan.stages import Stage
from freshet.project.model.pipeline import InputSpec, PipelineSpec
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
from freshet.sources.position import Position
from freshet.sources.protocol import InputTable, Source
from freshet.sources.registry import find_input


@dataclass(frozen=True)
class InputTables:
    """The tables of a run's other inputs at the moment of planning, by the inputs' names.

    Args:
        states: Each table as it was looked at; None for the pipeline's own target before its first run.
        drivers: What is new in each input that drives.
    """

    states: Mapping[str, InputTable | None]
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
    states: dict[str, InputTable | None] = {}
    drivers: dict[str, Window] = {}
    for one in spec.inputs:
        found = states[one.name] = find_input(spec, one, state)
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
        found.refuse_unreadable()
        for column, _ in one.on:
            if column not in found.partition_by:
                raise StateError(
                    "NOT_A_PARTITION",
                    f"{spec.name}: inputs.{one.name}.on: {column} is no partition column of "
                    f"{one.table.name} ({', '.join(found.partition_by) or 'not partitioned'}).",
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
    """Return the main source's window with what its driving inputs add."""
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
        table = tables.states[one.name]
        if one.read == "incremental" and table is not None and not table.is_empty:
            driven = tables.drivers.get(one.name) if window.kind in ("increment", "driven") else None
            found[one.name] = table.position_after(driven, before.positions.get(one.name) if before else None)
    return found


def read_inputs(
    spec: PipelineSpec,
    tables: InputTables,
    window: Window,
    source: Source,
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
    read_upto = source.position_words(main) if main else ""
    # The rows as they were before this change; where all is read again, nobody knows what they were.
    wanted = any(one.as_of == "checkpoint" for one in spec.inputs) and window.kind != "whole_table"
    previous = source.version_before(window, main) if main and wanted else Version("")
    driving = tables.driving if window.kind in ("increment", "driven") else {}
    drive: list[DriveRows] = []
    for one in spec.inputs:
        if one.name in driving:
            drive.append(_drive(one, tables, window, source, before, drive))
    # One that brings all leaves nothing to the others.
    drive = next(([replace(one, earlier=())] for one in drive if one.every_row), drive)
    others: list[Stage] = []
    for one in spec.inputs:
        table = tables.states[one.name]
        empty = table is None or table.is_empty or (one.as_of == "checkpoint" and not previous.as_of)
        version = Version("") if empty else _version(one, table, previous)
        if one.read == "incremental" and table is not None:
            others.append(table.look_back(source, window, driving.get(one.name), read_upto))
        elif one.read == "affected_partitions" and window.kind != "whole_table" and not empty:
            known = source.known_partitions(one, window)
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
            own = one.table.path == spec.target.ref.path and (table is None or table.is_empty)
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


def _news(spec: PipelineSpec, one: InputSpec, table: InputTable, position: Position | None) -> Window | None:
    try:
        return table.news(position)
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
    one: InputSpec,
    tables: InputTables,
    window: Window,
    source: Source,
    before: Checkpoint | None,
    earlier: list[DriveRows],
) -> DriveRows:
    table, changes = tables.states[one.name], tables.drivers[one.name]
    assert table is not None
    own = before.positions.get(one.name) if before else None
    read = table.read_changes(changes, own)
    expired = changes.kind == "whole_table" and own is not None
    return source.drive(one, read, window, earlier, every_row=expired and not read.before)


def _version(one: InputSpec, table: InputTable | None, previous: Version) -> Version:
    now = table.version_now() if table is not None and one.as_of == "run_start" else ""
    return previous if one.as_of == "checkpoint" else Version(now)
