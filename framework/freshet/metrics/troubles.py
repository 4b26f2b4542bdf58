"""What is wrong with a pipeline, and what of it is to be told: each trouble once, again while it lasts, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freshet.metrics.measured import Measured
from freshet.metrics.slo import in_words, objectives_of
from freshet.run.history import Entry
from freshet.secrets import redact

# A scheduler, its queue and the start of a run take their time.
LATE_SECONDS = 600
_OTHERS = {"backfill": "backfill", "service": "table service"}
#: Kinds that follow from the records of runs alone.
_OF_RUNS = ("run_failed", "backfill_failed", "service_failed")


@dataclass(frozen=True)
class Trouble:
    """Something that is wrong with a pipeline.

    Args:
        kind: ``run_failed``, ``backfill_failed``, ``service_failed``, ``refused``, ``schedule_missed``, ``freshness``,
            ``max_runtime`` or ``completeness``.
        code: The error's code; empty where it has none.
        message: In words, without a secret.
    """

    kind: str
    code: str
    message: str

    @property
    def key(self) -> str:
        """Return what makes it the same trouble as before, whatever its words say of times and numbers."""
        return f"{self.kind}:{self.code}"


@dataclass(frozen=True, kw_only=True)
class News:
    """What has to be told of a pipeline.

    Args:
        troubles: What is new, and what was told too long ago.
        recovered: What is over, in the words in which it was told.
        is_well: True where no trouble is left.
        told: What has been told once this is, to be kept.
    """

    troubles: tuple[Trouble, ...]
    recovered: tuple[str, ...]
    is_well: bool
    told: Mapping[str, Any]

    @property
    def is_any(self) -> bool:
        """Return True where there is something to tell."""
        return bool(self.troubles or self.recovered)


def troubles_of(found: Measured) -> tuple[Trouble, ...]:
    """Return what is wrong with a pipeline now."""
    return tuple(Trouble(one.kind, one.code, redact(one.message)) for one in _troubles(found))


def _troubles(found: Measured) -> Iterator[Trouble]:
    runs, status = found.runs, found.looked.status
    failed = ""
    if runs is not None and runs.failures and runs.newest_failure is not None:
        failed, words = _error_of(runs.newest_failure)
        again = f" ({runs.failures} in a row)" if runs.failures > 1 else ""
        yield Trouble("run_failed", failed, f"the last run failed{again}: {words}")
    for what, entry in (runs.others if runs is not None else {}).items():
        if entry.outcome in ("failed", "killed"):
            code, words = _error_of(entry)
            yield Trouble(f"{what}_failed", code, f"the last {_OTHERS[what]} failed: {words}")
    # What the failed run was refused for is told once.
    if status.message and status.state != failed:
        yield Trouble("refused", status.state, f"the tables forbid the next run: {status.message}")
    if found.overdue is not None and found.overdue > LATE_SECONDS:
        yield Trouble("schedule_missed", "", f"a run was due {in_words(found.overdue)} ago and has not begun")
    for one in objectives_of(found):
        if one.result == "broken":
            yield Trouble(one.objective, "", f"the promise of {one.objective} is broken: {one.reason}")


def _error_of(entry: Entry) -> tuple[str, str]:
    """Return an error's code, and the error in words."""
    chunks = entry.more.get("failed")
    if entry.error is None and isinstance(chunks, Mapping) and chunks:
        # A backfill went through all its chunks.
        label, code = next(iter(sorted(chunks.items())))
        return str(code), f"{code}: {len(chunks)} of its chunks failed, such as {label}"
    error = entry.error or {"code": "KILLED", "message": entry.reason}
    return str(error["code"]), f"{error['code']}: {error['message']}"


def news_of(found: Measured, told: Mapping[str, Any], repeat_seconds: int) -> News:
    """Return what has to be told of a pipeline.

    Args:
        found: What was measured.
        told: What was told before: by each trouble's key when, in seconds since 1970, and in which words.
        repeat_seconds: After so long what lasts is told again.
    """
    now = {one.key: one for one in troubles_of(found)}
    # Of runs whose records cannot be read nobody knows that it is over.
    lasting = {key for key in told if found.runs is None and key.partition(":")[0] in _OF_RUNS}
    due = [one for key, one in now.items() if key not in told or found.now - float(told[key]["at"]) >= repeat_seconds]
    over = [key for key in told if key not in now and key not in lasting]
    kept = {key: value for key, value in told.items() if key not in over}
    return News(
        troubles=tuple(due),
        recovered=tuple(str(told[key]["message"]) for key in over),
        is_well=not now and not lasting,
        told={**kept, **{one.key: {"at": round(found.now, 3), "message": one.message} for one in due}},
    )
