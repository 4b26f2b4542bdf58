"""From which columns of the inputs each column of a target is computed: as the verdict's analysis of the SQL has it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.chain import Chain
from freshet.verdict.columns import LIST, ROWS, UNKNOWN, Base, Col
from freshet.verdict.facts import TableFacts
from freshet.verdict.question import Question


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a column of the target comes from.

    Args:
        of: Columns of inputs: the input's name in the SQL, lower case, and the column.
        is_same: True where the value is handed on as it is.
        is_all: False where a Python step comes after the SQL, which may make the value of further columns.
    """

    of: tuple[Base, ...]
    is_same: bool
    is_all: bool


def origins_of(spec: PipelineSpec, facts: Mapping[str, TableFacts]) -> dict[str, Origin]:
    """Return where the columns of a pipeline's target come from; a column of which nobody can tell is left out.

    Args:
        spec: The pipeline.
        facts: What is known of its tables; see ``freshet.verdict.tables``.
    """
    python = any(step.kind == "python" for step in spec.transform)
    # A Python step of which nothing is promised may make anything of anything.
    if python and not spec.row_by_row:
        return {}
    chain = Chain(Question(spec=spec, facts=facts))
    chain.walk()
    found = {column.name: chain.result.get(column.name.lower()) for column in spec.target.columns}
    return {
        name: origin
        for name, col in found.items()
        if col is not None and (origin := _origin(name.lower(), col, python)) is not None
    }


def _origin(name: str, col: Col, python: bool) -> Origin | None:
    unknown = {base for base in col.of if base[0] == UNKNOWN}
    # A Python step leaves the column's own name behind; any other is one that nobody found a table for.
    if unknown - ({(UNKNOWN, name)} if python else set()):
        return None
    of = tuple(sorted(base for base in col.of - unknown if base[1] not in (ROWS, LIST)))
    return Origin(of=of, is_same=col.bare is not None, is_all=not unknown) if of else None
