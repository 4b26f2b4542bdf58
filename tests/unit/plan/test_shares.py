"""Who may use how much of an HBase cluster, and what Hudi's index is told of it."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.hudi.shares import FLOOR, rate_options, rows_of, shares
from tests.kit.memory import a_commit, a_table_state

NAMES = tuple("abcdefgh")
declarations = st.dictionaries(st.sampled_from(NAMES), st.floats(0.001, 0.12), max_size=8)
counts = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 10**12))


@given(declarations, st.sets(st.sampled_from(NAMES), min_size=1), counts)
def test_a_cluster_is_divided_and_never_more_than_it(
    given_shares: dict[str, float],
    names: set[str],
    rows: dict[str, int],
) -> None:
    declared = {name: given_shares.get(name) for name in names | set(given_shares)}
    found = shares(declared, rows)
    assert set(found) == set(declared)
    assert sum(found.values()) <= 1 + 1e-9
    assert {name: found[name] for name in given_shares} == given_shares, "what is declared is kept to the last digit"
    open_ones = [name for name, share in declared.items() if share is None]
    if not open_ones:
        return
    assert math.isclose(sum(found.values()), 1), "nothing of the cluster is left over while rows decide"
    rest = 1 - sum(given_shares.values())
    assert min(found[name] for name in open_ones) >= min(FLOOR, rest / len(open_ones)) - 1e-9
    by_rows = sorted(open_ones, key=lambda name: rows.get(name, 0))
    for fewer, more in pairwise(by_rows):
        assert found[fewer] <= found[more] + 1e-9


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_more_rows_never_get_less(others: int, fewer: int, more: int) -> None:
    declared = {"a": None, "b": None, "c": 0.3}
    low, high = sorted((fewer, more))
    assert shares(declared, {"a": low, "b": others})["a"] <= shares(declared, {"a": high, "b": others})["a"] + 1e-9


@pytest.mark.parametrize(
    ("declared", "rows", "wanted"),
    [
        ({"a": None}, {}, {"a": 1.0}),
        ({"a": 0.2}, {"a": 10**9}, {"a": 0.2}),
        ({"a": None, "b": None}, {"a": 300, "b": 100}, {"a": 0.75, "b": 0.25}),
        ({"a": None, "b": None, "c": 0.2}, {"a": 300, "b": 100}, {"a": 0.6, "b": 0.2, "c": 0.2}),
        ({"a": None, "b": None}, {"a": 10**9, "b": 1}, {"a": 1 - FLOOR, "b": FLOOR}),
        # Less is left than the floor for each: equal parts of it.
        ({"a": None, "b": None, "c": 0.96}, {"a": 10**9, "b": 1}, {"a": 0.02, "b": 0.02, "c": 0.96}),
    ],
)
def test_shares(declared: dict[str, float | None], rows: dict[str, int], wanted: dict[str, float]) -> None:
    assert shares(declared, rows) == pytest.approx(wanted)


def test_rows_are_counted_from_the_last_known_number() -> None:
    assert rows_of(None) == 0
    known = {"streamer.freshet.index.rows": "1000"}
    table = a_table_state(
        [
            a_commit(1, rows=77),
            a_commit(2, rows=10, extra=known),
            a_commit(3, rows=5, deletes=2),
            a_commit(4, rows=500, operation="COMPACT"),
            a_commit(5, rows=500, operation="CLUSTER", action="replacecommit"),
        ]
    )
    assert rows_of(table) == 1000 + 10 + 3
    assert rows_of(a_table_state([a_commit(1, rows=7), a_commit(2, rows=0, deletes=3)])) == 4


@given(st.floats(0.5, 10**6), st.integers(1, 500))
def test_all_executors_together_keep_to_the_share_and_hudis_own_limits_never_bind(rate: float, jvms: int) -> None:
    found = rate_options(rate, jvms)
    each = float(found["hoodie.freshet.index.rate"])
    assert each * jvms == pytest.approx(rate, rel=0.01) or each == 0.1
    assert int(found["hoodie.index.hbase.put.batch.size"]) >= each
    # A call for more keys may be more than a region server answers.
    assert int(found["hoodie.index.hbase.get.batch.size"]) <= 1_000
    assert 10 * int(found["hoodie.index.hbase.get.batch.size"]) >= min(each, 10_000)
    assert found["hoodie.index.hbase.put.batch.size.autocompute"] == "false"
