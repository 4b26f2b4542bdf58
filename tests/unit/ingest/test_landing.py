"""A folder where changes land: files appear whole, and whatever moment a command ends at, a change is there once."""

from __future__ import annotations

import gzip
import os
from contextlib import suppress
from pathlib import Path

import pytest

from freshet.errors import FreshetError
from freshet.ingest import landing as module
from freshet.ingest.landing import HIDDEN, Landing, Record, Standing, Step, folder_of

TABLES = {"public.orders": Standing(base=7, copied=["3"], columns=["id"])}


class Ended(BaseException):
    """Where a command was killed."""


def lines_of(root: Path) -> list[str]:
    found = sorted(root.glob("*/[!.]*.json.gz"))
    return [line for file in found for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def a_step(landing: Landing, name: str = "0001") -> Step:
    step = Step(landing, name)
    step.write("public.orders", {"id": 1})
    step.write("public.other", {"id": 2, "text": "ä\n"})
    return step


def test_a_record_is_read_as_it_was_kept(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    assert landing.record() is None
    record = Record(identity="1/shop", position="0/7", number=7, tables=TABLES)
    landing.keep(record)
    assert landing.record() == record


@pytest.mark.parametrize(
    "text", ["", "{}", '{"version": 2}', '{"version": 1}', '{"version": 1, "tables": {"a": {"b": 1}}}', "[]"]
)
def test_a_record_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / ".freshet-ingest.json").write_text(text)
    with pytest.raises(FreshetError) as error:
        Landing(tmp_path).record()
    assert error.value.code == "INGEST_RECORD_UNREADABLE"


@pytest.mark.parametrize("steps", range(7))
def test_a_kill_at_any_step_leaves_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    landing = Landing(tmp_path)
    landing.keep(Record(identity="x", position="a", number=1))
    left = steps

    def replace(*words: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Ended
        real(*words)  # type: ignore[arg-type]

    real = os.replace
    monkeypatch.setattr(module.os, "replace", replace)
    with suppress(Ended):
        landing.publish(Record(identity="x", position="b", number=2), a_step(landing))
    monkeypatch.setattr(module.os, "replace", real)
    record = landing.record()
    assert record is not None
    record = landing.settle(record)
    assert not list(tmp_path.glob(f"*/{HIDDEN}*"))
    lines = ['{"id":1}', '{"id":2,"text":"ä\\n"}']
    assert (record.position, lines_of(tmp_path)) in (("a", []), ("b", lines))
    if record.position == "a":
        landing.publish(Record(identity="x", position="b", number=2), a_step(landing))
    assert lines_of(tmp_path) == lines


def test_the_same_events_are_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        landing = Landing(tmp_path / name)
        landing.publish(Record(identity="x"), a_step(landing))
        found.append((tmp_path / name / "public.orders/0001.json.gz").read_bytes())
    assert found[0] == found[1]


def test_folders_of_tables_are_apart_and_plain() -> None:
    names = ["public.orders", "public.Orders", "a/b.c", "a~2fb.c", "..", "x.ä", "x.~c3~a4", ".hidden.x"]
    found = [folder_of(name) for name in names]
    assert len(set(found)) == len(names)
    assert found[0] == "public.orders"
    assert not any("/" in one or one.startswith(".") for one in found)
