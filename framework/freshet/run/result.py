"""What became of a run: for machines, in words, and of several runs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from freshet.errors import Exit, FreshetError
from freshet.hudi.instants import readable
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import CommitInfo
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import counted

Outcome = Literal["committed", "idle", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What became of one pipeline.

    Args:
        pipeline: Its name.
        outcome: ``committed``, ``idle`` (nothing new), ``failed`` or ``skipped`` (an upstream pipeline failed).
        run_id: Of the last run, as it stands in its commit; empty where nothing ran.
        commits: Completion times of the commits made; more than one only when draining.
        inserts, updates, deletes: Rows, by the commits' own metadata; see ``mixed``.
        checkpoint: The main source's position afterwards; empty where there is none.
        waiting_commits, waiting_rows: What of the source is left for the next run, and the rows of it.
        seconds: Wall time, and by phase for the last run.
        checks: What each check found, for the last run.
        quarantined: Rows that went to the quarantine.
        error: Why it failed; of one that committed or was idle, what failed after the commit.
        reason: Why it was idle or skipped.
        moves: Rows that went to another partition, where that is known.
        mixed: Of which of these numbers Hudi does not tell all: ``updates`` hold inserted rows too, ``inserts`` and
            ``deletes`` a moved row each, and ``older_kept`` leaves out the rows of other partitions.
        zone: Zone of the checkpoint's instant, UTC or LOCAL; empty where nobody looked.
        older_kept: Older rows that stay published under the keys of rows that went to the quarantine.
        undeletable: Rows that went to the quarantine and whose older row was to be deleted, and that name none: without a key,
            a partition that the table can have, or an ordering value.
        replaced_all: True where the rows inserted replaced every row that stood.
        read_commits, read_rows: What was read of the main source and of what drives it, by its commits' metadata; None where
            no commits tell of it.
        conflicts: How often another writer was faster, and the work was repeated.
        waited_seconds: How long the run waited for its target, in whole seconds.
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
    waiting_rows: int = 0
    seconds: dict[str, float] | None = None
    checks: tuple[dict[str, object], ...] = ()
    quarantined: int = 0
    error: FreshetError | None = None
    reason: str = ""
    moves: int = 0
    mixed: tuple[str, ...] = ()
    zone: str = ""
    older_kept: int = 0
    undeletable: int = 0
    replaced_all: bool = False
    read_commits: int | None = None
    read_rows: int | None = None
    conflicts: int = 0
    waited_seconds: int = 0

    @property
    def more_waits(self) -> bool:
        """Return whether the source has something left for the next run; topics have records and no commits."""
        return bool(self.waiting_commits or self.waiting_rows)

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {
            **vars(self),
            "commits": list(self.commits),
            "checks": list(self.checks),
            "mixed": list(self.mixed),
            "error": self.error.as_json() if self.error else None,
        }


class RunsFailed(FreshetError):
    """Some of several runs failed, or were skipped behind one that did.

    Args:
        results: What became of each pipeline, those that committed included.
    """

    def __init__(self, results: Sequence[RunResult]) -> None:
        self.results = tuple(results)
        bad = {one.pipeline: one.error for one in self.results if one.error is not None}
        self.exit_code = exit_code_of(self.results)
        self.retryable = all(error.retryable for error in bad.values())
        super().__init__(
            "RUNS_FAILED",
            "; ".join(f"{name}: {error.code}: {error.message}" for name, error in bad.items()),
            "The other pipelines ran, except those that read what these write.",
            "The error's `results` say what became of each.",
            errors={name: error.as_json() for name, error in bad.items()},
        )


def exit_code_of(results: Sequence[RunResult]) -> Exit:
    """Return what a command for several pipelines ends with: the code of their errors where these agree."""
    codes = {one.error.exit_code for one in results if one.error}
    if not codes:
        return Exit.OK
    return codes.pop() if len(codes) == 1 else Exit.FAILED


def in_words(result: RunResult, now: datetime | None = None) -> str:
    """Return a run's outcome as one line; with the age of its checkpoint where it is told the time."""
    rows = _rows_in_words(result)
    match result.outcome:
        case "committed":
            number, what = result.waiting_commits, "source commit"
            if not number:
                number, what = result.waiting_rows, "record"
            left = f", {counted(number, what)} left" if number else ""
            if result.quarantined:
                older = older_in_words(result.older_kept, result.undeletable, "older_kept" in result.mixed)
                rows += f", {result.quarantined:,} to the quarantine{older}"
            commits = ", ".join(readable(commit) for commit in result.commits)
            words = f"committed {commits}: {rows}; checkpoint {readable(result.checkpoint, result.zone, now) or 'none'}{left}"
            return f"{words}; {result.error}" if result.error else words
        case "failed":
            return f"failed: {result.error}"
        case _:
            word = "nothing to do" if result.outcome == "idle" else result.outcome
            return f"{word}: {result.reason}" + (f"; {result.error}" if result.error else "")


