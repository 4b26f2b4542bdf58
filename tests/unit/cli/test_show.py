"""``show`` before Spark starts, and how rows are printed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from freshet.cli.show import _csv, _text
from freshet.project.model.pipeline import TableRef
from freshet.run.show import Shown
from freshet.storage.files import LocalStorage
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
