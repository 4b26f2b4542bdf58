"""``plan`` and ``run`` as far as they go without Spark: what waits, what forbids the run, and each exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from freshet.errors import DataError, FreshetError, RetryableError, StateError
from freshet.hudi import actions
from freshet.lease.local import hold_lease
from freshet.project.model.pipeline import TableRef
from freshet.run.result import RunResult
from tests.kit.memory import at
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed

PREVIEWS = [("plan",), ("run", "payments", "--dry-run")]


@pytest.mark.parametrize("words", PREVIEWS)
def test_increment_is_shown(freshet: Freshet, root: Path, words: tuple[str, ...]) -> None:
    a_table(root, "raw/events", *range(10, 80, 10))
    a_target(root, (15, 10))
    result = freshet(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "window      increment: 5 commits since the checkpoint" in result.stdout
    assert "50 rows, completed 2026-08-01 10:15:00.020Z to 2026-08-01 10:15:00.060Z; 1 commit (10 rows) left" in result.stdout
    assert re.search(r"checkpoint  2026-08-01 10:15:00\.010Z \(\d+ days ago\) -> 2026-08-01 10:15:00\.060Z \(", result.stdout)
    (plan,) = parsed(freshet(*words, "--output", "json"))["plans"]
    assert (plan["first_run"], plan["window"]["waiting_commits"]) == (False, 1)
    assert plan["checkpoint_after"]["positions"]["SRC"]["instant"] == at(60)


def test_first_run_is_shown(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    result = freshet("plan")
    assert "(will be created)" in result.stdout
    assert "whole_table: no checkpoint yet: READ_UPTO_LATEST_COMMIT" in result.stdout
    assert not (root / "data/derived").exists()


@pytest.mark.parametrize("words", PREVIEWS)
def test_source_missing(freshet: Freshet, words: tuple[str, ...]) -> None:
    text = freshet(*words)
    assert (text.exit_code, text.stdout) == (5, "")
    assert text.stderr.startswith("SOURCE_MISSING: payments: ")
    (found,) = parsed(freshet(*words, "--output", "json"))["plans"]
    assert (found["pipeline"], found["error"]["code"], found["error"]["retryable"]) == ("payments", "SOURCE_MISSING", False)
    assert found["error"]["next"].startswith("Check hoodie.streamer.source.hoodieincr.path")


def test_run_of_a_source_missing(freshet: Freshet) -> None:
    result = freshet("run", "payments", "--output", "json")
    assert result.exit_code == 5
    assert parsed(result)["runs"][0]["error"]["code"] == "SOURCE_MISSING"
    assert "SOURCE_MISSING" in result.stderr


def test_no_rule_for_the_first_run(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    path = root / "pipelines/payments.yml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "missing.checkpoint" not in line))
    result = freshet("plan")
    assert result.exit_code == 5
    assert "NO_CHECKPOINT" in result.stderr
    assert "READ_UPTO_LATEST_COMMIT" in result.stderr


def test_expired_checkpoint(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 50).archive((20, "commit", commit()))
    a_target(root, (15, 10))
    result = freshet("run", "payments")
    assert result.exit_code == 5
    assert "CHECKPOINT_EXPIRED" in result.stderr


def test_one_plan_that_fails_does_not_hide_the_others(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody completes that file.
    monkeypatch.setattr(actions, "WAITS", (0.01,))
    a_project(root, "refunds", source="paybacks")
    a_table(root, "raw/paybacks", 10)
    a_table(root, "raw/events", 10)
    (root / "data/raw/events/.hoodie/timeline" / f"{at(20)}_{at(21)}.replacecommit").write_bytes(b"garbage")
    result = freshet("plan")
    assert result.exit_code == 5
    assert "refunds" in result.stdout
    assert result.stderr.startswith("TIMELINE_UNREADABLE: ")


def test_idle_run(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    text = freshet("run", "--all")
    assert (text.exit_code, text.stdout) == (0, "payments: nothing to do: no commit since the checkpoint\n")
    assert text.stderr.endswith("payments: nothing to do: no commit since the checkpoint\n")
    (run,) = parsed(freshet("run", "--all", "--output", "json"))["runs"]
    assert (run["outcome"], run["checkpoint"], run["commits"]) == ("idle", at(10), [])


@pytest.mark.parametrize("selection", [("payments",), ("--all",), ("--tag", "money"), ("refunds", "--tag", "money")])
def test_selection(freshet: Freshet, root: Path, selection: tuple[str, ...]) -> None:
    a_project(root, "refunds", source="paybacks")
    path = root / "pipelines/payments.yml"
    path.write_text("tags: [money]\n" + path.read_text())
    names = {r["pipeline"] for r in parsed(freshet("run", *selection, "--output", "json"))["runs"]}
    assert names == ({"payments"} if selection in (("payments",), ("--tag", "money")) else {"payments", "refunds"})


def test_run_behind_a_failed_one_is_skipped(freshet: Freshet, root: Path) -> None:
    a_project(
        root,
        "totals",
        files={
            "pipelines/totals.yml": (root / "pipelines/payments.yml")
            .read_text()
            .replace("payments", "totals")
            .replace("raw_root }}/events", "derived_root }}/payments")
        },
    )
    result = freshet("run", "--all")
    assert result.exit_code == 5
    assert "totals: skipped: upstream payments did not finish" in result.stdout


def test_another_run_holds_the_target(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    target = TableRef("derived.payments", str(root / "data/derived/payments"))
    with hold_lease(target, "the-other-run", 0, lambda words: None):
        result = freshet("run", "payments", "--output", "json")
        waited = freshet("run", "payments", "--wait", "0.2")
    error = parsed(result)["runs"][0]["error"]
    assert (result.exit_code, error["code"], error["retryable"]) == (4, "ALREADY_RUNNING", True)
    assert "the-other-run" in error["message"]
    assert waited.exit_code == 4
    assert waited.stderr.count("is being written by") == 2, "told once that it waits, and once that it gave up"


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([None], 0),
        ([DataError("SQL_ERROR", "no")], 6),
        ([FreshetError("WRITE_FAILED", "no")], 1),
        ([StateError("KEY_CHANGED", "no"), None], 5),
        ([RetryableError("COMMIT_CONFLICT", "no")] * 2, 4),
        ([RetryableError("COMMIT_CONFLICT", "no"), DataError("SQL_ERROR", "no")], 1),
    ],
)
def test_exit_code_is_that_of_the_errors_where_they_agree(
    freshet: Freshet,
    monkeypatch: pytest.MonkeyPatch,
    errors: list[FreshetError | None],
    code: int,
) -> None:
    results = tuple(RunResult(pipeline=f"p{i}", outcome="failed" if e else "idle", error=e) for i, e in enumerate(errors))
    monkeypatch.setattr("freshet.cli.run.run_project", lambda *_: results)
    assert freshet("run", "--all").exit_code == code


@pytest.mark.parametrize("output", ["text", "json"])
def test_keyboard_interrupt(freshet: Freshet, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("freshet.cli.run.run_project", interrupted)
    result = freshet("run", "--all", "--output", output)
    assert result.exit_code == 130
    assert result.stderr.startswith("INTERRUPTED: ")
    assert "Run the same command again" in result.stderr
    assert output == "text" or parsed(result)["error"]["code"] == "INTERRUPTED"


@pytest.mark.parametrize("debug", [False, True])
def test_what_nobody_foresaw_is_one_line(freshet: Freshet, monkeypatch: pytest.MonkeyPatch, debug: bool) -> None:
    def broken(*_: object) -> None:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr("freshet.cli.run.run_project", broken)
    if debug:
        monkeypatch.setenv("FRESHET_DEBUG", "1")
    result = freshet("run", "--all", "--output", "json")
    first, *rest = result.stderr.splitlines()
    assert result.exit_code == 1
    assert first.startswith("UNEXPECTED_ERROR: ValueError: first line second line ")
    assert "FRESHET_DEBUG=1" in first
    assert ("Traceback (most recent call last):" in rest) is debug
    assert bool(rest) is debug
    assert parsed(result)["error"]["code"] == "UNEXPECTED_ERROR"


def test_a_plan_behind_a_first_run_waits_for_it(freshet: Freshet, root: Path) -> None:
    a_project(
        root,
        "totals",
        files={
            "pipelines/totals.yml": (root / "pipelines/payments.yml")
            .read_text()
            .replace("payments", "totals")
            .replace("raw_root }}/events", "derived_root }}/payments")
        },
    )
    a_table(root, "raw/events", 10)
    result = freshet("plan")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "totals\n  waits for the first run of payments" in result.stdout
    assert parsed(freshet("plan", "--output", "json"))["plans"][1] == {"pipeline": "totals", "waits_for": ["payments"]}


def test_all_goes_with_nothing_else(freshet: Freshet) -> None:
    assert freshet("run", "payments", "--all").exit_code == 2
