"""What an audit calls equal, and what it says of the rest: on frames, without a table.

The kind: two spellings of one value that would be an alarm (nulls, sums of doubles, the order of a map's entries), two values
that would not be; and rows that are counted twice, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.audit.compare import COMMIT, KIND, PLACE, SCOPE, count_rows, marked_rows
from freshet.audit.plan import AuditPlan, plan_audit
from freshet.audit.recompute import WAITS, Recomputed
from freshet.audit.request import AuditRequest
from freshet.audit.result import counted_columns, summed
from freshet.audit.sample import Sample
from freshet.hudi.table import MemoryState
from freshet.types.columns import Atomic, Column
from freshet.types.from_sql import parse_type
from freshet.verdict.result import Scope
from tests.kit.memory import CITIES, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target

VALUES = ("double", "float", "decimal(10,2)", "timestamp", "map<string,int>", "struct<a:int,b:array<string>>", "binary")
COLUMNS = (
    Column(name="id", type=Atomic("string")),
    *(Column(name=f"v{n}", type=parse_type(kind)) for n, kind in enumerate(VALUES)),
    Column(name="ts", type=Atomic("bigint")),
    Column(name="day", type=Atomic("string")),
)
#: By the column's type: what the recompute gives, what stands, and whether the two are one value.
PAIRS = {
    "double": [
        ("null", "null", True),
        ("null", "0", False),
        ("0.1D + 0.2D", "0.3D", True),
        ("1D", "1.0001D", False),
        ("0D", "-0D", True),
        ("double('nan')", "double('nan')", True),
        ("double('nan')", "1D", False),
        ("double('inf')", "double('inf')", True),
        ("double('inf')", "1e308", False),
        ("double('inf')", "double('-inf')", False),
        ("1e-300", "0D", False),
    ],
    "float": [("float(0.1) + float(0.2)", "float(0.3)", True), ("float(1)", "float(1.001)", False)],
    "decimal(10,2)": [("1.10", "1.1", True), ("1.10", "1.11", False)],
    "timestamp": [("timestamp'2026-01-01 00:00:00.000001'", "timestamp'2026-01-01 00:00:00'", False)],
    "map<string,int>": [
        ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", True),
        ("map('a', 1)", "map('a', 2)", False),
        ("map()", "null", False),
        ("null", "null", True),
    ],
    "struct<a:int,b:array<string>>": [
        ("named_struct('a', 1, 'b', array('x', null))", "named_struct('a', 1, 'b', array('x', null))", True),
        ("named_struct('a', 1, 'b', array('x'))", "named_struct('a', 1, 'b', array('y'))", False),
        ("named_struct('a', null, 'b', null)", "null", False),
    ],
    "binary": [("X'00ff'", "X'00ff'", True), ("X'00ff'", "X'00fe'", False)],
}


@pytest.fixture
def spark(quick: SparkSession) -> SparkSession:
    return quick


def plan(**changes: Any) -> AuditPlan:
    tables = (a_table_state([a_commit(20)]), a_table_state([a_commit(1)], ref=CITIES), a_target((22, a_checkpoint(20))))
    state = MemoryState({table.ref.path: table for table in tables})
    planned = plan_audit(a_spec(), state, AuditRequest(everything=True), Scope(), "")
    spec = a_spec(target=a_table_spec(columns=COLUMNS, record_key=("id",), ordering_field="ts"))
    compared = tuple(c.name for c in COLUMNS if c.name not in ("id", "day"))
    return replace(planned, spec=spec, identity=("id", "day"), compared=compared, **changes)


def row(key: str, values: Mapping[int, str] | None = None, *, ts: int = 1, day: str = "d", commit: str = "") -> str:
    told = [f"cast({(values or {}).get(n, 'null')} AS {kind}) AS v{n}" for n, kind in enumerate(VALUES)]
    stands = [f"'{commit}' AS {COMMIT}", f"'{day}' AS {PLACE}"] if commit else []
    return f"SELECT '{key}' AS id, {', '.join(told)}, {ts}L AS ts, '{day}' AS day" + "".join(f", {one}" for one in stands)


def frame(spark: SparkSession, *rows: str) -> DataFrame:
    return spark.sql(" UNION ALL ".join(rows))


def kinds(rows: DataFrame) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, kind in sorted((one[0], one[1]) for one in rows.select("id", KIND).collect()):
        found.setdefault(kind, []).append(key)
    return found


def test_values_of_every_type(spark: SparkSession) -> None:
    cases = [(n, *pair) for n, kind in enumerate(VALUES) for pair in PAIRS[kind]]
    ours = frame(spark, *(row(f"k{at:02d}", {n: right}) for at, (n, right, _, _) in enumerate(cases)))
    theirs = frame(spark, *(row(f"k{at:02d}", {n: stands}, commit="1") for at, (n, _, stands, _) in enumerate(cases)))
    marked = marked_rows(plan(), Recomputed(rows=ours, kept_out=None, dropped=0), theirs)
    found = kinds(marked)
    wrong = [f"k{at:02d}" for at, case in enumerate(cases) if not case[3]]
    assert found["unequal"] == wrong, [cases[int(key[1:])] for key in {*found["unequal"]} ^ {*wrong}]
    assert set(found) == {"equal", "unequal"}
    counted = count_rows(plan(), marked)
    assert sum(counted_columns(counted.groups).values()) == len(wrong)
    assert summed(counted.groups, "equal") == len(cases) - len(wrong)


def test_rows_of_one_side_of_one_key_and_of_a_check(spark: SparkSession) -> None:
    ours = frame(spark, row("both"), row("missing"), row("moved", day="e"), row("twice"), row("older", ts=1))
    theirs = frame(
        spark,
        row("both", commit="1"),
        row("surplus", commit="2"),
        row("moved", commit="1"),
        row("twice", commit="1"),
        row("twice", {0: "5"}, ts=0, commit="2"),
        row("older", ts=3, commit="2"),
        row("kept", commit="1"),
    )
    kept = spark.sql("SELECT * FROM VALUES ('kept', 'd', true), ('never', 'd', true), ('lost', 'd', false) AS t(id, day, w)")
    found = Recomputed(rows=ours, kept_out=kept.withColumnRenamed("w", WAITS), dropped=3)
    marked = marked_rows(plan(), found, theirs)
    assert kinds(marked) == {
        "equal": ["both", "twice"],
        "missing": ["missing", "moved"],
        "surplus": ["moved", "surplus", "twice"],
        "unequal": ["older"],
        "kept_out": ["kept", "never"],
        "lost": ["lost"],
    }
    groups = count_rows(plan(), marked).groups
    assert sum(one.twice for one in groups) == 1
    assert sum(one.outranked for one in groups) == 1
    assert {(one.kind, one.commit, one.rows) for one in groups if one.commit} == {
        ("surplus", "1", 1),
        ("surplus", "2", 2),
        ("unequal", "2", 1),
    }
    examples = {one.key["id"]: one for group in groups for one in group.examples}
    assert (examples["older"].columns, examples["older"].commit) == (("ts",), "2")
    assert examples["older"].recompute is not None
    assert examples["missing"].target is None
    since = marked_rows(plan(since="2"), Recomputed(rows=ours, kept_out=None, dropped=0), theirs)
    assert kinds(since) == {"surplus": ["surplus", "twice"], "unequal": ["older"]}


def test_pieces_of_several_rows_are_counted_by_themselves(spark: SparkSession) -> None:
    by_day = plan(sample=Sample(share=0.5, columns=(COLUMNS[-1],), by_row=False))
    ours = frame(spark, *(row(f"k{n}", day=f"day{n % 3}") for n in range(9)))
    theirs = frame(spark, *(row(f"k{n}", {0: "1" if n in (0, 3) else "null"}, day=f"day{n % 3}", commit="1") for n in range(9)))
    marked = marked_rows(by_day, Recomputed(rows=ours, kept_out=None, dropped=0), theirs)
    counted = count_rows(by_day, marked)
    assert (summed(counted.groups, "unequal"), counted.pieces, counted.wrong_pieces) == (2, 3, 1)
    assert marked.where(F.col(SCOPE).isNull()).count() == 0
