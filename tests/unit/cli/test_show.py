"""``show`` before Spark starts, and how rows are printed."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import Row

from freshet.cli.show import _csv, _text
from freshet.hudi.instants import LOCAL_ZONE, time_of
from freshet.project.model.pipeline import TableRef
from freshet.run.show import Shown
from freshet.sources.hudi.history import before_the_newest, changes_since
from freshet.sources.hudi.reads import NEVER
from freshet.storage.files import LocalStorage
from tests.kit.memory import a_commit, a_table_state, at
from tests.kit.project import a_project
from tests.kit.timeline import a_table
from tests.unit.cli.conftest import Freshet, parsed

ROWS = Shown(("id", "amount", "note"), (("a", Decimal("1.50"), None), ("b", None, "two\nlines \x1b[2J")), True)
TABLE = TableRef("raw.events", "/raw/events")


@pytest.mark.parametrize(
    ("words", "code", "next_words"),
    [
        (("raw.evnts",), "TABLE_UNKNOWN", "raw.events"),
        (("paymens",), "TABLE_UNKNOWN", "payments"),
        (("payments",), "TABLE_MISSING", "freshet run payments"),
    ],
)
def test_a_table_that_is_not_there(freshet: Freshet, root: Path, words: tuple[str, ...], code: str, next_words: str) -> None:
    a_project(root)
    a_table(root, "raw/events", 10)
    error = parsed(freshet("show", *words, "--output", "json"))["error"]
    assert (error["code"], next_words in error["next"]) == (code, True)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("raw.ordrs", "raw.orders"),
        ("row.orders", "raw.orders"),
        ("derived.old_on", "derived.old_one"),
        ("raw.notes_", ""),
        ("raw.evnts", "raw.events"),
        ("raw.ordrs.x", ""),
    ],
)
def test_a_mistyped_table_is_one_that_stands_in_the_warehouse(freshet: Freshet, root: Path, name: str, near: str) -> None:
    """One that was landed and that no pipeline reads yet, and one that no pipeline writes any longer; a folder is no table."""
    a_table(root, "raw/orders", 10)
    a_table(root, "derived/old_one", 10)
    (root / "data/raw/notes").mkdir()
    (root / "data/raw/notes.txt").write_text("mine")
    error = parsed(freshet("show", name, "--output", "json"))["error"]
    assert error["code"] == "TABLE_UNKNOWN"
    assert (f"Did you mean '{near}'?" == error["next"]) if near else "raw.notes" not in error["next"]


def test_a_warehouse_that_cannot_be_listed_hides_no_error(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = LocalStorage.names

    def refused(storage: LocalStorage, folder: str) -> list[str]:
        if folder.endswith(("data/raw", "data/derived")):
            raise PermissionError(13, "Permission denied")
        return names(storage, folder)

    monkeypatch.setattr(LocalStorage, "names", refused)
    error = parsed(freshet("show", "raw.evnts", "--output", "json"))["error"]
    assert (error["code"], error["next"]) == ("TABLE_UNKNOWN", "Did you mean 'raw.events'?")


@pytest.mark.parametrize(
    "words",
    [
        ("--at", "yesterday"),
        ("--changes", "20261"),
        ("--changes", "5 months"),
        ("--changes", "payments"),
        ("--at", "20261125", "--changes", "20261125"),
        ("--limit", "0"),
        ("--csv",),
        ("--output", "xml"),
    ],
)
def test_a_wrong_command_line(freshet: Freshet, root: Path, words: tuple[str, ...]) -> None:
    a_project(root)
    a_table(root, "derived/payments", 10)
    assert freshet("show", "payments", *words).exit_code == 2


@pytest.mark.parametrize("words", [("--at", "2026-02-30"), ("--changes", "\u00b2\u2070\u00b2\u2076")])
def test_a_wrong_time_is_told_before_a_table_is_looked_for(freshet: Freshet, root: Path, words: tuple[str, ...]) -> None:
    assert freshet("show", "payments", *words).exit_code == 2


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("30s", "20260801101430250"),
        ("5m", "20260801101000250"),
        ("5 min", "20260801101000250"),
        ("2h ago", "20260801081500250"),
        ("3d", "20260729101500250"),
        ("1w", "20260725101500250"),
        ("9999w", "18341213101500250"),
        ("2026-07-01", "20260701000000000"),
        ("20260701101500000", "20260701101500000"),
        ("5", ""),
        ("-5m", ""),
        ("\u00b25m", ""),
        ("5y", ""),
        ("", ""),
    ],
)
def test_a_time_may_be_how_long_ago(text: str, instant: str) -> None:
    assert time_of(text, now=datetime(2026, 8, 1, 10, 15, 0, 250_000, tzinfo=timezone.utc)) == instant


def test_how_long_ago_is_told_in_the_zone_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert time_of("5m", LOCAL_ZONE, datetime(2026, 8, 1, 10, 15, tzinfo=timezone.utc)) == "20260801191000000"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_the_newest_commit_changed() -> None:
    """Commits without rows are passed over, and table services; all that a first commit brought is new."""
    first, second, empty = a_commit(10), a_commit(20), a_commit(30, rows=0)
    service = a_commit(40, action="replacecommit", operation="CLUSTER", replaced_ids=("p/a",))
    assert before_the_newest(a_table_state([first, second, empty, service])) == at(10)
    assert before_the_newest(a_table_state([first, second, a_commit(25, rows=0), a_commit(30)])) == at(25)
    emptied = a_commit(30, rows=0, action="replacecommit", operation="INSERT_OVERWRITE", replaced_ids=("p/a",))
    assert before_the_newest(a_table_state([first, second, emptied])) == at(20)
    only = a_table_state([first])
    changes = changes_since(only, before_the_newest(only))
    assert changes is not None
    assert changes.was is not None
    assert (changes.was.as_of, changes.read.window.rows) == (NEVER, 10)
    assert changes_since(a_table_state([]), before_the_newest(a_table_state([]))) is None


def test_new_rows_are_told_from_changed_ones_by_the_version_before() -> None:
    """Where the cleaner has not kept it, nobody says that a row is new."""
    table = a_table_state([a_commit(10), a_commit(20), a_commit(30)])
    changes = changes_since(table, at(20))
    assert changes is not None
    assert changes.was is not None
    assert changes.was.as_of == at(20)
    cleaned = changes_since(replace(table, retained_from=at(29)), at(20))
    assert cleaned is not None
    assert cleaned.was is None


@pytest.mark.parametrize("words", [("--changes",), ("--changes", "--limit", "3"), ("--changes", "2h"), ("--at", "5m")])
def test_a_time_needs_no_digits(freshet: Freshet, root: Path, words: tuple[str, ...]) -> None:
    """The line is right: what is refused is the table, which is not there."""
    assert parsed(freshet("show", "payments", *words, "--output", "json"))["error"]["code"] == "TABLE_MISSING"


def test_history_takes_how_long_ago(freshet: Freshet) -> None:
    assert (
        freshet("history", "payments", "--since", "2h").exit_code,
        freshet("history", "payments", "--since", "2").exit_code,
    ) == (0, 2)


def test_changes_say_once_what_became_of_a_row() -> None:
    shown = Shown(("_change", "_hoodie_is_deleted", "id"), (("new", False, "a"), ("deleted", True, "b")), False)
    assert shown.without("_hoodie_is_deleted") == Shown(("_change", "id"), (("new", "a"), ("deleted", "b")), False)
    assert _text(TABLE, shown, " changed since 2026-08-01 10:15:00Z").splitlines()[-1] == (
        "2 rows of raw.events changed since 2026-08-01 10:15:00Z"
    )


def test_values_stand_as_sql_writes_them() -> None:
    """Truths, nulls, bytes, and what lists, maps and structs hold of them; the same in CSV."""
    row = Row(ok=True, note=None)
    shown = Shown(("a", "b", "c", "d", "e"), ((True, None, [False, b"\x01"], row, {"k": True}),), False)
    assert _text(TABLE, shown).splitlines()[1].split("  ") == [
        "true",
        "null",
        "[false, 01]",
        "{ok: true, note: null}",
        "{k: true}",
    ]
    assert _csv(Shown(("a", "b"), ((True, 1), (False, None)), False)) == "a,b\ntrue,1\nfalse,"


def test_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _text(TABLE, ROWS).splitlines() == [
        "id  amount  note",
        "a   1.50    null",
        "b   null    two\\x0alines \\x1b[2J",
        "2 rows of raw.events, and there are more",
    ]
    assert _csv(ROWS) == 'id,amount,note\na,1.50,\nb,,"two\nlines \x1b[2J"'
    assert _text(TABLE, Shown(("id",), (), False)) == "no row of raw.events"
    # What is wider than a terminal is shown one row after the other.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "25")
    assert _text(TABLE, ROWS).splitlines() == [
        "-- row 1 --",
        "id      a",
        "amount  1.50",
        "note    null",
        "-- row 2 --",
        "id      b",
        "amount  null",
        "note    two\\x0alines \\x1b[2J",
        "2 rows of raw.events, and there are more",
    ]
