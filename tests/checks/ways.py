"""The table of ways to write: what freshet takes and what it refuses, the checks that all of them declare, and one raw table.

A way is an operation (or a write strategy), a table type and an index. Every way declares the same nine checks at once, each
about rows of its own, so that a batch can break one of them and no other.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest

from framework.spec.options import OTHER_INDEXES, OTHER_OPERATIONS
from tests.integration.lake import Lake, Row
from tests.long.test_backfill import RECORD_INDEX

OPERATIONS = ("upsert", "insert", "delete", "insert_overwrite")
STRATEGIES = ("merge", "partial_update", "full_outer_join")
TABLE_TYPES = ("cow", "mor")
#: Another index is one more line here.
INDEXES = {
    "BUCKET": {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"},
    "RECORD_INDEX": RECORD_INDEX,
}
#: What Hudi or freshet asks of the table as it would stand, each about a row that stands in it already.
OF_TABLE = {
    "single": "sql: \"select cast(sum(amount) as int) from <TABLE_NAME> where id like 'single%' -- a comment\", expect: 1",
    "literal": "sql: \"select concat(';#', cast(sum(amount) as int)) from <TABLE_NAME> where id like 'literal%'\", "
               "expect: ';#1'",
    # 1.00 is 1, whatever the scale is.
    "decimal": "sql: \"select coalesce(sum(amount), 0) from <TABLE_NAME> where id like 'decimal%'\", expect: 1",
    # Of its two rows, one lies in a partition that no later batch touches.
    "table": "sql: \"select cast(sum(amount) as int) from <TABLE_NAME> where id like 'table%'\", expect: 2, scope: table",
    "unchanged": "sql: \"select count(*) from <TABLE_NAME> where id like 'unchanged%' and amount > 100\", "
                 "expect: {result: unchanged}",
    # By this alone a batch is bad that brings nothing good.
    "changed": "sql: \"select count(*) from <TABLE_NAME> where id like 'good%'\", expect: {result: changed}",
}
#: Of the batch, by the ordering field, which a batch of every operation holds.
OF_BATCH = {
    "batch": "sql: \"select count(*) from <TABLE_NAME> where id like 'batch%' and ts > 100\", expect: 0, scope: batch",
    "where": "where: \"id like 'where%' and ts > 100\"",
    "gx": "expectations: [{expect_column_values_to_not_be_in_set: {column: ts, value_set: [901]}}]",
}
KINDS = {**OF_TABLE, **OF_BATCH}
CHECKS = "checks:\n" + "".join(f"  - {{name: {kind}, {rule}}}\n" for kind, rule in KINDS.items())

# Of a dozen rows: planning anew between two stages and compiling each query took a quarter of a run's time.
QUICK = ("spark: {spark.sql.adaptive.enabled: false, spark.sql.shuffle.partitions: 1, spark.sql.codegen.wholeStage: false, "
         "spark.sql.codegen.factoryMode: NO_CODEGEN}\n")
_REST = "inputs: {rest: {table: raw.all, read: affected_partitions, on: {day: day}}}\n"
_SCHEMA = "n bigint, id string, ts bigint, amount decimal(10,2), day string, batch string"
_DAY, _UNTOUCHED = "2026-01-05", "2026-01-06"
_FIRST = [("a", "1"), ("b", "1"), ("good0", "1"), *((kind, "1") for kind in KINDS if kind != "changed")]


@dataclass(frozen=True)
class Way:
    """One way of writing.

    Args:
        verb: A write operation, or a strategy.
        table_type: ``cow`` or ``mor``.
        index: A key of ``INDEXES``.
    """

    verb: str
    table_type: str
    index: str

    def __str__(self) -> str:
        return f"{self.verb}-{self.table_type}-{self.index}"

    @property
    def refused(self) -> str:
        """Return the code by which freshet refuses this way before it starts Spark; empty where it takes it."""
        if self.verb == "insert" and self.index == "RECORD_INDEX":
            return "INSERT_DUPLICATES"
        if self.verb == "delete" and self.table_type == "mor":
            return "DELETE_ON_MERGE_ON_READ"
        return ""

    def declare(self, lake: Lake, *batches: str, **how: str) -> None:
        """Write the pipeline of this way; see ``declare`` below."""
        declare(lake, self.verb, self.table_type, INDEXES[self.index], batches, **how)


EVERY_WAY = tuple(Way(*cell) for cell in product((*OPERATIONS, *STRATEGIES), TABLE_TYPES, INDEXES))
WAYS = tuple(way for way in EVERY_WAY if not way.refused)
#: Each with the kinds of check that a batch of it breaks.
BAD = (
    *(pytest.param(way, (kind,), id=f"{way}-{kind}") for way in WAYS if way.verb in OPERATIONS for kind in KINDS),
    *(pytest.param(way, tuple(kinds), id=f"{way}-{name}") for way in WAYS if way.verb in STRATEGIES
      for name, kinds in (("all_of_batch", OF_BATCH), ("all_of_table", OF_TABLE))),
)
#: What no table type and no index makes right: Hudi's other operations, its other indexes, a strategy with another operation.
REFUSED = (
    *((way.verb, way.table_type, INDEXES[way.index], way.refused) for way in EVERY_WAY if way.refused),
    *((name, kind, index, "NOT_SUPPORTED") for name, kind, index in product(OTHER_OPERATIONS, TABLE_TYPES, INDEXES.values())),
    *((name, kind, {"hoodie.index.type": other}, "NOT_SUPPORTED")
      for name, kind, other in product(OPERATIONS, TABLE_TYPES, OTHER_INDEXES) if other not in INDEXES),
    *((name, kind, {**index, "hoodie.datasource.write.operation": other}, "CONFLICTING_SETTING")
      for name, kind, index, other in product(STRATEGIES, TABLE_TYPES, INDEXES.values(), OPERATIONS) if other != "upsert"),
)


def raw_rows() -> list[list[Row]]:
    """Return the raw table's three commits: number, id, ts, amount, day, and the batch that a row is of."""
    first = [(key, 1, Decimal(amount), _DAY, "first") for key, amount in _FIRST]
    first.append(("table-too", 1, Decimal(1), _UNTOUCHED, "first"))
    # What a delete can take away, and a table that only deletes is given beforehand.
    seed = [("unchanged", 1, Decimal(900), _DAY, "seed"), ("good1", 1, Decimal(1), _DAY, "seed")]
    second = [("good1", 2, Decimal(3), _DAY, "good"), ("a", 2, Decimal(5), _DAY, "good"), ("b", 2, Decimal(7), _DAY, "changed")]
    second += [(kind, 2, Decimal(900), _DAY, kind) for kind in OF_TABLE if kind != "changed"]
    second += [(kind, 901 if kind == "gx" else 900, Decimal(1), _DAY, kind) for kind in OF_BATCH]
    numbers = iter(range(100))
    return [[(next(numbers), *row) for row in commit]
            for commit in ([*first, *seed], second, [("none", 900, Decimal(900), _DAY, "none")])]


