"""``history``: what runs recorded, and the commits that no record tells of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.backfill.record import ChunkRecord, encode_chunk
from freshet.cli import terminal
from freshet.hudi.checkpoint import CHECKS_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.project.model.pipeline import TableRef
from freshet.run.records import folder_of, write_record
from tests.kit.memory import at
from tests.kit.timeline import HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed


@pytest.fixture
def target(root: Path) -> HandMade:
    a_table(root, "raw/events", 10)
    return a_target(root, (15, 10))


def recorded(root: Path, begun: int, outcome: str = "committed", what: str = "run", **more: Any) -> None:
    ref = TableRef("derived.payments", str(root / "data/derived/payments"))
    write_record(ref, "payments", {"what": what, "begun": at(begun), "outcome": outcome, **more})


def test_idle_runs_need_no_spark_and_are_one_line(freshet: Freshet, root: Path, target: HandMade) -> None:
    for _ in range(3):
        assert freshet("run", "payments").exit_code == 0
    found = parsed(freshet("history", "payments", "--output", "json"))
    idle, commits = found["runs"][0], found["runs"][1:]
    assert (idle["what"], idle["outcome"], idle["count"], idle["error"], found["unreadable"]) == ("run", "idle", 3, None, [])
    assert idle["seconds"]["total"] >= 0
    assert [(one["commits"], one["run_id"]) for one in commits] == [([at(15)], "run-15")]
    text = freshet("history", "payments").stdout
    assert "idle x3" in text
    assert "the first at 2" in text


def test_a_failed_run_is_told_by_its_code(freshet: Freshet, root: Path) -> None:
    """Of one whose source is not there yet, and with a commit of the table that is nobody's failure."""
    assert freshet("run", "payments").exit_code == 5
    a_target(root, (15, 10))
    (failed,) = parsed(freshet("history", "payments", "--failed", "--output", "json"))["runs"]
    assert (failed["outcome"], failed["error"]["code"]) == ("failed", "SOURCE_MISSING")
    lines = freshet("history", "payments", "--failed").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["WHEN", failed["begun"][:4] + lines[1][4:10], "SOURCE_MISSING:"]


def test_a_run_that_was_interrupted_has_taken_a_time(freshet: Freshet, root: Path, target: HandMade) -> None:
    """So has one that failed; of several that were busy the last is told, and of one that was killed nobody knows."""
    stopped = {"code": "INTERRUPTED", "message": "stopped by the keyboard"}
    recorded(root, 20, "failed", error=stopped, ended="20260801101640520")
    recorded(root, 30, "failed", error={"code": "OVERFLOW", "message": "x"}, seconds={"total": 3.5}, ended="20260801101640520")
    recorded(root, 40, "killed")
    for begun in (50, 60):
        recorded(root, begun, "failed", error={"code": "ALREADY_RUNNING", "message": "x"}, ended=at(begun + 7))
    runs = parsed(freshet("history", "payments", "--output", "json"))["runs"]
    assert [one["seconds"] for one in runs[:4]] == [{"total": 0.007}, {}, {"total": 3.5}, {"total": 100.5}]
    (line,) = (one for one in freshet("history", "payments").stdout.splitlines() if "failed " in one and "1.7 min" in one)
    assert line.split()[-1] == "-"


def test_a_limit_cuts_what_is_whole(freshet: Freshet, root: Path, target: HandMade) -> None:
    """Two runs at once: the commit of the one that began first comes after the other one's record, the last that is read."""
    recorded(root, 20, commits=[at(30)], seconds={"total": 9.5})
    recorded(root, 25, "failed", error={"code": "ALREADY_RUNNING", "message": "x"}, ended=at(26))
    recorded(root, 40, "idle")
    target.done(30, commit({PIPELINE_KEY: "payments", ORIGIN_KEY: "increment"}, numInserts=3))
    shown = [parsed(freshet("history", "payments", "--limit", n, "--output", "json"))["runs"] for n in ("1", "2", "3")]
    found = [[(one["begun"], one["outcome"]) for one in runs] for runs in shown]
    whole = [(at(40), "idle"), (at(25), "failed"), (at(20), "committed")]
    assert found == [whole[:1], whole[:2], whole]


