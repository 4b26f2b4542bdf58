"""Which tests wait for processes, threads, locks or sockets, and could therefore fail on a busy machine: marked ``waits``.

Of the tests without Spark these are found by what their module imports, so that none is forgotten. Of the others, in which
nearly all start a session, those have the mark whose meaning is in the waiting.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

_WAITS = re.compile(
    r"^\s*(?:import|from) (?:subprocess|threading|multiprocessing|concurrent|signal|pty|fcntl|socket|socketserver|http\.server)"
    r"\b|time\.sleep\(",
    re.MULTILINE,
)
_UNIT = Path(__file__).parents[1] / "unit"


@cache
def _waits(module: Path) -> bool:
    return bool(_WAITS.search(module.read_text(encoding="utf-8")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them, before ``-m`` chooses."""
    for item in items:
        if _UNIT in item.path.parents and _waits(item.path):
            item.add_marker("waits")
