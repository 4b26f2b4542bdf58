"""Rules of the target: table, keys, operation and index; what would duplicate or lose rows is refused here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from framework.spec import options
from framework.spec.ddl import DdlTable, Setting
from framework.spec.files import Place
from framework.spec.model import IndexSpec, Operation, TableRef, TableSpec, TableType
from framework.spec.suggest import Problems, did_you_mean
from framework.spec.types import Atomic, Column, Decimal

_OPERATIONS = ("upsert", "insert", "delete", "insert_overwrite")
_INDEXES = ("BUCKET", "RECORD_INDEX")
#: Keys that reach the sink through TableSpec, IndexSpec and the operation, not through the write options.
OWN_KEYS = frozenset(
    (
        options.RECORD_KEY,
        options.ORDERING_FIELD,
        options.PARTITION_BY,
        options.OPERATION,
        options.TABLE_TYPE,
        options.INDEX_TYPE,
        options.BUCKET_COUNT,
        options.BUCKET_FIELD,
        options.BUCKET_ENGINE,
        options.RECORD_INDEX_ENABLE,
        options.RECORD_INDEX_MOVES,
    )
)


@dataclass(frozen=True)
class TargetRules:
    """Checks of one pipeline's target.

    Args:
        ddl: The parsed DDL.
        settings: One agreed value per Hudi key.
        place: Where the pipeline names its DDL; what has no line of its own is reported there.
        problems: Receives what is wrong.
    """

    ddl: DdlTable
    settings: Mapping[str, Setting]
    place: Place
    problems: Problems

    def table(self, ref: TableRef) -> TableSpec:
        """Return the target, its key columns checked against its columns.

        Args:
            ref: Its name and path.
        """
        key_setting = self._setting(options.RECORD_KEY)
        keys = self._columns(key_setting, "record key")
        if not key_setting.value:
            self._add(
                Setting("", self.ddl.file, self.ddl.line),
                "MISSING_PRIMARY_KEY",
                "The table has no record key.",
                "Add TBLPROPERTIES (primaryKey = '<column>').",
            )
        ordering = self._setting(options.ORDERING_FIELD)
        ordering_columns = self._columns(ordering, "ordering field")
        if not ordering.value:
            self._add(
                Setting("", self.ddl.file, self.ddl.line),
                "MISSING_ORDERING_FIELD",
                "The table has no ordering field, so an older row could overwrite a newer one.",
                "Add preCombineField = '<column that grows with every change>' to TBLPROPERTIES.",
            )
        elif "," in ordering.value:
            self._add(
                ordering,
                "BAD_VALUE",
                "The ordering field must be one column.",
                "Name the column that grows with every change.",
            )
        self._ordering_wins()
        partition = self._setting(options.PARTITION_BY)
        partition_columns = self._columns(partition, "partition column")
        not_null = {column.name for column in keys}
        columns = tuple(Column(c.name, c.type, False, c.comment) if c.name in not_null else c for c in self.ddl.columns)
        return TableSpec(
            ref,
            self.ddl.file,
            columns,
            tuple(c.name for c in partition_columns),
            tuple(c.name for c in keys),
            ordering_columns[0].name if ordering_columns else "",
            cast(
                TableType,
                self.settings[options.TABLE_TYPE].value if options.TABLE_TYPE in self.settings else "COPY_ON_WRITE",
            ),
            {key: value.value for key, value in self.ddl.settings.items() if key.startswith("hoodie.")},
            self.ddl.column_lines,
        )

    def operation(self, *, reads_partitions: bool) -> Operation:
        """Return the write operation, upsert where none is named.

        Args:
            reads_partitions: Whether an input gives the whole partitions that a batch belongs to.
        """
        setting = self._setting(options.OPERATION)
        name = setting.value.lower() or "upsert"
        if name in options.OTHER_OPERATIONS:
            self._add(
                setting, "NOT_SUPPORTED", f"The operation '{name}' is not supported.", options.OTHER_OPERATIONS[name]
            )
        elif name not in _OPERATIONS:
            self._add(setting, "BAD_VALUE", f"'{name[:40]}' is not a write operation.", did_you_mean(name, _OPERATIONS))
        elif name == "delete" and self._setting(options.TABLE_TYPE).value == "MERGE_ON_READ":
            # Seen on Hudi 1.0.2: the delete's entry in the log has the ordering value 0 of type int, and a later row of the
            # same key with another type makes the table unreadable (ClassCastException in FileGroupRecordBuffer).
            self._add(
                setting,
                "DELETE_ON_MERGE_ON_READ",
                "Hudi 1.0 logs such a delete without its ordering value, and a later row of the same key makes the table "
                "unreadable.",
                "Write 'upsert', add `_hoodie_is_deleted BOOLEAN` to the DDL and select true for the rows to delete.",
            )
        elif name == "insert_overwrite" and not (reads_partitions and self._setting(options.PARTITION_BY).value):
            self._add(
                setting,
                "OVERWRITE_LOSES_ROWS",
                "insert_overwrite replaces whole partitions by the batch, and <SRC> holds only the rows that changed.",
                "Partition the table and give the rest of its partitions to the SQL by an input with 'read:"
                " affected_partitions', or write 'upsert'.",
            )
        elif name == "insert" and self._setting(options.INDEX_TYPE).value.upper() == "RECORD_INDEX":
            self._add(
                setting,
                "INSERT_DUPLICATES",
                "An insert does not look keys up in a record index, so that a repeated key would stand twice.",
                "Write 'upsert'.",
            )
        return cast(Operation, name if name in _OPERATIONS else "upsert")

    def index(self, table: TableSpec, *, partition_is_stable: bool) -> IndexSpec:
        """Return the index with its immutable parameters, after refusing what would duplicate rows.

        Args:
            table: The target.
            partition_is_stable: The pipeline's promise that a key's partition never changes.
        """
        setting = self._setting(options.INDEX_TYPE)
        name = setting.value.upper() or "BUCKET"
        if name in options.OTHER_INDEXES:
            self._add(
                setting,
                "NOT_SUPPORTED",
                f"The index {name} is not supported yet.",
                "Write BUCKET, or RECORD_INDEX where a key's partition may change.",
            )
        elif name not in _INDEXES:
            self._add(setting, "BAD_VALUE", f"'{name[:40]}' is not an index type.", did_you_mean(name, _INDEXES))
        if name == "RECORD_INDEX":
            return self._record_index()
        return self._bucket(table, setting, partition_is_stable=partition_is_stable)

    def _record_index(self) -> IndexSpec:
        for key, effect in (
            (
                options.RECORD_INDEX_MOVES,
                "a row whose partition changes would stay in the old one under a changed column",
            ),
            (options.RECORD_INDEX_ENABLE, "the index would not be kept"),
            (options.METADATA_ENABLE, "the index lies in the metadata table and would not be kept"),
        ):
            if self._setting(key).value.lower() == "false":
                self._add(
                    self._setting(key),
                    "CONFLICTING_SETTING",
                    f"{key}=false with RECORD_INDEX: {effect}.",
                    "Remove the line.",
                )
        return IndexSpec("RECORD_INDEX", {options.RECORD_INDEX_ENABLE: "true", options.RECORD_INDEX_MOVES: "true"})

    def _bucket(self, table: TableSpec, index: Setting, *, partition_is_stable: bool) -> IndexSpec:
        if index.file.startswith("configs/"):
            # The config's default is right for other tables; this pipeline is where it must be answered.
            index = Setting(index.value, self.place.file, self.place.line)
        in_key = set(table.partition_by) <= set(table.record_key)
        if table.partition_by and table.record_key and not in_key and not partition_is_stable:
            self._add(
                index,
                "PARTITION_MAY_CHANGE",
                f"A bucket index looks for a key in one partition only; a key that moves to another"
                f" {', '.join(table.partition_by)} would leave two rows.",
                "Write 'hoodie.index.type: RECORD_INDEX', or add the partition columns to the record key,"
                " or promise 'partition_is_stable: true'.",
            )
        count = self._setting(options.BUCKET_COUNT)
        if not count.value:
            self._add(
                index,
                "MISSING_BUCKET_COUNT",
                "The bucket index needs a bucket count, which can never change later.",
                f"Write '{options.BUCKET_COUNT}: 4' (aim at 100 MB to 1 GB per bucket and partition).",
            )
        elif re.fullmatch(r"[+-]?[0-9]{1,19}", count.value) and int(count.value) < 1:
            self._add(count, "BAD_VALUE", f"{options.BUCKET_COUNT} must be at least 1.", "Write 4.")
        engine = self._setting(options.BUCKET_ENGINE)
        if engine.value.upper() not in ("", "SIMPLE"):
            self._add(
                engine,
                "NOT_SUPPORTED",
                f"The bucket engine {engine.value[:40]} is not supported.",
                "Write SIMPLE, or remove the line.",
            )
        field = self._setting(options.BUCKET_FIELD)
        hashed = (
            [column.name for column in self._columns(field, "bucket hash field")]
            if field.value
            else list(table.record_key)
        )
        outside = [name for name in hashed if name not in table.record_key]
        if outside and table.record_key:
            self._add(
                field,
                "BUCKET_FIELD_NOT_IN_KEY",
                f"The bucket hash field '{outside[0]}' is outside the record key, so one key could have two buckets.",
                f"Choose from: {', '.join(table.record_key)}.",
            )
        return IndexSpec(
            "BUCKET",
            {
                options.BUCKET_COUNT: count.value,
                options.BUCKET_FIELD: ",".join(hashed),
                options.BUCKET_ENGINE: "SIMPLE",
            },
        )

    def concurrency(self, table: TableSpec, index: IndexSpec, operation: Operation) -> str:
        """Return the concurrency mode, empty for Hudi's default, after refusing what Hudi would refuse while it writes."""
        setting = self._setting(options.CONCURRENCY)
        mode = setting.value.upper()
        if mode == "NON_BLOCKING_CONCURRENCY_CONTROL":
            if table.table_type != "MERGE_ON_READ" or index.type != "BUCKET":
                self._add(setting, "CONFLICTING_SETTING", f"{mode} needs MERGE_ON_READ and a bucket index.",
                          "Write OPTIMISTIC_CONCURRENCY_CONTROL.")
            if operation == "insert_overwrite":
                self._add(setting, "CONFLICTING_SETTING", f"Hudi 1.0 overwrites no partition by {mode}.",
                          "Write OPTIMISTIC_CONCURRENCY_CONTROL.")
        return mode

    def _ordering_wins(self) -> None:
        for key in options.MERGE_MODES:
            mode = self._setting(key)
            # A word that is no merge mode at all is reported as a bad value already.
            if mode.value.upper() in ("COMMIT_TIME_ORDERING", "CUSTOM"):
                self._add(
                    mode,
                    "OLDER_ROW_WINS",
                    f"{mode.value.upper()} lets an older row that arrives late overwrite a newer one.",
                    "Write EVENT_TIME_ORDERING, or remove the line.",
                )
        for key in options.PAYLOAD_CLASSES:
            payload = self._setting(key)
            if payload.value not in ("", *options.ORDERING_PAYLOADS):
                self._add(
                    payload,
                    "OLDER_ROW_WINS",
                    f"With {payload.value[:80].rpartition('.')[2]} an older row that arrives late could overwrite a newer one.",
                    f"Write {options.ORDERING_PAYLOADS[0]}, or remove the line.",
                )

    def _columns(self, setting: Setting, what: str) -> list[Column]:
        by_name = {column.name.lower(): column for column in self.ddl.columns}
        found = []
        for name in (part.strip() for part in setting.value.split(",") if part.strip()):
            column = by_name.get(name.lower())
            if column is None:
                self._add(
                    setting,
                    "UNKNOWN_COLUMN",
                    f"The {what} '{name[:80]}' is not a column of {self.ddl.name}.",
                    did_you_mean(name, [c.name for c in self.ddl.columns]),
                )
            elif not isinstance(column.type, Atomic | Decimal):
                self._add(
                    setting,
                    "UNSUPPORTED_TYPE",
                    f"The {what} '{column.name}' is of type {column.type}.",
                    "Choose a column of a simple type.",
                )
            elif column in found:
                self._add(setting, "DUPLICATE_COLUMN", f"The {what} '{column.name}' is named twice.", "Remove one.")
            else:
                found.append(column)
        return found

    def _setting(self, key: str) -> Setting:
        return self.settings.get(key) or Setting("", self.place.file, self.place.line)

    def _add(self, at: Setting, code: str, message: str, hint: str) -> None:
        self.problems.add(at.file, at.line, code, message, hint)
