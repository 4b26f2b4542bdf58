"""``freshet test`` on Spark: the examples' own cases, cases that fail in every way, and cases made of real rows."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from freshet.cases.differences import plain_value
from freshet.cases.rows import frame
from freshet.cases.values import RowSet
from freshet.cli.main import main
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.lake import Lake, rows
from tests.kit.values import VALUES

REPOSITORY = Path(__file__).parents[2]
TABLES = 'tables:\n  SRC: {schema: "id string, ts bigint, amount decimal(10,2), day string", key: id, ordering: ts}\n'
FILE = "pipelines/tests/copy.yml"


def freshet(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "-C", str(root)])


def outcomes(root: Path, *words: str) -> dict[str, dict[str, Any]]:
    result = freshet(root, "test", *words, "--output", "json")
    return {case["name"]: case for one in json.loads(result.stdout)["pipelines"] for case in one["cases"]}


def test_every_example_has_cases_and_they_hold(spark: SparkSession) -> None:
    result = freshet(REPOSITORY, "test", "--output", "json")
    found = json.loads(result.stdout)
    cases = {p["pipeline"]: p["cases"] for p in found["pipelines"]}
    assert [c for held in cases.values() for c in held if not c["passed"]] == []
    assert result.exit_code == 0
    assert set(cases) == {path.stem for path in (REPOSITORY / "pipelines").glob("*.yml")}
    for name, held in cases.items():
        assert len(held) >= 3, name
        assert any(not case["on_tables"] and "no_rows" in case["name"] for case in held), name
    assert any(case["on_tables"] for held in cases.values() for case in held)


def test_given_rows_are_what_spark_reads(spark: SparkSession) -> None:
    more = [("binary", bytearray(b"\xff")), ("double", float("inf")), ("date", date(2026, 1, 5)), ("map<int,string>", {1: "a"})]
    kinds = [(parse_type(kind), value) for kind, value in [*VALUES, *more]]
    columns = [Column(name=f"c {number}", type=kind) for number, (kind, _) in enumerate(kinds)]
    given = RowSet(tuple(c.name for c in columns), ({c.name: value for c, (_, value) in zip(columns, kinds, strict=True)}, {}))
    # Once as one literal, and once as rows of Python, for the map's sake.
    for taken in (columns[:-1], columns):
        first, second = frame(spark, taken, given).collect()
        assert [plain_value(first[c.name], c.type) for c in taken] == [given.rows[0][c.name] for c in taken]
        assert set(second) == {None}


def test_a_case_that_fails_says_where_and_what(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, ts, amount * 2 AS amount, day FROM <SRC> WHERE amount > 0")
    lake.write_file(
        FILE,
        TABLES
        + """\
cases:
  good:
    given: {SRC: [{id: a, ts: 1, amount: 1.5, day: d}, {id: b, ts: 1, amount: 2, day: d}]}
    expect: {rows: [{id: b, amount: 4}, {id: a, amount: 3}]}
  others:
    given: {SRC: [{id: a, ts: 1, amount: 1.5, day: d}, {id: b, ts: 1, amount: 2, day: d}, {id: c, ts: 1, amount: 1, day: d}]}
    expect: {rows: [{id: a, amount: 3}, {id: b, amount: 5}, {id: x, amount: 5}]}
  twice:
    given: {SRC: [{id: a, ts: 1, amount: 1, day: d}, {id: a, ts: 1, amount: 1, day: d}]}
    expect: {rows: [{id: a, amount: 2}]}
  none:
    given: {SRC: [{id: a, ts: 1, amount: 1, day: d}]}
    expect: {rows: []}
  refused: {given: {SRC: [{id: a, ts: 1, amount: 1}]}, expect: {error: NULL_VALUE}}
  not_refused: {given: {SRC: [{id: a, ts: 1, amount: 1, day: d}]}, expect: {error: NULL_VALUE}}
  not_asked_for: {given: {SRC: [{id: a, ts: 1, amount: 1}]}, expect: {rows: []}}
