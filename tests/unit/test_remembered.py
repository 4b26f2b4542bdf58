"""What is remembered in the cache is what was worked out, or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet import remembered
from freshet.remembered import recall, recall_by_code, remember, remember_by_code
from freshet.secrets import REDACTOR


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    remembered._code_at_first.cache_clear()
    yield tmp_path
    remembered._code_at_first.cache_clear()


def only_file(cache: Path) -> Path:
    (found,) = cache.rglob("*.json")
    return found


def test_another_key_or_kind_is_another_answer() -> None:
    remember("a", "x", [1, "ü", None])
    assert (recall("a", "x"), recall("a", "y"), recall("b", "x")) == ([1, "ü", None], None, None)


def test_a_file_that_is_garbled_at_any_byte_is_no_answer(cache: Path) -> None:
    remember("a", "x", {"kind": "exact", "lines": [1, 2]})
    file = only_file(cache)
    whole = file.read_bytes()
    for at in range(len(whole)):
        for garbled in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            file.write_bytes(garbled)
            assert recall("a", "x") is None, (at, garbled)


def test_no_secret_is_kept(cache: Path) -> None:
    REDACTOR.register("TOKEN", "hunter2secret")
    remember("a", "x", {"message": "amount = 'hunter2secret'"})
    assert [file for file in cache.rglob("*") if file.is_file()] == []


def test_a_cache_that_cannot_be_written_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").write_text("")
    monkeypatch.setenv("FRESHET_CACHE", str(cache / "file"))
    remember("a", "x", 1)
    assert recall("a", "x") is None


def test_what_is_a_month_old_goes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("a", "old", 1)
    os.utime(only_file(cache), (0, 0))
    monkeypatch.setattr(remembered, "_LOOKS_AROUND", "")
    remember("a", "new", 2)
    assert (recall("a", "old"), recall("a", "new")) == (None, 2)


def test_another_code_is_not_believed_and_not_spoken_for(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: an upgrade, before the process began and while it goes on."""
    code = tmp_path / "code"
    code.mkdir()
    module = code / "judge.py"
    module.write_text("first")
    monkeypatch.setattr(remembered, "__file__", str(code / "remembered.py"))
    monkeypatch.setattr(remembered, "_BEGUN", float("inf"))
    remember_by_code("a", "x", "by the first")
    assert recall_by_code("a", "x") == "by the first"
    module.write_text("second one")
    remember_by_code("a", "y", "by the first, when the second lay there")
    assert recall_by_code("a", "y") is None
    remembered._code_at_first.cache_clear()
    assert recall_by_code("a", "x") is None
    remembered._code_at_first.cache_clear()
    monkeypatch.setattr(remembered, "_BEGUN", 0.0)
    remember_by_code("a", "z", "by a code that came after the process began")
    assert recall_by_code("a", "z") is None
