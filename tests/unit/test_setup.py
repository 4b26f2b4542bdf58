"""``make setup`` says what it does before each step that takes long: most of two minutes belong to one command."""

from __future__ import annotations

import re
from pathlib import Path

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text("utf-8")
_LONG = re.compile(r"-m (pip|venv|freshet) ")


def test_each_step_of_the_set_up_is_said_before_it_begins() -> None:
    """Numbered to the number of them; the commands themselves are not printed."""
    rules = re.search(r"^\$\(PYTHON\):\n.*?(?=\nlint:)", MAKEFILE, re.MULTILINE | re.DOTALL)
    assert rules
    lines = [line.strip() for line in rules[0].splitlines() if line.startswith("\t")]
    said = re.findall(r"step (\d) of (\d)", rules[0])
    long = [number for number, line in enumerate(lines) if _LONG.search(line)]
    assert said == [(str(number), str(len(long))) for number in range(1, len(long) + 1)]
    for number in long:
        assert any("echo" in line and "step" in line for line in lines[max(0, number - 2) : number]), lines[number]
