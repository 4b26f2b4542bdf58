"""``status`` and ``checkpoint``: where pipelines stand, from hand-made timelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.state.checkpoint import CHECKPOINT_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from tests.kit.memory import at
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target, clean, commit
from tests.unit.cli.conftest import Freshet, parsed


@pytest.fixture
def several(root: Path) -> Path:
    """Return a project with one pipeline in each state."""
    a_table(root, "raw/events", 10, 20, 30)
    a_target(root, (35, 30))
    for name in ("behind", "expired", "fresh", "lost"):
        a_project(root, name, source=f"{name}_events")
    a_table(root, "raw/behind_events", 10, 20, 30)
    a_target(root, (15, 10), name="derived/behind", source="raw/behind_events")
    a_table(root, "raw/expired_events", 10, 20, 30).done(40, clean(at(25)), "clean")
    a_target(root, (15, 10), name="derived/expired", source="raw/expired_events")
    a_table(root, "raw/fresh_events", 10)
    return root


def test_every_state(freshet: Freshet, several: Path) -> None:
    result = freshet("status", "--output", "json")
    found = {p["pipeline"]: p for p in parsed(result)["pipelines"]}
    assert result.exit_code == 0
    assert {name: p["state"] for name, p in found.items()} == {
        "payments": "up_to_date", "behind": "behind", "expired": "CHECKPOINT_EXPIRED", "fresh": "new", "lost": "SOURCE_MISSING",
    }
    behind = found["behind"]
    assert (behind["last_commit"], behind["checkpoint"]) == (at(15), at(10))
    assert (behind["commits_behind"], behind["rows_behind"]) == (2, 20)


def test_states_as_a_table_and_their_words_on_stderr(freshet: Freshet, several: Path) -> None:
    result = freshet("status")
    head, *rows = result.stdout.splitlines()
    assert head.split("  ")[0] == "PIPELINE"
    assert [row.split()[0] for row in rows] == ["behind", "expired", "fresh", "lost", "payments"]
    assert "2 commits, 20 rows" in rows[0]
    assert "  2026-08-01 10:15:00Z (" in rows[0]
    said = result.stderr.splitlines()
    assert [line.split(": ")[:2] for line in said] == [["CHECKPOINT_EXPIRED", "expired"], ["SOURCE_MISSING", "lost"]]


def test_one_unreadable_table_does_not_hide_the_others(freshet: Freshet, several: Path) -> None:
    (several / "data/raw/fresh_events/.hoodie/hoodie.properties").write_bytes(b"\xff\xfe")
    found = {p["pipeline"]: p for p in parsed(freshet("status", "--output", "json"))["pipelines"]}
    assert found["fresh"]["state"] == "TIMELINE_UNREADABLE"
    assert found["payments"]["state"] == "up_to_date"


def test_older_table_version(freshet: Freshet, several: Path) -> None:
    (several / "data/raw/fresh_events/.hoodie/hoodie.properties").write_text("hoodie.table.version=6\n")
    assert parsed(freshet("status", "fresh", "--output", "json"))["pipelines"][0]["state"] == "TABLE_VERSION"


def test_history_is_shown_newest_first(freshet: Freshet, root: Path) -> None:
    target = a_target(root, (15, 10), (25, 20))
    target.done(30, commit(operation="CLUSTER"), "replacecommit")
    target.done(40, commit({STREAMER_V2_KEY: at(30)}, numUpdateWrites=2))
    result = freshet("checkpoint", "show", "payments")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows == [
        ["COMMIT", "CHECKPOINT", "ORIGIN", "ROWS", "RUN"], [at(40), at(30), "HoodieStreamer", "2", "none"],
        [at(25), at(20), "increment", "3", "run-25"], [at(15), at(10), "increment", "3", "run-15"],
    ]
    found = parsed(freshet("checkpoint", "show", "payments", "--limit", "2", "--output", "json"))
    assert [h["commit"] for h in found["history"]] == [at(40), at(25)]
    assert found["current"]["position"] == at(30)


def test_a_reset_and_an_older_streamers_checkpoint(freshet: Freshet, root: Path) -> None:
    target = a_target(root, (25, None))
    target.done(15, commit({STREAMER_V1_KEY: at(9)}))
    rows = [line.split()[:2] for line in freshet("checkpoint", "show", "payments").stdout.splitlines()[1:]]
    assert rows == [[at(25), "none"], [at(15), at(9)]]


def test_no_checkpoint_yet(freshet: Freshet) -> None:
    assert freshet("checkpoint", "show", "payments").stdout == "payments: no checkpoint yet\n"
    found = parsed(freshet("checkpoint", "show", "payments", "--output", "json"))
    assert found == {"pipeline": "payments", "current": None, "history": []}


def test_a_newer_freshets_checkpoint_is_refused(freshet: Freshet, root: Path) -> None:
    a_target(root).done(15, commit({CHECKPOINT_KEY: '{"version":99,"positions":{}}'}))
    result = freshet("checkpoint", "show", "payments", "--output", "json")
    assert (result.exit_code, parsed(result)["error"]["code"]) == (5, "CHECKPOINT_TOO_NEW")
    assert "CHECKPOINT_TOO_NEW" in result.stderr


def test_a_checkpoint_ahead_of_the_source_is_refused(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    result = freshet("checkpoint", "set", "payments", "20990101000000", "--output", "json")
    error = parsed(result)["error"]
    assert (result.exit_code, error["code"]) == (5, "CHECKPOINT_AHEAD")
    assert error["next"].endswith(f"freshet checkpoint set payments {at(20)}")


@pytest.mark.parametrize("words", [("show", "payment"), ("set", "payment", "20260801101500"), ("reset", "payment")])
def test_unknown_pipeline(freshet: Freshet, words: tuple[str, ...]) -> None:
    result = freshet("checkpoint", *words)
    assert result.exit_code == 3
    assert "'payments'" in result.stderr
