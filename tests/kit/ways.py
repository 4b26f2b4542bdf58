"""The table of ways to write: what freshet takes and what it refuses, the checks that all of them declare, and one raw table.

A way is an operation (or a write strategy), a table type and an index. Every way declares the same checks at once, one of each
kind and each about rows of its own, so that a batch can break one of them and no other.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from freshet.hudi.keys.options import OTHER_INDEXES, OTHER_OPERATIONS
from tests.kit.lake import RECORD_INDEX, Lake, Row
from tests.kit.pairwise import Row as Cell
from tests.kit.pairwise import pairwise, product_of
from tests.kit.whole import WHOLE

OPERATIONS = ("upsert", "insert", "delete", "insert_overwrite")
STRATEGIES = ("merge", "partial_update", "full_outer_join")
TABLE_TYPES = ("cow", "mor")
#: Another index is one more line here. HBASE's ways are tried where the tests have an HBase: tests/hbase/test_publishing.py.
INDEXES = {
    "BUCKET": {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"},
    "RECORD_INDEX": RECORD_INDEX,
    "HBASE": {"hoodie.index.type": "HBASE"},
}
#: What Hudi or freshet asks of the table as it would stand, each about a row that stands in it already.
OF_TABLE = {
    "single": "sql: \"select cast(sum(amount) as int) from <TABLE_NAME> where id like 'single%' -- a comment\", expect: 11",
    "literal": "sql: \"select concat(';#', cast(sum(amount) as int)) from <TABLE_NAME> where id like 'literal%'\", "
    "expect: ';#12'",
    # 13.00 is 13, whatever the scale is.
    "decimal": "sql: \"select coalesce(sum(amount), 0) from <TABLE_NAME> where id like 'decimal%'\", expect: 13",
    # Of its two rows, one lies in a partition that no later batch touches.
    "table": "sql: \"select cast(sum(amount) as int) from <TABLE_NAME> where id like 'table%'\", expect: 29, scope: table",
    "unchanged": "sql: \"select count(*) from <TABLE_NAME> where id like 'unchanged%' and amount > 100\", "
    "expect: {result: unchanged}",
    # By this alone a batch is bad that brings nothing good.
    "changed": "sql: \"select count(*) from <TABLE_NAME> where id like 'good%'\", expect: {result: changed}",
    "unique_in_table": "unique: amount, within: table",
}
#: Of these, what is asked of partitions by SQL that Hudi does not cut.
OF_HUDI = ("single", "decimal", "unchanged", "changed")
#: How a value is compared is the same on every way: an upsert tells, and test_preview.py. Each costs two queries.
_OF_VALUES = () if WHOLE else ("literal", "decimal")
#: Of the batch, by the ordering field, which a batch of every operation holds, or by the rows' age, days and number.
OF_BATCH = {
    "batch": "sql: \"select count(*) from <TABLE_NAME> where id like 'batch%' and ts > 100\", expect: 0, scope: batch",
    "where": "where: \"id like 'where%' and ts > 100\"",
    "gx": "expectations: [{expect_column_values_to_not_be_in_set: {column: ts, value_set: [901]}}]",
    "unique": "unique: ts",
    "references": "references: {table: raw.days, columns: {day: day}}",
    "freshness": "freshness: {column: at, within: 1h}",
    # Of an overwrite the commits before it, and so the median, have a partition's rows.
    "volume": "volume: {last: 3, at_most: 500%}",
}
if not WHOLE:
    # Three commits more for each table; that a volume is compared with the pipeline's own commits, test_publishing.py tells.
    del OF_BATCH["volume"]
#: Found by the write itself where a row is not to be dropped, and so alone.
MALFORMED = {"malformed": "malformed: true"}
KINDS = {**OF_TABLE, **OF_BATCH, **MALFORMED}
#: None but the one by which text may be a number.
NO_CHECK = f"checks:\n  - {{name: malformed, {MALFORMED['malformed']}}}\n"

#: Who makes the table of a type and an index, where several ways go on from it: each is an operation of its own, so that
#: the first batch of each passes its checks.
MAKERS = {
    ("cow", "BUCKET"): "insert",
    ("cow", "RECORD_INDEX"): "insert_overwrite",
    ("mor", "BUCKET"): "merge",
    ("mor", "RECORD_INDEX"): "partial_update",
}

# Of a dozen rows: planning anew between two stages and compiling each query took a quarter of a run's time.
QUICK = (
    "spark: {spark.sql.adaptive.enabled: false, spark.sql.shuffle.partitions: 1, spark.sql.codegen.wholeStage: false, "
    "spark.sql.codegen.factoryMode: NO_CODEGEN}\n"
)
_REST = "inputs: {rest: {table: raw.all, read: affected_partitions, on: {day: day}}}\n"
_SCHEMA = "n bigint, id string, ts bigint, amount decimal(10,2), day string, batch string"
_DAY, _UNTOUCHED, _UNKNOWN = "2026-01-05", "2026-01-06", "2026-01-09"
_AMOUNTS = {"single": 11, "literal": 12, "decimal": 13, "table": 14, "table-too": 15}
_SAME_TS, _MANY = 500, 150
#: What `at` holds: when a row was made.
NOW, LONG_AGO = "current_timestamp()", "current_timestamp() - INTERVAL 2 HOURS"
#: Commits that a volume is compared with, between the first and the one that a test is about.
HISTORY = ("history1", "history2", "history3") if WHOLE else ()
_TS = "if(batch = 'malformed', 'ten', cast(ts as string))"


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
        if self.verb == "insert" and self.index != "BUCKET":
            return "INSERT_DUPLICATES"
        if self.verb == "delete" and self.table_type == "mor":
            return "DELETE_ON_MERGE_ON_READ"
        if self.verb in ("insert_overwrite", "full_outer_join") and self.index == "HBASE":
            return "OVERWRITE_DUPLICATES"
        return ""

    @property
    def maker(self) -> Way:
        """Return the way whose pipeline makes this way's table, and the commits of its history."""
        if self.verb == "delete":
            # Nothing can be deleted of no table.
            return Way("upsert", self.table_type, self.index)
        return self if self.is_apart else Way(MAKERS[self.table_type, self.index], self.table_type, self.index)

    @property
    def is_apart(self) -> bool:
        """Return whether its table begins as no other way's does: with rows to delete, without partitions, with entries."""
        return WHOLE or self.index == "HBASE" or self.verb in ("delete", "full_outer_join")

    @property
    def of_table(self) -> tuple[str, ...]:
        """Return what a batch of this way can break of the table: a delete makes nothing stand twice."""
        kinds = [kind for kind in kinds_of(self.verb) if kind in OF_TABLE]
        return tuple(kind for kind in kinds if self.verb != "delete" or kind != "unique_in_table")

    @property
    def of_batch(self) -> tuple[str, ...]:
        """Return what it can break of the batch."""
        return tuple(kind for kind in kinds_of(self.verb) if kind in OF_BATCH)

    def broken_by(self, step: str) -> tuple[str, ...]:
        """Return the kinds of check that a step's batch breaks."""
        return {
            "all_of_batch": self.of_batch,
            "all_of_table": self.of_table,
            "all_of_hudi": self.of_hudi,
            "malformed": tuple(MALFORMED),
        }[step]

    @property
    def of_hudi(self) -> tuple[str, ...]:
        """Return what Hudi's validators evaluate: of an upsert to a COPY_ON_WRITE table without an HBASE index."""
        by_validators = self.verb in ("upsert", "merge", "partial_update") and self.table_type == "cow"
        return tuple(kind for kind in kinds_of(self.verb) if kind in OF_HUDI and by_validators and self.index != "HBASE")

    def has(self, step: str) -> bool:
        """Return whether freshet takes this way, and the step can be tried on it."""
        return not self.refused and (step != "all_of_hudi" or bool(self.of_hudi))

    def declare(self, lake: Lake, *batches: str, **how: str) -> None:
        """Write the pipeline of this way; see ``declare`` below."""
        declare(lake, self.verb, self.table_type, INDEXES[self.index], batches, **how)


