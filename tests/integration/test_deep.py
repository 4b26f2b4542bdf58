"""``freshet validate --deep``: what only Spark knows of a pipeline is a problem with file and line, before any run."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from freshet.cli.main import main
from tests.kit.lake import Lake, rows

CASES = """\
tables:
  SRC: {schema: "id string, ts bigint, amount decimal(10,2), day string"}
cases:
  a: {expect: {rows: []}}
"""


def deep(lake: Lake, *words: str) -> Result:
    return CliRunner().invoke(main, ["validate", "--deep", *words, "-C", str(lake.project_root)])


def problems(lake: Lake, *words: str) -> set[tuple[str, int, str]]:
    result = deep(lake, *words, "--output", "json")
    assert result.exit_code == 3, result.output
    return {(p["file"], p["line"], p["code"]) for p in json.loads(result.stdout)["error"]["details"]["problems"]}


def test_every_problem_of_every_pipeline_at_once(lake: Lake) -> None:
    sql = "-- a comment\nCREATE TEMPORARY VIEW paid AS\n  SELECT id, ts,\n    amont FROM <SRC>;\nSELECT * FROM paid\n"
    lake.pipeline("first", sql=sql)
    lake.pipeline("second", sql="SELECT id, ts, cast(amount AS double) AS amount, day, 1 AS more FROM <SRC>")
    lake.pipeline("third", transform="[transformers/third.sql, transformers/third.py]")
    lake.write_file("transformers/third.py", "def transform(inputs, context):\n    return inputs['SCR']\n")
    lake.pipeline("fourth", sql="SELECT id, ts, amount, day FROM <SRC>")
    # Its columns come from the DDL of the pipeline that writes it, whatever that one's SQL is worth.
    lake.pipeline("fifth", sql="SELECT id, ts, amount, dya AS day FROM <SRC>", source="derived.first")
    lake.pipeline(
        "sixth",
        sql="SELECT * FROM <SRC>",
        top=(
            "inputs: {more: {table: derived.fourth, read: affected_partitions, on: {day: dayy}}}\n"
            "backfill: {event_time: at, partition: day}\n"
            "checks:\n"
            "  - {name: good, where: amount < 0}\n"
            "  - {name: bad, where: amont < 0}\n"
            "  - {name: query, sql: select count(*) from <TABLE_NAME> where dayy = 1, expect: 0}\n"
        ),
    )
    for name in ("first", "second", "third", "fourth", "sixth"):
        lake.write_file(f"pipelines/tests/{name}.yml", CASES)
    assert problems(lake) == {
        ("transformers/first.sql", 4, "SQL_ERROR"),
        ("ddl/second.sql", 4, "BATCH_MISMATCH"),
        ("transformers/second.sql", 1, "BATCH_MISMATCH"),
        ("transformers/third.py", 2, "PYTHON_ERROR"),
        ("transformers/fifth.sql", 1, "SQL_ERROR"),
        ("pipelines/sixth.yml", 4, "PARTITIONS_NOT_FOUND"),
        ("pipelines/sixth.yml", 0, "UNKNOWN_COLUMN"),
        ("pipelines/sixth.yml", 8, "CHECK_NOT_EVALUATED"),
        ("pipelines/sixth.yml", 9, "CHECK_NOT_EVALUATED"),
    }
    text = deep(lake).stderr
    assert "transformers/first.sql:4: SQL_ERROR: " in text
    assert "Did you mean" in text
    assert "column amount is double in the batch and decimal(10,2) in the DDL" in text


def test_the_timeline_of_a_table_gives_its_columns_and_none_is_a_notice(lake: Lake) -> None:
    lake.pipeline(sql="CACHE TABLE kept AS SELECT * FROM <SRC>;\nSELECT * FROM kept")
    unknown = deep(lake, "--output", "json")
    assert unknown.exit_code == 0
    found = json.loads(unknown.stdout)
    assert (found["analysed"], [n["code"] for n in found["notices"]]) == ([], ["SCHEMA_UNKNOWN"])
    assert "copy: not analysed: nobody says what columns SRC has" in unknown.stderr
    lake.land(rows(("a", 1, "1.00")))
    known = deep(lake)
    assert (known.exit_code, known.stdout.splitlines()[0]) == (0, "1 pipeline: no problems; Spark analysed 1")
    assert "kept" not in {row.tableName for row in lake.spark.sql("SHOW TABLES").collect()}
    lake.pipeline(sql="SELECT id, ts, amount, days AS day FROM <SRC>")
    assert problems(lake) == {("transformers/copy.sql", 1, "SQL_ERROR")}


def test_wrong_files_need_no_spark(lake: Lake) -> None:
    lake.pipeline(top="nope: 1\n")
    result = deep(lake)
    assert result.exit_code == 3
    assert "starting Spark" not in result.stderr
