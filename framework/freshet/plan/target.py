"""Compare the target as it stands with what the pipeline declares: what differs is a change, or a refusal. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY, INDEX_KEY
from freshet.hudi.options import differs_by_rows
from freshet.hudi.table import TableState
from freshet.plan.index_record import index_in_words, index_record, is_index
from freshet.plan.stages import SchemaChange
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import DataType, Fit, fit, may_widen, stored
from freshet.types.from_json import from_avro

_UNTOUCHED = "The table was not touched."
# What a table is made with, and its default: Hudi 1.0.2 fails a write that says otherwise, or finds its rows no more.
_MADE_WITH: Mapping[str, str] = {
    "hoodie.table.cdc.enabled": "false",
    "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER",
    "hoodie.datasource.write.hive_style_partitioning": "false",
    "hoodie.datasource.write.partitionpath.urlencode": "false",
}
_BUCKET_FILE = re.compile(r"^(\d{8})-")


def compare_target(spec: PipelineSpec, target: TableState) -> tuple[SchemaChange, ...]:
    """Check that the table was made the way the pipeline declares it.

    Args:
        spec: The pipeline.
        target: Its target's state.

    Returns:
        What the next commit will change about the table's schema.

    Raises:
        StateError: TABLE_NAME_CHANGED, KEY_CHANGED, PARTITIONING_CHANGED, ORDERING_CHANGED, TABLE_TYPE_CHANGED,
            SETTING_CHANGED, INDEX_CHANGED, KEY_TEXT_DIFFERS or SCHEMA_CHANGED.
    """
    found = next(made_otherwise(spec, target), None)
    if found is not None:
        raise found
    return schema_differences(spec, target)[0]


def made_otherwise(spec: PipelineSpec, target: TableState) -> Iterator[StateError]:
    """Return everything for which ``compare_target`` refuses a table, each as the error that it is refused by.

    Args:
        spec: The pipeline.
        target: Its target's state.
    """
    declared, stands = spec.target, target.config
    named, name = stands.properties.get("hoodie.table.name", ""), declared.ref.name.rpartition(".")[2]
    # As Hudi compares them, which refuses to write a table under another name.
    if named and named.lower() != name.lower():
        yield StateError(
            "TABLE_NAME_CHANGED",
            f"{spec.name}: the table {declared.ref.path} is named '{named}', and {declared.file} says "
            f"'{name}': it is another table, or was made under another name.",
            _UNTOUCHED,
            "Move it away, or name another place (LOCATION), where it is another one; else "
            # A DDL's name has its dot before the table's.
            + (f"name it '{named}' again, or " if "." not in named else "")
            + _to_migrate(spec),
            before=named,
            after=name,
        )
    for code, what, before, after in (
        ("KEY_CHANGED", "record key", ",".join(stands.record_key), ",".join(declared.record_key)),
        ("PARTITIONING_CHANGED", "partitioning", ",".join(stands.partition_by), ",".join(declared.partition_by)),
        ("ORDERING_CHANGED", "ordering field", stands.ordering_field or declared.ordering_field, declared.ordering_field),
        ("TABLE_TYPE_CHANGED", "table type", stands.table_type, declared.table_type),
    ):
        if before != after:
            yield StateError(
                code,
                f"{spec.name}: the table {declared.ref.path} was made with {what} '{before}', "
                f"and {declared.file} says '{after}'.",
                _UNTOUCHED,
                f"Put '{before}' back, or {_to_migrate(spec)}",
                before=before,
                after=after,
            )
    yield from _settings(spec, target)
    yield from _index(spec, target)
    yield from _keys(spec, target)
    refused = schema_differences(spec, target)[1]
    if refused:
        yield StateError(
            "SCHEMA_CHANGED",
            f"{spec.name}: {spec.target.file} does not fit the table {spec.target.ref.path}: " + "; ".join(refused) + ".",
            _UNTOUCHED,
            "A DDL may add nullable columns and widen int to bigint or double, and float to double. "
            f"For anything else {_to_migrate(spec)}",
            differences=refused,
        )


def _to_migrate(spec: PipelineSpec) -> str:
    return f"let a new table take its place: freshet migrate {spec.name} --dry-run"


def evolved(spec: PipelineSpec, target: TableState | None) -> PipelineSpec:
    """Return the pipeline with the target's columns as batches have evolved them, where its contract lets them.

    Args:
        spec: The pipeline.
        target: Its target's state; None before the first run.
    """
    schema = target.latest_extra("schema") if target is not None and spec.evolution != "nothing" else None
    if not schema:
        return spec
    stands = {c.name.lower(): c for c in from_avro(schema)}
    columns = []
    for column in spec.target.columns:
        now = stands.pop(column.name.lower(), column)
        wider = spec.evolution == "widen" and stored(now.type) != stored(column.type) and may_widen(column.type, now.type)
        columns.append(replace(column, type=now.type) if wider else column)
    added = (replace(column, nullable=True) for column in stands.values())
    return replace(spec, target=replace(spec.target, columns=(*columns, *added)))


def _settings(spec: PipelineSpec, target: TableState) -> Iterator[StateError]:
    for key, default in _MADE_WITH.items():
        declared, stands = spec.write_options.get(key, ""), target.config.properties.get(key, default)
        if declared and target.config.properties and declared.lower() != stands.lower():
            yield StateError(
                "SETTING_CHANGED",
                f"{spec.name}: the table {spec.target.ref.path} was made with {key}={stands}, and the "
                f"pipeline says {declared}.",
                _UNTOUCHED,
                f"Put '{key}: {stands}' back, or {_to_migrate(spec)}",
                key=key,
                before=stands,
                after=declared,
            )


def _index(spec: PipelineSpec, target: TableState) -> Iterator[StateError]:
    declared = index_record(spec)
    recorded = target.latest_extra(INDEX_KEY)
    if recorded is not None and is_index(recorded, spec):
        return
    if recorded is None:
        seen = _foreign_index(spec, target)
        if not seen:
            return
    else:
        seen = index_in_words(recorded, spec)
    yield StateError(
        "INDEX_CHANGED",
        f"{spec.name}: the rows of {spec.target.ref.path} were written with {seen}, "
        f"and the pipeline says {index_in_words(declared, spec)}. Updates would not find their rows and leave duplicates.",
        _UNTOUCHED,
        "Put the old setting back, or move the table to the new index: "
        f"freshet index migrate {spec.name} --to {spec.index.type.lower()}",
        recorded=seen,
        declared=declared,
    )


def _keys(spec: PipelineSpec, target: TableState) -> Iterator[StateError]:
    column = differs_by_rows(spec)
    # Since commits record their columns, freshet's bulk inserts make the text that upserts make.
    loaded = column and next(
        (
            instant
            for instant, info in target.newest_first()
            if info.operation == "BULK_INSERT" and COLUMNS_KEY not in info.extra
        ),
        None,
    )
    if loaded:
        yield StateError(
            "KEY_TEXT_DIFFERS",
            f"{spec.name}: the rows of {spec.target.ref.path} that were loaded by the bulk insert "
            f"{loaded.completed} hold {column} in their keys or paths in another text than an upsert makes of it: an update "
            "would not find its row.",
            _UNTOUCHED,
            f"L{_to_migrate(spec)[1:]}",
            column=column,
            commit=loaded.completed,
        )


def _foreign_index(spec: PipelineSpec, target: TableState) -> str:
    """Say what forbids the declared index on a table that another writer made; empty where nothing does.

    A bucket's file id begins with its number in eight digits (Hudi's BucketIdentifier), so a table shows its buckets.
    """
    if spec.index.type != "BUCKET" or not target.data_commits:
        return ""
    ids = {f.rpartition("/")[2] for instant in target.data_commits for f in target.info(instant).file_ids}
    buckets = [int(match[1]) for f in ids if (match := _BUCKET_FILE.match(f))]
    if len(buckets) != len(ids):
        return "no bucket index (its file names carry no bucket numbers)"
    count = int(spec.index.parameters["hoodie.bucket.index.num.buckets"])
    return f"at least {max(buckets) + 1} buckets" if buckets and max(buckets) >= count else ""


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
    from freshet.types.from_sql import parse_type

    return fit(parse_type(before), now) in (Fit.SAME, Fit.WIDENS)


def schema_differences(spec: PipelineSpec, target: TableState) -> tuple[tuple[SchemaChange, ...], list[str]]:
    """Return what the next commit changes about the table's columns, and what it must not."""
    schema = target.latest_extra("schema")
    if not schema:
        return (), []
    narrow = _narrow(spec, target)
    declared = {c.name.lower(): c for c in spec.target.columns}
    stands = {c.name.lower(): c for c in from_avro(schema)}
    changes: list[SchemaChange] = []
    refused: list[str] = []
    for name, column in stands.items():
        if name not in declared:
            refused.append(f"column {column.name} {column.type} of the table is not in the DDL, and new rows would null it")
        elif stored(declared[name].type) != stored(column.type):
            now = declared[name].type
            if may_widen(column.type, now):
                changes.append(SchemaChange(column=column.name, change="widen", before=str(column.type), after=str(now)))
            else:
                refused.append(f"column {column.name} is {column.type} in the table and {now} in the DDL")
        elif narrow is not None and not _may_hold(declared[name].type, column.type, narrow.get(name)):
            refused.append(
                f"column {column.name} is {narrow.get(name, column.type)} in the table and {declared[name].type} in the DDL"
            )
    for name, column in declared.items():
        if name not in stands:
            if column.nullable:
                changes.append(SchemaChange(column=column.name, change="add", before="", after=str(column.type)))
            else:
                refused.append(f"new column {column.name} is NOT NULL, and the rows that stand there have no value for it")
    return tuple(changes), refused
