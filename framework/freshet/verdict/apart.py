"""Whether a record key tells the source's rows apart, and on what of their values that hangs."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.verdict import says
from freshet.verdict.columns import SRC, Base, Col
from freshet.verdict.question import Question
from freshet.verdict.result import Granted


def told_apart(col: Col, question: Question) -> set[str]:
    """Return of which columns of the source two values never become one in a column of the record key."""
    return {col.text} | _of_source(col.keeps - _as_text(col, question))


def lost_moments(cols: Iterable[Col | None], question: Question) -> set[str]:
    """Return the source's columns of which two moments may be one in a record key."""
    return set[str]().union(*(_of_source(col.lost | _as_text(col, question)) for col in cols if col is not None))


def assumed(cols: Iterable[Col | None], unit: frozenset[str], question: Question) -> Iterable[Granted]:
    """Yield on what it hangs that a record key tells the source's rows apart.

    Args:
        cols: The columns of the record key.
        unit: What has to be told apart.
        question: What is asked.
    """
    told = [col for col in cols if col is not None]
    open_ = unit - {col.text for col in told}
    found = {one for col in told for one in col.assumes if one[1][0] == SRC and one[1][1] in open_}
    asked = {"json_of_untold", "text_of_untold"} if question.zone else {"json_of_untold"}
    if moments := tuple(sorted({base[1] for fact, base, _ in found if fact in asked})):
        yield Granted(table=says.SHOWN, fact="no_moments", columns=moments)
    for without in sorted({chars for fact, _, chars in found if fact == "no_separators"}):
        columns = tuple(sorted({base[1] for fact, base, chars in found if (fact, chars) == ("no_separators", without)}))
        yield Granted(table=says.SHOWN, fact="no_separators", columns=columns, without=without)


def _as_text(col: Col, question: Question) -> frozenset[Base]:
    """Return the moments of which it has the text, where two of them may have one."""
    return frozenset(base for fact, base, _ in col.assumes if fact == "text_of_moment" and question.zone)


def _of_source(bases: Iterable[Base]) -> set[str]:
    return {column for table, column in bases if table == SRC}
