"""Freshet's own files beside a table that hold what freshet never wrote: none of them ends a command without a code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import FreshetError, StateError
from freshet.lease.local import hold_lease, holder_of, is_running
from freshet.lease.others import held_by_others, left_behind
from freshet.lease.stale_lock import clear_stale_lock
from freshet.project.model.pipeline import TableRef
from freshet.run.records import read_records, remember_killed


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    (tmp_path / ".freshet").mkdir()
    return TableRef("derived.earnings", str(tmp_path / "earnings"))


def beside(table: TableRef, ending: str) -> Path:
    return Path(table.path).parent / ".freshet" / f"earnings.{ending}"


@pytest.mark.parametrize(
    "text",
    [
        '{"begun": 1e20, "pipeline": "copy"}',
        '{"begun": 1e400, "pipeline": "copy"}',
        '{"begun": NaN, "pipeline": "copy"}',
        '{"begun": -1e20, "pipeline": "copy"}',
        '{"begun": 1785579300.5, "pipeline": ["copy"]}',
        '{"begun": 1' + "0" * 5000 + "}",
        '{"begun": 1785579300.5, "ended": -Infinity, "pipeline": "copy"}',
        "[" * 100_000,
        "[]",
        "\x00",
        '{"what": ["run"], "pid": {}}',
        '{"begun": true, "what": null, "doing": {}}',
    ],
)
def test_a_lease_that_holds_anything(table: TableRef, text: str) -> None:
    """Kind: numbers that are no moments, values of other types, nesting that no parser follows, no object, no text."""
    file = beside(table, "lease")
    (Path(table.path) / ".hoodie").mkdir(parents=True)
    (Path(table.path) / ".hoodie" / "lock").touch()
    file.write_text(text)
    assert [one for one in left_behind(table) if isinstance(one.get("begun", 0.0), bool)] == []
    file.write_text(text)
    with hold_lease(table, "r", 0, lambda words: None) as lease:
        remember_killed(table, lease.left)
        clear_stale_lock(table, lease)
        file.write_text(text)
        assert holder_of(table) is not None
        with pytest.raises(FreshetError, match="ALREADY_RUNNING"), hold_lease(table, "s", 0, lambda words: None):
            pass
    read_records(table, "copy", 5)


def test_a_sound_lease_keeps_all_that_it_says(table: TableRef) -> None:
    said: dict[str, Any] = {
        "run_id": "r",
        "what": "run",
        "pipeline": "copy",
        "pid": 7,
        "host": "h",
        "since": "now",
        "begun": time.time(),
        "failed": True,
        "ended": time.time(),
        "doing": "writing",
    }
    beside(table, "lease").write_text(json.dumps(said))
    with hold_lease(table, "r", 0, lambda words: None) as lease:
        assert lease.left == said


@pytest.mark.parametrize("ending", ["lease", "writer"])
def test_a_folder_in_the_place_of_a_file(table: TableRef, ending: str) -> None:
    """Of each question that is asked of it, and of who wants to write."""
    beside(table, ending).mkdir()
    with pytest.raises(StateError, match="NOT_WRITABLE"), hold_lease(table, "r", 0, lambda words: None):
        pass
    for ask in (is_running, holder_of, held_by_others, left_behind):
        assert _code_of(ask, table) in ("", "STORAGE_FAILED"), ask


def _code_of(ask: Callable[[TableRef], object], table: TableRef) -> str:
    try:
        ask(table)
    except FreshetError as error:
        return error.code
    return ""
