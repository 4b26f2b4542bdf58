"""What is known of the tables that a pipeline reads: by themselves where they stand, else by what the project's files say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshet.errors import FreshetError
from freshet.hudi.kept_texts import columns_in
from freshet.hudi.keys.options import RECORDS_CHANGES
from freshet.hudi.table import StateReader
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, TableRef, TableSpec
from freshet.project.model.records import RecordsSpec
from freshet.types.columns import Atomic, Column
from freshet.verdict.columns import SRC
from freshet.verdict.facts import TableFacts

#: By this Hudi tells the rows of a table apart that has no record key.
_KEYLESS = ("_hoodie_record_key",)


def facts_of(
    spec: PipelineSpec,
    declared: Mapping[str, TableSpec],
    told: Mapping[str, TableFacts] | None = None,
    state: StateReader | None = None,
) -> dict[str, TableFacts]:
    """Return what is known of the tables that a pipeline reads.

    Args:
        spec: The pipeline.
        declared: The tables that DDLs declare, by their paths.
        told: What else the project's files tell, by the tables' names in the SQL; ``src`` for the main source.
        state: Reader of the tables; None leaves them alone, so that the files decide.

    Returns:
        By the tables' names in the SQL; a table of which nobody knows is left out.
    """
    found: dict[str, TableFacts] = {}
    for name, ref in ((SRC, spec.source.table), *((one.name.lower(), one.table) for one in spec.inputs)):
        table = declared.get(same_place(ref.path))
        if name == SRC and isinstance(spec.source, RecordsSpec):
            found[name] = _of_records(spec.source)
            continue
        facts = (_of_table(ref, state) if state else None) or (_of_ddl(table) if table else None) or (told or {}).get(name)
        if facts is not None:
            found[name] = facts
    return found


def moments_of(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the columns of type TIMESTAMP, lower case."""
    return tuple(column.name.lower() for column in columns if column.type == Atomic("timestamp"))


def _of_records(records: RecordsSpec) -> TableFacts:
    # A record never changes: with another value it would be another one. So all of it tells it from others.
    columns = tuple(column.name for column in records.row_columns)
    return TableFacts(
        columns=columns,
        record_key=columns,
        partition_by=(),
        never_null=(records.origin.name,),
        moments=moments_of(records.row_columns),
    )


def _of_ddl(table: TableSpec) -> TableFacts:
    return TableFacts(
        columns=tuple(column.name for column in table.columns),
        record_key=table.record_key,
        ordering=table.ordering_field,
        partition_by=table.partition_by,
        never_null=tuple(column.name for column in table.columns if not column.nullable),
        moments=moments_of(table.columns),
        records_changes=table.properties.get(RECORDS_CHANGES, "").strip().lower() == "true",
    )


def _of_table(ref: TableRef, state: StateReader) -> TableFacts | None:
    try:
        found = state.table(ref)
        schema = found.latest_extra("schema") if found else None
        columns = columns_in(ref, schema) if schema else ()
    except FreshetError:
        # What is wrong with a table is told by whoever reads it.
        return None
    if found is None:
        return None
    # Most writers say of every column that it may be null: that tells nothing.
    sure = tuple(column.name for column in columns if not column.nullable)
    return TableFacts(
        columns=tuple(column.name for column in columns),
        record_key=found.config.record_key or _KEYLESS,
        ordering=found.config.ordering_field,
        partition_by=found.config.partition_by,
        never_null=sure if set(found.config.partition_by) <= set(sure) else None,
        moments=moments_of(columns),
        records_changes=found.config.records_changes,
    )
