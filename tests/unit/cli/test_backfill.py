"""``backfill`` as far as it goes without Spark: usage, what forbids it, the chunks it would do, and its exit codes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from freshet.backfill.record import ChunkRecord, encode_chunk
from freshet.backfill.run import BackfillResult, window_of
from freshet.errors import FreshetError, RetryableError, StateError
from freshet.events.event import Event
from freshet.events.kinds import ChunkDone
from freshet.hudi.checkpoint import FINGERPRINT_KEY, PIPELINE_KEY
from tests.kit.memory import at
from tests.kit.timeline import HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed

RANGE = ("backfill", "payments", "--start", "2026-01-05", "--end", "2026-01-07")
NAME = "2026-01-05T00:00:00/2026-01-07T00:00:00/1d"
OCC = "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n"


def declare(root: Path) -> Path:
    path = root / "pipelines/payments.yml"
    path.write_text("backfill: {event_time: updated_at}\n" + path.read_text())
    return path


@pytest.fixture
def target(root: Path) -> HandMade:
    """Return the target of a project that is ready for a backfill."""
    path = declare(root)
    path.write_text(path.read_text().replace("hoodie:\n", f"hoodie:\n{OCC}", 1))
    a_table(root, "raw/events", 10)
    return a_target(root, (15, 10))


def a_done_chunk(target: HandMade, end: str = "2026-01-07", chunks: int = 2) -> None:
    """Commit the first day of a backfill, as done by other files than these."""
    record = ChunkRecord(
        backfill=f"2026-01-05T00:00:00/{end}T00:00:00/1d",
        start="2026-01-05T00:00:00",
        end="2026-01-06T00:00:00",
        chunks=chunks,
        state="done",
        base=at(15),
        write="upsert",
    )
    extra = {PIPELINE_KEY: "payments", FINGERPRINT_KEY: "feedfeed", **encode_chunk(record)}
    target.done(30, commit(extra, numInserts=3))


@pytest.mark.parametrize(
    "words",
    [
        ("backfill",),
        ("backfill", "payments"),
        ("backfill", "payments", "--start", "2026-01-05"),
        ("backfill", "payments", "--start", "yesterday", "--end", "2026-01-07"),
        (*RANGE, "--reprocess", "some"),
        (*RANGE, "--max-conflicts", "-1"),
        (*RANGE, "refunds"),
    ],
)
def test_usage(freshet: Freshet, words: tuple[str, ...]) -> None:
    assert freshet(*words).exit_code == 2


@pytest.mark.parametrize("words", [("--chunk", "soon"), ("--chunk", "0mo"), ("--end", "2026-01-05")])
def test_a_range_that_cannot_be_cut(freshet: Freshet, target: HandMade, words: tuple[str, ...]) -> None:
    result = freshet(*RANGE, *words, "--output", "json")
    assert (result.exit_code, parsed(result)["error"]["code"]) == (2, "BAD_RANGE")


def test_what_forbids_it(freshet: Freshet, root: Path) -> None:
    def code() -> tuple[int, str]:
        shown, done = freshet(*RANGE, "--dry-run", "--output", "json"), freshet(*RANGE, "--output", "json")
        assert parsed(shown) == parsed(done)
        assert shown.exit_code == done.exit_code
        return done.exit_code, parsed(done)["error"]["code"]

    a_table(root, "raw/events", 10)
    assert code() == (5, "BACKFILL_NOT_DECLARED")
    path = declare(root)
    assert code() == (5, "TARGET_MISSING")
    target = a_target(root, (15, 10))
    assert code() == (5, "SINGLE_WRITER")
    path.write_text(path.read_text().replace("hoodie:\n", f"hoodie:\n{OCC}", 1))
    a_done_chunk(target)
    assert code() == (5, "BACKFILL_FINGERPRINT_CHANGED")


def test_an_unknown_pipeline(freshet: Freshet, target: HandMade) -> None:
    assert freshet("backfill", "refunds", *RANGE[2:]).exit_code == 2


def test_dry_run(freshet: Freshet, target: HandMade) -> None:
    result = freshet(*RANGE, "--dry-run", "--output", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = parsed(result)
    assert (found["backfill"], found["write"], found["concurrency"]) == (NAME, "upsert", "OPTIMISTIC_CONCURRENCY_CONTROL")
    assert [(c["start"], c["end"], c["status"], c["wanted"]) for c in found["chunks"]] == [
        ("2026-01-05T00:00:00", "2026-01-06T00:00:00", "todo", True),
        ("2026-01-06T00:00:00", "2026-01-07T00:00:00", "todo", True),
    ]
    assert found["first"]["window"]["kind"] == "backfill"
    text = freshet(*RANGE, "--dry-run").stdout
    assert text.count("  do    2026-01-0") == 2
    assert "The first chunk:" in text


def test_a_comment_asks_for_no_second_backfill(freshet: Freshet, root: Path, target: HandMade) -> None:
    """From the files: a comment in SQL, DDL or YAML, a check that drops nothing; what makes other rows does ask."""
    first = parsed(freshet(*RANGE, "--dry-run", "--output", "json"))["first"]
    metadata = next(stage["metadata"] for stage in first["stages"] if stage["stage"] == "commit")
    target.done(30, commit(metadata, numInserts=3))

    def dry_run() -> list[bool] | str:
        found = parsed(freshet(*RANGE, "--dry-run", "--output", "json"))
        return found["error"]["code"] if "error" in found else [one["wanted"] for one in found["chunks"]]

    sql, ddl, yml = (root / name for name in ("transformers/payments.sql", "ddl/payments.sql", "pipelines/payments.yml"))
    for file, text in (
        (sql, "-- why\n" + sql.read_text()),
        (ddl, "-- why\n" + ddl.read_text()),
        (yml, "# why\nchecks: [{name: a, where: 'amount < 0', severity: warn}]\n" + yml.read_text()),
    ):
        file.write_text(text)
        assert dry_run() == [False, True], file
    sql.write_text(sql.read_text().replace("amount", "amount * 2 AS amount"))
    assert dry_run() == "BACKFILL_FINGERPRINT_CHANGED"


def test_dry_run_of_one_that_was_begun(freshet: Freshet, target: HandMade) -> None:
    a_done_chunk(target)
    words = (*RANGE, "--dry-run", "--accept-changes")
    found = parsed(freshet(*words, "--output", "json"))
    assert [(c["status"], c["wanted"]) for c in found["chunks"]] == [("done", False), ("todo", True)]
    assert "  skip  2026-01-05 to 2026-01-06  (done)" in freshet(*words).stdout
    everything = parsed(freshet(*RANGE, "--dry-run", "--reprocess", "all", "--output", "json"))
    assert [c["wanted"] for c in everything["chunks"]] == [True, True]


def test_dry_run_of_one_that_is_done_has_no_first_chunk(freshet: Freshet, target: HandMade) -> None:
    a_done_chunk(target, "2026-01-06", 1)
    words = ("backfill", "payments", "--start", "2026-01-05", "--end", "2026-01-06", "--dry-run", "--accept-changes")
    found = parsed(freshet(*words, "--output", "json"))
    assert ([c["status"] for c in found["chunks"]], found["first"]) == (["done"], None)


def test_start_and_end_reach_the_templates(freshet: Freshet, root: Path, target: HandMade) -> None:
    sql = root / "transformers/payments.sql"
    sql.write_text(sql.read_text() + "{% if start is defined %}WHERE '{{ start }} to {{ end }}' <> ''{% endif %}\n")
    text = freshet(*RANGE, "--dry-run").stdout
    assert freshet("compile", "payments").exit_code == 0
    assert "2026-01-05 to 2026-01-06" in text


@pytest.mark.parametrize(
    ("start", "end", "texts"),
    [
        ("2026-01-05T00:00:00", "2026-01-06T00:00:00", ("2026-01-05", "2026-01-06")),
        ("2026-01-05T00:00:00", "2026-01-05T06:00:00", ("2026-01-05 00:00:00", "2026-01-05 06:00:00")),
    ],
)
def test_a_window_of_days_is_written_by_days(start: str, end: str, texts: tuple[str, str]) -> None:
    assert window_of(datetime.fromisoformat(start), datetime.fromisoformat(end)) == texts


def doing(result: BackfillResult, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    called: list[tuple[Any, ...]] = []

    def run(load: Any, request: Any, state: Any, listen: Callable[[Event], None], max_conflicts: int) -> BackfillResult:
        called.append((request, max_conflicts))
        listen(ChunkDone(pipeline="payments", message="chunk 1/2", number=1, of=2))
        return result

    monkeypatch.setattr("freshet.cli.backfill.run_backfill", run)
    return called


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (BackfillResult(pipeline="payments", backfill=NAME, chunks=2, done=2), 0),
        (
            BackfillResult(
                pipeline="payments", backfill=NAME, chunks=2, done=1, failed={"2026-01-05 to 2026-01-06": "OVERFLOW"}
            ),
            1,
        ),
        (BackfillResult(pipeline="payments", backfill=NAME, chunks=2, error=RetryableError("COMMIT_CONFLICT", "no")), 4),
        (BackfillResult(pipeline="payments", backfill=NAME, chunks=2, error=StateError("TARGET_MISSING", "no")), 5),
        (BackfillResult(pipeline="payments", backfill=NAME, chunks=2, error=FreshetError("WRITE_FAILED", "no")), 1),
    ],
)
def test_exit_codes_and_one_object(
    freshet: Freshet,
    monkeypatch: pytest.MonkeyPatch,
    result: BackfillResult,
    code: int,
) -> None:
    doing(result, monkeypatch)
    ended = freshet(*RANGE, "--output", "json")
    assert ended.exit_code == code
    found = parsed(ended)
    assert (found["pipeline"], found["chunks"], found["done"]) == ("payments", 2, result.done)
    assert (found["error"] or {}).get("code") == (result.error.code if result.error else None)
    assert found["failed"] == result.failed
    assert "chunk 1/2" in ended.stderr
    text = freshet(*RANGE)
    assert text.exit_code == code
    assert ("--reprocess failed" in text.stdout) == bool(result.failed)


def test_what_is_asked_for_reaches_the_backfill(freshet: Freshet, monkeypatch: pytest.MonkeyPatch) -> None:
    called = doing(BackfillResult(pipeline="payments", backfill=NAME, chunks=2), monkeypatch)
    freshet(*RANGE, "--chunk", "6h", "--reprocess", "failed", "--max-conflicts", "3", "--accept-changes")
    ((request, conflicts),) = called
    assert (request.chunk, request.reprocess, request.accept_changes, conflicts) == ("6h", "failed", True, 3)
    assert (request.start.isoformat(), request.end.isoformat()) == ("2026-01-05T00:00:00", "2026-01-07T00:00:00")
