"""What the events of one run have told so far, as much of it as lineage needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from freshet.events.kinds import WindowPlanned

#: What an event says of a run.
Ending = Literal["START", "COMPLETE", "FAIL", "ABORT"]
#: Statuses of checks that looked at rows, and what each says of them.
SUCCESS: Mapping[str, bool] = {"passed": True, "failed": False, "warned": False, "dropped": False}


@dataclass(kw_only=True)
class Told:
    """A run, as far as it has told of itself.

    Args:
        pipeline: The pipeline.
        run_id: The run's id, as its commit has it.
        what: ``run``, ``chunk``, ``replay``, ``checkpoint`` or what else ``freshet history`` calls it.
        begun: When it began, in seconds since 1970.
        is_started: True once its beginning has been sent.
        window: What it reads; None before its plan.
        checks: What its checks found.
        rows: Rows that its commit has written; None where it does not tell.
        commit: Completion time of its commit; empty where there is none.
        quarantined: Rows that went to the quarantine.
        error: The last error that a warning told.
    """

    pipeline: str
    run_id: str
    what: str
    begun: float
    is_started: bool = False
    window: WindowPlanned | None = None
    checks: list[Mapping[str, Any]] = field(default_factory=list)
    rows: int | None = None
    commit: str = ""
    quarantined: int = 0
    error: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows_read(self) -> int | None:
        """Return how many rows of the main source are read, by its commits' metadata; None where they do not tell."""
        return self.window.rows if self.window else None

    @property
    def read_upto(self) -> str:
        """Return the version of the main source that is read: the last commit's completion time; empty where it is none."""
        return self.window.end if self.window else ""
