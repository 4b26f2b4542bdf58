"""``freshet init --pipeline NAME --source TABLE``: what is written fits the table, and validates as it stands.

Of this kind: everything that a table says of itself, which nobody should have to type again: columns and their types, a name
that is a word of SQL, key, ordering field, partitions and what they hold, whether deletes are recorded; and what no target can
have, or the source has not, which is told.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.cases.load import build_cases, read_fixture
from freshet.cases.schemas import shapes_of
from freshet.hudi.timeline import TimelineState
from freshet.problems import Problems
from freshet.project.load.project import load_project
from tests.kit.timeline import COMMIT, HandMade, avro
from tests.unit.cli.conftest import Freshet, parsed

KINDS: dict[str, Any] = {
    "text": "string",
    "int": "int",
    "long": "long",
    "bool": "boolean",
    "real": "double",
    "day": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "timestamp-micros"},
    "local": {"type": "long", "logicalType": "local-timestamp-micros"},
    "money": {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 12, "scale": 3},
    "list": {"type": "array", "items": "string"},
    "pair": {"type": "record", "name": "p", "fields": [{"name": "City", "type": ["null", "string"]}]},
}


def a_source(root: Path, columns: str, partition: str = "", where: str = "raw/visits", **properties: str) -> None:
    """Write a table as Hudi leaves it: ``columns`` are names with kinds, ``partition`` is the path of one that it has."""
    fields = [
        {"name": name, "type": ["null", KINDS[kind]]} for name, _, kind in (column.partition(":") for column in columns.split())
    ]
    schema = json.dumps({"type": "record", "name": "r", "fields": [{"name": "_hoodie_commit_time", "type": "string"}, *fields]})
    said = {
        "version": "8",
        "type": "COPY_ON_WRITE",
        "recordkey.fields": "id",
        "precombine.field": "at",
        "keygenerator.type": "SIMPLE",
        **{key.replace("_", "."): value for key, value in properties.items()},
    }
    table = HandMade(root / "warehouse" / where, "".join(f"hoodie.table.{key}={value}\n" for key, value in said.items()))
    stat = {
        "fileId": "00000001-aa-0",
        "numInserts": 3,
        "numUpdateWrites": 0,
        "numDeletes": 0,
        "path": None,
        "fileSizeInBytes": None,
    }
    table.done(
        20,
        avro(
            COMMIT,
            {
                "partitionToWriteStats": {partition: [stat]},
                "extraMetadata": {"schema": schema},
                "operationType": "UPSERT",
                "partitionToReplaceFileIds": {},
            },
        ),
    )


def _file(root: Path, path: str) -> str:
    return (root / path).read_text()


@pytest.mark.parametrize(
    ("columns", "partition", "properties", "ddl", "yaml", "absent"),
    [
        pytest.param(
            "id:text at:time fare:money select:int day:text _hoodie_is_deleted:bool",
            "day=2026-01-05",
            {"partition_fields": "day", "cdc_enabled": "true"},
            [
                "fare     DECIMAL(12,3)",
                "`select` INT",
                "PARTITIONED BY (day)",
                "partition, yyyy-MM-dd",
                "primaryKey = 'id', preCombineField = 'at'",
                "_hoodie_is_deleted BOOLEAN",
            ],
            ["partition_is_stable: true", "event_time: day, partition: day, granularity: day"],
            [],
            id="a landed one",
        ),
        pytest.param(
            "id:long line:int at:long note:pair tags:list",
            "",
            {"recordkey_fields": "id,line", "keygenerator_type": "COMPLEX"},
            ["BIGINT NOT NULL COMMENT 'part of the record key'", "struct<City:string>", "primaryKey = 'id,line'"],
            ["# backfill:"],
            ["PARTITIONED", "_hoodie_is_deleted", "partition_is_stable"],
            id="no partitions, no change data",
        ),
        pytest.param(
            "id:text at:time month:text",
            "2026-01",
            {"partition_fields": "month", "recordkey_fields": "id,month"},
            ["part of the record key; partition, yyyy-MM"],
            ["granularity: month"],
            ["partition_is_stable"],
            id="months, in the key",
        ),
        pytest.param(
            "id:text at:time city:text born:local",
            "city=Ulm",
            {"partition_fields": "city", "type": "MERGE_ON_READ"},
            ["PARTITIONED BY (city)", "born TIMESTAMP", "type = 'cow'"],
            ["# backfill:", "partition_is_stable"],
            ["NTZ"],
            id="a partition that is no date, a type that no target has",
        ),
        pytest.param(
            "id:text at:time day:day",
            "2026-01-05",
            {"partition_fields": "day"},
            ["day DATE NOT NULL"],
            ["granularity: day"],
            [],
            id="a date",
        ),
        pytest.param(
            "id:text at:time",
            "",
            {"cdc_enabled": "true", "partition_fields": ""},
            ["_hoodie_is_deleted BOOLEAN"],
            [],
            [],
            id="change data without the column",
        ),
        pytest.param(
            "id:text at:time _hoodie_is_deleted:bool",
            "",
            {"partition_fields": ""},
            ["_hoodie_is_deleted BOOLEAN"],
            ["{code: DELETES_STAY, why: The source does not say which rows it deletes.}"],
            [],
            id="the column without change data",
        ),
    ],
)
def test_the_files_fit_the_table(
    freshet: Freshet,
    tmp_path: Path,
    columns: str,
    partition: str,
    properties: dict[str, str],
    ddl: list[str],
    yaml: list[str],
    absent: list[str],
) -> None:
    root = tmp_path / "p"
    freshet("init", str(root))
    a_source(root, columns, partition, **properties)
    done = freshet("init", str(root), "--pipeline", "stays", "--source", "raw.visits")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "its columns, key, ordering field and partitions are those of raw.visits" in done.stdout
    assert "land" not in done.stdout.partition("next:")[2]
    texts = _file(root, "ddl/stays.sql"), _file(root, "pipelines/stays.yml")
    assert [word for word in ddl if word not in texts[0]] == [], texts[0]
    assert [word for word in yaml if word not in texts[1]] == [], texts[1]
    assert [word for word in absent if any(word in text for text in texts)] == []
    checked = freshet("validate", "-C", str(root))
    assert (checked.exit_code, checked.stdout.startswith("2 pipelines: no problems\n")) == (0, True), checked.output
    # By the table as it stands, as the run is held.
    verdict = parsed(freshet("explain", "stays", "-C", str(root), "--output", "json"))["pipelines"][0]
    assert verdict["verdict"] != "inexact", verdict["findings"]
    plan = parsed(freshet("compile", "stays", "-C", str(root), "--output", "json"))["plans"][0]
    assert [stage["stage"] for stage in plan["stages"]][-1] == "commit"
    names = [column.partition(":")[0] for column in columns.split()]
    sql = _file(root, "transformers/stays.sql")
    assert [name for name in names if name not in sql] == []
    problems, spec = Problems(), load_project(root, names=["stays"]).pipelines[0]
    text = read_fixture(root, spec, problems)
    assert text is not None
    cases = build_cases(root, spec, text, shapes_of(spec, {}, text.tables, TimelineState()), problems)
    assert (problems.found, len(cases)) == ([], 1 + ("_hoodie_is_deleted" in sql))


@pytest.mark.parametrize(
    ("columns", "partition", "properties", "said", "problem"),
    [
        (
            "id:text at:time",
            "2026/01/05",
            {"partition_fields": "at", "keygenerator_type": "TIMESTAMP"},
            "are computed from at",
            "",
        ),
        ("id:text at:time", "x", {"partition_fields": "at"}, "is partitioned by at, which is TIMESTAMP", ""),
        ("id:text at:time", "", {"precombine_field": ""}, "has no ordering field", "MISSING_ORDERING_FIELD"),
        ("id:text at:time", "", {"recordkey_fields": ""}, "has no record key", "MISSING_PRIMARY_KEY"),
        ("id:text at:time", "", {"version": "6"}, "so that the columns are an example's: TABLE_VERSION", ""),
    ],
)
def test_what_does_not_fit_is_told(
    freshet: Freshet,
    tmp_path: Path,
    columns: str,
    partition: str,
    properties: dict[str, str],
    said: str,
    problem: str,
) -> None:
    root = tmp_path / "p"
    freshet("init", str(root))
    a_source(root, columns, partition, **properties)
    done = freshet("init", str(root), "--pipeline", "stays", "--source", "raw.visits")
    assert (done.exit_code, said in done.stdout) == (0, True), done.output
    checked = freshet("validate", "stays", "-C", str(root))
    assert (problem in checked.output) if problem else checked.exit_code == 0, checked.output


def _upstream(freshet: Freshet, root: Path, using: str = "USING hudi") -> None:
    freshet("init", str(root))
    ddl = root / "ddl/order_totals.sql"
    text = ddl.read_text().replace("type = 'cow'", "type = 'cow', 'hoodie.table.cdc.enabled' = 'true'")
    ddl.write_text(text.replace("USING hudi", using))


def test_what_a_pipeline_is_to_write_has_the_columns_of_its_ddl(freshet: Freshet, tmp_path: Path) -> None:
    _upstream(freshet, tmp_path)
    done = freshet("init", str(tmp_path), "--pipeline", "stays", "--source", "derived.order_totals", "--output", "json")
    assert (parsed(done)["columns_of"], parsed(done)["steps"][-1]) == ("ddl", "freshet run order_totals stays")
    assert "amount" in _file(tmp_path, "ddl/stays.sql")
    assert freshet("validate", "-C", str(tmp_path)).exit_code == 0


def test_a_source_that_lies_elsewhere_is_read_there(freshet: Freshet, tmp_path: Path) -> None:
    _upstream(freshet, tmp_path, f"USING hudi\nLOCATION '{tmp_path}/warehouse/else/where'")
    a_source(tmp_path, "id:text at:time n:int", where="else/where")
    freshet("init", str(tmp_path), "--pipeline", "stays", "--source", "derived.order_totals")
    (found,) = load_project(tmp_path, names=["stays"]).pipelines
    assert found.source.table.path == f"{tmp_path}/warehouse/else/where"


def test_a_source_below_a_variable_is_named_by_it(freshet: Freshet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: what a variable holds here, in a file that is committed: a secret, or a path that is wrong elsewhere."""
    monkeypatch.setenv("LAKE", f"{tmp_path}/s3cr3t-lake-9f2")
    _upstream(freshet, tmp_path, "USING hudi\nLOCATION '{{ var.lake }}/x/totals'")
    config = tmp_path / "configs/base.yml"
    config.write_text(config.read_text().replace("vars:\n", 'vars:\n  lake: "{{ env.LAKE }}"\n'))
    done = freshet("init", str(tmp_path), "--pipeline", "stays", "--source", "derived.order_totals")
    assert done.exit_code == 0, done.output
    written = _file(tmp_path, "pipelines/stays.yml")
    assert "{{ env.LAKE }}/x/totals" in written, written
    assert "s3cr3t" not in written
    found = parsed(freshet("validate", "stays", "-C", str(tmp_path), "--output", "json"))["pipelines"]
    assert "s3cr3t" not in str(found)
