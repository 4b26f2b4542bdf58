"""What became of a run: for machines, in words, and of several runs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from framework.errors import FreshetError
from framework.plan.reads import counted

Outcome = Literal["committed", "idle", "failed", "skipped"]


@dataclass(frozen=True)
class RunResult:
    """What became of one pipeline.

    Args:
        pipeline: Its name.
        outcome: ``committed``, ``idle`` (nothing new), ``failed`` or ``skipped`` (an upstream pipeline failed).
        run_id: Of the last run, as it stands in its commit; empty where nothing ran.
        commits: Completion times of the commits made; more than one only when draining.
        inserts, updates, deletes: Rows, by the commits' own metadata.
        checkpoint: The main source's position afterwards; empty where there is none.
        waiting_commits: Source commits left for the next run.
        seconds: Wall time, and by phase for the last run.
        checks: What each check found, for the last run.
        quarantined: Rows that went to the quarantine.
        error: Why it failed; of one that committed or was idle, what failed after the commit.
        reason: Why it was idle or skipped.
    """

    pipeline: str
    outcome: Outcome
    run_id: str = ""
    commits: tuple[str, ...] = ()
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    checkpoint: str = ""
    waiting_commits: int = 0
    seconds: dict[str, float] | None = None
    checks: tuple[dict[str, object], ...] = ()
    quarantined: int = 0
    error: FreshetError | None = None
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {**vars(self), "commits": list(self.commits), "checks": list(self.checks),
                "error": self.error.as_json() if self.error else None}


def in_words(result: RunResult) -> str:
    """Return a run's outcome as one line."""
    rows = f"{result.inserts:,} inserted, {result.updates:,} updated, {result.deletes:,} deleted"
    match result.outcome:
        case "committed":
            left = f", {counted(result.waiting_commits, 'source commit')} left" if result.waiting_commits else ""
            if result.quarantined:
                rows += f", {result.quarantined:,} to the quarantine"
            words = f"committed {', '.join(result.commits)}: {rows}; checkpoint {result.checkpoint or 'none'}{left}"
            return f"{words}; {result.error}" if result.error else words
        case "failed":
            return f"failed: {result.error}"
        case _:
            return f"{result.outcome}: {result.reason}" + (f"; {result.error}" if result.error else "")


def summed(first: RunResult, then: RunResult) -> RunResult:
    """Return what two runs of one pipeline, one after the other, have done together."""
    return RunResult(
        then.pipeline,
        # A drain that ended idle has still committed.
        "committed" if then.outcome == "idle" and first.commits else then.outcome,
        then.run_id or first.run_id, (*first.commits, *then.commits), first.inserts + then.inserts,
        first.updates + then.updates, first.deletes + then.deletes, then.checkpoint or first.checkpoint,
        then.waiting_commits, then.seconds or first.seconds, then.checks or first.checks,
        first.quarantined + then.quarantined, then.error, then.reason,
    )
