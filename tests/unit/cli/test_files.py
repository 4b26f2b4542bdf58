"""``validate``, ``compile`` and ``schema``: answers from the files alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from freshet.cli.validate_more import NOT_DEEP
from freshet.problems import Problems
from freshet.project.load import layers
from freshet.project.shape.json_schema import json_schema
from freshet.project.syntax.yaml_text import parse_yaml
from tests.kit.project import PIPELINE, a_project
from tests.kit.timeline import a_table
from tests.unit.cli.conftest import Freshet, parsed
from tests.unit.cli.schema_check import mistakes

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = sorted((REPOSITORY / "pipelines").glob("*.yml"))
CONFIGS = sorted((REPOSITORY / "configs").glob("*.yml"))


def test_validate_says_what_is_there(freshet: Freshet, root: Path) -> None:
    text = freshet("validate")
    assert (text.exit_code, text.stdout, text.stderr) == (
        0,
        f"1 pipeline: no problems\n  payments: exact if what is accepted does not happen: DELETES_STAY\n{NOT_DEEP}\n",
        "",
    )
    assert "freshet validate --deep" in NOT_DEEP
    (found,) = parsed(freshet("validate", "--output", "json"))["pipelines"]
    assert (found["name"], found["file"], found["target"]) == ("payments", "pipelines/payments.yml", "derived.payments")
    assert len(found["fingerprint"]) == 16


def test_sql_that_cannot_be_parsed_is_told_and_not_refused(freshet: Freshet, root: Path) -> None:
    """By `validate` and by `plan`, with its place, for Spark's grammar is another one; what parses is not spoken of."""
    a_table(root, "raw/events", 10)
    for command in ("validate", "plan"):
        assert "SQL_NOT_PARSED" not in freshet(command).output
    a_project(root, files={"transformers/payments.sql": "SELECT id, amount,\n  updated_at\nFRM <SRC> WHERE (id = 1\n"})
    for command in ("validate", "plan"):
        done = freshet(command)
        (line,) = (one for one in done.stdout.splitlines() if "SQL_NOT_PARSED" in one)
        assert "transformers/payments.sql:3: " in line
        assert "freshet validate payments --deep" in line
        assert done.exit_code == 0
    (notice,) = parsed(freshet("validate", "--output", "json"))["notices"]
    assert notice["code"] == "SQL_NOT_PARSED"
    (plan,) = parsed(freshet("plan", "--output", "json"))["plans"]
    assert [one["code"] for one in plan["notices"]] == ["SQL_NOT_PARSED"]


def test_a_setting_that_spark_does_not_know_is_told_and_not_refused(freshet: Freshet, root: Path) -> None:
    """Once, for Spark takes whatever it is given; settings of Spark, of a user's own and of others are not spoken of."""
    a_table(root, "raw/events", 10)
    a_project(root, "totals")
    known = "spark.executor.memory: 4g, spark.hadoop.fs.s3a.endpont: x, spark.databricks.x: 'no', spark.sql.catalog.x: y"
    base = root / "configs/base.yml"
    text = base.read_text()
    base.write_text(f"{text}spark: {{{known}}}\n")
    for command in ("validate", "plan"):
        assert "SPARK_KEY_UNKNOWN" not in freshet(command).output
    base.write_text(f"{text}spark: {{{known}, spark.sql.shuffle.partition: '8'}}\n")
    done = freshet("validate")
    (line,) = (one for one in done.stdout.splitlines() if "SPARK_KEY_UNKNOWN" in one)
    assert (done.exit_code, "'spark.sql.shuffle.partitions'" in line) == (0, True)
    assert "SPARK_KEY_UNKNOWN" in freshet("plan", "totals").stdout
    (notice,) = parsed(freshet("validate", "--output", "json"))["notices"]
    assert notice["code"] == "SPARK_KEY_UNKNOWN"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("cases:\n  a: {expect: {rows: []}}\n", "", 0),
        ("cases:\n  a: {expct: {rows: []}}\n", "UNKNOWN_KEY", 2),
        ("csaes:\n  a: {expect: {rows: []}}\n", "UNKNOWN_KEY", 1),
        ("tables: {SRC: {shcema: id int}}\ncases:\n  a: {expect: {rows: []}}\n", "UNKNOWN_KEY", 1),
        ("cases:\n  a: {given: {SRC: 5}, expect: {rows: []}}\n", "WRONG_TYPE", 2),
        ("tables: {nobody: {schema: 'id int'}}\ncases:\n  a: {expect: {rows: []}}\n", "UNKNOWN_INPUT", 1),
        ("tables: {SRC: {schema: 'id itn'}}\ncases:\n  a: {expect: {rows: []}}\n", "BAD_VALUE", 1),
        ("cases: [\n", "YAML_SYNTAX", 2),
    ],
)
def test_validate_checks_the_files_of_cases(freshet: Freshet, root: Path, text: str, code: str, line: int) -> None:
    """Their keys, their types and what they declare, with the line, of the pipelines that were asked for."""
    (root / "pipelines/tests").mkdir()
    (root / "pipelines/tests/payments.yml").write_text(text)
    done = freshet("validate", "--output", "json")
    if not code:
        assert done.exit_code == 0
        return
    problems = parsed(done)["error"]["details"]["problems"]
    assert [(one["code"], one["file"], one["line"]) for one in problems] == [(code, "pipelines/tests/payments.yml", line)]
    assert done.exit_code == 3


