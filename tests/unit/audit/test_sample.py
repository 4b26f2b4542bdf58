"""What is drawn: the same pieces of every table that has their columns, and all of the others."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from freshet.audit.request import AuditRequest
from freshet.audit.sample import Sample, draw
from freshet.errors import StateError
from freshet.types.columns import Array, Atomic, Column
from freshet.verdict.result import Scope, ScopeColumn
from tests.kit.memory import COLUMNS, a_spec, a_table_spec

BY_TRIP = Scope(columns=(ScopeColumn(name="trip_id", carried={"SRC": "id", "tips": "trip"}),))


def test_the_condition_is_the_same_hash_of_each_tables_own_column() -> None:
    sample = draw(a_spec(), AuditRequest(share=0.01, seed="s"), BY_TRIP, 1000)
    target, source, tips = sample.of_target(), sample.of_table("SRC"), sample.of_table("tips")
    assert sample.by_row
    assert target.replace("`trip_id`", "`id`") == source
    assert source.replace("`id`", "`trip`") == tips
    assert sample.of_table("cities") == ""
    assert re.fullmatch(
        r"pmod\(xxhash64\('s', coalesce\(cast\(cast\(`trip_id` AS string\) AS string\), ''\)\), \d+\) < \d+", target
    )


@pytest.mark.parametrize(("share", "part"), [(1.0, 1.0), (0.01, 0.01), (1e-9, 1e-9)])
def test_the_share_is_that_of_the_hashes_and_never_none(share: float, part: float) -> None:
    sample = Sample(share=share, columns=COLUMNS[:1])
    found = re.search(r"(\d+)\) < (\d+)$", sample.of_target())
    assert found is not None
    of, below = map(int, found.groups())
    assert below >= 1
    assert below / of == pytest.approx(part, abs=2 / of)
    assert share < 1 or below >= of


def test_the_types_are_the_targets_so_that_a_bigint_there_is_an_int_here() -> None:
    columns = (Column(name="day", type=Atomic("date")), Column(name="driver", type=Atomic("int")))
    sample = Sample(share=0.5, columns=columns, carried={"src": ("at", "d`r")})
    assert "cast(cast(`at` AS date) AS string)" in sample.of_table("SRC")
    assert "cast(cast(`d``r` AS int) AS string)" in sample.of_table("SRC")


def test_a_seed_is_quoted() -> None:
    assert "xxhash64('it\\'s \\\\', " in Sample(share=0.5, columns=COLUMNS[:1], seed="it's \\").of_target()


def test_nothing_is_drawn_where_all_is_asked_for() -> None:
    sample = draw(a_spec(), AuditRequest(everything=True), Scope(why_none="LIMIT"), 1000)
    assert sample.is_whole
    assert (sample.of_target(), sample.of_table("SRC")) == ("", "")


def test_keys_are_a_share_of_about_so_many_rows() -> None:
    assert draw(a_spec(), AuditRequest(keys=50), BY_TRIP, 1000).share == pytest.approx(0.05)
    assert draw(a_spec(), AuditRequest(keys=50), BY_TRIP, 10).share == 1.0
    assert draw(a_spec(), AuditRequest(keys=50), BY_TRIP, 0).share == 1.0


def test_of_several_columns_those_are_taken_that_one_table_has_and_the_main_source_first() -> None:
    spec = a_spec(target=a_table_spec(record_key=("trip_id", "day")))
    scope = Scope(
        columns=(
            ScopeColumn(name="trip_id", carried={"SRC": "trip_id", "tips": "trip"}),
            ScopeColumn(name="Day", carried={"tips": "d", "SRC": "datestr"}),
        )
    )
    both = draw(spec, AuditRequest(), scope, 10)
    assert [c.name for c in both.columns] == ["trip_id", "day"]
    assert dict(both.carried) == {"src": ("trip_id", "datestr"), "tips": ("trip", "d")}
    assert both.by_row
    one = draw(
        spec, AuditRequest(), replace(scope, columns=(scope.columns[0], ScopeColumn(name="day", carried={"tips": "d"}))), 10
    )
    assert [c.name for c in one.columns] == ["trip_id"]
    assert dict(one.carried) == {"src": ("trip_id",), "tips": ("trip",)}
    assert not one.by_row, "a trip may have a row for each of several days"
    other = draw(spec, AuditRequest(), Scope(columns=(ScopeColumn(name="trip_id", carried={"tips": "t"}),)), 10)
    assert (dict(other.carried), other.of_table("SRC")) == ({"tips": ("t",)}, "")


@pytest.mark.parametrize(
    ("scope", "why"),
    [
        (Scope(why_none="a window over all rows"), "a window over all rows"),
        (Scope(columns=(ScopeColumn(name="trip_id", carried={}),)), "no table"),
        (Scope(columns=(ScopeColumn(name="gone", carried={"SRC": "gone"}),)), "no table"),
        (Scope(columns=(ScopeColumn(name="list", carried={"SRC": "list"}),)), "no table"),
    ],
)
def test_without_pieces_that_a_table_tells_it_says_why_and_what_else(scope: Scope, why: str) -> None:
    spec = a_spec(target=a_table_spec(columns=(*COLUMNS, Column(name="list", type=Array(Atomic("int"))))))
    with pytest.raises(StateError) as refused:
        draw(spec, AuditRequest(), scope, 10)
    assert refused.value.code == "NO_SCOPE"
    assert why in refused.value.message
    assert "--all" in refused.value.next_step
