"""Windows of time, ``window(at, '1 hour')``: a value of each row that has a time. Not those of window functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark

from freshet.verdict import says_rows
from freshet.verdict.functions import within
from freshet.verdict.names import column_of
from freshet.verdict.relation import Rel
from freshet.verdict.steps import Steps
from freshet.verdict.texts import CALL, SHOWN

_ALIAS = "\6"


def readable(text: str) -> str:
    """Return a statement in which a call of ``window`` has a name that the parser takes for a function's."""
    if SHOWN not in text.lower():
        return text
    tokens = Spark().tokenize(text)
    for one, behind in pairwise(tokens):
        if one.token_type is TokenType.WINDOW and behind.token_type is TokenType.L_PAREN:
            text = text[: one.start] + CALL + text[one.end + 1 :]
    return text


def with_windows(walk: Steps, rel: Rel, parts: Sequence[exp.Expr]) -> Rel:
    """Return a relation with the window of time that some expressions name, and put its column in the place of each call.

    Args:
        walk: The walk.
        rel: The relation.
        parts: The expressions of one SELECT; Spark takes one window in it.
    """
    calls = [one for part in parts for one in within(part) if isinstance(one, exp.Anonymous) and one.name.lower() == CALL]
    if rel.broken or not calls or len({one.sql() for one in calls}) > 1 or not _tumbles(calls[0]):
        # Said to be no function that is known.
        return rel
    call = calls[0]
    time, col = walk.value(call.expressions[0], rel), walk.value(call, rel)
    if not time.sure and rel.kind == "delta":
        # A row without a time has none.
        rel = replace(rel, pending=(*rel.pending, says_rows.no_window(_names(call)).at(walk.site, call)))
    elif not time.sure:
        rel = replace(rel, filtered=True, always=False)
    for one in calls:
        field = one.parent if isinstance(one.parent, exp.Dot) and isinstance(one.parent.expression, exp.Identifier) else None
        if field is not None:
            field.replace(exp.column(field.expression.name, SHOWN))
        else:
            one.replace(exp.column(SHOWN, _ALIAS))
    return replace(rel, cols={**rel.cols, f"{_ALIAS}.{SHOWN}": col})


def by_its_start(group: exp.Group, items: Sequence[tuple[str, exp.Expr]], rel: Rel) -> None:
    """Let a group by a window be one by its start, or its end, where the result has only that: each names the window."""
    text = getattr(rel.cols.get(f"{_ALIAS}.{SHOWN}"), "text", None)
    for one in group.expressions if text is not None else ():
        if not isinstance(one, exp.Column) or one.table != _ALIAS:
            continue
        inner = [item.this if isinstance(item, exp.Alias) else item for _, item in items]
        whole = [item for item in inner if isinstance(item, exp.Column) and _is(item, rel, ())]
        ends = [item for item in inner if isinstance(item, exp.Column) and _is(item, rel, ("start", "end"))]
        if ends and not whole:
            one.replace(ends[0].copy())


def _is(item: exp.Column, rel: Rel, fields: Sequence[str]) -> bool:
    own = rel.cols[f"{_ALIAS}.{SHOWN}"]
    found = column_of(item, rel)
    names = [part.name.lower() for part in item.parts]
    if not fields:
        return found == own
    return names[-2:-1] == [SHOWN] and names[-1] in fields and found.of == own.of


def _tumbles(call: exp.Anonymous) -> bool:
    """Say whether a row is in one window: the slide, where there is one, is as long as the window."""
    told = call.expressions
    return (
        2 <= len(told) <= 4 and all(isinstance(one, exp.Literal) for one in told[1:]) and (len(told) == 2 or told[1] == told[2])
    )


def _names(call: exp.Anonymous) -> dict[str, str]:
    time = call.expressions[0]
    return {time.name.lower(): "NULL"} if isinstance(time, exp.Column) else {}
