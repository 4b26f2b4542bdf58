"""``freshet test`` as far as no case runs: wrong files, nothing to run, a case that cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.project import a_project
from tests.unit.cli.conftest import Freshet, parsed

CASES = 'tables:\n  SRC: {schema: "id string"}\ncases:\n  a:\n    given: {SRC: [{idd: x}]}\n    expect: {rows: []}\n'


def _cases(root: Path, text: str, name: str = "payments") -> None:
    a_project(root, files={f"pipelines/tests/{name}.yml": text})


def test_a_pipeline_without_cases_is_told(freshet: Freshet) -> None:
    text = freshet("test")
    assert text.exit_code == 0
    assert text.stdout.splitlines()[0].startswith("payments: no cases; write pipelines/tests/payments.yml")
    assert text.stdout.splitlines()[-1] == "0 cases of 0 of 1 pipeline: 0 passed, 0 failed"
    found = parsed(freshet("test", "--output", "json"))
    assert found == {
        "pipelines": [{"pipeline": "payments", "file": "pipelines/tests/payments.yml", "cases": []}],
        "passed": 0,
        "failed": 0,
    }


def test_wrong_files_end_with_3_and_every_problem(freshet: Freshet, root: Path) -> None:
    _cases(root, CASES)
    _cases(root, "", "orders")
    result = freshet("test")
    assert (result.exit_code, result.stdout) == (3, "")
    lines = result.stderr.splitlines()
    assert lines[0].startswith("pipelines/tests/orders.yml: UNKNOWN_PIPELINE: ")
    assert lines[1] == "pipelines/tests/payments.yml:5: UNKNOWN_COLUMN: SRC has no column 'idd'. Did you mean 'id'?"
    # Only what is named counts.
    assert "orders" not in freshet("test", "payments").stderr


@pytest.mark.parametrize("words", [("--from-data",), ("payments", "--from-data", "--rows", "0"), ("--all", "payments")])
def test_wrong_command_line(freshet: Freshet, root: Path, words: tuple[str, ...]) -> None:
    a_project(root, "refunds")
    assert freshet("test", *words).exit_code == 2


def test_from_data_needs_a_table_and_a_new_name(freshet: Freshet, root: Path) -> None:
    missing = freshet("test", "payments", "--from-data")
    assert missing.exit_code == 5
    assert "SOURCE_MISSING" in missing.stderr
    assert not (root / "pipelines/tests").exists()
    _cases(root, CASES.replace("idd", "id").replace("  a:", "  from_data:"))
    taken = freshet("test", "payments", "--from-data", "--output", "json")
    assert (taken.exit_code, parsed(taken)["error"]["code"]) == (1, "CASE_EXISTS")
    assert "--case" in parsed(taken)["error"]["next"]


def test_help_warns_of_real_values(freshet: Freshet) -> None:
    assert "committed" in freshet("test", "--help").stdout
