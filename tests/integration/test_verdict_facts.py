"""What the verdict takes Spark to do: rows that functions make and drop, what texts tell apart, and how columns are named."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

_ROWS = "VALUES ('a', 1, null, timestamp'2026-10-25 00:30:00.000001'), ('b', 2, 3, null) AS r(id, x, y, at)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # A window of time drops the row without a time, wherever it stands; its start names it.
        (f"SELECT id, window(at, '1 hour').start IS NULL FROM {_ROWS}", [("a", False)]),
        (
            f"SELECT count(*), window.start = date_trunc('HOUR', max(at)) FROM {_ROWS} GROUP BY window(at, '1 hour')",
            [(1, True)],
        ),
        # One row for each text, whatever it is.
        ("SELECT n, json_tuple(t, 'k', 'l') FROM VALUES (1, '{\"k\": 1}'), (2, null), (3, '[') AS r(n, t)", None),
        (f"SELECT id, k, v FROM {_ROWS} UNPIVOT (v FOR k IN (x, y))", [("a", "x", 1), ("b", "x", 2), ("b", "y", 3)]),
        (f"SELECT count(*) FROM {_ROWS} UNPIVOT INCLUDE NULLS (v FOR k IN (x, y))", [(4,)]),
        # A number among the groups of ALL is itself, and no place.
        (f"SELECT 1, sum(x) FROM {_ROWS} GROUP BY ALL", [(1, 3)]),
        (f"SELECT 1, sum(x) FROM {_ROWS} WHERE false GROUP BY ALL", []),
        # Two moments are one in JSON, and not as texts; nor does a struct's text tell where a field ends.
        (
            "SELECT to_json(struct(timestamp'2026-01-01 00:00:00.000001' AS a)) = to_json(struct(timestamp'2026-01-01' AS a))",
            [(True,)],
        ),
        ("SELECT CAST(timestamp'2026-01-01 00:00:00.000001' AS STRING) = CAST(timestamp'2026-01-01' AS STRING)", [(False,)]),
        ("SELECT CAST(struct('a, b', 'c') AS STRING) = CAST(struct('a', 'b, c') AS STRING)", [(True,)]),
        ("SELECT concat_ws('|', 'a', null, 'b') = concat_ws('|', 'a', 'b', null)", [(True,)]),
    ],
)
def test_rows_and_values(spark: SparkSession, sql: str, expected: list[tuple[object, ...]] | None) -> None:
    rows = [tuple(row) for row in spark.sql(sql).collect()]
    if expected is None:
        assert len(rows) == 3
    else:
        assert sorted(rows, key=str) == expected


def test_a_text_of_a_moment_comes_twice_where_summer_ends(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    ((same, apart),) = session.sql(
        "SELECT CAST(a AS STRING) = CAST(b AS STRING), unix_micros(a) = unix_micros(b)"
        " FROM VALUES (timestamp'2026-10-25 00:30:00Z', timestamp'2026-10-25 01:30:00Z') AS r(a, b)"
    ).collect()
    assert (same, apart) == (True, False)


def test_names_of_columns(spark: SparkSession) -> None:
    """``tests/unit/verdict/test_output.py`` relies on them."""
    named = spark.sql(
        "SELECT (x), CAST(id AS INT), s.f, json_tuple(id, 'k', 'l'), window(at, '1 hour')"
        f" FROM (SELECT *, named_struct('f', 1) AS s FROM {_ROWS})"
    )
    assert named.columns == ["x", "id", "f", "c0", "c1", "window"]
    assert spark.sql("SELECT explode(array(1))").columns == ["col"]
