"""``--events``: one line of JSON for each event, at once, and no run that fails for it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread

import pytest

from freshet.errors import FreshetError
from freshet.events.bus import Bus
from freshet.events.kinds import Phase
from freshet.events.lines import json_lines


def _phase(words: str = "reading") -> Phase:
    return Phase(pipeline="a", message=words)


def test_a_file_is_appended_to_at_once(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"before": 1}\n')
    with json_lines(str(file)) as listen:
        listen(_phase("two\nlines\x1b[2J"))
        assert [json.loads(line) for line in file.read_text().splitlines()][1]["message"] == "two\nlines\x1b[2J"
        listen(_phase())
    assert len(file.read_text().splitlines()) == 3


def test_a_line_that_was_cut_off_is_ended_first(tmp_path: Path) -> None:
    """Of a disk that was full, or a process that was killed."""
    file = tmp_path / "events.jsonl"
    file.write_text('{"name": "pha')
    with json_lines(str(file)) as listen:
        listen(_phase())
    cut, whole = file.read_text().splitlines()
    assert (cut, json.loads(whole)["name"]) == ('{"name": "pha', "phase")


def test_several_threads_write_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with json_lines(str(file)) as one, json_lines(str(file)) as other:
        threads = [Thread(target=lambda tell=tell: [tell(_phase("x" * 9000)) for _ in range(50)]) for tell in (one, other, one)]  # type: ignore[misc]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [json.loads(line)["name"] for line in file.read_text().splitlines()] == ["phase"] * 150


def test_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with json_lines("-") as listen:
        listen(_phase())
    found = capsys.readouterr()
    assert (json.loads(found.err)["name"], found.out) == ("phase", "")


@pytest.mark.parametrize("place", ["missing/events.jsonl", "", "file/events.jsonl"])
def test_a_file_that_cannot_be_written_is_an_error_before_the_work(tmp_path: Path, place: str) -> None:
    """A folder that is missing, a folder, a file in a file. Of the same kind: a right that is missing, a full disk."""
    (tmp_path / "file").touch()
    with pytest.raises(FreshetError) as refused, json_lines(str(tmp_path / place)):
        pytest.fail("it was opened")
    assert refused.value.code == "EVENTS_NOT_WRITABLE"
    assert "Nothing was read or written" in refused.value.effect


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
def test_a_disk_that_is_full_later_harms_no_run(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = Bus(), []
    with json_lines("/dev/full") as listen:
        bus.subscribe("--events", listen)
        bus.subscribe("the test", heard.append)
        bus.tell(_phase())
        bus.tell(_phase())
    assert len(heard) == 2
    assert [record.message.partition(" failed")[0] for record in caplog.records] == ["--events"]


def test_a_reader_that_goes_away_harms_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    bus, heard = Bus(), []
    with json_lines(str(pipe)) as listen:
        bus.subscribe("--events", listen)
        bus.subscribe("the test", heard.append)
        bus.tell(_phase())
        assert json.loads(os.read(reader, 10_000))["name"] == "phase"
        os.close(reader)
        bus.tell(_phase())
        bus.tell(_phase())
    assert (len(heard), len(caplog.records)) == (3, 1)
