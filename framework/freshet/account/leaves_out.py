"""Which parts of a pipeline's logic can leave rows out: as the SQL is written. Pure.

How many rows each of them left out nothing counts. Spark's own metrics of an executed plan do not tell it: filters are moved
into scans and merged, a view that two statements read runs twice, and a task that is repeated counts again.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.chain import parsed

_CLAUSES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Where, "WHERE"),
    (exp.Group, "GROUP BY"),
    (exp.Having, "HAVING"),
    (exp.Qualify, "QUALIFY"),
    (exp.Distinct, "DISTINCT"),
    (exp.Limit, "LIMIT"),
    (exp.Offset, "OFFSET"),
    (exp.TableSample, "TABLESAMPLE"),
    (exp.Intersect, "INTERSECT"),
    (exp.Except, "EXCEPT"),
    (exp.Lateral, "LATERAL VIEW"),
    (exp.Pivot, "PIVOT"),
)


def leaves_out(spec: PipelineSpec) -> tuple[str, ...]:
    """Return each part of a pipeline's SQL and Python that can leave rows out, with its place; too many rather than too few.

    Args:
        spec: The pipeline.
    """
    return tuple(part for step in spec.transform for part in _of_step(spec, step.file, step.kind == "python"))


def _of_step(spec: PipelineSpec, file: str, is_python: bool) -> Iterator[str]:
    if is_python:
        if not spec.row_by_row:
            yield f"transform() of {file}"
        return
    step = next(one for one in spec.transform if one.file == file)
    for statement in step.statements:
        tree = parsed(statement.text)
        place = f"{file}:{statement.line}"
        if tree is None:
            yield f"a statement that is not analysed ({place})"
            continue
        for words in _of_tree(tree):
            yield f"{words} ({place})"


def _of_tree(tree: exp.Expr) -> Iterator[str]:
    for node in tree.walk():
        # Of the rows that an aggregate looks at, and not of those that come out.
        if isinstance(node.parent, exp.Filter | exp.AggFunc | exp.Window):
            continue
        if isinstance(node, exp.Join):
            side, kind = (node.side or "").upper(), (node.kind or "").upper()
            if side not in ("LEFT", "FULL") or kind in ("SEMI", "ANTI"):
                yield " ".join(filter(None, (side, kind, "JOIN")))
        elif isinstance(node, exp.Union):
            if node.args.get("distinct"):
                yield "UNION"
        elif isinstance(node, exp.Select):
            if not node.args.get("group") and _aggregates(node):
                yield "an aggregate"
            if any(isinstance(one, exp.Explode | exp.Unnest) for one in node.find_all(exp.Explode, exp.Unnest)):
                yield "explode"
        else:
            yield from (words for kind_of, words in _CLAUSES if type(node) is kind_of)


def _aggregates(select: exp.Select) -> bool:
    return any(
        one.parent_select is select and one.find_ancestor(exp.Window, exp.Select) is select
        for part in select.expressions
        for one in part.find_all(exp.AggFunc)
    )
