"""The tutorials of the site, from top to bottom: their shell blocks, the output that they show, and the notebook's cells."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from freshet.cli.main import main
from freshet.dev.hbase.server import stop
from tests.kit.commands import ROOT

#: notebook.md is the notebook, as the site shows it.
PAGES = sorted(page for page in (ROOT / "docs/tutorials").iterdir() if page.name != "notebook.md")
#: Of each page: its project, a table, what is looked at, and what must be found in the end.
ENDS = {
    "first-pipeline": ("my_shop", "order_totals", "1 = 1", ["id"], 3099),
    "late-data": (
        "my_rides",
        "ride_income",
        "1 = 1",
        ["ride_id", "tips"],
        [{"ride_id": f"r{number}", "tips": f"{number}.00"} for number in (1, 2, 3)],
    ),
    "backfill": ("my_orders", "order_totals", "1 = 1", ["id"], 3099),
    "quarantine": (
        "my_sales",
        "sale_facts",
        "amount < 0 OR sale_id LIKE 's9%'",
        ["sale_id", "amount"],
        [{"sale_id": f"s9000{number}", "amount": f"{number + 4}.00"} for number in (1, 2, 3)],
    ),
    "global-index": (
        "my_tickets",
        "team_tickets",
        "ticket_id IN ('k00000', 'k09999')",
        ["ticket_id", "team"],
        [{"ticket_id": "k00000", "team": "done"}, {"ticket_id": "k09999", "team": "intake"}],
    ),
}
# What makes a line one for a shell of its own, and not for this process and its Spark.
_FOR_A_SHELL = re.compile(r"[|&<>]|\$\(")
_ENDS_WITH = re.compile(r"# ends with (\d+)$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?Z|\b\d{14,17}\b")
_CELL = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Terminal:
    """A folder in which a reader types a page.

    Args:
        folder: Where the page begins.
        monkeypatch: Takes the process there, and back at the end.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.said = ""
        self._enter(folder)

    def type(self, block: str) -> None:
        """Type a block; each line must end with 0, or with what its comment says."""
        self.said = ""
        # What works beside something else is one script: its processes wait for each other.
        for line in [block] if re.search(r" &$", block, re.MULTILINE) else list(statements(block)):
            if line.startswith("cd "):
                self._enter(self.folder / line.removeprefix("cd ").strip())
                continue
            told = _ENDS_WITH.search(line)
            code, said = self._run(line)
            assert code == int(told[1] if told else 0), f"{line}\n{said}"
            self.said += said

    def _run(self, line: str) -> tuple[int, str]:
        if line.startswith("freshet ") and not _FOR_A_SHELL.search(line.replace("<SRC>", "")):
            done = CliRunner().invoke(main, shlex.split(line, comments=True)[1:])
            return done.exit_code, done.output
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        ran = subprocess.run(
            ["bash", "-ec", line],
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "framework")},
        )
        return ran.returncode, ran.stdout

    def _enter(self, folder: Path) -> None:
        self.folder = folder
        self._monkeypatch.chdir(folder)


def statements(block: str) -> Iterator[str]:
    """Return the lines of a block, each with the text that it hands to a command by ``<<'EOF'``."""
    lines = iter(block.splitlines())
    for line in lines:
        if line.endswith("<<'EOF'"):
            text = list(iter(lambda: next(lines), "EOF"))
            yield "\n".join((line, *text, "EOF"))
        elif line.strip():
            yield line


def plain(text: str) -> set[str]:
    """Return the lines of an output without what differs from run to run: times, ages, and the width of a column."""
    told = re.sub(r" \([^()]* ago\)", "", _TIME.sub("TIME", text))
    return {" ".join(line.split()) for line in told.splitlines()} - {""}


def lacking(shown: str, said: str) -> list[str]:
    """Return the lines that a page shows and no run says; one that ends in ``...`` shows a beginning."""
    lines = plain(said)
    return [
        line
        for line in plain(shown)
        if not any(one.startswith(line.removesuffix("...")) if line.endswith("...") else one == line for one in lines)
    ]


def cells(page: Path) -> Iterator[tuple[str, str]]:
    """Return what a reader types in a page, and what it shows: ``sh``, ``text`` and ``python``."""
    if page.suffix == ".md":
        yield from _CELL.findall(page.read_text("utf-8"))
        return
    for cell in json.loads(page.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            yield "python", text
        else:
            yield from _CELL.findall(f"{text}\n")


@pytest.fixture
def _no_server_left(tmp_path: Path) -> Iterator[None]:
    yield
    for directory in tmp_path.rglob("warehouse/hbase"):
        stop(directory, purge=True)


@pytest.mark.usefixtures("_no_server_left")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_tutorial_from_top_to_bottom(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: Path,
) -> None:
    """Else: a command that ends otherwise than its page says, an output that no run gives, a cell that no longer runs."""
    terminal, names = Terminal(tmp_path, monkeypatch), {"__name__": "notebook"}
    for kind, text in cells(page):
        if kind == "sh":
            terminal.type(text)
        elif kind == "text":
            assert lacking(text, terminal.said) == [], terminal.said
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, page.name, "exec"), names)
    if page.stem in ENDS:
        project, table, where, columns, expected = ENDS[page.stem]
        words = ["show", table, "--where", where, "--columns", ",".join(columns), "--limit", "10000"]
        done = CliRunner().invoke(main, [*words, "--output", "json", "-C", str(tmp_path / project)])
        rows: Any = sorted(json.loads(done.stdout)["rows"], key=str)
        assert (rows if isinstance(expected, list) else len(rows)) == expected
