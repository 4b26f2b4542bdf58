"""Results that are a union of whole rows of the source's table and of deleted ones: every version with its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from freshet.verdict import says, says_target
from freshet.verdict.columns import SRC
from freshet.verdict.owed import drives_missing
from freshet.verdict.question import Question
from freshet.verdict.relation import Rel
from freshet.verdict.result import Finding
from freshet.verdict.site import Site

_DELETED = "_hoodie_is_deleted"


def of_versions(rel: Rel, question: Question, site: Site, node: exp.Expr) -> Iterator[Finding]:
    """Yield why a target may differ from a recompute that gets such a union.

    Args:
        rel: The union.
        question: What is asked.
        site, node: The statement that gives it.
    """
    own = set(question.key_of(SRC))
    key = [column.lower() for column in question.spec.target.record_key]
    rows = [part for part in rel.parts if part.kind == "full"]
    gone = [part for part in rel.parts if part.kind == "delta" and part.only_dead]
    known = len(rows) == 1 and len(gone) == len(rel.parts) - 1 > 0 and bool(own)
    if not question.deletes_pass_on:
        yield says_target.deletes_not_read(question.deletes_not_recorded).at(site, node)
    if not (known and _has_each_row(rows[0], key, own, question) and all(_takes_out(part, key, own) for part in gone)):
        yield says.not_analysed("a union of changed rows with rows of other tables").at(site, node)
        return
    moving = sorted({text for held in rows[0].held for text in held.told} - own)
    if moving and not all("old" in held.images for held in rows[0].held):
        yield says_target.old_group_not_touched(moving).at(site, node)
    elif rows[0].held:
        yield from drives_missing(rows[0], question, site, node)


def _has_each_row(rel: Rel, key: list[str], own: set[str], question: Question) -> bool:
    """Say whether a relation has each row of the source's table once, under its own key."""
    cols = [rel.get(column) for column in key]
    named = {base[1] for col in cols if col is not None and (base := col.bare) and question.is_source(base[0])}
    once = len(key) == len(own) and any(one <= set(key) for one in rel.unique)
    return named == own and once and not rel.filtered and all(question.is_source(table) for table in rel.tables)


def _takes_out(rel: Rel, key: list[str], own: set[str]) -> bool:
    """Say whether a relation marks each row that the source deleted, under its own key."""
    mark = rel.get(_DELETED)
    marked = mark is not None and (mark.flags or mark.constant.upper() == "TRUE")
    keyed = {col.text for column in key if (col := rel.get(column)) is not None}
    return marked and keyed == own and rel.kept_by <= {(SRC, _DELETED)}
