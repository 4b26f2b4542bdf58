"""What is wrong with a pipeline, each with what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from freshet.errors import Problem
from freshet.metrics import troubles
from freshet.metrics.measured import Measured
from freshet.metrics.slo import in_words, objectives_of
from freshet.site.facts import FileProblem, Trouble
from freshet.site.remedies import remedy_of
from freshet.sources.hudi.reads import counted

_COMMANDS = {
    "run_failed": "history {name} --failed",
    "refused": "plan {name}",
    "schedule_missed": "history {name}",
    "freshness": "plan {name}",
    "max_runtime": "history {name} --limit 50",
    "completeness": "status {name} --completeness",
}
_REMEDIES = {
    "schedule_missed": "Look at the scheduler: nothing else begins a run.",
    "freshness": "The plan says what waits, and what keeps it from being read.",
    "max_runtime": "The history has the seconds of each phase: compare them with those of earlier runs.",
}


def troubles_of(found: Measured, audit: Mapping[str, Any] | None, command: Callable[[str], str]) -> tuple[Trouble, ...]:
    """Return what is wrong with a pipeline, what is worst first.

    Args:
        found: What was measured of it.
        audit: What its last audit found; None where there was none.
        command: Makes a command of what stands behind ``freshet``.
    """
    all_of = [*_as_notified(found, command), *_warnings(found, audit, command)]
    return tuple(sorted(all_of, key=lambda one: one.tone != "bad"))


def _as_notified(found: Measured, command: Callable[[str], str]) -> Iterator[Trouble]:
    for one in troubles.troubles_of(found):
        yield Trouble(
            tone="bad",
            kind=one.kind,
            code=one.code,
            message=one.message,
            remedy=_REMEDIES.get(one.kind, "") or remedy_of(one.code, found.spec.name),
            command=command(_COMMANDS[one.kind].format(name=found.spec.name)),
        )


def _warnings(found: Measured, audit: Mapping[str, Any] | None, command: Callable[[str], str]) -> Iterator[Trouble]:
    spec, status, name = found.spec, found.looked.status, found.spec.name
    for one in objectives_of(found):
        if one.result == "at_risk":
            yield Trouble(
                tone="warn",
                kind=one.objective,
                message=f"the promise of {one.objective} is at risk: {one.reason}",
                command=command(_COMMANDS[one.objective].format(name=name)),
            )
    if spec.schedule and status.state == "new" and found.runs is not None and found.runs.last is None:
        yield Trouble(
            tone="warn",
            kind="never_ran",
            message=f"it has a schedule ({spec.schedule}, {spec.schedule_zone}) and never ran",
            remedy="Let the scheduler begin a run, or begin it by hand.",
            command=command(f"run {name}"),
        )
    oldest = max((one.seconds or 0.0 for one in found.waiting if one.input == spec.source.table.name), default=0.0)
    left = status.minutes_to_horizon
    if left is not None and oldest and left * 60 < oldest:
        yield Trouble(
            tone="warn",
            kind="history_runs_out",
            message=f"{spec.source.table.name} keeps {in_words(left * 60)} of history before the checkpoint, and the oldest "
            f"commit that waits has waited {in_words(oldest)}: the checkpoint will expire",
            command=command(f"run {name} --drain"),
        )
    rows = int(found.runs.committed.rows.get("quarantined") or 0) if found.runs and found.runs.committed else 0
    if rows:
        yield Trouble(
            tone="warn",
            kind="quarantine",
            message=f"the last run that committed sent {counted(rows, 'row')} to the quarantine",
            remedy="Look at them; replay them once they are right, or drop them.",
            command=command(f"quarantine show {name}"),
        )
    if audit is not None and audit.get("outcome") == "differs":
        yield Trouble(
            tone="bad",
            kind="audit",
            message=f"the last audit found {counted(audit['differing'], 'row')} that differ from a recompute",
            remedy="Audit all rows, which names the cause, and repair them.",
            command=command(f"audit {name} --all --repair"),
        )
    for line in status.advice.splitlines():
        code, _, words = line.partition(": ")
        yield Trouble(tone="warn", kind="advice", code=code, message=words)


def of_files(problems: Sequence[Problem], name: str, command: Callable[[str], str]) -> tuple[Trouble, ...]:
    """Return what is wrong with a pipeline whose files are."""
    count = counted(len(problems), "problem")
    return (
        Trouble(
            tone="bad",
            kind="files",
            code="INVALID_PROJECT",
            message=f"its files have {count}: no command takes it until they are right",
            remedy="Correct the places that its page names.",
            command=command(f"validate {name}"),
        ),
    )


def problems_of(problems: Iterable[Problem]) -> tuple[FileProblem, ...]:
    """Return problems of files as they are shown."""
    return tuple(
        FileProblem(place=f"{one.file}:{one.line}" if one.line else one.file, code=one.code, message=one.message, hint=one.hint)
        for one in problems
    )
