"""Whether a pipeline keeps what its ``slo`` promises: kept, at risk or broken, and why. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshet.hudi.table import StateReader
from freshet.metrics.complete import AT_RISK, Result, judge_completeness
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import NO_SLO
from freshet.secrets import redact
from freshet.sources.hudi.reads import counted
from freshet.status.status import Looked

if TYPE_CHECKING:
    from freshet.metrics.measured import Measured, Waiting

_UNITS = ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h"), (float("inf"), 86_400, "days"))


@dataclass(frozen=True, kw_only=True)
class Objective:
    """One promise, and what has become of it.

    Args:
        objective: ``freshness``, ``max_runtime`` or ``completeness``.
        seconds: What is promised; of a completeness, how long after its end a window is due.
        result: Whether it is kept.
        reason: Why, in words.
    """

    objective: str
    seconds: int
    result: Result
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        # A table without a name is told by its path.
        return {**vars(self), "reason": redact(self.reason)}


def judged(spec: PipelineSpec, looked: Looked, state: StateReader) -> Mapping[str, Any]:
    """Return what has become of a pipeline's promises and its schedule, by the fields of its standing; without them nothing.

    Args:
        spec: The pipeline.
        looked: Its standing.
        state: Read-only view of the tables, which reads each of them once.
    """
    if spec.slo == NO_SLO and not spec.schedule:
        return {}
    # What it takes to measure takes longer to load than most commands have.
    from freshet.metrics.measured import measured

    found = measured(spec, state, looked, time.time())
    return {"slo": tuple(one.as_json() for one in objectives_of(found)), "overdue_seconds": found.overdue}


def objectives_of(found: Measured) -> tuple[Objective, ...]:
    """Return what has become of each promise of a pipeline; none where it makes none."""
    return tuple(_objectives(found))


def _objectives(found: Measured) -> Iterator[Objective]:
    slo = found.spec.slo
    if slo.freshness_seconds is not None:
        result, reason = _freshness(found, slo.freshness_seconds)
        yield Objective(objective="freshness", seconds=slo.freshness_seconds, result=result, reason=reason)
    if slo.max_runtime_seconds is not None:
        result, reason = _runtime(found, slo.max_runtime_seconds)
        yield Objective(objective="max_runtime", seconds=slo.max_runtime_seconds, result=result, reason=reason)
    if slo.completeness is not None and found.spec.event_times is not None:
        result, reason = judge_completeness(found.completeness, slo.completeness, found.now)
        seconds = found.spec.event_times.lateness_seconds
        yield Objective(objective="completeness", seconds=seconds, result=result, reason=reason)


def _freshness(found: Measured, limit: int) -> tuple[Result, str]:
    status, allowed = found.looked.status, f"{in_words(limit)} are allowed"
    oldest = max((one for one in found.waiting if one.seconds), key=lambda one: one.seconds or 0.0, default=None)
    if oldest is not None and (oldest.seconds or 0.0) > limit:
        return "broken", f"{_waits(oldest)}, and {allowed}"
    # What the timelines do not tell may be worse than what they do.
    if status.state == "waiting":
        return "at_risk", f"it waits for the first run of {', '.join(status.waits_for)}"
    if _is_unknown(found):
        return _by_success(found, limit)
    if status.message:
        return "at_risk", f"{status.state} forbids the next run" + (f"; {_waits(oldest)}" if oldest else "")
    if oldest is None:
        return "kept", "nothing waits"
    if (oldest.seconds or 0.0) > AT_RISK * limit:
        return "at_risk", f"{_waits(oldest)}, and {allowed}"
    if found.runs and found.runs.failures:
        return "at_risk", f"{_waits(oldest)}, and the last {counted(found.runs.failures, 'run')} failed"
    return "kept", f"{_waits(oldest)}, and {allowed}"


def _is_unknown(found: Measured) -> bool:
    known = {one.input for one in found.waiting if one.seconds is not None}
    wanted = {found.spec.source.table.name}
    if found.looked.lag is not None and found.looked.lag.position:
        wanted |= {one.table.name for one in found.spec.inputs if one.drives and not _begins_anew(found, one.name)}
    return not wanted <= known


def _begins_anew(found: Measured, name: str) -> bool:
    # An input that drives for the first time has no commit that waits.
    window = (found.looked.drivers or {}).get(name)
    return window is not None and window.kind not in ("idle", "increment")


def _by_success(found: Measured, limit: int) -> tuple[Result, str]:
    """Judge by the last success where nobody can tell what waits: only what it left behind can be late within the limit."""
    status = found.looked.status
    why = (
        f"{status.state}: what waits cannot be told"
        if status.message
        else "in which zone an input names its commits is unknown"
    )
    if found.last_success is None:
        return "broken", f"{why}, and no run has succeeded"
    age = max(0.0, found.now - found.last_success)
    return ("broken" if age > limit else "at_risk"), f"{why}, and the last success is {in_words(age)} ago"


def _runtime(found: Measured, limit: int) -> tuple[Result, str]:
    from freshet.run.record_files import RUNS

    allowed = f"{in_words(limit)} are allowed"
    took = found.runs.worked.seconds.get("total") if found.runs and found.runs.worked else None
    at_work = None
    if found.running and found.running[0] in RUNS:
        at_work = max(0.0, found.now - found.running[1])
    if at_work is not None and at_work > limit:
        return "broken", f"the run at work has taken {in_words(at_work)}, and {allowed}"
    if took is not None and took > limit:
        return "broken", f"the last run took {in_words(took)}, and {allowed}"
    if at_work is not None and at_work > AT_RISK * limit:
        return "at_risk", f"the run at work has taken {in_words(at_work)}, and {allowed}"
    if took is None:
        return "kept", "no run that had work to do is recorded"
    return ("at_risk" if took > AT_RISK * limit else "kept"), f"the last run took {in_words(took)}, and {allowed}"


def _waits(one: Waiting) -> str:
    of = f"the oldest of {counted(one.commits, 'commit')} that wait" if one.commits > 1 else "the commit that waits"
    return f"{of} in {one.input} completed {in_words(one.seconds or 0.0)} ago"


def in_words(seconds: float) -> str:
    """Return a length of time in words, such as ``42 min``."""
    size, unit = next((size, unit) for below, size, unit in _UNITS if seconds < below)
    return f"{round(seconds / size, 1):g} {unit}"