EVERY_WAY = tuple(Way(*cell) for cell in product((*OPERATIONS, *STRATEGIES), TABLE_TYPES, INDEXES))
#: What is tried on a table of a way: no first commit is bad; of one that stands, batches that break every check of a kind, or
#: those that Hudi evaluates within its commit and no other; and at last a good batch, and one without rows.
STEPS = ("first", "all_of_batch", "all_of_table", "all_of_hudi", "malformed", "published")
OF_A_TABLE = ("all_of_batch", "all_of_table", "all_of_hudi", "published")


def way_of(row: dict[str, Any]) -> Way:
    """Return the way of a row of ``FACTORS``."""
    return Way(row["verb"], row["table_type"], row["index"])


#: HBASE's ways are tried where the tests have an HBase: tests/hbase/test_publishing.py.
FACTORS = {"verb": (*OPERATIONS, *STRATEGIES), "table_type": TABLE_TYPES, "index": tuple(INDEXES), "step": STEPS}


def every_cell(*indexes: str) -> list[Cell]:
    """Return all cells of the ways that have one of these indexes."""
    return [row for row in product_of({**FACTORS, "index": indexes}) if way_of(row).has(row["step"])]


def pairs_of_cells(name: str, *indexes: str) -> list[Cell]:
    """Return fewer cells, in which every two values of two factors meet; of a first commit and a malformed row, some."""
    factors = {**FACTORS, "index": indexes, "step": OF_A_TABLE}
    found = pairwise(name, factors, 3, lambda row: way_of(row).has(row["step"]), lambda row: str(way_of(row)))
    # Before there is a table, and before a row is written, every way is the same but these.
    return [
        *found,
        *(
            {"verb": verb, "table_type": kind, "index": index, "step": step}
            for verb, kind, index in (
                ("upsert", "cow", "BUCKET"),
                ("delete", "cow", "RECORD_INDEX"),
                ("merge", "mor", "RECORD_INDEX"),
            )
            for step in ("first", "malformed")
        ),
    ]


