"""What texts, digests and structs tell apart of the values that they are made of, and what that takes for granted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from freshet.verdict.columns import Assumed, Base, Col


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Columns of which two values never become one; see ``Col``."""

    keeps: frozenset[Base] = frozenset()
    moments: frozenset[Base] = frozenset()
    untold: frozenset[Base] = frozenset()
    lost: frozenset[Base] = frozenset()
    nested: bool = False
    assumes: frozenset[Assumed] = field(default_factory=frozenset)


NOTHING = Kept()


def as_text(col: Col) -> Kept:
    """Return what a value's text keeps: of a moment it depends on the time zone, and of a struct it is not sure."""
    if col.nested:
        return NOTHING
    moments: set[Assumed] = {("text_of_moment", base, "") for base in col.moments}
    untold: set[Assumed] = {("text_of_untold", base, "") for base in col.untold}
    return Kept(keeps=col.keeps, lost=col.lost, assumes=col.assumes | moments | untold)


def as_json(col: Col) -> Kept:
    """Return what a value's JSON keeps: of a moment it has milliseconds."""
    told: set[Assumed] = {("json_of_untold", base, "") for base in col.untold}
    return Kept(keeps=col.keeps - col.moments, lost=col.lost | col.moments, assumes=col.assumes | told)


def as_fields(parts: Iterable[Col], *, nested: bool) -> Kept:
    """Return what several values keep that stand side by side.

    Args:
        parts: The values.
        nested: True for the fields of a struct.
    """
    told = list(parts)
    return Kept(
        keeps=frozenset[Base]().union(*(one.keeps for one in told)),
        moments=frozenset[Base]().union(*(one.moments for one in told)),
        untold=frozenset[Base]().union(*(one.untold for one in told)),
        lost=frozenset[Base]().union(*(one.lost for one in told)),
        nested=nested,
        assumes=frozenset[Assumed]().union(*(one.assumes for one in told)),
    )


def as_one_text(node: exp.Expr, parts: Sequence[Col]) -> Kept:
    """Return what is kept of values that are put together to one text.

    Args:
        node: ``concat``, ``concat_ws`` or ``||``.
        parts: Its values; of ``concat_ws`` the first is the separator.
    """
    # One NULL makes all of it NULL.
    if any("NULL" in part.constant.upper() for part in parts):
        return NOTHING
    told = [part for part in parts if not part.constant]
    if len(told) == 1:
        # A separator is not always there.
        return NOTHING if isinstance(node, exp.ConcatWs) and told[0] is parts[0] else as_text(told[0])
    between = _separators(node, parts)
    if not between or not all(part.sure for part in told):
        # What is null leaves no trace, and what nothing stands between runs into its neighbour.
        return NOTHING
    texts = [as_text(part) for part in told]
    every = frozenset[Base]().union(*(one.keeps for one in texts))
    assumed: set[Assumed] = {("no_separators", base, between) for base in every}
    return Kept(
        keeps=every,
        lost=frozenset[Base]().union(*(one.lost for one in texts)),
        assumes=frozenset[Assumed]().union(assumed, *(one.assumes for one in texts)),
    )


def _separators(node: exp.Expr, parts: Sequence[Col]) -> str:
    """Return the characters of what stands between any two values; empty where two have nothing between them."""
    if isinstance(node, exp.ConcatWs):
        separator = _text(parts[0])
        return "".join(sorted(set(separator)))
    found, last, chars = "", True, set[str]()
    for part in parts:
        if part.constant:
            found += _text(part)
            continue
        if not (last or found):
            return ""
        chars |= set(found) if not last else set()
        found, last = "", False
    return "".join(sorted(chars))


def _text(col: Col) -> str:
    literal = col.constant
    return literal[1:-1] if len(literal) > 1 and literal[0] == literal[-1] == "'" and "\\" not in literal else ""
