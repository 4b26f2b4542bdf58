"""The columns of the target as they stand, and as the pipeline declares them. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from freshet.credentials import without_credentials
from freshet.hudi.checkpoint import COLUMNS_KEY
from freshet.hudi.kept_texts import columns_in
from freshet.hudi.table import TableState
from freshet.plan.stages import SchemaChange
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import DataType, Fit, fit, may_widen, stored


def evolved(spec: PipelineSpec, target: TableState | None) -> PipelineSpec:
    """Return the pipeline with the target's columns as batches have evolved them, where its contract lets them.

    Args:
        spec: The pipeline.
        target: Its target's state; None before the first run.
    """
    if target is None or spec.evolution == "nothing":
        return spec
    schema = target.latest_extra("schema")
    if not schema:
        return spec
    stands = {c.name.lower(): c for c in columns_in(target.ref, schema)}
    columns = []
    for column in spec.target.columns:
        now = stands.pop(column.name.lower(), column)
        wider = spec.evolution == "widen" and stored(now.type) != stored(column.type) and may_widen(column.type, now.type)
        columns.append(replace(column, type=now.type) if wider else column)
    added = (replace(column, nullable=True) for column in stands.values())
    return replace(spec, target=replace(spec.target, columns=(*columns, *added)))


def _narrow(spec: PipelineSpec, target: TableState) -> Mapping[str, str] | None:
    """Return the recorded types of the columns that the table's schema shows wider; None where no commit recorded any."""
    if all(stored(column.type) == column.type for column in spec.target.columns):
        return {}
    recorded = target.latest_extra(COLUMNS_KEY)
    return None if recorded is None else json.loads(recorded)


def _may_hold(now: DataType, stands: DataType, recorded: str | None) -> bool:
    """Say whether a column holds every value that was written: a SMALLINT and an INT are one in the table's own schema."""
    before = str(stands) if recorded is None else recorded
    if before == str(now):
        return True
    # sqlglot costs 0.15 s to import; a type that has changed is rare.
    from freshet.types.from_sql import TypeProblem, parse_type

    try:
        return fit(parse_type(before), now) in (Fit.SAME, Fit.WIDENS)
    except TypeProblem:
        # A garbled one; what it was nobody knows.
        return False


def _shown(kind: DataType | str) -> str:
    """Return a type that a table keeps, in words: its fields may be named after a secret of which nobody knows any more."""
    return without_credentials(str(kind))


def schema_differences(spec: PipelineSpec, target: TableState) -> tuple[tuple[SchemaChange, ...], list[str]]:
    """Return what the next commit changes about the table's columns, and what it must not."""
    schema = target.latest_extra("schema")
    if not schema:
        return (), []
    narrow = _narrow(spec, target)
    declared = {c.name.lower(): c for c in spec.target.columns}
    stands = {c.name.lower(): c for c in columns_in(target.ref, schema)}
    changes: list[SchemaChange] = []
    refused: list[str] = []
    for name, column in stands.items():
        if name not in declared:
            shown = _shown(f"{column.name} {column.type}")
            refused.append(f"column {shown} of the table is not in the DDL, and new rows would null it")
        elif stored(declared[name].type) != stored(column.type):
            now = declared[name].type
            if may_widen(column.type, now):
                changes.append(SchemaChange(column=column.name, change="widen", before=str(column.type), after=str(now)))
            else:
                refused.append(f"column {column.name} is {_shown(column.type)} in the table and {now} in the DDL")
        elif narrow is not None and not _may_hold(declared[name].type, column.type, narrow.get(name)):
            before = _shown(narrow.get(name, column.type))
            refused.append(f"column {column.name} is {before} in the table and {declared[name].type} in the DDL")
    for name, column in declared.items():
        if name not in stands:
            if column.nullable:
                changes.append(SchemaChange(column=column.name, change="add", before="", after=str(column.type)))
            else:
                refused.append(f"new column {column.name} is NOT NULL, and the rows that stand there have no value for it")
    return tuple(changes), refused