def test_each_kind_of_commit_is_known_by_its_own_metadata(freshet: Freshet, root: Path, target: HandMade) -> None:
    """Runs, checkpoints by hand, chunks, services and other writers, of before there were records."""

    def own(origin: str, **more: str) -> dict[str, str]:
        return {PIPELINE_KEY: "payments", ORIGIN_KEY: origin, **more}

    def chunk(state: str) -> dict[str, str]:
        record = ChunkRecord(
            backfill="2026-01-05T00:00:00/2026-01-07T00:00:00/1d",
            start="2026-01-05T00:00:00",
            end="2026-01-06T00:00:00",
            chunks=2,
            state=state,
            base=at(1),
            write="upsert",
            error="OVERFLOW" * (state == "failed"),
        )  # type: ignore[arg-type]
        return own("backfill", **encode_chunk(record))

    found = {name: {"status": status, "rows": rows} for name, status, rows in (("a", "passed", 0), ("b", "warned", 4))}
    checks = {"rows": 9, "quarantined": 2, "checks": found}
    for moment, extra, operation in (
        (20, own("increment", **{RUN_ID_KEY: "r", CHECKS_KEY: json.dumps(checks)}), "UPSERT"),
        (25, own("override"), "UPSERT"),
        (30, chunk("done"), "UPSERT"),
        (35, chunk("failed"), "UPSERT"),
        (40, {}, "CLUSTER"),
        (45, {}, "UPSERT"),
    ):
        target.done(moment, commit(extra, operation, numInserts=3, numUpdateWrites=2))
    runs = parsed(freshet("history", "payments", "--output", "json"))["runs"]
    assert [(one["what"], one["outcome"]) for one in runs] == [
        ("other writer", "committed"),
        ("clustering", "done"),
        ("backfill", "failed"),
        ("backfill", "committed"),
        ("checkpoint", "committed"),
        ("run", "committed"),
        ("run", "committed"),
    ]
    assert runs[2]["error"]["code"] == "OVERFLOW"
    run = runs[5]
    assert (run["rows"]["inserts"], run["rows"]["updates"], run["rows"]["quarantined"], run["run_id"]) == (3, 2, 2, "r")
    assert "2 to the quarantine; checks: 1 passed, b warned (4 rows)" in freshet("history", "payments").stdout
    assert len(parsed(freshet("history", "payments", "--limit", "2", "--output", "json"))["runs"]) == 2
    since = parsed(freshet("history", "payments", "--since", at(40), "--output", "json"))["runs"]
    assert [one["commits"] for one in since] == [[at(45)], [at(40)]]


def test_a_commit_that_a_record_tells_of_stands_once_and_the_archive_is_asked(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    target = a_target(root, (50, 10), (60, 10))
    target.archive((20, "commit", commit({}, numInserts=1)), (30, "commit", commit({}, numInserts=1)))
    recorded(root, 45, commits=[at(50), at(60)], rows={"inserts": 6}, seconds={"session": 3.0, "write": 70.5, "total": 100.0})
    found = parsed(freshet("history", "payments", "--output", "json"))["runs"]
    assert [one["commits"] for one in found] == [[at(50), at(60)], [at(30)], [at(20)]]
    text = freshet("history", "payments").stdout
    assert "1.7 min" in text
    assert "session 3.0 s, write 70.5 s" in text
    assert [one["commits"] for one in parsed(freshet("history", "payments", "--limit", "1", "--output", "json"))["runs"]] == [
        [at(50), at(60)]
    ]


def test_what_is_longest_fits_80_columns(
    freshet: Freshet,
    root: Path,
    target: HandMade,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backfill = {
        "backfill": "2026-01-01T00:00:00/2027-01-01T00:00:00/1mo",
        "chunks": 12,
        "done": 11,
        "skipped": 3,
        "failed": {"a": "OVERFLOW"},
        "conflicts": 2,
    }
    many = {
        "inserts": 123_456_789,
        "updates": 987_654_321,
        "deletes": 55,
        "moves": 7,
        "quarantined": 12,
        "mixed": ["updates", "inserts", "deletes"],
    }
    recorded(
        root,
        20,
        rows=many,
        seconds={"session": 3.1, "transform": 0.2, "write": 4000.0, "total": 100_000.0},
        checks=[{"name": f"a_rule_with_a_long_name_{n}", "status": "warned", "rows": 1234} for n in range(3)],
    )
    recorded(root, 21, "failed", "backfill", rows={"written": 5_000_000_000}, **backfill)
    recorded(root, 22, "failed", error={"code": "CHECK_FAILED", "message": "a long message " * 20})
    recorded(root, 23, "done", "service", done={"compact": at(23), "clean": at(24), "archive": "12 instants archived"})
    for n in range(12):
        recorded(root, 24 + n, "idle", "table services")
    monkeypatch.setattr(terminal, "width_of", lambda stream: 80)
    lines = freshet("history", "payments").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["WHEN", "WHAT", "RESULT", "TIME", "ROWS"]
    text = " ".join(" ".join(lines).split())
    assert "2026-01-01 to 2027-01-01: 11 of 12 chunks done, 1 failed" in text
    assert (
        "123,456,789 inserted, 987,654,321 inserted or updated, 55 deleted (a moved row counts as both), 7 moved, "
        "12 to the quarantine"
    ) in text


def test_what_cannot_be_read_is_left_out_with_a_word(freshet: Freshet, root: Path, target: HandMade) -> None:
    recorded(root, 20)
    ref = TableRef("derived.payments", str(root / "data/derived/payments"))
    Path(folder_of(ref, "payments"), f"{at(30)}-0123abcd.failed.json").write_text('{"ver')
    result = freshet("history", "payments", "--output", "json")
    assert (result.exit_code, len(parsed(result)["runs"]), len(parsed(result)["unreadable"])) == (0, 2, 1)
    assert "1 record cannot be read and is left out" in result.stderr


def test_no_run_yet_and_a_time_that_is_none(freshet: Freshet, root: Path) -> None:
    assert freshet("history", "payments").stdout == "payments: no run yet\n"
    assert freshet("history", "payments", "--failed").stdout == "payments: no run failed\n"
    assert freshet("history", "payments", "--since", "yesterday").exit_code == 2
    assert freshet("history", "nothing").exit_code == 2