@pytest.fixture
def broken(root: Path) -> Path:
    a_project(
        root,
        "refunds",
        files={
            "pipelines/refunds.yml": PIPELINE.format(name="refunds", source="events")
            + "  hoodie.upsert.suffle.parallelism: 2\n",
            "pipelines/payments.yml": "owner: me\n" + PIPELINE.format(name="payments", source="events").replace("ddl:", "dll:"),
            "transformers/refunds.sql": "SELECT id FROM <SRC>;\nDROP TABLE x\n",
        },
    )
    return root


def test_validate_prints_every_problem_of_every_file_with_its_line(freshet: Freshet, broken: Path) -> None:
    result = freshet("validate")
    assert (result.exit_code, result.stdout) == (3, "")
    lines = result.stderr.splitlines()
    assert any(line.startswith("pipelines/payments.yml:2: UNKNOWN_KEY: ") and "'ddl'" in line for line in lines)
    assert any(
        line.startswith("pipelines/refunds.yml:7: UNKNOWN_KEY: ") and "hoodie.upsert.shuffle.parallelism" in line
        for line in lines
    )
    assert any(line.startswith("transformers/refunds.sql:2: SQL_NOT_ALLOWED: ") for line in lines)
    assert lines[-1] == f"INVALID_PROJECT: {len(lines) - 1} problems in the project's files. Nothing was read or written."


def test_validate_gives_machines_every_problem(freshet: Freshet, broken: Path) -> None:
    result = freshet("validate", "--output", "json")
    error = parsed(result)["error"]
    assert (result.exit_code, error["code"]) == (3, "INVALID_PROJECT")
    found = {(p["file"], p["line"], p["code"]) for p in error["details"]["problems"]}
    assert ("pipelines/refunds.yml", 7, "UNKNOWN_KEY") in found
    assert ("transformers/refunds.sql", 2, "SQL_NOT_ALLOWED") in found


def test_only_what_is_named_counts(freshet: Freshet, broken: Path) -> None:
    a_project(broken, "fine")
    assert freshet("validate", "fine").exit_code == 0
    unknown = freshet("validate", "fin")
    assert unknown.exit_code == 2
    assert "UNKNOWN_PIPELINE" in unknown.stderr
    assert "'fine'" in unknown.stderr


def test_a_name_that_nothing_has_is_told_as_such(freshet: Freshet, root: Path) -> None:
    """A mistake of the command line, whichever command it is; what is wrong with files that are asked for goes first."""
    for words in (
        ("run", "paymets"),
        ("plan", "paymets", "payments"),
        ("history", "paymets"),
        ("checkpoint", "show", "paymets"),
        ("backfill", "paymets", "--start", "2026-01-01", "--end", "2026-01-02"),
    ):
        done = freshet(*words, "--output", "json")
        error = parsed(done)["error"]
        assert (done.exit_code, error["code"]) == (2, "UNKNOWN_PIPELINE"), words
        assert error["next"] == "Did you mean 'payments'?"
        assert (error["effect"], done.stderr.count("paymets")) == ("Nothing was read or written.", 1)
    both = parsed(freshet("plan", "paymets", "recieved", "--output", "json"))["error"]
    assert [problem["message"] for problem in both["details"]["problems"]] == [
        "There is no pipeline 'paymets'.",
        "There is no pipeline 'recieved'.",
    ]
    (root / "pipelines/payments.yml").write_text("ddl: [\n")
    wrong = freshet("plan", "paymets", "payments", "--output", "json")
    error = parsed(wrong)["error"]
    assert (wrong.exit_code, error["code"]) == (3, "INVALID_PROJECT")
    assert {problem["code"] for problem in error["details"]["problems"]} == {"UNKNOWN_PIPELINE", "YAML_SYNTAX"}


@pytest.mark.parametrize("command", ["validate", "compile", "plan", "status"])
def test_no_project_here(freshet: Freshet, tmp_path: Path, command: str) -> None:
    result = freshet(command, "-C", str(tmp_path))
    assert result.exit_code == 3
    assert "freshet init" in result.stderr


