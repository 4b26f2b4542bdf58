"""``--events`` of a command: what lands in the file, and what the command prints beside it as before."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from freshet.cli.main import main
from freshet.errors import Exit
from tests.kit.timeline import a_table, a_target
from tests.unit.cli.conftest import Freshet

# What writes, or takes long enough to be watched.
COMMANDS = (
    "run",
    "backfill",
    "service",
    "land",
    "migrate",
    "index bootstrap",
    "index rebuild",
    "index verify",
    "index migrate",
    "checkpoint set",
    "checkpoint reset",
    "quarantine replay",
    "quarantine drop",
)


def _lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_a_run_tells_is_in_the_file_and_nothing_else_is_printed(freshet: Freshet, root: Path, tmp_path: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    file = tmp_path / "events.jsonl"
    before, found = freshet("run", "payments"), freshet("run", "payments", "--events", str(file))
    assert (found.exit_code, found.stdout, found.stderr[9:]) == (0, before.stdout, before.stderr[9:]), "but for the time"
    lines = _lines(file)
    assert [one["name"] for one in lines] == ["run_started", "window_planned", "lag_observed", "idle"]
    assert {one["pipeline"] for one in lines} == {"payments"}
    assert len({one["run_id"] for one in lines}) == 1
    freshet("run", "payments", "--events", str(file))
    assert len(_lines(file)) == 8, "it is appended to"
    assert len({one["run_id"] for one in _lines(file)}) == 2


def test_dash_is_stderr(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    found = freshet("run", "payments", "--events", "-", "--output", "json")
    assert json.loads(found.stdout)["runs"][0]["outcome"] == "idle"
    lines = [json.loads(line) for line in found.stderr.splitlines() if line.startswith("{")]
    assert [one["name"] for one in lines] == ["run_started", "window_planned", "lag_observed", "idle"]


def test_a_failure_has_its_code(freshet: Freshet, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    found = freshet("run", "payments", "--events", str(file))
    assert found.exit_code != 0
    last = _lines(file)[-1]
    assert (last["name"], last["level"], last["code"]) == ("failed", "error", "SOURCE_MISSING")


def test_a_command_that_fails_beside_any_run_says_so(freshet: Freshet, root: Path, tmp_path: Path) -> None:
    """Of a service that has no table; and by the same way of a landing, a migration, work on an index."""
    file = tmp_path / "events.jsonl"
    found = freshet("service", "payments", "--events", str(file))
    assert found.exit_code == Exit.STATE
    (last,) = _lines(file)
    assert (last["name"], last["level"], last["code"]) == ("command_failed", "error", "TARGET_MISSING")
    assert found.stderr.count("TARGET_MISSING") == 1


def test_a_file_that_cannot_be_written_ends_the_command_first(freshet: Freshet, root: Path) -> None:
    found = freshet("run", "payments", "--events", str(root / "missing" / "events.jsonl"), "--output", "json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["error"]["code"] == "EVENTS_NOT_WRITABLE"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_that_works_has_it(words: str) -> None:
    command: click.Command | None = main
    for word in words.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    assert "--events" in {word for option in command.params for word in option.opts}
