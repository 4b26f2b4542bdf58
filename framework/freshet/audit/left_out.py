"""Which columns of a target say when a row was computed, and not what it is: by these no recompute is compared. Pure."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from freshet.hudi.options import IS_DELETED
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.statements import INSTANT_PLACE

_NAME = INSTANT_PLACE.strip("`")
# What a Python step asks its context for.
_OF_CONTEXT = "source_instant"


def left_out(spec: PipelineSpec, root: str) -> tuple[str, ...]:
    """Return the target's columns that are not compared.

    Args:
        spec: The pipeline.
        root: The project's folder, where its Python steps lie.

    Returns:
        What comes from ``<SRC_INSTANT>``, by the names that the SQL gives it; where nobody can tell, the ordering field.
    """
    named = {_NAME.lower()}
    uses = False
    for step in spec.transform:
        if step.kind == "python":
            uses = uses or any(_mentions(f"{root}/{file}") for file in (step.file, *step.helpers))
            continue
        texts = [statement.text for statement in step.statements]
        uses = uses or any(INSTANT_PLACE in text for text in texts)
        if uses:
            named |= _named_after(texts, named)
    found = {column.name for column in spec.target.columns if column.name.lower() in named} if uses else set()
    if uses and not found:
        found = {spec.target.ordering_field}
    kept = {*spec.target.record_key, *spec.target.partition_by}
    return tuple(c.name for c in spec.target.columns if c.name == IS_DELETED or (c.name in found and c.name not in kept))


def _named_after(texts: Collection[str], known: set[str]) -> set[str]:
    """Return the names of the columns that are computed of known ones, however many queries they pass through."""
    # sqlglot costs a tenth of a second to import, and few pipelines ask for the instant.
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    from freshet.verdict.tumbling import readable

    found: set[str] = set(known)
    try:
        trees = [tree for text in texts for tree in sqlglot.parse(readable(text), dialect="spark") if tree is not None]
    except SqlglotError:
        return found
    while True:
        more = (
            {
                one.alias_or_name.lower()
                for tree in trees
                for select in tree.find_all(exp.Select)
                for one in select.expressions
                if any(column.name.lower() in found for column in one.find_all(exp.Column))
            }
            - found
            - {""}
        )
        if not more:
            return found
        found |= more


def _mentions(path: str) -> bool:
    try:
        return _OF_CONTEXT in Path(path).read_text(encoding="utf-8")
    except OSError:
        return False
