"""What the next run will cost, by the records and commits of the pipeline's runs; and whether its budget allows it. No JVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freshet.errors import FreshetError, StateError
from freshet.hudi.checkpoint import ORIGIN_KEY
from freshet.hudi.table import CommitInfo, StateReader
from freshet.plan.estimate import FEWEST, MOST, Estimate, Past, estimate
from freshet.plan.stages import Notice, Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import NO_BUDGET
from freshet.run.records import read_records
from freshet.sources.hudi.reads import counted
from freshet.storage.files import is_local

# Idle runs and failed ones lie between those that count.
_LOOKED_AT = 4 * MOST
_UNITS = ((1000, 1, "B"), (10**6, 10**3, "kB"), (10**9, 10**6, "MB"), (10**12, 10**9, "GB"), (float("inf"), 10**12, "TB"))


def estimate_of(spec: PipelineSpec, plan: Plan, state: StateReader) -> Estimate | None:
    """Return what a plan will cost; None where nobody can tell.

    Only increments are estimated: of a run that reads the whole source, or what inputs drive, no commits tell the rows.

    Args:
        spec: The pipeline.
        plan: Its plan.
        state: Reader of the tables.
    """
    if plan.window.kind != "increment" or not plan.stages or plan.window.rows <= 0:
        return None
    return estimate(plan.window.rows, tuple(_past(spec, state)))


def shown_estimate(spec: PipelineSpec, plan: Plan, state: StateReader) -> Estimate | None:
    """Return what a plan will cost, where that is worth a look: of a far store each record of a run takes its time."""
    if not is_local(spec.target.ref.path) and spec.budget == NO_BUDGET:
        return None
    try:
        return estimate_of(spec, plan, state)
    except (FreshetError, OSError):
        # What cannot be read is told by whoever needs it.
        return None


def _past(spec: PipelineSpec, state: StateReader) -> Iterator[Past]:
    target = state.table(spec.target.ref)
    if target is None:
        return
    commits = {instant.completed: instant for instant in target.commits}
    records, _ = read_records(spec.target.ref, spec.name, _LOOKED_AT)
    found = 0
    for record in records:
        made, seconds = record.get("commits") or [], record.get("seconds") or {}
        rows = (record.get("rows") or {}).get("read")
        # Of several commits in one record nobody knows which took how long.
        if record["what"] != "run" or record["outcome"] != "committed" or len(made) != 1 or not rows:
            continue
        instant = commits.get(made[0])
        info = target.info(instant) if instant is not None else None
        if info is None or info.extra.get(ORIGIN_KEY) != "increment" or "total" not in seconds:
            continue
        took = float(seconds["total"]) - float(seconds.get("session", 0)) - float(record.get("waited_seconds", 0))
        yield Past(rows=int(rows), seconds=max(0.0, took), written_bytes=_bytes(info), file_groups=len(info.file_ids))
        found += 1
        if found == MOST:
            return


def _bytes(info: CommitInfo) -> int:
    return sum(size for _, size in info.files)


def hold_budget(spec: PipelineSpec, plan: Plan, state: StateReader) -> tuple[Notice, ...]:
    """Return what is to be said of a plan that costs more than the pipeline's budget allows.

    Args:
        spec: The pipeline.
        plan: Its plan.
        state: Reader of the tables.

    Raises:
        StateError: BUDGET_EXCEEDED, where the budget refuses such a run.
    """
    budget = spec.budget
    found = estimate_of(spec, plan, state) if budget != NO_BUDGET else None
    if found is None:
        return ()
    over = [
        f"{shown} of {allowed} allowed"
        for value, limit, shown, allowed in (
            (found.seconds.value, budget.seconds, _seconds(found.seconds.value), _seconds(budget.seconds or 0)),
            (
                found.written_bytes.value,
                budget.written_bytes,
                _size(found.written_bytes.value),
                _size(budget.written_bytes or 0),
            ),
            (
                found.file_groups.value,
                budget.file_groups,
                counted(round(found.file_groups.value), "file group"),
                f"{budget.file_groups or 0:,}",
            ),
        )
        if limit is not None and value > limit
    ]
    if not over:
        return ()
    words = f"{spec.name}: the next run reads {counted(found.rows, 'row')} and will take {', '.join(over)}"
    if budget.over == "warn":
        return (Notice("OVER_BUDGET", f"{words}."),)
    raise StateError(
        "BUDGET_EXCEEDED",
        f"{words}, by {counted(found.runs, 'earlier run')}.",
        "Nothing was read or written, and the checkpoint stays.",
        f"To let this run pass: freshet run {spec.name} --set budget.over=warn; to read less at a time: a smaller "
        "hoodie.streamer.source.hoodieincr.num.instants (max.events.to.read of topics); or raise budget: in the YAML.",
        estimate=found.as_json(),
    )


def estimate_words(found: Estimate | None, plan: Plan) -> Sequence[str]:
    """Return an estimate in words, as lines; none where there is nothing to estimate."""
    if found is None:
        if plan.window.kind != "increment" or not plan.stages:
            return ()
        return (f"none yet: it takes {FEWEST} runs of this pipeline that committed an increment",)
    figures = (
        (f"{_seconds(found.seconds.value)} without Spark's start", found.seconds.error),
        (f"{_size(found.written_bytes.value)} written", found.written_bytes.error),
        (counted(round(found.file_groups.value), "file group"), found.file_groups.error),
    )
    told = ", ".join(f"{words} (±{error:.0%})" for words, error in figures)
    beyond = "; no run has read nearly as many rows" if found.is_beyond else ""
    return (f"{told}; by {counted(found.runs, 'run')}, with their median error{beyond}",)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _size(size: float) -> str:
    divisor, unit = next((divisor, unit) for below, divisor, unit in _UNITS if size < below)
    return f"{size / divisor:.3g} {unit}"
