"""A pipeline's checks: what is read, and what is refused at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.checks import RowRule, SqlRule, SuiteRule, UniqueRule, VolumeRule
from tests.kit.project import PIPELINE, a_project
from tests.unit.project.conftest import Check

FILE = "pipelines/payments.yml"
YML = PIPELINE.format(name="payments", source="events")
LINE = len(YML.splitlines()) + 2


def with_check(text: str) -> str:
    return f"{YML}checks:\n  - {text}\n"


def test_each_kind_is_read(tmp_path: Path) -> None:
    suite = '{"expectations": [{"expectation_type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}}]}'
    checks = """checks:
  - {name: a, where: amount < 0, severity: drop, limit: 2.5%}
  - {name: b, sql: select count(*) from <TABLE_NAME> ; , expect: 0}
  - {name: c, sql: select 'it''s' from <TABLE_NAME>, expect: "it's", scope: batch, severity: warn}
  - {name: d, unique: amount}
  - {name: e, volume: {at_least: 50%}}
  - {name: f, expectations: [{expect_column_values_to_not_be_null: {column: amount}}]}
  - {name: g, suite: suite.json}
  - {name: h, malformed: true, severity: drop, limit: 7}
"""
    root = a_project(tmp_path, files={FILE: YML + checks, "suite.json": suite})
    (spec,) = load_project(root, environ={}).pipelines
    found = {c.name: c for c in spec.checks}
    assert (found["a"].rule, found["a"].most_share, found["a"].severity) == (RowRule("amount < 0"), 0.025, "drop")
    assert found["b"].rule == SqlRule(query="select count(*) from <TABLE_NAME>", expect="0", compare="", scope="partitions")
    assert found["c"].rule == SqlRule(query="select 'it''s' from <TABLE_NAME>", expect="'it\\'s'", compare="", scope="batch")
    assert found["d"].rule == UniqueRule(("amount",), "batch")
    assert found["e"].rule == VolumeRule(20, 0.5, None)
    assert found["f"].rule == SuiteRule(({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "amount"}},))
    assert found["g"].rule == SuiteRule(({"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}},))
    assert found["h"].most_rows == 7
    assert [c.line for c in spec.checks] == list(range(LINE, LINE + 8))
    assert spec.quarantine.name == "derived.payments_quarantine"
    assert spec.quarantine.path == str(Path(spec.target.ref.path).parent / "payments_quarantine")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("{name: a}", "BAD_CHECK", "exactly one of"),
        ("{name: a, where: x, malformed: true}", "BAD_CHECK", "where and malformed"),
        ("{name: a, wehre: x}", "UNKNOWN_KEY", "'where'"),
        ("{where: x}", "MISSING_KEY", "name"),
        ("{name: 'a b', where: x}", "BAD_NAME", "letters"),
        ("{name: a, where: x, severity: never}", "WRONG_TYPE", "severity"),
        ("{name: a, sql: select 1, expect: 1}", "BAD_CHECK", "<TABLE_NAME>"),
        ("{name: a, sql: select 1 from <TABLE_NAME>}", "MISSING_KEY", "expect"),
        (
            "{name: a, sql: select 1 from <TABLE_NAME>, expect: {result: changed}, scope: batch}",
            "CONFLICTING_SETTING",
            "before",
        ),
        ("{name: a, sql: select _hoodie_commit_time from <TABLE_NAME>, expect: 1}", "NOT_SUPPORTED", "Hudi's own"),
        ("{name: a, sql: select 1 from <TABLE_NAME>, expect: 1, severity: drop}", "CONFLICTING_SETTING", "single row"),
        ("{name: a, unique: amount, within: table, severity: drop}", "CONFLICTING_SETTING", "single row"),
        (
            "{name: a, severity: drop, expectations: [{expect_column_mean_to_be_between: {column: amount, max_value: 1}}]}",
            "CONFLICTING_SETTING",
            "whole batch",
        ),
        ("{name: a, where: x, limit: 3}", "CONFLICTING_SETTING", "severity: drop"),
        ("{name: a, where: x, severity: drop, limit: many}", "BAD_VALUE", "percentage"),
        ("{name: a, where: x, scope: table}", "CONFLICTING_SETTING", "scope goes with sql"),
        ("{name: a, malformed: true, severity: warn}", "CONFLICTING_SETTING", "warning"),
        ("{name: a, unique: [amuont]}", "UNKNOWN_COLUMN", "'amount'"),
        ("{name: a, references: {table: nowhere.x, columns: {amount: a}}}", "UNKNOWN_DATABASE", "nowhere"),
        ("{name: a, freshness: {column: amount, within: 1h}}", "BAD_VALUE", "a timestamp or a date"),
        ("{name: a, volume: {last: 3}}", "MISSING_KEY", "at_least"),
        ("{name: a, suite: nothing.json}", "MISSING_FILE", "nothing.json"),
        ("{name: a, expectations: [{expect_column_values_to_not_be_nul: {column: amount}}]}", "BAD_EXPECTATION", "not_be_null"),
    ],
)
def test_what_is_refused_at_its_line(problems_of: Check, text: str, code: str, words: str) -> None:
    found = problems_of({FILE: with_check(text)})
    assert [(p.file, p.line, p.code) for p in found] == [(FILE, LINE, code)]
    assert words in str(found[0])


def test_two_of_one_name_and_hudis_own_keys(problems_of: Check) -> None:
    found = problems_of({FILE: with_check("{name: a, where: x}\n  - {name: A, where: x}")})
    assert [(p.line, p.code) for p in found] == [(LINE + 1, "DUPLICATE_CHECK")]
    (found_key,) = problems_of({FILE: YML + "  hoodie.precommit.validators: x.Y\n"})
    assert (found_key.code, "checks:" in found_key.hint) == ("RESERVED_KEY", True)
