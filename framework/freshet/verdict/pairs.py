"""What a join holds equal, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from freshet.verdict.columns import Col
from freshet.verdict.question import Question
from freshet.verdict.relation import Rel, is_unique
from freshet.verdict.result import Finding, Granted
from freshet.verdict.says import Said
from freshet.verdict.site import Site


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two values that a join holds equal, left and right, each with its column's key where it is one."""

    left: Col
    right: Col
    left_key: str | None
    right_key: str | None
    null_safe: bool = False

    def swapped(self) -> Pair:
        """Return the pair for the sides in the other order."""
        return replace(self, left=self.right, right=self.left, left_key=self.right_key, right_key=self.left_key)


@dataclass(frozen=True, kw_only=True)
class Joining:
    """A join, and where it stands.

    Args:
        side: ``inner``, ``left``, ``full``, ``semi`` or ``anti``; a right one comes with its sides swapped.
        pairs: What it holds equal.
        more: True where it says more than that.
        node: Its place.
        site: Its statement.
        question: What is asked.
        granted: Receives what is taken for granted of tables.
    """

    side: str
    pairs: Sequence[Pair]
    more: bool
    node: exp.Expr
    site: Site
    question: Question
    granted: list[Granted]

    def swapped(self) -> Joining:
        """Return the join for the sides in the other order."""
        return replace(self, pairs=[pair.swapped() for pair in self.pairs])

    def finding(self, said: Said) -> Finding:
        """Return what is said of it, at its place."""
        return said.at(self.site, self.node)

    @property
    def links(self) -> set[str]:
        """Return the texts over the source's row that both sides have equal."""
        return {pair.left.text for pair in self.pairs if pair.left.text and pair.left.text == self.source_text(pair.right)}

    def source_text(self, col: Col) -> str:
        """Return a value as an expression over the source's row, or over a row of an input over the source's own table."""
        own = col.bare is not None and self.question.is_source(col.bare[0])
        return col.text or (col.bare[1] if own and col.bare is not None else "")

    def finds_one(self, right: Rel, grant: bool = False) -> bool:
        """Say whether a row of the left side finds one row at most; ``grant`` notes what is taken for granted for it."""
        keys = [pair.right_key for pair in self.pairs]
        if is_unique(right, keys):
            return True
        table = right.plain
        if not table or self.question.key_of(table) or not keys or None in keys:
            return False
        if grant:
            columns = tuple(sorted(key.rpartition(".")[2] for key in keys if key))
            self.granted.append(Granted(table=table, fact="record_key", columns=columns))
        return True


def lefts(pairs: Iterable[Pair]) -> list[str | None]:
    """Return the left columns' keys."""
    return [pair.left_key for pair in pairs]
