"""Rules of the target: table, keys, operation; what would duplicate or lose rows is refused here."""

from __future__ import annotations

from typing import cast

from freshet.hudi.keys import options
from freshet.problems import did_you_mean
from freshet.project.model.pipeline import IndexSpec, TableRef, TableSpec, TableType
from freshet.project.model.steps import Operation
from freshet.project.rules.settings import SettingRules
from freshet.project.syntax.ddl import Setting
from freshet.types.columns import Column

_OPERATIONS = ("upsert", "insert", "delete", "insert_overwrite")
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
        options.HBASE_QUORUM,
        options.HBASE_PORT,
        options.HBASE_ZNODE,
        options.HBASE_TABLE,
        options.HBASE_MOVES,
        options.HBASE_ROLLBACK,
        options.HBASE_SHARE,
        options.HBASE_SERVER_RATE,
    )
)


class TargetRules(SettingRules):
    """Checks of one pipeline's target."""

    def table(self, ref: TableRef) -> TableSpec:
        """Return the target, its key columns checked against its columns.

        Args:
            ref: Its name and path.
        """
        key_setting = self.setting(options.RECORD_KEY)
        keys = self.columns(key_setting, "record key")
        if not key_setting.value:
            self.add(
                Setting(value="", file=self.ddl.file, line=self.ddl.line),
                "MISSING_PRIMARY_KEY",
                "The table has no record key.",
                "Add TBLPROPERTIES (primaryKey = '<column>').",
            )
        ordering = self.setting(options.ORDERING_FIELD)
        ordering_columns = self.columns(ordering, "ordering field")
        if not ordering.value:
            self.add(
                Setting(value="", file=self.ddl.file, line=self.ddl.line),
                "MISSING_ORDERING_FIELD",
                "The table has no ordering field, so an older row could overwrite a newer one.",
                "Add preCombineField = '<column that grows with every change>' to TBLPROPERTIES.",
            )
        elif "," in ordering.value:
            self.add(
                ordering,
                "BAD_VALUE",
                "The ordering field must be one column.",
                "Name the column that grows with every change.",
            )
        self._ordering_wins()
        partition = self.setting(options.PARTITION_BY)
        partition_columns = self.columns(partition, "partition column")
        not_null = {column.name for column in keys}
        columns = tuple(
            Column(name=c.name, type=c.type, nullable=False, comment=c.comment) if c.name in not_null else c
            for c in self.ddl.columns
        )
        return TableSpec(
            ref=ref,
            file=self.ddl.file,
            columns=columns,
            partition_by=tuple(c.name for c in partition_columns),
            record_key=tuple(c.name for c in keys),
            ordering_field=ordering_columns[0].name if ordering_columns else "",
            table_type=cast(
                TableType,
                self.settings[options.TABLE_TYPE].value if options.TABLE_TYPE in self.settings else "COPY_ON_WRITE",
            ),
            properties={key: value.value for key, value in self.ddl.settings.items() if key.startswith("hoodie.")},
            column_lines=self.ddl.column_lines,
        )

    def operation(self, *, reads_partitions: bool) -> Operation:
        """Return the write operation, upsert where none is named.

        Args:
            reads_partitions: Whether an input gives the whole partitions that a batch belongs to.
        """
        setting = self.setting(options.OPERATION)
        name = setting.value.lower() or "upsert"
        if name in options.OTHER_OPERATIONS:
            self.add(setting, "NOT_SUPPORTED", f"The operation '{name}' is not supported.", options.OTHER_OPERATIONS[name])
        elif name not in _OPERATIONS:
            self.add(setting, "BAD_VALUE", f"'{name[:40]}' is not a write operation.", did_you_mean(name, _OPERATIONS))
        elif name == "delete" and self.setting(options.TABLE_TYPE).value == "MERGE_ON_READ":
            # Seen on Hudi 1.0.2: the delete's entry in the log has the ordering value 0 of type int, and a later row of the
            # same key with another type makes the table unreadable (ClassCastException in FileGroupRecordBuffer).
            self.add(
                setting,
                "DELETE_ON_MERGE_ON_READ",
                "Hudi 1.0 logs such a delete without its ordering value, and a later row of the same key makes the table "
                "unreadable.",
                "Write 'upsert', add `_hoodie_is_deleted BOOLEAN` to the DDL and select true for the rows to delete.",
            )
        elif name == "insert_overwrite" and not (reads_partitions and self.setting(options.PARTITION_BY).value):
            self.add(
                setting,
                "OVERWRITE_LOSES_ROWS",
                "insert_overwrite replaces whole partitions by the batch, and <SRC> holds only the rows that changed.",
                "Partition the table and give the rest of its partitions to the SQL by an input with 'read:"
                " affected_partitions', or write 'upsert'.",
            )
        elif name == "insert" and self.setting(options.INDEX_TYPE).value.upper() in ("RECORD_INDEX", "HBASE"):
            self.add(
                setting,
                "INSERT_DUPLICATES",
                "An insert does not look keys up in a global index, so that a repeated key would stand twice.",
                "Write 'upsert'.",
            )
        return cast(Operation, name if name in _OPERATIONS else "upsert")

    def concurrency(self, table: TableSpec, index: IndexSpec, operation: Operation) -> str:
        """Return the concurrency mode, empty for Hudi's default, after refusing what Hudi would refuse while it writes."""
        setting = self.setting(options.CONCURRENCY)
        mode = setting.value.upper()
        if mode == "NON_BLOCKING_CONCURRENCY_CONTROL":
            if table.table_type != "MERGE_ON_READ" or index.type != "BUCKET":
                self.add(
                    setting,
                    "CONFLICTING_SETTING",
                    f"{mode} needs MERGE_ON_READ and a bucket index.",
                    "Write OPTIMISTIC_CONCURRENCY_CONTROL.",
                )
            if operation == "insert_overwrite":
                self.add(
                    setting,
                    "CONFLICTING_SETTING",
                    f"Hudi 1.0 overwrites no partition by {mode}.",
                    "Write OPTIMISTIC_CONCURRENCY_CONTROL.",
                )
        if mode not in ("", "SINGLE_WRITER") and table.table_type == "MERGE_ON_READ":
            self._cleans_after_compaction()
        return mode

    def _cleans_after_compaction(self) -> None:
        # apache/hudi issue 19290: what cleans beside a compaction may delete the logs that it is to read.
        left = self.setting("hoodie.compact.inline").value.lower() == "false"
        for key, told in (("hoodie.clean.automatic", left), ("hoodie.clean.async.enabled", True)):
            if told and self.setting(key).value.lower() == "true":
                self.add(
                    self.setting(key),
                    "CLEANS_BESIDE_COMPACTION",
                    "Where a table with several writers is cleaned beside "
                    "its compaction, Hudi 1.0.2 may delete logs that the compaction is planned for.",
                    "Write false: what compacts the table cleans it afterwards, in the same process.",
                )

    def _ordering_wins(self) -> None:
        for key in options.MERGE_MODES:
            mode = self.setting(key)
            # A word that is no merge mode at all is reported as a bad value already.
            if mode.value.upper() in ("COMMIT_TIME_ORDERING", "CUSTOM"):
                self.add(
                    mode,
                    "OLDER_ROW_WINS",
                    f"{mode.value.upper()} lets an older row that arrives late overwrite a newer one.",
                    "Write EVENT_TIME_ORDERING, or remove the line.",
                )
        for key in options.PAYLOAD_CLASSES:
            payload = self.setting(key)
            if payload.value in options.NULL_KEEPS:
                self.add(
                    payload,
                    "NULL_KEEPS_OLD_VALUE",
                    f"With {payload.value.rpartition('.')[2]} a row keeps an old value where a recompute has a null.",
                    "Remove the line; where a null means 'not changed', write 'write: {strategy: partial_update, ...}'.",
                )
            elif payload.value not in ("", *options.ORDERING_PAYLOADS):
                self.add(
                    payload,
                    "OLDER_ROW_WINS",
                    f"With {payload.value[:80].rpartition('.')[2]} an older row that arrives late could overwrite a newer one.",
                    f"Write {options.ORDERING_PAYLOADS[0]}, or remove the line.",
                )
