"""One queue of all tests for two processes: what belongs together stays together, and what takes longest begins first.

The tests of a group share tables and servers. ``tests/durations.json`` has the seconds that each group took, and
``tests/durations.nightly.json`` those of a night; ``FRESHET_DURATIONS=write`` writes them anew. A group in neither counts as a
minute.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.kit.nightly import NIGHTLY
from tests.kit.pairwise import CHOSEN
from tests.kit.whole import WHOLE

DURATIONS = Path(__file__).parents[1] / ("durations.nightly.json" if WHOLE else "durations.json")
_UNKNOWN_SECONDS = 60.0
#: As they stand in tests' ids.
TYPES = ("cow", "mor", "COPY_ON_WRITE", "MERGE_ON_READ")


def group_of(nodeid: str) -> str:
    """Return the name of what a test belongs to: its module, one server, or the tables of one type."""
    module = nodeid.partition("::")[0]
    for server in ("tests/databases", "tests/hbase", "tests/kafka"):
        if module.startswith(f"{server}/"):
            return server
    cell = re.search(rf"::(?:test_publishing\[\w+-|test_increments_are_differences\[)({'|'.join(TYPES)})\b", nodeid)
    return f"{module}[{cell.group(1)}]" if cell else module


def for_the_night(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that only `make nightly` runs."""
    named = [
        item
        for item in items
        if item.get_closest_marker("nightly") or not NIGHTLY.isdisjoint((item.name, getattr(item, "originalname", "")))
    ]
    # Of two of which one is named the other stays.
    night = set(named)
    return [*named, *_twins([item for item in items if item not in night])]


def _twins(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return, of tests that differ by the table type alone, one of each two: by their names, so that both types are tried."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        head, bracket, case = item.nodeid.partition("[")
        parts = case.removesuffix("]").split("-")
        if bracket and not head.endswith(("::test_publishing", "::test_increments_are_differences")):
            kinds = [part for part in parts if part in TYPES]
            if kinds:
                found.setdefault(f"{head}[{'-'.join(part for part in parts if part not in TYPES)}", []).append(item)
    return [
        item
        for name, twins in found.items()
        if len(twins) > 1
        for number, item in enumerate(twins)
        if number != zlib.crc32(name.encode()) % len(twins)
    ]


class Queue(LoadScopeScheduling):
    """Hands out a group at a time, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Queue:
    """Hand the tests out by groups, whatever ``--dist`` says."""
    return Queue(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only ``make nightly`` runs, and put the groups in order."""
    nightly = [] if WHOLE else for_the_night([item for item in items if not item.nodeid.startswith("tests/unit/")])
    config.stash[_LEFT] = len(nightly)
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        left = set(nightly)
        items[:] = [item for item in items if item not in left]
    seconds = {**_known(DURATIONS.with_name("durations.json")), **_known(DURATIONS)}
    # Stable, so that a group keeps the order in which its tests are written.
    items.sort(key=lambda item: (-seconds.get(group_of(item.nodeid), _UNKNOWN_SECONDS), group_of(item.nodeid)))


def _known(file: Path) -> dict[str, float]:
    return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}


_LEFT = pytest.StashKey[int]()


class _Controller:
    """Adds up, in the process that hands the tests out, what the others say."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.taken, self.left = config, Counter[str](), 0
        self.chosen: list[str] = CHOSEN

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.taken[group_of(report.nodeid)] += report.duration
        if report.failed:
            # The whole report comes at the end, which of a night that is cut short does not come.
            print(f"\n{report.nodeid}: {str(report.longrepr).splitlines()[-1]}", flush=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {})
        self.left, self.chosen = max(self.left, told.get("nightly", 0)), told.get("chosen", self.chosen)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self.chosen:
            terminalreporter.write_line(line)
        left = self.left or self.config.stash.get(_LEFT, 0)
        if left:
            terminalreporter.write_line(f"{left} tests are for `make nightly` alone: the full products, and what takes long.")
        if os.environ.get("FRESHET_DURATIONS") == "write":
            # Beside what is there: a part of the tests may have run.
            found = {**_known(DURATIONS), **{group: round(seconds, 1) for group, seconds in self.taken.items()}}
            DURATIONS.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Add up in the process that prints the result."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Controller(config))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints the result what was left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["nightly"], output["chosen"] = session.config.stash.get(_LEFT, 0), CHOSEN