def as_parameters(chosen: Iterable[Cell]) -> list[ParameterSet]:
    """Return cells as parameters ``way`` and ``step``."""
    # What a way's table is needed for comes together, and what ends it last.
    chosen = sorted(chosen, key=lambda row: (str(way_of(row)), STEPS.index(row["step"])))
    return [pytest.param(way_of(row), row["step"], id=f"{way_of(row)}-{row['step']}") for row in chosen]


#: What no table type and no index makes right: Hudi's other operations, its other indexes, a strategy with another operation.
REFUSED = (
    *((way.verb, way.table_type, INDEXES[way.index], way.refused) for way in EVERY_WAY if way.refused),
    *((name, kind, index, "NOT_SUPPORTED") for name, kind, index in product(OTHER_OPERATIONS, TABLE_TYPES, INDEXES.values())),
    *(
        (name, kind, {"hoodie.index.type": other}, "NOT_SUPPORTED")
        for name, kind, other in product(OPERATIONS, TABLE_TYPES, OTHER_INDEXES)
        if other not in INDEXES
    ),
    *(
        (name, kind, {**index, "hoodie.datasource.write.operation": other}, "CONFLICTING_SETTING")
        for name, kind, index, other in product(STRATEGIES, TABLE_TYPES, INDEXES.values(), OPERATIONS)
        if other != "upsert"
    ),
)


def kinds_of(verb: str) -> tuple[str, ...]:
    """Return the kinds of check that a pipeline declares: the batch of a delete has a key, a day and a ts, and no time."""
    left = {"freshness"} if verb == "delete" else set()
    return tuple(kind for kind in KINDS if kind not in (left if verb == "upsert" else {*left, *_OF_VALUES}))


def raw_rows() -> list[list[Row]]:
    """Return the raw table's commits: number, id, ts, amount, day, and the batch that a row is of.

    The first commit, those of ``HISTORY``, one with a good batch and all the bad ones, and one that has nothing for anybody.
    No ts and no amount stands twice, but where a batch is to break just that.
    """
    numbers = iter(range(1000))

    def row(batch: str, key: str, ts: int = 0, amount: int = 0, day: str = _DAY) -> Row:
        number = next(numbers)
        return number, key, ts or number + 1, Decimal(amount or 1000 + number), day, batch

    first = [row("first", key) for key in ("a", "b", "good0", *OF_BATCH)]
    first += [row("first", kind, amount=_AMOUNTS.get(kind, 50 + n)) for n, kind in enumerate(OF_TABLE) if kind != "changed"]
    first.append(row("first", "table-too", amount=_AMOUNTS["table-too"], day=_UNTOUCHED))
    # What a delete can take away, and a table that only deletes is given beforehand.
    seed = [row("seed", "unchanged", amount=900), row("seed", "good1")]
    history = [[row(batch, f"{batch}-{n}") for n in range(2)] for batch in HISTORY]
    second = [row("good", "good1"), row("good", "a"), row("changed", "b")]
    second += [row(kind, kind) for kind in OF_TABLE if kind not in ("changed", "unique_in_table")]
    second.append(row("unique_in_table", "unique_in_table", amount=_AMOUNTS["table-too"]))
    second += [
        row("batch", "batch", ts=911),
        row("where", "where", ts=912),
        row("gx", "gx", ts=901),
        row("references", "references", day=_UNKNOWN),
        row("malformed", "malformed"),
    ]
    second += [row("unique", f"unique{n}", ts=_SAME_TS) for n in range(2)]
    second += [row("volume", f"volume{n}") for n in range(_MANY)]
    return [[*first, *seed], *history, second, [row("none", "none")]]


