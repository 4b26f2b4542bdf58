"""Pipelines of one project that run at a time, in threads of one Spark application."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.kit.lake import Lake, rows

pytestmark = pytest.mark.waits
CACHES = """\
def transform(inputs, context):
    return inputs["SRC"].cache()
"""
CHECKED = """\
checks:
  - {name: not_dear, expectations: [{expect_column_values_to_be_between: {column: amount, max_value: 100}}], severity: drop}
"""


def batch(number: int) -> list[tuple[object, ...]]:
    return [row for n in range(5) for row in rows((f"{n}", number, f"{number * n}"), (f"{number}-{n}", number, "1"))]


@pytest.fixture
def several(lake: Lake) -> Lake:
    lake.write_file("transformers/caches.py", CACHES)
    lake.pipeline("caches", transform="transformers/caches.py", table_type="mor")
    lake.pipeline("checked", top=CHECKED)
    lake.pipeline("doubled", "SELECT id, ts, cast(amount * 2 as decimal(10,2)) amount, day FROM <SRC>")
    lake.pipeline("indexed", hoodie={"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.enable": "true"})
    lake.pipeline("later", source="derived.doubled")
    return lake


def test_each_table_gets_its_own_rows_whoever_runs_beside_it(several: Lake) -> None:
    for number in (1, 2, 3):
        several.land(batch(number))
        several.events.clear()
        results = several.run_all(parallel=4)
        assert {name: str(result.error or result.outcome) for name, result in results.items()} == dict.fromkeys(
            ("caches", "checked", "doubled", "indexed", "later"), "committed"
        )
        ended = [event.name for event in several.events].index("committed")
        assert len({event.pipeline for event in several.events[:ended]}) > 1, "none began before another one ended"
    wanted = several.rows("raw.events")
    assert len(wanted) == 20
    for name in ("caches", "checked", "indexed"):
        assert several.rows(f"derived.{name}") == wanted, name
    twice = [(key, ts, 2 * amount, day) for key, ts, amount, day in wanted]
    assert several.rows("derived.doubled") == twice
    assert several.rows("derived.later") == twice


def test_one_that_fails_leaves_the_others_whole(several: Lake) -> None:
    several.pipeline("doubled", "SELECT id, ts, cast(raise_error('no') as decimal(10,2)) amount, day FROM <SRC>")
    several.land([*batch(1), ("dear", 1, Decimal(101), "2026-01-05")])
    results = several.run_all(parallel=3)
    assert {name: result.outcome for name, result in results.items()} == {
        "caches": "committed",
        "checked": "committed",
        "doubled": "failed",
        "indexed": "committed",
        "later": "skipped",
    }
    assert results["checked"].quarantined == 1
    assert [key for key, *_ in several.rows("derived.checked") if key == "dear"] == []
    assert len(several.rows("derived.indexed")) == 11
    several.pipeline("doubled")
    assert {name: result.outcome for name, result in several.run_all(parallel=3).items()} == {
        "caches": "idle",
        "checked": "idle",
        "doubled": "committed",
        "indexed": "idle",
        "later": "committed",
    }
