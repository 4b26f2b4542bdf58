"""Where values stand that do not fit into their columns, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import DataError
from freshet.landing.files import find_files
from freshet.landing.misfits import Misfit, in_words, with_lines
from freshet.landing.odd_lines import lines_of
from freshet.landing.rows import of_files

TEXT = "id,day,amount\na,2026-01-05,1\nb,5.1.2026,ten\nc,?,2\nd,?,3\n"


def misfit(path: Path, column: str, value: str, row: str = "id=x") -> Misfit:
    return Misfit(file=str(path), column=column, value=value, row=row)


def test_each_value_has_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same value twice stands on two lines; the file is named as a person does who is here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    path = tmp_path / "data/a.csv"
    path.write_text(TEXT)
    assert list(lines_of(str(path), "day", "?", ",")) == [4, 5]
    found = [misfit(path, "day", "5.1.2026"), misfit(path, "amount", "ten"), misfit(path, "day", "?"), misfit(path, "day", "?")]
    placed = with_lines(found, find_files(["data/a.csv"]))
    assert [one.line for one in placed] == [3, 3, 4, 5]
    assert in_words(placed) == (
        " In the files: data/a.csv, line 3: day '5.1.2026'; data/a.csv, line 3: amount 'ten'; data/a.csv, line 4: day '?'; "
        "and more."
    )
    assert in_words(placed[:1]) == " In the files: data/a.csv, line 3: day '5.1.2026'."
    assert in_words([]) == ""


def test_where_no_line_is_known_the_row_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON; a CSV file that is too large, or gone."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.json", '{"id": "x"}\n'), ("a.csv", "id,day\n")):
        (tmp_path / name).write_text(text)
        placed = with_lines([misfit(tmp_path / name, "day", "?")], find_files([name]))
        assert in_words(placed) == f" In the files: {name}, id=x: day '?'."


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("raw.x: column a is 'b' in the row with id=1 of a.csv.", "raw.x: column a is 'b' in the row with id=1 of data/a.csv."),
        ("raw.x: column a is 'b' in the row with id=1.", "data/a.csv: raw.x: column a is 'b' in the row with id=1."),
    ],
)
def test_a_file_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.csv").write_text(TEXT)
    assert of_files(DataError("NOT_OF_TYPE", message), find_files(["data/a.csv"])).message == said
