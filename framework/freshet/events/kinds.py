"""The kinds of events. Names and the keys of ``fields`` are stable: users' own code and the readers of JSON rely on them.

A kind without parameters of its own is no dataclass of its own: making each takes every command half a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from freshet.events.event import Event, Level, OfError, OfResult


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """A run begins, and may still wait for its target; what follows of the pipeline is of this run until the next begins.

    Args:
        what: ``run``, ``checkpoint``, ``replay``, ``backfill``, ``chunk`` or what else ``freshet history`` calls it.
    """

    name: ClassVar[str] = "run_started"
    for_machines: ClassVar[bool] = True
    what: str


@dataclass(frozen=True, kw_only=True)
class WindowPlanned(Event):
    """What the run will read of its main source is fixed.

    Args:
        kind: As ``freshet plan`` says it: ``increment``, ``whole_table``, ``idle``, ``backfill`` and others.
        commits, rows: What is read: commits, and rows by their metadata; None where no commits tell of them.
        begin, end: Completion times of the first and the last commit read, as Hudi names instants; empty where there is none.
        waiting_commits, waiting_rows: What is left for the next run.
    """

    name: ClassVar[str] = "window_planned"
    for_machines: ClassVar[bool] = True
    kind: str
    commits: int | None = None
    rows: int | None = None
    begin: str = ""
    end: str = ""
    waiting_commits: int = 0
    waiting_rows: int = 0


@dataclass(frozen=True, kw_only=True)
class LagObserved(Event):
    """How far the target is behind one of its inputs, when the run is planned.

    Args:
        input: The input's table.
        seconds: Age of the oldest commit that waits, by its completion time; 0 where none waits, and None where the zone by
            which the table names its commits is not known.
        commits, rows: What waits, the run's own window included.
    """

    name: ClassVar[str] = "lag_observed"
    for_machines: ClassVar[bool] = True
    input: str
    seconds: float | None
    commits: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class Phase(Event):
    """Something of some length begins.

    Args:
        unit: What the work consists of, such as ``chunk``; empty where it is not counted.
        number, of: Which of how many.
        seconds_left: How long all of it may still take; None where nobody can tell.
    """

    name: ClassVar[str] = "phase"
    unit: str = ""
    number: int = 0
    of: int = 0
    seconds_left: float | None = None

    @property
    def fields(self) -> Mapping[str, object]:
        if not self.unit:
            return {}
        return {"unit": self.unit, "number": self.number, "of": self.of, "seconds_left": self.seconds_left}


@dataclass(frozen=True, kw_only=True)
class StageFinished(Event):
    """A stage of the run is over.

    Args:
        stage: ``session`` (Spark is there), ``transform`` (read, transform, check) or ``write`` (one commit, index included).
        seconds: Wall time.
        rows: Rows that it has handled; None where that is not known without reading them once more.
        lazy: True where Spark has only analysed the stage, and computes its rows in the next one.
    """

    name: ClassVar[str] = "stage_finished"
    for_machines: ClassVar[bool] = True
    stage: str
    seconds: float
    rows: int | None = None
    lazy: bool = False


@dataclass(frozen=True, kw_only=True)
class CheckEvaluated(Event):
    """A check found bad rows, and the run went on.

    Args:
        outcome: What it found.
    """

    name: ClassVar[str] = "check"
    level: ClassVar[Level] = "warning"
    outcome: Mapping[str, object]

    @property
    def fields(self) -> Mapping[str, object]:
        return self.outcome


class CheckPassed(CheckEvaluated):
    """A check found nothing bad, or had nothing to look at: its ``status`` is ``passed`` or ``skipped``."""

    name: ClassVar[str] = "check_passed"
    for_machines: ClassVar[bool] = True
    level: ClassVar[Level] = "info"


@dataclass(frozen=True, kw_only=True)
class Done(Event):
    """A part of the work that has no result of its own is over.

    Args:
        commits: What it has published.
    """

    name: ClassVar[str] = "done"
    commits: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChunkDone(Event):
    """A chunk of a backfill is over.

    Args:
        number, of: Which of how many.
        rows, conflicts: Of the backfill so far.
        seconds_left: How long the other chunks may take.
        commits: Completion times of what the chunk has published; none where it failed.
    """

    name: ClassVar[str] = "chunk"
    number: int
    of: int
    rows: int = 0
    conflicts: int = 0
    seconds_left: int | None = None
    commits: tuple[str, ...] = ()


class Committed(OfResult):
    """A run has published its commit."""

    name: ClassVar[str] = "committed"


class Idle(OfResult):
    """There was nothing to do."""

    name: ClassVar[str] = "idle"


@dataclass(frozen=True, kw_only=True)
class Failed(OfError):
    """A pipeline's work ended with an error.

    Args:
        process_ends: True where the process ends at once, whatever else it is doing.
    """

    name: ClassVar[str] = "failed"
    level: ClassVar[Level] = "error"
    process_ends: bool = False

    @property
    def fields(self) -> Mapping[str, object]:
        return {**self.error, "process_ends": True} if self.process_ends else self.error


class CommandFailed(OfError):
    """A command ended with an error that no pipeline's ``failed`` tells, as of a table service or a landing."""

    name: ClassVar[str] = "command_failed"
    level: ClassVar[Level] = "error"
    for_machines: ClassVar[bool] = True


class Conflict(OfError):
    """Another writer was faster, and the work is repeated."""

    name: ClassVar[str] = "conflict"
    level: ClassVar[Level] = "warning"


class Notice(OfError):
    """Something that a person should know, while the work goes on."""

    name: ClassVar[str] = "notice"
    level: ClassVar[Level] = "warning"


class Skipped(Event):
    """A pipeline did not run, because one that it reads did not finish."""

    name: ClassVar[str] = "skipped"
    level: ClassVar[Level] = "warning"


class Waiting(Event):
    """The work waits for another writer."""

    name: ClassVar[str] = "waiting"