#: Versions of the raw table, by number of commits.
FIRST, TOLD, EMPTY = 1, len(HISTORY) + 2, len(HISTORY) + 3


def land(lake: Lake) -> Path:
    """Write the raw table, and keep it as it stood after each of its commits.

    Some hundred runs read these commits. A table can be copied to another place, and a copy takes no time.

    Returns:
        The folder that holds the versions, by number.
    """
    lake.land([(day, 1, Decimal(1), day) for day in (_DAY, _UNTOUCHED)], table="raw.days")
    for version, commit in enumerate(raw_rows(), start=1):
        lake.land(
            commit,
            table="raw.all",
            schema=_SCHEMA,
            **{"hoodie.datasource.write.recordkey.field": "n", "hoodie.bucket.index.num.buckets": "1"},
        )
        shutil.copytree(lake.root / "raw", lake.root / f"{version}")
    return lake.root


def see(lake: Lake, raw: Path, version: int) -> None:
    """Let the lake's raw tables stand as after the first ``version`` commits, whatever they held."""
    put_back(raw / f"{version}", lake.root / "raw")


def put_back(kept: Path, place: Path) -> None:
    """Let a folder be as it was kept."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(kept, place)


def declare(
    lake: Lake,
    verb: str,
    table_type: str,
    index: dict[str, str],
    batches: Iterable[str] = ("first",),
    top: str | None = None,
    amount: str = "amount",
    at: str = NOW,
    but: str = "",
) -> None:
    """Write the pipeline of one way, whose batch is these batches of what it reads.

    Args:
        lake: The lake.
        verb: Operation or strategy.
        table_type: ``cow`` or ``mor``.
        index: Keys of the index.
        batches: Values of ``batch``.
        top: Further settings; by default a check of every kind.
        amount, at: What the columns hold, as SQL.
        but: Rows that are left out, by the beginning of their keys.
    """
    named = ", ".join(f"'{name}'" for name in batches)
    left = f"id NOT LIKE '{but}%'" if but else "true"
    # An insert's rows are new ones.
    if top is None:
        top = "checks:\n" + "".join(f"  - {{name: {kind}, {KINDS[kind]}}}\n" for kind in kinds_of(verb))
    key = "concat(id, '-new')" if verb == "insert" and "first" not in batches else "id"
    # What a strategy does not own.
    note = "" if verb in STRATEGIES else ", CAST(null AS STRING) AS note"
    columns = f"{key} AS id, {_TS} AS ts, {amount} AS amount, day, {at} AS at{note}"
    sql = f"SELECT {columns} FROM <SRC> WHERE batch IN ({named}) AND {left}"
    if verb == "insert_overwrite":
        # The whole partitions of what has come, as they are by now.
        newest = "row_number() OVER (PARTITION BY id ORDER BY ts DESC) AS place"
        touched = f"SELECT day FROM <SRC> WHERE batch IN ({named})"
        before = ", ".join(f"'{name}'" for name in ("first", *HISTORY))
        sql = (
            f"SELECT {columns} FROM (SELECT *, {newest} FROM rest "
            f"WHERE batch IN ({before}, {named}) AND day IN ({touched})) WHERE place = 1 AND {left}"
        )
        top += _REST
    if verb in STRATEGIES:
        # Without partitions, as a full outer join wants its table, a new row has its day from nowhere else.
        top += f"write: {{strategy: {verb}, columns: [amount, at{', day' if verb == 'full_outer_join' else ''}]}}\n"
    top += QUICK
    operation = {} if verb in STRATEGIES else {"hoodie.datasource.write.operation": verb}
    more = ",\n  at TIMESTAMP,\n  note STRING"
    hoodie = {**operation, "hoodie.streamer.source.hoodieincr.num_instants": 50, **index}
    lake.pipeline(sql=sql, source="raw.all", top=top, table_type=table_type, columns=more, hoodie=hoodie)
    if verb == "full_outer_join":
        ddl = lake.project_root / "ddl/copy.sql"
        ddl.write_text(ddl.read_text().replace(" PARTITIONED BY (day)", ""))


def published(verb: str, *batches: str) -> list[Row]:
    """Return id, ts and amount of the rows that stand once these batches were written in this order, computed in Python."""
    rows = [row for commit in raw_rows() for row in commit]
    found: dict[str, Row] = {}
    for batch in batches:
        for _, key, ts, amount, _, _ in (row for row in rows if row[-1] == batch):
            if verb == "delete" and batch not in ("first", "seed", *HISTORY):
                found.pop(key, None)
            else:
                key = f"{key}-new" if verb == "insert" and batch != "first" else key
                found[key] = key, ts, amount
    return sorted(found.values(), key=str)
