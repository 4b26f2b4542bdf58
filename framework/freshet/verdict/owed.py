"""Which tables must bring the rows into a run that their changes change, and which do."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from freshet.project.model.paths import same_place
from freshet.verdict import says_joins
from freshet.verdict.columns import SRC
from freshet.verdict.question import Question
from freshet.verdict.relation import Owed, Rel
from freshet.verdict.result import Finding
from freshet.verdict.site import Site


def drives_missing(rel: Rel, question: Question, site: Site, node: exp.Expr) -> Iterator[Finding]:
    """Yield the tables of which a change brings nothing into the run.

    Args:
        rel: The result.
        question: What is asked.
        site, node: The statement that gives it.
    """
    owed = list(rel.owed)
    line, column = site.place(node)
    if rel.kind == "full":
        # <SRC> narrows it to what changed: by itself it is always there.
        for table in sorted(rel.tables - {SRC}):
            links = {
                (base[1], text)
                for held in rel.held
                for key, texts in zip(held.columns, held.texts, strict=True)
                if key is not None and (col := rel.get(key)) is not None
                for base in col.same
                for text in texts
                if base[0] == table
            }
            owed.append(
                Owed(table=table, links=frozenset(links), within=frozenset(links), file=site.file, line=line, column=column)
            )
    told = set()
    for one in owed:
        if one.table in told or _covered(one, rel, question):
            continue
        told.add(one.table)
        said = says_joins.input_does_not_drive(one)
        yield Finding(
            code=said.code,
            file=one.file,
            line=one.line,
            column=one.column,
            message=said.message,
            hint=said.hint,
            subject=said.subject,
            example=said.example,
        )


def _covered(owed: Owed, rel: Rel, question: Question) -> bool:
    if owed.table in rel.images:
        return True
    if question.is_source(owed.table):
        units = rel.unit or {text for held in rel.held for text in held.told}
        if rel.one_group or (units and all((text, text) in owed.within for text in units)):
            return True
    one = question.inputs.get(owed.table)
    if one is None:
        return False
    # The source's own tables of which the join finds the rows of the unit, and no others.
    own = {table for table, _ in owed.beside if question.is_source(table)}
    units = {table for table in own if rel.unit and all((table, (text, text)) in owed.beside for text in rel.unit)}
    for driver in question.spec.inputs:
        if not driver.drives or same_place(driver.table.path) != same_place(one.table.path):
            continue
        pairs = [(column.lower(), text.lower()) for column, text in driver.drives]
        if all(pair in owed.links for pair in pairs):
            return True
        # The rows of the source that it brings name the groups in which they stand.
        if any(all(((owed.table, c), (table, x)) in owed.bound for c, x in pairs) for table in units):
            return True
    return False
