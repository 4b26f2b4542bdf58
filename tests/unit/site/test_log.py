"""Events of runs, as ``--events`` of the runs has written them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import FreshetError
from freshet.events.kinds import Notice
from freshet.events.lines import json_lines
from freshet.project.model.pipeline import TableRef
from freshet.run.records import write_record
from freshet.site import log
from freshet.site.log import read_log
from tests.kit.memory import at
from tests.kit.timeline import a_table, a_target
from tests.unit.site.conftest import Facts


def test_what_a_run_has_written_is_read_back_by_its_id(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with json_lines(str(file)) as listen:
        for run_id, words in (("r1", "first"), ("r2", "other"), ("r1", "second"), ("", "of no run")):
            listen(Notice(pipeline="p", run_id=run_id, message=words, time=7.5))
    found = read_log([file])
    assert {run_id: [line.message for line in lines] for run_id, lines in found.items()} == {
        "r1": ["first", "second"],
        "r2": ["other"],
    }
    assert (found["r1"][0].time, found["r1"][0].name) == (7.5, "notice")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '"x"', "{}", '{"run_id": 3}', "\\xff", json.dumps({"run_id": "r", "time": "x"}), "[" * 100_000]
)
def test_a_line_that_is_none_is_left_out(tmp_path: Path, text: str) -> None:
    good = json.dumps({"run_id": "r", "time": 1, "level": "info", "name": "n", "message": "m"})
    (tmp_path / "e").write_text(f"{text}\n{good}\n{text}")
    assert [line.message for line in read_log([tmp_path / "e"])["r"]] == ["m"]


def test_of_a_large_file_the_newest_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_MOST_BYTES", 500)
    lines: list[dict[str, Any]] = [
        {"run_id": "r", "time": number, "level": "info", "name": "n", "message": str(number)} for number in range(99)
    ]
    (tmp_path / "e").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = [line.message for line in read_log([tmp_path / "e"])["r"]]
    assert found == [str(number) for number in range(99 - len(found), 99)]
    assert 2 < len(found) < 9


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FreshetError) as failed:
        read_log([tmp_path / "gone"])
    assert failed.value.code == "EVENTS_NOT_READABLE"


def test_a_run_has_its_own_lines(facts: Facts, root: Path, tmp_path: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    ref = TableRef("derived.payments", str(root / "data/derived/payments"))
    write_record(ref, "payments", {"what": "run", "begun": at(40), "outcome": "idle", "run_id": "r1"})
    line = {"run_id": "r1", "time": 1, "level": "info", "name": "n", "message": "words of the run"}
    (tmp_path / "e").write_text(json.dumps(line))
    (payments,) = facts(log=read_log([tmp_path / "e"])).pipelines
    assert [[one.message for one in run.log] for run in payments.runs] == [["words of the run"], []]
