"""What a new pipeline begins with: the columns and the keys of the table that it reads, or those of an example."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from freshet.errors import FreshetError
from freshet.hudi.kept_texts import columns_in
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.plan.logic_record import moment_of
from freshet.project.load.project import load_project
from freshet.project.load.warehouse import Warehouse, load_warehouse, place_of
from freshet.project.model.pipeline import TableRef, TableSpec
from freshet.project.model.steps import Granularity
from freshet.secrets import redact
from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct

_GRANULARITIES: tuple[Granularity, ...] = ("day", "month", "hour")
# A file that is committed names the variable, and not what it holds here.
_SECRET = re.compile(r"\$\{env\.(\w+)\}")
_NO_PARTITION = (Atomic("timestamp"), Atomic("binary"))


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What the files of a new pipeline are made of.

    Args:
        columns: Its columns, in order; they are those of its source.
        record_key, partition_by: Columns.
        ordering: Ordering field; empty where the source has none.
        granularity: What one partition holds, where its only column is a date; empty elsewhere.
        path: Of the source, where it does not lie below its database's root; empty elsewhere.
        of: Whose columns they are: an example's, a table's that stands, or those of a DDL.
        writer: The pipeline that is to write the source; empty where it stands, or nobody does.
        notes: What a person should know.
        keeps_changes: False where the source keeps no change data, by which its deletes would be seen.
    """

    columns: tuple[Column, ...]
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: str
    granularity: Granularity | Literal[""] = ""
    path: str = ""
    of: Literal["example", "table", "ddl"] = "example"
    writer: str = ""
    notes: tuple[str, ...] = ()
    keeps_changes: bool = True


EXAMPLE = Beginning(
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in (
            ("id", Atomic("string")),
            ("amount", Decimal(10, 2)),
            ("updated_at", Atomic("timestamp")),
            (IS_DELETED, Atomic("boolean")),
            ("datestr", Atomic("string")),
        )
    ),
    record_key=("id",),
    partition_by=("datestr",),
    ordering="updated_at",
    granularity="day",
)


def beginning_of(folder: Path, source: str) -> Beginning:
    """Return what a pipeline that reads a table begins with.

    Args:
        folder: The project.
        source: ``database.table``.
    """
    env = os.environ.get("FRESHET_ENV") or None
    try:
        warehouse = load_warehouse(folder, env)
        ref = warehouse.table(source)
        state = TimelineState().table(ref)
        found = _of_table(state) if state is not None else None
        if found is None:
            found = _of_ddl(folder, env, warehouse, ref)
    except (FreshetError, ValueError) as error:
        # Files are all that is written here, and what is wrong is told by what reads the table.
        return replace(EXAMPLE, notes=(f"{source} could not be looked at, so that the columns are an example's: {error}",))
    if found is None:
        return EXAMPLE
    database = source.partition(".")[0]
    elsewhere = ref.path != f"{warehouse.roots.get(database)}/{source.partition('.')[2]}"
    # The same project in another folder finds its own table.
    path = _SECRET.sub(r"{{ env.\1 }}", redact(ref.path.removeprefix(f"{warehouse.root}/")))
    return _fitting(replace(found, path=path if elsewhere else ""), source)


def _of_table(state: TableState) -> Beginning | None:
    schema = state.latest_extra("schema")
    if not schema:
        return None
    config = state.config
    columns = _marked(columns_in(state.ref, schema), config.records_changes)
    found = Beginning(
        columns=columns,
        record_key=config.record_key,
        partition_by=config.partition_by,
        ordering=config.ordering_field,
        granularity=_granularity(state),
        of="table",
        keeps_changes=config.records_changes,
    )
    if config.partition_by and not config.plain_paths:
        return replace(
            found,
            partition_by=(),
            granularity="",
            notes=(
                f"its partitions are computed from {', '.join(config.partition_by)}: the new table has none; compute a DATE or "
                "STRING column in the SQL, and partition by it",
            ),
        )
    return found


def _granularity(state: TableState) -> Granularity | Literal[""]:
    newest = next((info.partitions for _, info in state.newest_first() if any(info.partitions)), ())
    values = [path.rpartition("=")[2] for path in newest]
    return next((one for one in _GRANULARITIES if values and all(moment_of(value, one) for value in values)), "")


def _of_ddl(folder: Path, env: str | None, warehouse: Warehouse, ref: TableRef) -> Beginning | None:
    """Return what the pipeline that is to write the table says of it; None where no pipeline is."""
    writer = next(iter(warehouse.writers.get(place_of(ref), ())), None)
    if writer is None:
        return None
    (spec,) = load_project(folder, env, names=[writer]).pipelines
    if place_of(spec.target.ref) != place_of(ref):
        return None
    target, how = spec.target, spec.backfill
    known = how is not None and target.partition_by == (how.partition,)
    return Beginning(
        columns=_marked(target.columns, _records_changes(target)),
        record_key=target.record_key,
        partition_by=target.partition_by,
        ordering=target.ordering_field,
        granularity=how.granularity if how is not None and known else "",
        of="ddl",
        writer=writer,
        keeps_changes=_records_changes(target),
    )


def _records_changes(target: TableSpec) -> bool:
    return target.properties.get("hoodie.table.cdc.enabled", "").lower() == "true"


def _marked(columns: tuple[Column, ...], records_changes: bool) -> tuple[Column, ...]:
    """Return columns with the mark of deleted rows, which go along where a table keeps change data."""
    marked = any(column.name == IS_DELETED for column in columns)
    return (*columns, Column(name=IS_DELETED, type=Atomic("boolean"))) if records_changes and not marked else columns


def _fitting(found: Beginning, source: str) -> Beginning:
    """Return what a target can be of what a source is."""
    notes = [f"{source}: {note}" for note in found.notes]
    columns = tuple(replace(column, type=_writable(column.type)) for column in found.columns)
    partition_by = found.partition_by
    odd = [f"{c.name}, which is {str(c.type).upper()}" for c in columns if c.name in partition_by and c.type in _NO_PARTITION]
    if odd:
        partition_by = ()
        notes.append(
            f"{source} is partitioned by {odd[0]}: the new table has no partitions; compute a DATE or STRING column "
            "in the SQL, and partition by it"
        )
    for what, there in (("record key", found.record_key), ("ordering field", found.ordering)):
        if not there:
            notes.append(f"{source} has no {what}: name one in TBLPROPERTIES of the DDL")
    granularity = found.granularity if len(partition_by) == 1 else ""
    return replace(found, columns=columns, partition_by=partition_by, granularity=granularity, notes=tuple(notes))


def _writable(kind: DataType) -> DataType:
    match kind:
        case Atomic("timestamp_ntz"):
            return Atomic("timestamp")
        case Atomic("void"):
            return Atomic("string")
        case Array(element):
            return Array(_writable(element))
        case Map(key, value):
            return Map(key, _writable(value))
        case Struct(fields):
            return Struct(tuple((name, _writable(field)) for name, field in fields))
    return kind
