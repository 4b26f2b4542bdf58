"""Compare the target as it stands with what the pipeline declares: what differs is a change, or a refusal. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY, INDEX_KEY
from freshet.hudi.options import differs_by_rows
from freshet.hudi.table import TableState
from freshet.plan.index_record import index_in_words, index_record, is_index
from freshet.plan.schema import schema_differences
from freshet.plan.stages import SchemaChange
from freshet.project.model.pipeline import PipelineSpec

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
    # It may be named after a secret of which nobody knows any more.
    named = without_credentials(stands.properties.get("hoodie.table.name", ""))
    name = declared.ref.name.rpartition(".")[2]
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
            before = without_credentials(before)
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


def _settings(spec: PipelineSpec, target: TableState) -> Iterator[StateError]:
    for key, default in _MADE_WITH.items():
        declared, stands = spec.write_options.get(key, ""), target.config.properties.get(key, default)
        if declared and target.config.properties and declared.lower() != stands.lower():
            stands = without_credentials(stands)
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
