"""The folder that pages are written to: whose it is, and what is left in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from freshet.errors import FreshetError
from freshet.site.write import MARK, write_pages


def files(folder: Path) -> dict[str, str]:
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {path: text for path, text in found.items() if path != MARK}


def test_pages_of_before_go_and_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "site"
    write_pages(folder, {"index.html": "1", "pipelines/gone.html": "x", "pipelines/stays.html": "y"})
    (folder / "robots.txt").write_text("of somebody else")
    write_pages(folder, {"index.html": "2", "pipelines/stays.html": "z"})
    assert files(folder) == {"index.html": "2", "pipelines/stays.html": "z", "robots.txt": "of somebody else"}


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years")
    with pytest.raises(FreshetError) as refused:
        write_pages(tmp_path, {"index.html": "1"})
    assert refused.value.code == "NOT_A_SITE"
    assert files(tmp_path) == {"thesis.txt": "years"}


@pytest.mark.parametrize("mark", ["", "{", '{"files": 3}', '{"files": [1]}', "[]"])
def test_a_mark_that_is_none_is_no_site(tmp_path: Path, mark: str) -> None:
    (tmp_path / MARK).write_text(mark)
    with pytest.raises(FreshetError) as refused:
        write_pages(tmp_path, {"index.html": "1"})
    assert refused.value.code == "NOT_A_SITE"


def test_a_mark_takes_nothing_outside_of_the_folder_away(tmp_path: Path) -> None:
    folder, other = tmp_path / "site", tmp_path / "other.txt"
    other.write_text("stays")
    write_pages(folder, {"index.html": "1"})
    (folder / MARK).write_text(json.dumps({"version": 1, "files": ["../other.txt", str(other), "index.html"]}))
    write_pages(folder, {"index.html": "2"})
    assert other.read_text() == "stays"


def test_a_writing_that_was_cut_off_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had begun is known to be its own, so that the next one can take it away."""
    real = os.replace

    def failing(source: object, target: object) -> None:
        if str(target).endswith("b.html"):
            raise OSError(28, "No space left on device")
        real(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(FreshetError) as failed:
        write_pages(tmp_path / "site", {"a.html": "1", "b.html": "2"})
    assert failed.value.code == "SITE_NOT_WRITABLE"
    assert "No space left" in failed.value.message
    monkeypatch.undo()
    write_pages(tmp_path / "site", {"c.html": "3"})
    assert files(tmp_path / "site") == {"c.html": "3"}


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(FreshetError) as failed:
        write_pages(tmp_path / "site", {"index.html": "1"})
    assert failed.value.code == "SITE_NOT_WRITABLE"