def land(lake: Lake) -> Path:
    """Write the raw table, and keep it as it stood after each of its commits.

    Some hundred runs read these commits. A table can be copied to another place, and a copy takes no time.

    Returns:
        The folder that holds the versions ``1`` to ``3``.
    """
    for version, commit in enumerate(raw_rows(), start=1):
        lake.land(commit, table="raw.all", schema=_SCHEMA, **{
            "hoodie.datasource.write.recordkey.field": "n", "hoodie.bucket.index.num.buckets": "1"})
        shutil.copytree(lake.path("raw.all"), lake.root / f"{version}")
    return lake.root


def see(lake: Lake, raw: Path, version: int) -> None:
    """Let the lake's raw table stand as after its first ``version`` commits."""
    shutil.copytree(raw / f"{version}", lake.path("raw.all"), dirs_exist_ok=True)


def declare(
    lake: Lake, verb: str, table_type: str, index: dict[str, str], batches: Iterable[str] = ("first",), top: str = CHECKS,
    ts: str = "ts", amount: str = "amount", but: str = "",
) -> None:
    """Write the pipeline of one way, whose batch is these batches of what it reads.

    Args:
        lake: The lake.
        verb: Operation or strategy.
        table_type: ``cow`` or ``mor``.
        index: Keys of the index.
        batches: Values of ``batch``.
        top: Further settings.
        ts, amount: What the columns hold, as SQL.
        but: Rows that are left out, by the beginning of their keys.
    """
    named = ", ".join(f"'{name}'" for name in batches)
    left = f"id NOT LIKE '{but}%'" if but else "true"
    # An insert's rows are new ones.
    key = "concat(id, '-new')" if verb == "insert" and "first" not in batches else "id"
    sql = f"SELECT {key} AS id, {ts} AS ts, {amount} AS amount, day FROM <SRC> WHERE batch IN ({named}) AND {left}"
    if verb == "insert_overwrite":
        # The whole partitions of what has come, as they are by now.
        newest = "row_number() OVER (PARTITION BY id ORDER BY ts DESC) AS place"
        touched = f"SELECT day FROM <SRC> WHERE batch IN ({named})"
        sql = (f"SELECT id, {ts} AS ts, {amount} AS amount, day FROM (SELECT *, {newest} FROM rest "
               f"WHERE batch IN ('first', {named}) AND day IN ({touched})) WHERE place = 1 AND {left}")
        top += _REST
    if verb in STRATEGIES:
        # Without partitions, as a full outer join wants its table, a new row has its day from nowhere else.
        top += f"write: {{strategy: {verb}, columns: [amount{', day' if verb == 'full_outer_join' else ''}]}}\n"
    top += QUICK
    operation = {} if verb in STRATEGIES else {"hoodie.datasource.write.operation": verb}
    # A column that no strategy of these owns.
    lake.pipeline(sql=sql, source="raw.all", top=top, table_type=table_type, columns=",\n  note STRING" if verb in STRATEGIES
                  else "", hoodie={**operation, "hoodie.streamer.source.hoodieincr.num_instants": 50, **index})
    if verb == "full_outer_join":
        ddl = lake.project_root / "ddl/copy.sql"
        ddl.write_text(ddl.read_text().replace(" PARTITIONED BY (day)", ""))


def published(verb: str, *batches: str) -> list[Row]:
    """Return id, ts and amount of the rows that stand once these batches were written in this order, computed in Python."""
    rows = [row for commit in raw_rows() for row in commit]
    found: dict[str, Row] = {}
    for batch in batches:
        for _, key, ts, amount, _, _ in (row for row in rows if row[-1] == batch):
            if verb == "delete" and batch not in ("first", "seed"):
                found.pop(key, None)
            else:
                key = f"{key}-new" if verb == "insert" and batch != "first" else key
                found[key] = key, ts, amount
    return sorted(found.values(), key=str)
