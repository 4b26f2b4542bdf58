"""What an audit found: as data, for machines and in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from freshet.audit.bounds import CONFIDENCE, upper_bound

Outcome = Literal["equal", "differs", "repaired"]
#: How many rows are shown.
MOST_EXAMPLES = 10


@dataclass(frozen=True, kw_only=True)
class Example:
    """A row that is wrong.

    Args:
        kind: ``missing``, ``surplus`` or ``unequal``.
        key: The columns that tell it apart.
        columns: Those that differ; of a row that stands on one side alone none.
        recompute: The row as it should be; None where there should be none.
        target: The row as it stands; None where none does.
        commit: Request time of the commit that wrote what stands; empty where nothing does.
    """

    kind: str
    key: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    recompute: Mapping[str, Any] | None = None
    target: Mapping[str, Any] | None = None
    commit: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the row as a JSON-serialisable mapping."""
        return {**vars(self), "columns": list(self.columns)}


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows of one kind that one commit wrote.

    Args:
        kind: ``equal``, ``missing``, ``surplus``, ``unequal``; ``kept_out`` or ``lost``: a check keeps the row of that key out,
            and it waits in the quarantine, or nowhere.
        commit: Request time of the commit that wrote the rows that stand; empty where none do, and of rows that are right.
        rows: How many.
        twice: Of these, those that stand besides another row of their key.
        outranked: Of these, those that are newer by their ordering value than the row that should stand.
        columns: How many differ in each column.
        examples: Some of them.
    """

    kind: str
    commit: str = ""
    rows: int = 0
    twice: int = 0
    outranked: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Where differences come from.

    Args:
        code: Stable name.
        message: What it is, in words.
        rows: How many of the rows that differ come from it for certain; None where that cannot be told by row.
    """

    code: str
    message: str
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """What a repair published.

    Args:
        commit: Completion time of its commit.
        written: Rows that were put right or that were missing.
        deleted: Rows that were deleted.
        how: ``upsert``, or ``insert_overwrite`` of the partitions that held wrong rows.
    """

    commit: str
    written: int
    deleted: int
    how: str


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found.

    Args:
        pipeline, target: The pipeline, and the table that it writes.
        commit: Completion time of the target's commit whose checkpoint was recomputed.
        checkpoint: The main source's position in it.
        zone: Zone of that position.
        cleaned: Tables of which the present version was read, as the one of the checkpoint is cleaned.
        share: Share of the pieces that was drawn; 1 for all.
        by: Columns of the target that name a piece; none where all rows were compared.
        seed: What the sample was drawn by.
        since: Only rows that the target got since; empty for all.
        checked: Rows that were compared.
        missing, surplus, unequal: Rows that are wrong.
        columns: Of the unequal ones, how many differ in each column.
        left_out: Columns that were not compared, as they say when a row was computed.
        kept_out: Keys whose row a check keeps out of the target.
        lost: Of these, rows that wait nowhere; ``dropped_by_hand`` where somebody may have dropped them.
        pieces, wrong_pieces: Where a piece has several rows: those drawn, and those with a wrong row.
        examples: Some wrong rows.
        causes: Where the differences come from, as far as that can be told.
        unexplained: Wrong rows of which nothing is told.
        repaired: What a repair published; None where there was none.
        seconds: Wall time.
    """

    pipeline: str
    target: str
    commit: str
    checkpoint: str
    zone: str = ""
    cleaned: tuple[str, ...] = ()
    share: float = 1.0
    by: tuple[str, ...] = ()
    seed: str = ""
    since: str = ""
    checked: int = 0
    missing: int = 0
    surplus: int = 0
    unequal: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    kept_out: int = 0
    lost: int = 0
    dropped_by_hand: bool = False
    pieces: int = 0
    wrong_pieces: int = 0
    examples: tuple[Example, ...] = ()
    causes: tuple[Cause, ...] = ()
    unexplained: int = 0
    repaired: Repaired | None = None
    seconds: float = 0.0

    @property
    def differing(self) -> int:
        """Return how many rows are wrong."""
        return self.missing + self.surplus + self.unequal

    @property
    def agrees(self) -> bool:
        """Return True where nothing was found wrong."""
        return not self.differing and (not self.lost or self.dropped_by_hand)

    @property
    def outcome(self) -> Outcome:
        """Return how it ended; what is mended does not differ any more, unless rows are lost that no commit brings back."""
        if self.agrees:
            return "equal"
        return "repaired" if self.repaired is not None and (not self.lost or self.dropped_by_hand) else "differs"

    @property
    def upper_bound(self) -> float:
        """Return the upper 95% bound on the share of wrong ones of what ``bound_of`` names, as they stood."""
        if not self.by:
            return self.differing / self.checked if self.checked else 0.0
        return upper_bound(self.wrong_pieces, self.pieces) if self.pieces else upper_bound(self.differing, self.checked)

    @property
    def bound_of(self) -> Literal["rows", "pieces"]:
        """Return what the bound is on: rows, or pieces that hold a wrong row where each piece has several."""
        return "pieces" if self.pieces else "rows"

    def as_json(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable mapping."""
        told = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {
            **told,
            "outcome": self.outcome,
            "differing": self.differing,
            "columns": dict(self.columns),
            "upper_bound": self.upper_bound,
            "bound_of": self.bound_of,
            "confidence": CONFIDENCE if self.by else 1.0,
            "examples": [one.as_json() for one in self.examples],
            "causes": [dict(vars(one)) for one in self.causes],
            "repaired": dict(vars(self.repaired)) if self.repaired else None,
        }


def summed(groups: Sequence[Group], kind: str) -> int:
    """Return how many rows of a kind there are."""
    return sum(one.rows for one in groups if one.kind == kind)


def counted_columns(groups: Sequence[Group]) -> dict[str, int]:
    """Return how many rows differ in each column, the most first."""
    found: dict[str, int] = {}
    for one in groups:
        for name, rows in one.columns.items():
            found[name] = found.get(name, 0) + rows
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def some_examples(groups: Sequence[Group], most: int = MOST_EXAMPLES) -> tuple[Example, ...]:
    """Return some wrong rows, of each kind in turn."""
    by_kind = {
        kind: [example for one in groups if one.kind == kind for example in one.examples]
        for kind in ("missing", "surplus", "unequal")
    }
    turns = max(map(len, by_kind.values()), default=0)
    found = [of[turn] for turn in range(turns) for of in by_kind.values() if turn < len(of)]
    return tuple(sorted(found[:most], key=lambda example: (example.kind, str(sorted(example.key.items())))))
