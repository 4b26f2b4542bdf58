"""From which columns a column comes, as the SQL says."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.project.model.pipeline import InputSpec
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import split_statements
from freshet.site.lineage import origins_of
from freshet.verdict.facts import TableFacts
from tests.kit.memory import CITIES, a_spec

TRIPS = TableFacts(columns=("trip_id", "fare", "rides", "updated_at", "day", "city_id"), record_key=("trip_id",))
OF_CITIES = TableFacts(columns=("city_id", "name", "rate"), record_key=("city_id",))


def origins(sql: str, facts: dict[str, TableFacts] | None = None, **changes: Any) -> dict[str, tuple[set[str], bool]]:
    """Return by each column of the target what it comes from, and whether that is all."""
    step = TransformSpec(file="transformers/earnings.sql", kind="sql", statements=split_statements(sql))
    spec = a_spec(
        **{"transform": (step,), "inputs": (InputSpec(name="cities", table=CITIES, read="snapshot", line=7),), **changes}
    )
    known = {"src": TRIPS, "cities": OF_CITIES} if facts is None else facts
    return {
        name: ({f"{one.table.name}.{one.column}" if one.column else one.table.name for one in found.columns}, found.complete)
        for name, found in origins_of(spec, known).items()
    }


def test_names_expressions_and_joins() -> None:
    found = origins(
        "SELECT s.trip_id, s.fare * c.rate AS fare, 1 AS rides, s.updated_at, c.name AS day "
        "FROM <SRC> s LEFT JOIN cities c ON c.city_id = s.city_id"
    )
    assert found == {
        "trip_id": ({"raw.trips.trip_id"}, True),
        "fare": ({"raw.trips.fare", "raw.cities.rate"}, True),
        "rides": (set(), True),
        "updated_at": ({"raw.trips.updated_at"}, True),
        "day": ({"raw.cities.name"}, True),
    }


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT trip_id, fare AS f FROM <SRC>) SELECT trip_id, f + 1 AS fare FROM a",
        "SELECT trip_id, fare FROM (SELECT * FROM <SRC>) WHERE rides > 1",
        "SELECT trip_id, fare FROM <SRC> WHERE day = 'a' UNION ALL SELECT trip_id, fare FROM <SRC> WHERE day = 'b'",
        "CREATE TEMP VIEW v AS SELECT * FROM <SRC>; SELECT trip_id, fare FROM v",
        "SELECT trip_id, max(fare) AS fare FROM <SRC> GROUP BY trip_id",
        "SELECT trip_id, first_value(fare) OVER (PARTITION BY trip_id ORDER BY updated_at) AS fare FROM <SRC>",
    ],
)
def test_through_what_stands_between(sql: str) -> None:
    columns, _ = origins(sql)["fare"]
    assert "raw.trips.fare" in columns


def test_what_depends_on_which_rows_there_are() -> None:
    assert origins("SELECT trip_id, count(*) AS rides FROM <SRC> GROUP BY trip_id")["rides"][1]


def test_what_the_sql_does_not_tell_is_not_guessed() -> None:
    """A Python step that says nothing, one that keeps keys, and a statement that the parser does not know."""
    sql = TransformSpec(file="a.sql", kind="sql", statements=split_statements("SELECT trip_id, fare FROM <SRC>"))
    python = TransformSpec(file="a.py", kind="python")
    assert origins("", transform=(sql, python)) == {}
    kept = origins("", transform=(sql, python), row_by_row=True)
    assert kept["trip_id"] == ({"raw.trips.trip_id"}, True)
    assert kept["fare"] == ({"raw.trips.fare"}, False)
    assert origins("SELECT trip_id, fare FROM <SRC> TABLESAMPLE (10 ROWS)")["fare"] == (set(), False)
    assert origins("SELECT trip_id, fare FROM <SRC> LIMIT 5")["fare"] == ({"raw.trips.fare"}, False), "the analysis ends there"


def test_a_table_of_which_nobody_knows_the_columns() -> None:
    found = origins("SELECT trip_id, fare FROM <SRC>", facts={})
    assert found["fare"] == ({"raw.trips.fare"}, True)