def older_in_words(older_kept: int, undeletable: int, at_least: bool) -> str:
    """Return what becomes of the older rows of quarantined ones, in brackets; see ``RunResult``."""
    found = []
    if older_kept:
        stay = "stay" if older_kept > 1 else "stays"
        found.append(f"{'at least ' * at_least}{counted(older_kept, 'older row')} of the same key {stay} published")
    elif at_least:
        found.append("older rows of the same keys may stay published in other partitions")
    if undeletable:
        found.append(f"{counted(undeletable, 'row')} without key, place or ordering value can delete nothing")
    return f" ({'; '.join(found)})" if found else ""


def _rows_in_words(result: RunResult) -> str:
    if result.replaced_all:
        return f"{counted(result.inserts, 'row')} replaced all that stood"
    found = [f"{result.inserts:,} inserted", f"{result.updates:,} updated", f"{result.deletes:,} deleted"]
    if "updates" in result.mixed:
        found[:2] = [*found[: bool(result.inserts)], f"{result.updates:,} inserted or updated"]
    if result.moves:
        found.insert(-1, f"{result.moves:,} moved")
    both = " (a row that moved to another partition counts as both; how many did is not known)"
    return ", ".join(found) + (both if "deletes" in result.mixed else "")


@dataclass(frozen=True, kw_only=True)
class RowCounts:
    """What a commit did to rows, as far as Hudi's metadata tell: see ``RunResult``."""

    inserts: int
    updates: int
    deletes: int
    moves: int = 0
    mixed: tuple[str, ...] = ()


def row_counts(spec: PipelineSpec, info: CommitInfo) -> RowCounts:
    """Return what a commit of the pipeline did to rows.

    A row that moves is counted by Hudi as one inserted and one deleted. On MERGE_ON_READ a new row of a bucket that stands
    already goes to its log, and counts as updated.

    Args:
        spec: The pipeline.
        info: The commit's metadata.
    """
    target = spec.target
    inserts, updates, deletes, moves = info.inserts, info.updates, info.deletes, 0
    mixed: tuple[str, ...] = ()
    to_logs = target.table_type == "MERGE_ON_READ" and spec.index.type == "BUCKET"
    may_delete = spec.operation == "delete" or any(column.name == IS_DELETED for column in target.columns)
    if spec.index.is_global and target.partition_by and not may_delete and deletes <= inserts:
        inserts, deletes, moves = inserts - deletes, 0, deletes
    elif spec.index.is_global and target.partition_by and deletes and (inserts or updates):
        # With a bucket index the partition belongs to the key, or is promised to stay: no row moves.
        mixed = ("inserts", "deletes")
    if to_logs and updates:
        mixed = ("updates", *mixed)
    return RowCounts(inserts=inserts, updates=updates, deletes=deletes, moves=moves, mixed=mixed)


def summed(first: RunResult, then: RunResult) -> RunResult:
    """Return what two runs of one pipeline, one after the other, have done together."""
    return RunResult(
        pipeline=then.pipeline,
        # A drain that ended idle has still committed.
        outcome="committed" if then.outcome == "idle" and first.commits else then.outcome,
        run_id=then.run_id or first.run_id,
        commits=(*first.commits, *then.commits),
        inserts=first.inserts + then.inserts,
        updates=first.updates + then.updates,
        deletes=first.deletes + then.deletes,
        checkpoint=then.checkpoint or first.checkpoint,
        waiting_commits=then.waiting_commits,
        waiting_rows=then.waiting_rows,
        seconds=then.seconds or first.seconds,
        checks=then.checks or first.checks,
        quarantined=first.quarantined + then.quarantined,
        error=then.error,
        reason=then.reason,
        moves=first.moves + then.moves,
        mixed=tuple(sorted({*first.mixed, *then.mixed})),
        zone=then.zone or first.zone,
        older_kept=first.older_kept + then.older_kept,
        undeletable=first.undeletable + then.undeletable,
        replaced_all=then.replaced_all or first.replaced_all,
        read_commits=_sum_known([one.read_commits for one in (first, then) if one.commits]),
        read_rows=_sum_known([one.read_rows for one in (first, then) if one.commits]),
        conflicts=first.conflicts + then.conflicts,
        waited_seconds=first.waited_seconds + then.waited_seconds,
    )


def _sum_known(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None
