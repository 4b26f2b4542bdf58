"""From which columns of which tables each column of a target comes, as the SQL says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.verdict.chain import Chain
from freshet.verdict.columns import INSTANT, LIST, ROWS, SRC, UNKNOWN, Col
from freshet.verdict.facts import TableFacts
from freshet.verdict.question import Question


@dataclass(frozen=True)
class Origin:
    """A column of a table; an empty name where which rows the table has decides the value."""

    table: TableRef
    column: str


@dataclass(frozen=True)
class Origins:
    """What a column comes from; not ``complete`` where the SQL does not tell all of it."""

    columns: tuple[Origin, ...]
    complete: bool


def origins_of(spec: PipelineSpec, facts: Mapping[str, TableFacts]) -> dict[str, Origins]:
    """Return what each column of a pipeline's target comes from, by the column's name, lower case.

    Args:
        spec: The pipeline.
        facts: What is known of the tables that it reads, by their names in the SQL.

    Returns:
        A column that the SQL cannot be followed to is left out: nothing is guessed.
    """
    question = Question(spec=spec, facts={name.lower(): one for name, one in facts.items()})
    try:
        chain = Chain(question)
        chain.walk()
    except Exception:  # a fault of the analysis must not hide the rest of a page; the verdict names it
        return {}
    if not spec.row_by_row and any(step.kind == "python" for step in spec.transform):
        # It may have made anything of anything.
        return {}
    result = chain.result
    tables = {SRC: spec.source.table, **{one.name.lower(): one.table for one in spec.inputs}}
    cols = {name: result.get(name) for name in (column.name.lower() for column in spec.target.columns)}
    return {name: _origins(col, tables, result.broken) for name, col in cols.items() if col is not None}


def _origins(col: Col, tables: Mapping[str, TableRef], broken: bool) -> Origins:
    bases = {base for base in col.of if base[0] != INSTANT and base[1] != LIST}
    known = sorted(base for base in bases if base[0] in tables and base[1] != UNKNOWN)
    found = [Origin(tables[table], "" if column == ROWS else column) for table, column in known]
    # Which rows a table has decides each value that comes from one of its columns, too.
    named = {one.table.path for one in found if one.column}
    kept = tuple(dict.fromkeys(one for one in found if one.column or one.table.path not in named))
    # Where the analysis ends early it may have seen one side of a union alone.
    return Origins(kept, len(known) == len(bases) and not broken)
