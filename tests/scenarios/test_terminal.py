"""Long commands in a real pseudo-terminal, read from its screen as a person reads it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.backfills import BY_DAY, OCC
from tests.kit.commands import ROOT, many, slow
from tests.kit.lake import RECORD_INDEX, Lake, rows
from tests.kit.picture import picture
from tests.kit.screen import Terminal

pytestmark = pytest.mark.waits
TABLES = 'tables:\n  SRC: {schema: "id string, ts bigint, amount decimal(10,2), day string", key: id, ordering: ts}\n'
CASE = TABLES + "cases:\n  a: {given: {SRC: [{id: a, ts: 1, day: d}]}, expect: {rows: [{id: a}]}}\n"
OUTCOME = re.compile(r"copy: committed \S+ \S+Z: \d")


def started(terminal: Terminal, lake: Lake, *words: str, **environment: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "freshet", *words, "-C", str(lake.project_root))
    return terminal.start(*command, cwd=ROOT, **environment)


def left(terminal: Terminal, process: subprocess.Popen[bytes], code: int = 0) -> list[str]:
    """Return the lines that a command has left on the screen: whole ones, each once, nothing of the region."""
    process.wait(timeout=300)
    terminal.settle()
    lines = terminal.shown()
    text = "\n".join(lines)
    assert process.returncode == code, text
    assert not re.search(r"Traceback|Exception|[●━─]", text), text
    assert len(set(lines)) == len(lines), text
    return lines


def test_a_run_in_a_terminal_that_is_made_narrower(lake: Lake) -> None:
    """The region names the step and counts its tasks, stays one when the terminal gets narrower, and goes: the result is left.

    The other commands, widths and kinds of terminals: below at night, and ``tests/unit/cli/test_live.py`` without Spark.
    """
    lake.pipeline()
    lake.land(many(8))
    slow(lake, milliseconds=250)
    terminal = Terminal(120)
    process = started(terminal, lake, "run", "copy")
    terminal.until(lambda lines: lines[-1:] and lines[-1].startswith("● copy: starting Spark "), process)
    terminal.until(lambda lines: len(lines) == 2 and "copy: writing derived.copy " in lines[0] and "task" in lines[1], process)
    terminal.resize(80)
    seen = terminal.until(lambda lines: len(lines) == 2 and all(len(line) < 80 for line in lines), process)
    assert re.match(r"  [━─]{16} \d+ of \d+ tasks?", seen[1]), seen
    lines = left(terminal, process)
    assert OUTCOME.match(lines[0]), lines
    assert all(len(line) <= 80 for line in lines), lines


@pytest.mark.parametrize("command", ["run", "backfill"])
def test_the_keyboard_ends_a_command_cleanly(lake: Lake, command: str) -> None:
    """What was published and what repeats, once, and nothing of the region left; the repeat is right."""
    lake.pipeline(top=BY_DAY % "upsert", hoodie=OCC)
    lake.land(many(40))
    lake.run_ok()
    lake.land(many(40, ts=2))
    slow(lake, milliseconds=500)
    lake.pipeline(top=BY_DAY % "upsert", hoodie=OCC, transform="[transformers/copy.sql, transformers/slow.py]")
    terminal = Terminal(80)
    words = ("run", "copy") if command == "run" else ("backfill", "copy", "--start", "2026-01-05", "--end", "2026-01-06")
    process = started(terminal, lake, *words)
    terminal.until(lambda lines: any("writing derived.copy" in line for line in lines), process)
    terminal.type(b"\x03")
    text = " ".join(left(terminal, process, code=130))
    assert text.startswith("INTERRUPTED: stopped by the keyboard. Published before: nothing."), text
    assert "Not finished: copy (writing derived.copy)." in " ".join(text.split())
    lake.pipeline(top=BY_DAY % "upsert", hoodie=OCC)
    assert lake.run_ok().outcome == "committed"


def test_every_long_command_in_every_kind_of_terminal(lake: Lake, tmp_path: Path) -> None:
    """One result of each, whole, and said once: two widths, resized, without colours, dumb, of a CI, with a log file."""
    lake.pipeline(hoodie={**RECORD_INDEX, **OCC}, top=BY_DAY % "upsert")
    lake.write_file("pipelines/tests/copy.yml", CASE)
    lake.land(many(40))
    screens = {
        "test": ("test",),
        "bootstrap": ("index", "bootstrap", "copy"),
        "status": ("status",),
        "verify": ("index", "verify", "copy"),
        "backfill": ("backfill", "copy", "--start", "2026-01-05", "--end", "2026-01-06"),
        "service": ("service", "copy"),
        "idle": ("run", "copy"),
    }
    kinds: dict[str, dict[str, str]] = {"test": {"CI": "true"}, "verify": {"NO_COLOR": "1"}, "service": {"TERM": "dumb"}}
    last = {
        "test": "1 case of 1 of 1 pipeline: 1 passed, 0 failed",
        "bootstrap": "copy: RECORD_INDEX: bootstrapped",
        "status": "copy",
        "verify": "copy: RECORD_INDEX: 40 rows compared",
        "backfill": "copy: 1 of 1 chunk done",
        "service": "copy: archive: ",
        "idle": "copy: nothing to do: no commit since the checkpoint",
    }
    for number, (name, words) in enumerate(screens.items()):
        terminal = Terminal(120 if number % 2 else 80)
        process = started(terminal, lake, *words, **kinds.get(name, {}))
        if name in ("bootstrap", "verify", "backfill"):
            terminal.until(lambda lines: any(line.startswith("●") for line in lines), process)
            terminal.resize(80 if number % 2 else 100)
        lines = left(terminal, process)
        assert any(line.startswith(last[name]) for line in lines), lines
        if kinds.get(name, {}).keys() & {"CI", "TERM"}:
            assert b"\x1b" not in terminal.raw
        else:
            assert all(len(line) <= terminal.screen.columns for line in lines)
        assert (b"\x1b[3" in terminal.raw) == (name in ("bootstrap", "backfill")), name
    lake.land(rows(("new", 2, "1")))
    terminal = Terminal(80)
    log = tmp_path / "log"
    command = f'exec "{sys.executable}" -m freshet run copy -C "{lake.project_root}" 2> "{log}"'
    process = terminal.start("sh", "-c", command, cwd=ROOT)
    assert OUTCOME.match(left(terminal, process)[0])
    said = [line[10:] for line in log.read_text("utf-8").splitlines()]
    assert said[0] == "copy: starting Spark"
    assert OUTCOME.match(said[-1])


def test_a_replay_and_a_service_in_a_terminal(lake: Lake) -> None:
    """Both say what they do while they do it, and leave their result alone."""
    lake.pipeline(
        top="checks: [{name: negative, where: amount < 0, severity: drop}]\n",
        table_type="mor",
        hoodie={"hoodie.compact.inline": "false", "hoodie.compact.inline.max.delta.commits": 2},
    )
    lake.land(rows(*((f"k{number}", 1, "1.00" if number % 2 else "-1.00") for number in range(8))))
    lake.run_ok()
    lake.land(rows(("k1", 2, "5.00")))
    lake.run_ok()
    for words, wanted in (
        (("quarantine", "replay", "copy", "--repair", "amount=abs(amount)"), "copy: committed"),
        (("service", "copy"), "copy: compact: "),
    ):
        terminal = Terminal(80)
        process = started(terminal, lake, *words)
        terminal.until(lambda lines: any(line.startswith("● copy: ") for line in lines), process)
        terminal.resize(100)
        lines = left(terminal, process)
        assert b"\x1b[3" in terminal.raw
        assert any(line.startswith(wanted) for line in lines), lines
    assert len(lake.rows()) == 8


def test_a_first_hour_as_a_person_sees_it(tmp_path: Path) -> None:
    """From nothing to a changed table, each command on a screen of its own; the docs have the pictures.

    ``FRESHET_SCREENSHOTS=write`` draws them anew.
    """

    def typed(*words: str, folder: str = "demo", drawn: str = "") -> list[str]:
        terminal = Terminal(100, 40)
        os.write(terminal.slave, f"$ {shlex.join(('freshet', *words))}\n".encode())
        process = terminal.start(sys.executable, "-m", "freshet", *words, cwd=tmp_path / folder, PYTHONPATH=str(ROOT))
        if drawn:
            terminal.until(lambda lines: any(" of " in one and " task" in one for one in lines), process)
            picture(terminal, drawn, tmp_path)
        process.wait(timeout=300)
        terminal.settle()
        lines = terminal.shown()
        assert (process.returncode, "Traceback" in "\n".join(lines)) == (0, False), lines
        picture(terminal, words[0], tmp_path)
        return lines

    assert "  freshet run order_totals" in typed("init", "demo", "--with-sample-data", folder=".")
    assert "3,000 inserted" in " ".join(typed("run", "order_totals", drawn="run-at-work"))
    assert len(typed("show", "order_totals", "--limit", "5")) > 5
    assert "100 inserted" in " ".join(typed("land", "raw.orders", "data/orders_2.csv"))
    assert "100 inserted" in " ".join(typed("preview", "order_totals", "--limit", "3"))
    assert "100 inserted" in " ".join(typed("run", "order_totals"))
    sql = tmp_path / "demo/transformers/order_totals.sql"
    sql.write_text(sql.read_text().replace("amount", "amount * 2 AS amount", 1))
    assert "freshet backfill order_totals --start" in " ".join(typed("plan", "order_totals"))
    assert "order_totals" in " ".join(typed("status"))
    assert "committed" in " ".join(typed("history", "order_totals"))
    ddl = tmp_path / "demo/ddl/order_totals.sql"
    ddl.write_text(ddl.read_text().replace("'cow'", "'mor'"))
    sql.write_text(sql.read_text().replace("amount * 2 AS amount", "amount"))
    assert "__m2" in " ".join(typed("migrate", "order_totals"))
