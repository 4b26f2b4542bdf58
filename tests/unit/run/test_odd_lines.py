"""Which columns are text because of a few values, and where these stand in their files."""

from __future__ import annotations

import bz2
import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.landing import odd_lines
from freshet.landing.files import find_files
from freshet.landing.odd_lines import line_of, told_of
from freshet.landing.odd_texts import OddTexts, odd_texts_of


def counts(values: int, numbers: int = 0, times: int = 0, truths: int = 0, codes: int = 0, date: int = 0) -> dict[str, Any]:
    where = {"file": "file:///x.csv", "text": "n/a"}
    return {
        "values": values,
        "numbers": numbers,
        "times": times,
        "date": date,
        "truths": truths,
        "codes": codes,
        "not_numbers": where,
        "not_times": where,
        "not_truths": where,
    }


@pytest.mark.parametrize(
    ("found", "most"),
    [
        (counts(1000, numbers=999), "numbers"),
        (counts(3, times=2), "dates or times"),
        (counts(3, times=2, date=1), "dates or times"),
        (counts(3, times=2, date=2), "dates"),
        (counts(5, truths=3), "true or false"),
        (counts(4, numbers=2, times=2), None),
        (counts(3, numbers=1), None),
        (counts(3), None),
        (counts(0), None),
        (counts(3, numbers=3), None),
        (counts(1000, numbers=900, codes=99), None),
        (counts(1000, numbers=900, codes=1), None),
    ],
)
def test_what_most_values_are(found: dict[str, Any], most: str | None) -> None:
    """More than half of them; a column in which 007 stands is one of codes, whatever else is in it."""
    odd = odd_texts_of("amount", found)
    assert (odd.most if odd else None) == most
    if odd is not None:
        assert (odd.column, odd.example, odd.odd) == (
            "amount",
            "n/a",
            found["values"] - max(found[k] for k in ("numbers", "times", "truths")),
        )


TEXT = '\ufeff\r\nid,"note",Amount\r\na,"n/a\nn/a",1\r\n\r\nb,,2,n/a\r\nc,x,n/a and more\r\nd,x,n/a\r\ne,x,n/a\r\n'


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_the_line_on_which_a_value_stands(tmp_path: Path, ending: str) -> None:
    """Of a file with a mark, empty lines, line ends in values and another column that holds the same; packed or not."""
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending](TEXT.encode()))
    assert [line_of(str(path), "amount", value, ",") for value in ("1", "2", "n/a", "gone")] == [4, 6, 8, 0]
    assert [line_of(str(path), *words) for words in (("price", "1", ","), ("amount", "1", ";"))] == [0, 0]


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"id,amount\n" + b"x" * 300_000 + b",1\n", b'id,amount\n"a,n/a\n'])
def test_a_file_that_has_no_such_line_is_no_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    for path in (tmp_path / "a.csv", tmp_path / "gone.csv", tmp_path):
        assert line_of(str(path), "amount", "n/a", ",") == 0


def test_not_all_of_a_large_file_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("id,amount\n" + "a,1\n" * 100 + "a,n/a\n")
    assert line_of(str(tmp_path / "a.csv"), "amount", "n/a", ",") == 102
    monkeypatch.setattr(odd_lines, "_MOST_CHARACTERS", 100)
    assert line_of(str(tmp_path / "a.csv"), "amount", "n/a", ",") == 0


def test_what_a_person_is_told(tmp_path: Path) -> None:
    """The column, what made it text and where, and what can be done about it with what there is."""
    for name, text in (("a b.csv", "id,amount\na,1\nb,n/a\n"), ("a.json", '{"id": 1}\n')):
        (tmp_path / name).write_text(text)
    odd = OddTexts(column="amount", most="numbers", values=1001, odd=2, example="n/a", file=(tmp_path / "a b.csv").as_uri())
    (said,) = told_of([odd], find_files([str(tmp_path / "a b.csv")]), "raw.orders")
    assert said.startswith("TEXT_COLUMN: amount is text though 999 of 1,001 values are numbers: 'n/a' is not (")
    assert "a b.csv, line 3). " in said
    assert "freshet land raw.orders --drop" in said
    assert '--columns "amount DOUBLE"' in said
    days = replace(odd, most="dates")
    assert '--columns "amount DATE"' in told_of([days], find_files([str(tmp_path / "a b.csv")]), "raw.orders")[0]
    (said,) = told_of([odd], find_files([str(tmp_path / "a.json")]), "raw.orders")
    assert "line" not in said
