"""What columns the main source and the inputs have: by a DDL, by a fixture, or by the table as it stands. No JVM."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from freshet.cases.case import SOURCE, Shape, tables_of
from freshet.errors import SpecError
from freshet.hudi.kept_texts import columns_in
from freshet.hudi.keys.options import RECORDS_CHANGES
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader
from freshet.project.load.project import load_project
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef, TableSpec
from freshet.project.model.records import RecordsSpec
from freshet.types.columns import Atomic, Column


def declared_tables(project: Project, overrides: Sequence[str]) -> dict[str, TableSpec]:
    """Return every table that a DDL declares and that the project's pipelines may read, by its path.

    Args:
        project: The selected pipelines; those that write what they read need not be among them.
        overrides: ``--set`` values.
    """
    found = {same_place(spec.target.ref.path): _as_made(spec) for spec in project.pipelines}
    selected = {spec.name for spec in project.pipelines}
    others = sorted({name for spec in project.pipelines for name in project.upstream.get(spec.name, ())} - selected)
    for name in others:
        # What is wrong with a pipeline that was not asked for is told when it is.
        with suppress(SpecError):
            (other,) = load_project(Path(project.root), project.env, overrides, names=[name], environ=os.environ).pipelines
            found[same_place(other.target.ref.path)] = _as_made(other)
    return found


def _as_made(spec: PipelineSpec) -> TableSpec:
    """Return a target with what its pipeline's YAML says of the table's making."""
    told = {key: spec.write_options[key] for key in (RECORDS_CHANGES,) if key in spec.write_options}
    return replace(spec.target, properties={**spec.target.properties, **told})


def shapes_of(
    spec: PipelineSpec,
    tables: Mapping[str, TableSpec],
    told: Mapping[str, Shape],
    state: StateReader,
) -> dict[str, Shape]:
    """Return what is known of the tables that a pipeline reads.

    Args:
        spec: The pipeline.
        tables: The tables that a DDL declares, by path.
        told: What the pipeline's fixtures declare, by the name that the SQL uses. It counts before a table that stands
            there, so that a case means the same on every machine.
        state: Reader of the tables.

    Returns:
        Columns, key, partitioning by ``SRC`` and the inputs' names; a table of which nobody knows is left out.
    """
    found: dict[str, Shape] = {}
    for name, ref in tables_of(spec).items():
        declared = tables.get(same_place(ref.path))
        shape = _of_ddl(declared) if declared else told.get(name) or _of_records(spec, name) or _of_table(ref, state)
        if shape is not None:
            found[name] = shape
    if SOURCE in found and passes_deletes_on(spec):
        found[SOURCE] = _marked(found[SOURCE])
    return found


def passes_deletes_on(spec: PipelineSpec) -> bool:
    """Say whether rows of ``SRC`` carry the mark of deleted rows, as far as the files tell."""
    if isinstance(spec.source, RecordsSpec):
        return spec.source.tombstones == "delete"
    if spec.source.incremental_format != "auto":
        return spec.source.incremental_format == "cdc"
    # The source's own settings decide. Whoever names the column expects it.
    texts = (statement.text for step in spec.transform for statement in step.statements)
    return any(c.name == IS_DELETED for c in spec.target.columns) or any(IS_DELETED in text for text in texts)


def _of_ddl(table: TableSpec) -> Shape:
    return Shape(
        columns=table.columns, record_key=table.record_key, partition_by=table.partition_by, ordering=table.ordering_field
    )


def _of_records(spec: PipelineSpec, name: str) -> Shape | None:
    if name != SOURCE or not isinstance(spec.source, RecordsSpec):
        return None
    # A case gives records by the key of the rows that they become.
    names = {column.name for column in spec.source.columns}
    key = spec.target.record_key if names.issuperset(spec.target.record_key) else ()
    return Shape(columns=spec.source.row_columns, record_key=key)


def _of_table(ref: TableRef, state: StateReader) -> Shape | None:
    found = state.table(ref)
    schema = found.latest_extra("schema") if found else None
    if found is None or not schema:
        return None
    return Shape(
        columns=columns_in(ref, schema),
        record_key=found.config.record_key,
        partition_by=found.config.partition_by,
        ordering=found.config.ordering_field,
    )


def _marked(shape: Shape) -> Shape:
    if any(c.name == IS_DELETED for c in shape.columns):
        return shape
    return replace(shape, columns=(*shape.columns, Column(name=IS_DELETED, type=Atomic("boolean"))))
