"""``status`` and ``checkpoint``: where pipelines stand, from hand-made timelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.events.kinds import Phase
from freshet.hudi.checkpoint import CHECKPOINT_KEY, PIPELINE_KEY, RUN_ID_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from freshet.lease.local import hold_lease, service_lease
from freshet.project.model.pipeline import TableRef
from tests.kit.memory import at
from tests.kit.project import a_project
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table, a_target, clean, commit
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
        "payments": "up_to_date",
        "behind": "behind",
        "expired": "CHECKPOINT_EXPIRED",
        "fresh": "new",
        "lost": "SOURCE_MISSING",
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


def test_a_pipeline_whose_upstream_has_not_run_waits_for_it(freshet: Freshet, root: Path) -> None:
    """In ``status`` and ``plan``, asked for alone or with its upstream; and not where it is another table that is missing."""
    a_table(root, "raw/events", 10)
    for name, source in (("refunds", "../derived/payments"), ("monthly", "../derived/refunds"), ("lost", "nowhere")):
        a_project(root, name, source=source)
    named = {p["pipeline"]: p for p in parsed(freshet("status", "--output", "json"))["pipelines"]}
    assert {name: (p["state"], p["waits_for"]) for name, p in named.items()} == {
        "payments": ("new", []),
        "refunds": ("waiting", ["payments"]),
        "monthly": ("waiting", ["refunds"]),
        "lost": ("SOURCE_MISSING", []),
    }
    alone = freshet("status", "refunds")
    assert alone.stdout.splitlines()[-1] == "refunds: waits for the first run of payments"
    assert alone.stderr == ""
    assert freshet("plan", "refunds").stdout == "refunds\n  waits for the first run of payments\n"
    a_target(root, (15, 10))
    assert parsed(freshet("status", "refunds", "--output", "json"))["pipelines"][0]["state"] == "new"


def test_one_that_never_ran_shows_no_other_writers_commit(freshet: Freshet, root: Path) -> None:
    """Another pipeline's, a table's that was there before; what HoodieStreamer wrote is where the pipeline goes on."""
    a_table(root, "raw/events", 10)
    target = HandMade(root / "data/derived/payments", OF_A_PIPELINE)

    def last() -> str:
        return str(parsed(freshet("status", "--output", "json"))["pipelines"][0]["last_commit"])

    target.done(12, commit(numInserts=3))
    target.done(14, commit({PIPELINE_KEY: "another", RUN_ID_KEY: "x"}, numInserts=3))
    assert last() == ""
    target.done(16, commit({STREAMER_V2_KEY: at(10)}, numInserts=3))
    target.done(18, commit(numInserts=3))
    assert last() == at(16)
    target.done(20, commit({PIPELINE_KEY: "payments", RUN_ID_KEY: "y"}, numInserts=3))
    assert last() == at(20)


def test_what_is_at_work_is_shown(freshet: Freshet, root: Path) -> None:
    """A run, and what it does; work on an index; table services, which hold a lease of their own."""
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    table = TableRef("derived.payments", str(root / "data/derived/payments"))
    for lease, what, said in (
        (table, "run", "payments: running since "),
        (table, "work on its index", "payments: work on its index since "),
        (service_lease(table), "table services", "payments: table services since "),
    ):
        with hold_lease(lease, "run-1", 0.0, pytest.fail, what=what) as held:
            assert freshet("status").stdout.splitlines()[-1].startswith(said)
            held.noting(lambda event: None)(Phase(pipeline="payments", message="writing derived.payments"))
            assert freshet("status").stdout.splitlines()[-1].endswith(" s: writing derived.payments")
            found = parsed(freshet("status", "--output", "json"))["pipelines"][0]["running"]
            assert (found["what"], found["doing"], found["run_id"]) == (what, "writing derived.payments", "run-1")
    assert parsed(freshet("status", "--output", "json"))["pipelines"][0]["running"] is None


def test_whoever_waits_for_a_lease_can_be_told_how_long(freshet: Freshet, root: Path) -> None:
    """The advice names ``--wait``, and each command that may give it has the option."""
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    with hold_lease(TableRef("derived.payments", str(root / "data/derived/payments")), "run-1", 0.0, pytest.fail):
        error = parsed(freshet("checkpoint", "set", "payments", at(20), "--wait", "0.25", "--output", "json"))["error"]
    assert (error["code"], "--wait 600" in error["next"], "0.25" in error["next"]) == ("ALREADY_RUNNING", True, True)
    for words in (
        "run",
        "backfill",
        "service",
        "index bootstrap",
        "index rebuild",
        "index verify",
        "index migrate",
        "quarantine replay",
        "checkpoint set",
        "checkpoint reset",
    ):
        assert "--wait SECONDS" in freshet(*words.split(), "--help").stdout, words


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
        ["COMMIT", "CHECKPOINT", "ORIGIN", "ROWS", "RUN"],
        [at(40), at(30), "HoodieStreamer", "2", "none"],
        [at(25), at(20), "increment", "3", "run-25"],
        [at(15), at(10), "increment", "3", "run-15"],
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
    assert result.exit_code == 2
    assert "'payments'" in result.stderr