""",
    )
    result = freshet(lake.project_root, "test")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == "copy"
    assert lines[1] == "  ok      good"
    assert lines[2] == f"  FAILED  others ({FILE}:7)"
    assert [line.strip() for line in lines[3:6]] == [
        "row id=b: amount: expected 5.00, found 4.00",
        "missing row: id=x, amount=5.00",
        "unexpected row: id=c, amount=2.00",
    ]
    assert lines[-1] == "7 cases of 1 of 1 pipeline: 2 passed, 5 failed"
    found = outcomes(lake.project_root)
    assert [case["passed"] for case in found.values()] == [True, False, False, False, True, False, False]
    assert found["others"]["differences"][0] == {
        "kind": "differs",
        "row": "id=b",
        "columns": {"amount": {"expected": "5.00", "found": "4.00"}},
    }
    assert [d["kind"] for d in found["twice"]["differences"]] == ["unexpected"]
    assert [d["kind"] for d in found["none"]["differences"]] == ["unexpected"]
    assert "did not fail" in found["not_refused"]["reason"]
    assert "NULL_VALUE" in found["not_asked_for"]["reason"]


def test_sql_that_is_wrong_fails_its_cases_and_no_others(lake: Lake) -> None:
    text = TABLES + "cases:\n  a: {given: {SRC: [{id: a, ts: 1, day: d}]}, expect: {rows: [{id: a}]}}\n"
    lake.pipeline("broken", sql="SELECT idd FROM <SRC>")
    lake.pipeline("copy", sql="CACHE TABLE kept AS SELECT * FROM <SRC>;\nSELECT * FROM kept")
    lake.write_file("pipelines/tests/broken.yml", text)
    lake.write_file(FILE, text + "  b: {given: {SRC: [{id: b, ts: 1, day: d}]}, expect: {rows: [{id: b}]}}\n")
    result = json.loads(freshet(lake.project_root, "test", "--output", "json").stdout)
    broken, copy = result["pipelines"]
    assert (result["passed"], result["failed"]) == (2, 1)
    assert broken["cases"][0]["error"]["code"] == "SQL_ERROR"
    assert "transformers/broken.sql:1:8" in broken["cases"][0]["reason"]
    assert [case["passed"] for case in copy["cases"]] == [True, True]


def test_a_target_is_what_it_would_be(lake: Lake) -> None:
    lake.pipeline(
        sql="SELECT s.id, s.ts, s.amount + coalesce(c.fee, 0) AS amount, s._hoodie_is_deleted, s.day FROM <SRC> s "
        "LEFT JOIN cities c ON c.day = s.day",
        columns=",\n  _hoodie_is_deleted BOOLEAN",
        table_type="mor",
        top="inputs: {cities: {table: raw.cities, read: affected_partitions, on: {day: day}}}\n",
    )
    lake.write_file(
        FILE,
        TABLES
        + """\
  cities: {schema: "id string, day string, fee decimal(10,2)", key: id, partition: day}
cases:
  a:
    given:
      target: [{id: a, ts: 5, amount: 1, day: d}, {id: b, ts: 5, amount: 1, day: d}, {id: c, ts: 5, amount: 1, day: d}]
      SRC:
        - {id: a, ts: 4, amount: 7, day: d}
        - {id: b, ts: 6, amount: 7, day: d}
        - {id: c, ts: 6, amount: 7, day: d, _hoodie_is_deleted: true}
        - {id: n, ts: 6, amount: 7, day: d}
      cities: [{id: x, day: d, fee: 0.5}]
    expect:
      target: [{id: a, amount: 1}, {id: b, amount: 7.5}, {id: n, amount: 7.5}]
  refused:
    given:
      target: [{id: a, ts: 5, amount: 1, day: d}]
      SRC: [{id: a, ts: 6, amount: 99999999.99, day: d}]
      cities: [{id: x, day: d, fee: 99999999.99}]
    expect:
      error: OVERFLOW
      target: [{id: a, amount: 1}]
  wrong:
    given:
      SRC: [{id: a, ts: 6, amount: 1, day: d}]
    expect:
      target: [{id: a, amount: 2}]
""",
    )
    found = outcomes(lake.project_root)
    assert found["a"]["passed"], found["a"]
    assert found["refused"]["passed"], found["refused"]
    assert found["wrong"]["differences"][0]["columns"] == {"amount": {"expected": "2.00", "found": "1.00"}}
    # Nothing was made where the project's own tables would lie.
    assert not (lake.root / "derived").exists()


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_pipeline_with_an_hbase_index_is_tested_without_one(lake: Lake, kind: str) -> None:
    # Nothing listens on that port, and the rows that move and come back are one each all the same.
    lake.pipeline(
        table_type=kind,
        hoodie={
            "hoodie.index.type": "HBASE",
            "hoodie.index.hbase.zkquorum": "127.0.0.1",
            "hoodie.index.hbase.zkport": 9,
            "hoodie.index.hbase.table": "nowhere",
        },
    )
    lake.write_file(
        FILE,
        TABLES
        + """\
