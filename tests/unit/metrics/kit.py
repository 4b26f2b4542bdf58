"""Builders of what is measured: a pipeline's standing from timelines in memory, and runs as their records tell them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from freshet.hudi.table import MemoryState, TableState
from freshet.metrics.measured import Measured, measured
from freshet.metrics.samples import samples_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import Slo
from freshet.run.history import Entry
from freshet.run.last_runs import LastRuns
from freshet.status.status import Looked, look_at
from tests.kit.memory import a_spec, at

#: The tests' one minute begins here; ``at(0)`` in seconds since 1970.
BEGIN = datetime(2026, 8, 1, 10, 15, tzinfo=timezone.utc).timestamp()


def looked_at(*tables: TableState, now: float = BEGIN + 60, spec: PipelineSpec | None = None, **changes: Any) -> Measured:
    """Measure the pipeline over tables in memory; no run of it is recorded."""
    spec = spec or a_spec(**{"inputs": (), **changes})
    state = MemoryState({table.ref.path: table for table in tables})
    return measured(spec, state, look_at(spec, state, is_planned=False), now)


def with_runs(found: Measured, *entries: Entry, success: str = "", failures: int = 0) -> Measured:
    """Return what was measured as if these runs had been recorded, the newest first."""
    committed = next((one for one in entries if one.outcome == "committed"), None)
    worked = next((one for one in entries if one.outcome in ("committed", "failed")), None)
    runs = LastRuns(
        last=entries[0] if entries else None,
        worked=worked,
        committed=committed,
        success=success,
        failures=failures,
        newest_failure=next((one for one in entries if one.outcome in ("failed", "killed")), None),
    )
    return replace(found, runs=runs)


def a_run(begun: int, outcome: str = "committed", seconds: float = 8.0, **more: Any) -> Entry:
    """Return a run that took some seconds."""
    return Entry(begun=at(begun), what="run", outcome=outcome, seconds={"total": seconds}, **more)


def promising(found: Measured, freshness: int | None = None, max_runtime: int | None = None) -> Measured:
    """Return what was measured as if the pipeline had promised so many seconds."""
    return replace(found, spec=replace(found.spec, slo=Slo(freshness, max_runtime)))


def working(found: Measured, begun: float, what: str = "run") -> Measured:
    """Return what was measured as if something had been at work since a time."""
    status = replace(found.looked.status, running={"what": what, "begun": begun})
    return replace(found, looked=replace(found.looked, status=status))


def standing(found: Measured, **changes: Any) -> Measured:
    """Return what was measured with another standing."""
    return replace(found, looked=replace(found.looked, status=replace(found.looked.status, **changes)))


def unknown_lag(found: Measured, code: str) -> Measured:
    """Return what was measured as if an error had ended the look."""
    status = replace(found.looked.status, state=code, message=f"{code}: no")
    return replace(found, looked=Looked(status=status), waiting=())


def values(found: Measured, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of one metric by their labels behind ``env`` and ``pipeline``."""
    told = samples_of([found], "prod")
    return {tuple(value for _, value in one.labels[2:]): one.value for one in told if one.name == name}
