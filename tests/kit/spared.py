"""What a test on a dozen rows does without: compiled queries, and a metadata table where nothing is about it.

Compiling each query is a tenth of a small run's time, the metadata table two fifths of a small commit's. `make test` leaves
both out. `make nightly` has freshet's own defaults, and of a product, whose hundreds of cells differ in what they mean and not
in how they are computed, in each fourth cell: by its name, so that it is the same one each night.
"""

from __future__ import annotations

import zlib
from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.kit.whole import WHOLE

#: Of a session whose queries are through before they are compiled. What reads column by column needs it: `compiled`.
#: And for pages that nobody opens Spark describes each query at some length: 3% of the CPU of a run with checks.
NO_CODEGEN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.explainMode": "simple",
}
CODEGEN = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.ui.explainMode": "formatted",
}
#: A test function with more cases than these is a product.
_CASES, _EACH = 20, 4

_cells: set[str] = set()
_sessions: list[SparkSession] = []
_now = not WHOLE


def spared() -> bool:
    """Return whether the test that runs, or is set up, does without."""
    return _now


def follow(session: SparkSession) -> None:
    """Have a session compile its queries or not, as each test from now on wants it."""
    _sessions.append(session)
    _apply()


def _apply() -> None:
    for session in _sessions:
        for key, value in (NO_CODEGEN if _now else CODEGEN).items():
            session.conf.set(key, value)


def of_item(nodeid: str) -> str:
    """Return what decides: a test's name; of the matrix of publishing the way's, whose steps share one table."""
    return nodeid.rpartition("-")[0] if "::test_publishing[" in nodeid else nodeid


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Find the products."""
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    _cells.update(item.nodeid for item in items if cases[item.nodeid.partition("[")[0]] > _CASES)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose for a test, before anything is made for it."""
    global _now
    if not WHOLE:
        return
    _now = item.nodeid in _cells and zlib.crc32(of_item(item.nodeid).encode()) % _EACH != 0
    _apply()
