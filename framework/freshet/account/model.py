"""What became of each commit of a source: plain values, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from freshet.hudi.instants import UTC_ZONE

#: What became of a commit of a source, or of a range of a topic.
#: taken: a run has read it. whole: a run that read the whole source has. before: the target's timeline begins after it.
#: skipped: the first run began behind it, as the pipeline says. waiting: the next run reads it.
#: dropped: no run has read it, and none will. gone: it was read, and the source has taken it back since.
Fate = Literal["taken", "whole", "before", "skipped", "waiting", "dropped", "gone"]
FATES: tuple[Fate, ...] = ("taken", "whole", "before", "skipped", "waiting", "dropped", "gone")


@dataclass(frozen=True, kw_only=True)
class Fed:
    """A commit of a source, or a range of offsets of a topic's partition.

    Args:
        what: Completion time; of a range ``topic,partition:from-to``, the end exclusive.
        rows: Rows inserted, updated or deleted; of a range its offsets, of which some may hold no record.
        fate: What became of it.
        by: Completion times of the target's commits that took it, oldest first; more than one: it was applied again.
        why: Why it was dropped or skipped, or how it came to be applied again; empty otherwise.
    """

    what: str
    rows: int
    fate: Fate
    by: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_fault(self) -> bool:
        """Return True where it was dropped, taken back, or applied more than once."""
        return self.fate in ("dropped", "gone") or len(self.by) > 1

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {"what": self.what, "rows": self.rows, "fate": self.fate, "by": list(self.by), "why": self.why}


@dataclass(frozen=True, kw_only=True)
class Take:
    """What one commit of the target took of the main source, and what became of these rows.

    Args:
        commit: Its completion time.
        run_id: The run that made it; empty where that was not freshet.
        origin: ``increment``, ``whole_table``, ``driven`` or what else the commit says of itself.
        commits: How many commits it took.
        rows_in: Rows of these; None where it read more than commits.
        batch: Rows that the SQL and the Python made of them; None where no check counted them.
        published: Rows inserted, updated or deleted.
        quarantined: Rows that went to the quarantine.
        is_by_this_logic: True where the pipeline's files were then what they are now.
        why: What is wrong with it; empty where nothing is.
    """

    commit: str
    run_id: str = ""
    origin: str = ""
    commits: int = 0
    rows_in: int | None = None
    batch: int | None = None
    published: int = 0
    quarantined: int = 0
    is_by_this_logic: bool = False
    why: str = ""

    @property
    def by_logic(self) -> int | None:
        """Return how many rows fewer the SQL and the Python made than came in, by filters and groups; None where unknown.

        Below 0 where they made more.
        """
        return None if self.rows_in is None or self.batch is None else self.rows_in - self.batch

    @property
    def by_write(self) -> int | None:
        """Return how many rows of the batch changed nothing; None where unknown.

        Several had the same key, or one was older than what stands.
        """
        return None if self.batch is None else self.batch - self.quarantined - self.published

    @property
    def left_out(self) -> int | None:
        """Return the two together: what came in and was neither published nor put in the quarantine; None where unknown."""
        return None if self.rows_in is None else self.rows_in - self.quarantined - self.published

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {**vars(self), "by_logic": self.by_logic, "by_write": self.by_write, "left_out": self.left_out}


@dataclass(frozen=True, kw_only=True)
class Edge:
    """One source of a pipeline, and what became of all that was committed to it.

    Args:
        input: The source's name in the SQL; ``SRC`` is the main source.
        table: The table, or the topics.
        fed: Its commits, or ranges, oldest first.
        unit: What ``fed`` has: ``commit`` or ``range``.
        why: Why nothing can be told of it; empty where it can.
        zone: Zone by which it names commits.
    """

    input: str
    table: str
    fed: tuple[Fed, ...] = ()
    unit: str = "commit"
    why: str = ""
    zone: str = UTC_ZONE

    @property
    def sums(self) -> Mapping[Fate, tuple[int, int]]:
        """Return how many commits had each fate, and their rows; those of none are left out."""
        return {fate: found for fate in FATES if (found := _sum(one for one in self.fed if one.fate == fate))[0]}

    @property
    def total(self) -> tuple[int, int]:
        """Return how many commits there are, and their rows."""
        return _sum(self.fed)

    @property
    def faults(self) -> tuple[Fed, ...]:
        """Return what was dropped, taken back, or applied more than once."""
        return tuple(one for one in self.fed if one.is_fault)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {
            "input": self.input,
            "table": self.table,
            "unit": self.unit,
            "zone": self.zone,
            "why": self.why,
            "total": {"commits": self.total[0], "rows": self.total[1]},
            "sums": {fate: {"commits": commits, "rows": rows} for fate, (commits, rows) in self.sums.items()},
            "commits": [one.as_json() for one in self.fed],
        }


def _sum(fed: Iterable[Fed]) -> tuple[int, int]:
    rows = [one.rows for one in fed]
    return len(rows), sum(rows)


@dataclass(frozen=True, kw_only=True)
class Account:
    """A pipeline's account.

    Args:
        pipeline: The pipeline.
        target: Its table.
        edges: Its sources: the main source first, then each input that drives runs.
        takes: The target's commits that took something of the main source, oldest first.
        leaves_out: Parts of its SQL and Python that can leave rows out, each with its place.
        unclosed: What does not agree with the account of a pipeline upstream, in words.
        error: Why nothing can be told, as ``code: message``; empty where it can.
        zone: Zone by which the target names commits.
    """

    pipeline: str
    target: str
    edges: tuple[Edge, ...] = ()
    takes: tuple[Take, ...] = ()
    leaves_out: tuple[str, ...] = ()
    unclosed: tuple[str, ...] = field(default=())
    error: str = ""
    zone: str = UTC_ZONE

    @property
    def is_closed(self) -> bool:
        """Return True where every commit was taken once, skipped as the pipeline says, or waits."""
        faults = any(edge.faults for edge in self.edges) or any(take.why for take in self.takes)
        return not (faults or self.unclosed or self.error or any(edge.why for edge in self.edges))

    @property
    def has_faults(self) -> bool:
        """Return True where a commit was dropped or applied twice, or the sums do not close."""
        return bool(self.unclosed) or any(edge.faults for edge in self.edges) or any(take.why for take in self.takes)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {
            "pipeline": self.pipeline,
            "target": self.target,
            "zone": self.zone,
            "is_closed": self.is_closed,
            "error": self.error,
            "unclosed": list(self.unclosed),
            "leaves_out": list(self.leaves_out),
            "sources": [edge.as_json() for edge in self.edges],
            "commits": [take.as_json() for take in self.takes],
        }
