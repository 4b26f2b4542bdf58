"""What people see of a verdict: ``validate`` refuses, ``explain``, ``plan`` and ``compile`` show, ``accepts`` accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import Exit
from tests.kit.project import PIPELINE, a_project
from tests.kit.timeline import a_table
from tests.unit.cli.conftest import Freshet, parsed

FILTERED = "SELECT id, amount, updated_at, _hoodie_is_deleted\nFROM <SRC>\nWHERE amount > 0\n"
DDL = """\
CREATE TABLE derived.{name} (
  id STRING NOT NULL, amount DECIMAL(10,2), updated_at TIMESTAMP, _hoodie_is_deleted BOOLEAN
) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'updated_at', type = 'cow');
"""


def written(root: Path, sql: str, more: str = "", name: str = "payments") -> Path:
    pipeline = PIPELINE.format(name=name, source="events") + more
    files = {f"transformers/{name}.sql": sql, f"ddl/{name}.sql": DDL.format(name=name), f"pipelines/{name}.yml": pipeline}
    return a_project(root, name, files=files)


def test_what_a_filter_loses_is_refused_with_place_example_and_way_out(freshet: Freshet, root: Path) -> None:
    """The kind: a pipeline that was valid until now, and whose target keeps what a recompute drops."""
    written(root, FILTERED)
    refused = freshet("validate", "--output", "json")
    (problem,) = parsed(refused)["error"]["details"]["problems"]
    assert (refused.exit_code, problem["code"]) == (Exit.INVALID, "ROWS_FILTERED")
    assert (problem["file"], problem["line"]) == ("transformers/payments.sql", 3)
    (found,) = parsed(freshet("explain", "--output", "json"))["pipelines"]
    (finding,) = found["findings"]
    assert (found["verdict"], finding["line"], finding["column"]) == ("inexact", 3, 7)
    assert (finding["example"]["before"], finding["example"]["after"]) == ({"amount": "1"}, {"amount": "0"})
    text = freshet("explain").stdout
    assert "inexact: ROWS_FILTERED" in text
    assert "amount = 1 to amount = 0" in text
    (compiled,) = parsed(freshet("compile", "--output", "json"))["plans"]
    assert compiled["verdict"] == "inexact"


def test_what_is_accepted_is_valid_and_said(freshet: Freshet, root: Path) -> None:
    written(root, FILTERED, "accepts: [{code: ROWS_FILTERED, why: amounts never fall}, {code: FAN_OUT, why: none}]\n")
    said = freshet("validate")
    assert (said.exit_code, "exact if" in said.stdout) == (Exit.OK, True)
    (found,) = parsed(freshet("explain", "--output", "json"))["pipelines"]
    assert (found["verdict"], found["unused_accepts"]) == ("exact_if", ["FAN_OUT"])
    assert found["findings"][0]["accepted"] == "amounts never fall"


@pytest.mark.parametrize("more", ["accepts: [{code: ROWS_FILTRED, why: a slip}]\n", "accepts: [{code: ROWS_FILTERED}]\n"])
def test_an_accept_without_a_known_code_or_a_reason_is_a_problem(freshet: Freshet, root: Path, more: str) -> None:
    written(root, FILTERED, more)
    assert freshet("validate").exit_code == Exit.INVALID


def test_what_an_accepted_reason_leaves_out_is_said_by_validate_too(freshet: Freshet, root: Path) -> None:
    windowed = "SELECT id, sum(amount) OVER (PARTITION BY amount % 2) AS amount, updated_at, _hoodie_is_deleted\nFROM <SRC>\n"
    written(root, windowed, "accepts: [{code: WINDOW_IN_PART, why: of one commit alone}]\n")
    said = freshet("validate")
    assert (said.exit_code, "further questions are not asked, because of" in said.stdout) == (Exit.OK, True), said.output
    (found,) = parsed(freshet("validate", "--output", "json"))["pipelines"]
    assert found["verdict"]["not_asked"]["because_of"][0]["file"] == "transformers/payments.sql"


@pytest.mark.parametrize(("keeps", "codes"), [(True, []), (False, ["DELETES_STAY"])])
def test_deletes_that_the_table_does_not_keep_are_said(freshet: Freshet, root: Path, keeps: bool, codes: list[str]) -> None:
    """Of a source that stands, by its table; where it does not, it is taken for granted. A run is refused by the same."""
    written(
        root, f"SELECT id, amount, updated_at, {'_hoodie_is_deleted' if keeps else 'false AS _hoodie_is_deleted'} FROM <SRC>\n"
    )
    (found,) = parsed(freshet("explain", "--output", "json"))["pipelines"]
    assert "records_changes" in [one["fact"] for one in found["granted"]]
    table = a_table(root, "raw/events", 10)
    if keeps:
        properties = table.timeline.parent / "hoodie.properties"
        properties.write_text(properties.read_text() + "hoodie.table.cdc.enabled=true\n")
    (found,) = parsed(freshet("explain", "--output", "json"))["pipelines"]
    assert [one["code"] for one in found["findings"]] == codes, found["findings"]
    assert "records_changes" not in [one["fact"] for one in found["granted"]]
    assert ("keeps no change data" in freshet("explain").stdout) != keeps


def test_a_scope_names_what_carries_it(freshet: Freshet, root: Path) -> None:
    written(root, FILTERED.replace("WHERE amount > 0\n", ""))
    (found,) = parsed(freshet("explain", "--output", "json"))["pipelines"]
    assert (found["verdict"], found["findings"]) == ("exact", [])
    assert found["scope"]["columns"] == [{"name": "id", "carried": {"SRC": "id"}}]
    # Nothing tells the key of raw.events: what is taken for granted is said.
    assert [(one["fact"], one["columns"]) for one in found["granted"]] == [
        ("record_key", ["id"]),
        ("ordering", ["updated_at"]),
        ("records_changes", []),
    ]


def test_status_says_what_the_next_run_is_refused_for(freshet: Freshet, root: Path) -> None:
    """Where there is news: it must not seem to be behind only, while each run ends without a row."""
    written(root, FILTERED)
    a_table(root, "raw/events", 10)
    (found,) = parsed(freshet("status", "--output", "json"))["pipelines"]
    assert (found["state"], "ROWS_FILTERED" in found["message"]) == ("INVALID_PROJECT", True)
    (run,) = parsed(freshet("run", "payments", "--output", "json"))["runs"]
    assert run["error"]["code"] == "INVALID_PROJECT"
