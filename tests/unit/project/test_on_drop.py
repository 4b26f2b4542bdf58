"""`on_drop: delete`: taken where a dropped row can delete its older row, and refused where it cannot be right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from freshet.cli.main import main
from freshet.hudi.table import MemoryState
from freshet.plan.checks import keeping_older
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.describe import plan_text
from freshet.project.load.project import load_project
from tests.kit.project import ACCEPTS, DDL, PIPELINE, a_project
from tests.unit.project.conftest import Check

FILE, TABLE = "pipelines/payments.yml", "ddl/payments.sql"
YML = PIPELINE.format(name="payments", source="events")
MARKED = DDL.replace("\n)", ",\n  _hoodie_is_deleted BOOLEAN\n)", 1)
CHECK = "checks:\n  - {name: a, where: amount < 0, severity: drop, on_drop: delete}\n"


def test_it_is_read_and_makes_another_pipeline(tmp_path: Path) -> None:
    found = {}
    for word in ("keep", "delete", ""):
        text = YML + CHECK.replace(", on_drop: delete", f", on_drop: {word}" if word else "")
        root = a_project(tmp_path / (word or "none"), files={FILE: text, TABLE: MARKED.format(name="payments")})
        (spec,) = load_project(root, environ={}).pipelines
        found[word] = (spec.checks[0].deletes, spec.fingerprint)
    assert (found["keep"][0], found["delete"][0], found[""][0]) == (False, True, False)
    assert found["keep"][1] == found[""][1] != found["delete"][1]


@pytest.mark.parametrize(
    ("more", "check", "ddl", "words"),
    [
        ("", CHECK, DDL, "_hoodie_is_deleted BOOLEAN"),
        ("", CHECK.replace("severity: drop", "severity: warn"), MARKED, "severity: drop"),
        ("  hoodie.datasource.write.operation: insert\n", CHECK, MARKED, "changes no row"),
        ("  hoodie.datasource.write.operation: delete\n", CHECK, MARKED, "not to be deleted"),
        ("write: {strategy: merge, columns: [amount]}\n", CHECK, MARKED, "a part of the target's"),
        ("write: {strategy: partial_update, columns: [amount, _hoodie_is_deleted]}\n", CHECK, MARKED, "a part of the target's"),
    ],
)
def test_what_is_refused(problems_of: Check, more: str, check: str, ddl: str, words: str) -> None:
    """A table without the column that deletes; what inserts or deletes; parts of rows; a check that drops nothing."""
    found = problems_of({FILE: YML + more + check, TABLE: ddl.format(name="payments")})
    line = len((YML + more).splitlines()) + 2
    assert [(p.file, p.line, p.code) for p in found] == [(FILE, line, "CONFLICTING_SETTING")], found
    assert words in str(found[0])


def test_an_overwrite_takes_the_older_row_anyway(problems_of: Check) -> None:
    more = "inputs: {rest: {table: raw.events, read: affected_partitions, on: {day: day}}}\n"
    operation = "  hoodie.datasource.write.operation: insert_overwrite\n"
    found = problems_of({FILE: YML + operation + more + CHECK, TABLE: MARKED.format(name="payments")})
    assert "replaces whole partitions" in str([p for p in found if "on_drop" in p.message])


def test_it_is_said_before_any_row_is_dropped(tmp_path: Path) -> None:
    """By `validate` and by the plan, of a check that keeps; not of one that deletes, nor of an insert."""
    for more, said in ((", on_drop: keep", ("a",)), (", on_drop: delete", ())):
        root = a_project(
            tmp_path / more[-4:],
            files={
                FILE: YML + ACCEPTS + CHECK.replace(", on_drop: delete", more),
                TABLE: MARKED.format(name="payments"),
                "transformers/payments.sql": "SELECT id, amount, updated_at, _hoodie_is_deleted FROM <SRC>",
            },
        )
        (spec,) = load_project(root, environ={}).pipelines
        text = plan_text(compile_plan(spec, MemoryState({}), RunRequest(look_at_tables=False)))
        assert (keeping_older(spec), "stays published" in text, "deletes the older row" in text) == (said, bool(said), not said)
        assert keeping_older(replace(spec, operation="insert")) == ()
        done = CliRunner().invoke(main, ["validate", "-C", str(root)])
        assert ("where a drops a row" in done.stdout) == bool(said)