@pytest.mark.parametrize("output", ["text", "json"])
def test_compile_gives_the_same_bytes_each_time_and_looks_at_no_table(freshet: Freshet, root: Path, output: str) -> None:
    def compiled() -> Result:
        return freshet("compile", "--output", output)

    first = compiled()
    assert (first.exit_code, first.stderr) == (0, "")
    # A table that nobody could read: only a command that looks at it notices.
    (root / "data/raw/events/.hoodie/hoodie.properties").mkdir(parents=True)
    assert compiled().stdout_bytes == first.stdout_bytes
    shutil.copytree(root, root.parent / "copy")
    elsewhere = freshet("compile", "--output", output, "-C", str(root.parent / "copy"))
    moved = elsewhere.stdout.replace(str(root.parent / "copy"), str(root))
    assert moved == first.stdout


def test_compile_shows_stages_and_the_writers_options(freshet: Freshet) -> None:
    text = freshet("compile").stdout
    assert "1. read <SRC> incrementally from raw.events" in text
    assert "hoodie.datasource.write.recordkey.field = id" in text
    (plan,) = parsed(freshet("compile", "--output", "json"))["plans"]
    assert [s["stage"] for s in plan["stages"]] == ["read_increment", "run_sql", "conform", "commit"]
    assert plan["stages"][-1]["options"]["hoodie.bucket.index.num.buckets"] == "2"


def test_set_goes_over_the_files(freshet: Freshet) -> None:
    (plan,) = parsed(freshet("compile", "--set", "hoodie.index.type=RECORD_INDEX", "--output", "json"))["plans"]
    assert plan["stages"][-1]["options"]["hoodie.index.type"] == "RECORD_INDEX"
    refused = freshet("compile", "--set", "hoodie.index.tipe=BUCKET")
    assert refused.exit_code == 3
    assert "--set:1: UNKNOWN_KEY" in refused.stderr


@pytest.mark.parametrize("output", [(), ("--output", "text"), ("--output", "json")])
def test_schema_is_json_either_way(freshet: Freshet, output: tuple[str, ...]) -> None:
    result = freshet("schema", *output)
    assert (result.exit_code, result.stderr) == (0, "")
    assert parsed(result) == json_schema()


def test_schema_is_written_where_the_pipelines_look_for_it(freshet: Freshet, root: Path) -> None:
    path = root / "configs/pipeline.schema.json"
    assert freshet("schema", "--write").stdout == f"wrote {path}\n"
    assert json.loads(path.read_text()) == json_schema()
    assert parsed(freshet("schema", "--write", "--output", "json")) == {"files": [str(path)]}


def test_schema_is_written_into_projects_only(freshet: Freshet, tmp_path: Path) -> None:
    result = freshet("schema", "--write", "-C", str(tmp_path / "nowhere"))
    assert result.exit_code == 1
    assert "NOT_A_PROJECT" in result.stderr


def _as_yaml_12(text: str) -> Any:
    # To YAML 1.2, and so to editors, `on` is a text; to PyYAML's loader it is true.
    return layers.plain(parse_yaml(text, "pipeline.yml", Problems()))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda f: str(f.stem))
def test_example_pipelines_name_the_schema_and_fit_it(file: Path) -> None:
    text = file.read_text()
    named = text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    schema = json.loads((file.parent / named).read_text())
    assert schema == json_schema(), "out of date: freshet schema --write"
    assert mistakes(_as_yaml_12(text), schema) == []


@pytest.mark.parametrize("file", CONFIGS, ids=lambda f: str(f.stem))
def test_example_configs_fit_the_schema(file: Path) -> None:
    assert mistakes(yaml.safe_load(file.read_text()), json_schema("config")) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"hoodie": {"hoodie.upsert.suffle.parallelism": 2}}, "hoodie.hoodie.upsert.suffle.parallelism"),
        ({"hoodie": {"hoodie.index.type": "BLOOM"}}, "hoodie.hoodie.index.type"),
        ({"dll": "x"}, "dll"),
        ({"transform": []}, "transform"),
        ({"inputs": {"cities": {"read": "snapshot"}}}, "inputs.cities"),
        ({"spark": {"hoodie.x": 1}}, "spark.hoodie.x"),
    ],
)
def test_schema_finds_what_validate_would(change: dict[str, object], path: str) -> None:
    good = {"ddl": "ddl/x.sql", "transform": "transformers/x.sql"}
    assert mistakes(good, json_schema()) == []
    assert any(found.startswith(path) for found in mistakes(good | change, json_schema()))
