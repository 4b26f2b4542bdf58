"""Types of the target's columns that Hudi cannot write, order by, partition by or make a key of."""

from __future__ import annotations

from freshet.hudi.keys import options
from freshet.project.model.pipeline import IndexSpec, TableSpec
from freshet.project.rules.settings import SettingRules
from freshet.project.syntax.ddl import Setting
from freshet.types.columns import Atomic, Column, Decimal
from freshet.types.from_json import DELETE_MARK


class TypeRules(SettingRules):
    """Checks of the types of one pipeline's target."""

    def types(self, table: TableSpec, index: IndexSpec) -> None:
        """Refuse types that Hudi cannot write, order by, partition by, or make a key of without losing digits.

        Tried on Hudi 1.0.2 with every type of a DDL (tests/integration/test_ordering_types.py, test_key_types.py,
        test_partition_types.py).

        Args:
            table: The target.
            index: Its index.
        """
        for column in table.columns:
            if "timestamp_ntz" in str(column.type):
                at = Setting(value="", file=self.ddl.file, line=self.ddl.column_lines.get(column.name, self.ddl.line))
                self.add(
                    at,
                    "UNSUPPORTED_TYPE",
                    f"Hudi 1.0 cannot write {str(column.type).upper()}, as {column.name} is.",
                    "Write TIMESTAMP.",
                )
        consistent = self.setting(options.CONSISTENT_TIMES)
        times = [c.name for c in table.columns if c.name in table.record_key and c.type == Atomic("timestamp")]
        if times and consistent.value.lower() == "true":
            self.add(
                consistent,
                "KEY_LOSES_DIGITS",
                f"With {options.CONSISTENT_TIMES} the text of {times[0]} in the key "
                "ends at the millisecond: two keys within one would be one row.",
                "Remove the line, or take a BIGINT or STRING as key.",
            )
        for column in table.columns:
            if column.name in table.partition_by and column.type in (Atomic("timestamp"), Atomic("binary")):
                self.add(
                    self.setting(options.PARTITION_BY),
                    "PARTITION_TYPE",
                    f"Hudi 1.0 shows {column.name}, which is "
                    f"{str(column.type).upper()}, as null or as another value where it is the partition.",
                    "Partition by a DATE or STRING column, and compute it from this one in the SQL.",
                )
            if column.name == table.ordering_field:
                self._ordering_type(column, table, index)

    def _ordering_type(self, column: Column, table: TableSpec, index: IndexSpec) -> None:
        setting, kind = self.setting(options.ORDERING_FIELD), str(column.type).upper()
        if column.type == Atomic("binary"):
            self.add(
                setting,
                "ORDERING_TYPE",
                f"Hudi 1.0 does not order rows by {column.name}, which is BINARY: on "
                "COPY_ON_WRITE an older one may win, and a MERGE_ON_READ table becomes unreadable.",
                "Order by BIGINT, DOUBLE, STRING or TIMESTAMP.",
            )
        if table.table_type != "MERGE_ON_READ" or not (isinstance(column.type, Decimal) or column.type == Atomic("date")):
            return
        marked = any(c.name == DELETE_MARK for c in table.columns)
        if marked or (index.is_global and table.partition_by):
            effect = "cannot write a delete" if kind == "DATE" else "cannot read the table after a delete"
            why = f"{DELETE_MARK} deletes rows" if marked else "a row that moves is deleted where it was"
            self.add(
                setting,
                "ORDERING_TYPE",
                f"Where the ordering field is {kind}, as {column.name} is, Hudi 1.0 {effect} on MERGE_ON_READ, and {why}.",
                "Order by BIGINT, DOUBLE, STRING or TIMESTAMP, or write type = 'cow'.",
            )