cases:
  a:
    given:
      target: [{id: a, ts: 5, amount: 1, day: d}, {id: b, ts: 5, amount: 1, day: d}, {id: c, ts: 5, amount: 1, day: d}]
      SRC:
        - {id: a, ts: 6, amount: 7, day: e}
        - {id: b, ts: 4, amount: 7, day: e}
        - {id: n, ts: 6, amount: 7, day: e}
    expect:
      target:
        - {id: a, amount: 7, day: e}
        - {id: b, amount: 1, day: d}
        - {id: c, amount: 1, day: d}
        - {id: n, amount: 7, day: e}
""",
    )
    found = outcomes(lake.project_root)
    assert found["a"]["passed"], found["a"]


def test_a_case_says_what_becomes_of_checks(lake: Lake) -> None:
    lake.pipeline(
        top="""checks:
  - {name: positive, where: amount < 0}
  - {name: known_day, where: day <> 'd', severity: drop}
  - {name: few, sql: select count(*) from <TABLE_NAME>, expect: 1}
"""
    )
    lake.write_file(
        FILE,
        TABLES
        + """\
cases:
  refused:
    given: {SRC: [{id: a, ts: 1, amount: -1, day: d}], target: []}
    expect: {checks: {positive: failed}, target: []}
  of_the_table:
    given: {SRC: [{id: a, ts: 1, amount: 1, day: d}], target: [{id: b, ts: 1, amount: 1, day: d}]}
    expect: {checks: {few: failed}, error: CHECK_FAILED, target: [{id: b}]}
  dropped:
    given: {SRC: [{id: a, ts: 1, amount: 1, day: d}, {id: b, ts: 1, amount: 1, day: e}]}
    expect: {checks: {positive: passed, known_day: dropped, few: passed}, target: [{id: a}]}
  wrong:
    given: {SRC: [{id: a, ts: 1, amount: -1, day: d}]}
    expect: {checks: {positive: passed}}
""",
    )
    found = outcomes(lake.project_root)
    assert [name for name, case in found.items() if not case["passed"]] == ["wrong"], found
    assert "check positive: expected passed, found failed" in found["wrong"]["reason"]
    assert not (lake.root / "derived").exists()


def test_a_case_out_of_real_rows_holds_until_the_sql_changes(lake: Lake) -> None:
    lake.land(rows(("a", 1, "1.50"), ("b", 1, "2.00")))
    lake.land(rows(("c", 2, "3.00")), day="day")
    cities = [(f"{key}-fee", key, 1, "2026-01-05") for key in ("a", "b", "c")]
    lake.land(
        cities,
        table="raw.fees",
        schema="fee_id string, id string, ts bigint, day string",
        **{"hoodie.datasource.write.recordkey.field": "fee_id"},
    )
    lake.pipeline(
        sql="SELECT s.id, s.ts, s.amount, s.day FROM <SRC> s JOIN fees f ON f.id = s.id",
        top="inputs: {fees: {table: raw.fees}}\n",
    )
    made = freshet(lake.project_root, "test", "copy", "--from-data", "--rows", "1", "--case", "newest")
    assert made.exit_code == 0, made.output
    assert made.stdout == f"wrote case newest to {FILE}\n"
    assert "real values" in made.stderr
    text = (lake.project_root / FILE).read_text()
    assert "{id: c, ts: 2, amount: 3.00, day: 2026-01-05}" in text
    assert "fee_id: c-fee" in text
    assert "fee_id: a-fee" not in text
    again = freshet(lake.project_root, "test", "copy", "--from-data", "--case", "newest")
    assert (again.exit_code, "CASE_EXISTS" in again.stderr) == (1, True)
    assert (lake.project_root / FILE).read_text() == text
    assert freshet(lake.project_root, "test", "copy", "--from-data", "--rows", "3", "--case", "all").exit_code == 0
    assert {name: case["passed"] for name, case in outcomes(lake.project_root).items()} == {"newest": True, "all": True}
    lake.write_file("transformers/copy.sql", "SELECT id, ts, amount + 1 AS amount, day FROM <SRC>")
    assert {case["passed"] for case in outcomes(lake.project_root).values()} == {False}
