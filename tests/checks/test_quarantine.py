"""Rows that a check drops: none is lost and none stands twice, whatever dies when; shown, repaired, replayed, dropped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal

import pytest

from freshet.cli.main import main
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.quarantine.peek import peek
from freshet.quarantine.table import hidden_runs
from freshet.run import executor
from freshet.run.result import RunResult
from freshet.run.runner import replay_quarantine
from tests.kit.commands import ROOT, until
from tests.kit.lake import Lake, Row, rows

DAY = "2026-01-05"
NEGATIVE = "checks: [{name: negative, where: amount < 0, severity: drop%s}]\n"


def waiting(lake: Lake) -> list[Row]:
    """Return id, rule and amount of the rows that a plain reader finds in the quarantine."""
    return lake.rows("derived.copy_quarantine", "id", "_quarantine_rule", "amount")


def peeked(lake: Lake) -> list[str]:
    """Return the ids of the rows that wait as they are found without Spark."""
    return sorted(json.loads(one.row)["id"] for one in peek(lake.spec(), TimelineState(), 10).rows)


def replay(lake: Lake, where: str = "", *repairs: tuple[str, str]) -> RunResult:
    return replay_quarantine(lake.project("copy"), lake.spec(), TimelineState(), lake.events.append, where, repairs)


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_bad_rows_wait_and_good_ones_are_published(lake: Lake, table_type: str) -> None:
    lake.pipeline(top=NEGATIVE % ", limit: 50%", table_type=table_type)
    lake.land(rows(("a", 1, "1.00"), ("b", 1, "-2.00"), ("c", 1, "3.00"), day=DAY))
    result = lake.run_ok()
    assert (result.quarantined, "1 to the quarantine" in str([e.message for e in lake.events])) == (1, True)
    assert [row[0] for row in lake.rows()] == ["a", "c"]
    assert waiting(lake) == [("b", "negative", Decimal("-2.00"))]
    (row,) = lake.rows("derived.copy_quarantine", "_quarantine_row", "_quarantine_run_id", "_quarantine_position")
    assert json.loads(row[0]) == {"id": "b", "ts": 1, "amount": -2.0, "day": DAY}
    assert row[1:] == (result.run_id, lake.position())

    # One bad row of three is let pass by the limit, two of three are not; then nothing is written anywhere.
    lake.land(rows(("d", 1, "-1.00"), ("e", 1, "-1.00"), ("f", 1, "1.00"), day=DAY))
    result = lake.run()
    assert result.error is not None
    assert result.error.code == "CHECK_FAILED"
    assert "at most 50%" in str(result.error)
    assert (len(waiting(lake)), len(lake.rows())) == (1, 2)

    # A batch of bad rows alone moves the checkpoint on.
    lake.pipeline(top=NEGATIVE % "", table_type=table_type)
    lake.land(rows(("f", 2, "-1.00"), day=DAY))
    assert lake.run_ok().quarantined == 3
    assert lake.position() == lake.state("raw.events").commits[-1].completed
    assert [row[0] for row in lake.rows()] == ["a", "c"]
    assert [row[0] for row in waiting(lake)] == ["b", "d", "e", "f"]


def test_repaired_rows_go_through_the_pipeline_again(lake: Lake) -> None:
    lake.pipeline(top=NEGATIVE % "")
    lake.land(rows(("a", 1, "-1.00"), ("b", 1, "-2.00"), ("c", 1, "-3.00"), ("d", 5, "4.00"), day=DAY))
    lake.run_ok()
    before = lake.position()
    refused = replay(lake)
    assert refused.error is not None
    assert refused.error.code == "NOTHING_TO_REPLAY"
    unknown = replay(lake, "", ("amonut", "1"))
    assert unknown.error is not None
    assert "amonut" in str(unknown.error)

    result = replay(lake, "id <> 'c'", ("amount", "CASE id WHEN 'a' THEN abs(amount) ELSE amount END"))
    assert result.error is None, result.error
    assert result.inserts == 1
    assert lake.rows("derived.copy", "id", "amount") == [("a", Decimal("1.00")), ("d", Decimal("4.00"))]
    assert [row[0] for row in waiting(lake)] == peeked(lake) == ["b", "c"]
    assert (lake.position(), lake.run_ok().outcome) == (before, "idle")

    # A newer row of the key that came meanwhile stays.
    lake.land(rows(("b", 7, "70.00"), day=DAY))
    lake.run_ok()
    assert replay(lake, "", ("amount", "abs(amount)")).error is None
    assert lake.rows("derived.copy", "id", "amount")[1:3] == [("b", Decimal("70.00")), ("c", Decimal("3.00"))]
    assert (waiting(lake), peeked(lake)) == ([], [])
    assert replay(lake).outcome == "failed"


MALFORMED = "checks: [{name: fits, malformed: true, severity: %s}]\n"
TEXTS = "id string, ts string, amount string, day string, n bigint"


def test_values_that_do_not_fit(lake: Lake) -> None:
    lake.pipeline(top=MALFORMED % "drop", source="raw.texts")
    lake.land_options = {"hoodie.datasource.write.precombine.field": "n"}
    batch = [("a", "1", "1.50"), ("b", "x", "2"), ("c", "1", "1e9"), ("d", "1", None), ("e", None, "1")]
    lake.land([(*row, DAY, 1) for row in batch], table="raw.texts", schema=TEXTS)
    result = lake.run_ok()
    assert lake.rows() == [("a", 1, Decimal("1.50"), DAY), ("d", 1, None, DAY)]
    found = lake.rows("derived.copy_quarantine", "id", "_quarantine_reason", "amount")
    assert [(key, amount) for key, _, amount in found] == [("b", Decimal("2.00")), ("c", None), ("e", Decimal("1.00"))]
    assert "ts: x does not fit into bigint" in found[0][1]
    assert "amount: 1e9 does not fit into decimal(10,2)" in found[1][1]
    assert "ts is null" in found[2][1]
    assert result.quarantined == 3

    replay(lake, "", ("ts", "7"))
    assert [row[0] for row in lake.rows()] == ["a", "b", "d", "e"]
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["c"]

    lake.pipeline(top=MALFORMED % "fail", source="raw.texts")
    lake.land([("f", "soon", "1", DAY, 1)], table="raw.texts", schema=TEXTS)
    refused = lake.run()
    assert refused.error is not None
    assert "ts is 'soon', which is no bigint" in str(refused.error)
    assert "id=f (check fits)" in str(refused.error)
    assert refused.error.exit_code == Exit.CHECK


class Died(BaseException):
    """Stands for kill -9: nothing is caught, nothing is tidied up."""


def test_killed_between_the_quarantine_and_the_target(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.pipeline(top=NEGATIVE % "")
    lake.land(rows(("a", 1, "-1.00"), ("b", 1, "2.00"), day=DAY))
    lake.run_ok()
    lake.land(rows(("c", 1, "-3.00"), ("d", 1, "4.00"), day=DAY))

    def dies(*args: object, **more: object) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(executor, "write_commit", dies)
        with pytest.raises(Died):
            lake.run()
    assert [row[0] for row in lake.rows()] == ["b"]
    assert [row[0] for row in waiting(lake)] == ["a", "c"], "written first, so that it cannot be lost"
    assert len(hidden_runs(lake.spec(), TimelineState())) == 1, "and it does not count yet"
    assert peeked(lake) == ["a"]
    # What was bad is good by now, and another row is bad: the run is repeated from the same checkpoint.
    lake.land(rows(("c", 2, "3.00"), ("e", 1, "-5.00"), day=DAY))
    assert lake.run_ok().quarantined == 1
    assert [row[0] for row in lake.rows()] == ["b", "c", "d"]
    assert [row[0] for row in waiting(lake)] == peeked(lake) == ["a", "e"]
    assert hidden_runs(lake.spec(), TimelineState()) == ()

    with monkeypatch.context() as patched:
        patched.setattr(executor, "release", dies)
        with pytest.raises(Died):
            replay(lake, "", ("amount", "abs(amount)"))
    assert [row[0] for row in lake.rows()] == ["a", "b", "c", "d", "e"]
    assert replay(lake, "", ("amount", "abs(amount)")).error is None
    assert [row[0] for row in lake.rows()] == ["a", "b", "c", "d", "e"]
    assert waiting(lake) == []


def test_a_process_killed_between_the_two_commits(lake: Lake) -> None:
    lake.pipeline(top=NEGATIVE % "")
    lake.land(rows(("a", 1, "-1.00"), ("b", 1, "2.00"), day=DAY))
    command = [sys.executable, "-m", "freshet", "run", "copy", "--project", str(lake.project_root)]
    timeline = lake.root / "derived/copy_quarantine/.hoodie/timeline"
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            # Hudi makes a local file and then fills it; until it has, no reader finds a commit in it.
            until(lambda: any(file.stat().st_size for file in timeline.glob("*_*.commit")), process)
        finally:
            process.kill()
    assert [row[0] for row in waiting(lake)] == ["a"]
    assert len(hidden_runs(lake.spec(), TimelineState())) == 1
    assert lake.run_ok().quarantined == 1
    assert ([row[0] for row in lake.rows()], [row[0] for row in waiting(lake)]) == (["b"], ["a"])


@pytest.fixture
def freshet(lake: Lake, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def call(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--project", str(lake.project_root)])
        return int(ended.value.code or 0), capsys.readouterr().out

    return call


def test_the_commands(lake: Lake, freshet: Callable[..., tuple[int, str]]) -> None:
    lake.pipeline(top=NEGATIVE % "")
    assert freshet("quarantine", "show", "copy")[1] == "copy: no row waits\n"
    lake.land(rows(("a", 1, "-1.00"), ("b", 1, "2.00"), day=DAY))
    code, text = freshet("checks", "copy", "--next")
    assert (code, "1 bad of 2 rows" in text, '"amount":-1.00' in text) == (0, True, True)
    lake.run_ok()
    code, text = freshet("checks", "copy", "--output", "json")
    (run,) = json.loads(text)["history"]
    assert (code, run["rows"], run["quarantined"]) == (0, 2, 1)
    assert run["checks"]["negative"]["status"] == "dropped"
    found = json.loads(freshet("quarantine", "show", "copy", "--output", "json")[1])
    assert (found["count"], json.loads(found["rows"][0]["row"])["id"]) == ({"negative": 1}, "a")
    assert freshet("quarantine", "show", "copy", "--where", "nothing = 1")[0] == 6
    assert freshet("quarantine", "drop", "copy")[0] == 2
    assert freshet("quarantine", "drop", "copy", "--where", "id = 'z'", "--yes")[1].startswith("copy: 0 rows dropped from ")
    assert freshet("quarantine", "drop", "copy", "--yes")[1].startswith("copy: 1 rows dropped from ")
    assert waiting(lake) == []
