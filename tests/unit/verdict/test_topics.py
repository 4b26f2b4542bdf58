"""Verdicts on pipelines over topics: records come, and neither change nor go; several may have one key.

The kind: an aggregate that is taken for one of a whole group, and a warning of what no topic does.
"""

from __future__ import annotations

from typing import Any

import pytest

from freshet.project.model.pipeline import TableSpec
from freshet.project.model.steps import TransformSpec, WriteSpec
from freshet.project.syntax.statements import split_statements
from freshet.types.columns import Atomic, Column
from freshet.verdict.judge import judge
from freshet.verdict.result import Verdict
from freshet.verdict.tables import facts_of
from tests.kit.files import a_files_spec
from tests.kit.memory import COLUMNS, a_spec, a_table_spec
from tests.kit.topics import a_topic_spec


def judged(sql: str, source: Any = None, deleted: bool = False, **changes: Any) -> Verdict:
    columns = (*COLUMNS, Column(name="_hoodie_is_deleted", type=Atomic("boolean"))) if deleted else COLUMNS
    target: TableSpec = a_table_spec(columns=columns, partition_by=())
    spec = a_spec(
        source=source or a_topic_spec(),
        target=target,
        inputs=(),
        transform=(TransformSpec(file="t.sql", kind="sql", statements=split_statements(sql)),),
        write=WriteSpec(strategy="rows", columns=tuple(c.name for c in columns)),
        accepts=(),
        **changes,
    )
    return judge(spec, facts_of(spec, {}))


def codes(*args: Any, **kwargs: Any) -> set[str]:
    return {one.code for one in judged(*args, **kwargs).findings}


ROWS = "SELECT trip_id, fare, rides, updated_at, day FROM <SRC>"


def test_a_row_of_each_record_is_exact_and_what_orders_them_is_taken_for_granted() -> None:
    found = judged(ROWS)
    assert (found.kind, [(one.fact, one.columns) for one in found.granted]) == ("exact", [("ordering", ("updated_at",))])
    assert codes(ROWS + " WHERE fare > 0") == set()
    assert codes(ROWS.replace("updated_at", "_kafka.timestamp AS updated_at")) == set()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT trip_id, sum(fare) AS fare, 1 AS rides, max(updated_at) AS updated_at, day FROM <SRC> GROUP BY 1, 5",
            "GROUP_IN_PART",
        ),
        (
            "SELECT trip_id, fare, count(*) OVER (PARTITION BY trip_id) AS rides, updated_at, day FROM <SRC>",
            "WINDOW_IN_PART",
        ),
        (ROWS.replace("updated_at", "timestamp'2026-01-01 00:00:00' AS updated_at"), "ORDERING_MAY_GO_BACK"),
        (ROWS.replace("updated_at", "<SRC_INSTANT> AS updated_at"), "ORDERING_MAY_GO_BACK"),
        (ROWS.replace("fare", "cast(rand() AS decimal(10,2)) AS fare"), "NOT_DETERMINISTIC"),
    ],
)
def test_what_makes_a_difference_is_found(sql: str, expected: str) -> None:
    assert expected in codes(sql)


def test_beginning_at_the_end_is_said() -> None:
    assert codes(ROWS, a_topic_spec(reset="latest")) == {"STARTS_AT_LATEST"}


def test_a_tombstone_that_deletes_has_to_be_marked() -> None:
    source = a_topic_spec(tombstones="delete")
    assert "DELETES_STAY" in codes(ROWS, source)
    assert codes(ROWS.replace(" FROM", ", _hoodie_is_deleted FROM"), source, deleted=True) == set()


def test_an_insert_refuses_records_of_one_key() -> None:
    assert "INSERT_REFUSES_CHANGES" in codes(ROWS, operation="insert")


def test_rows_of_files_come_and_stay_but_of_files_that_are_written_over_or_left_out() -> None:
    assert codes(ROWS, a_files_spec()) == set()
    assert codes(ROWS, a_files_spec(rewritten="read")) == {"NOT_RECOMPUTABLE"}
    assert codes(ROWS, a_files_spec(too_late="warn")) == {"NOT_RECOMPUTABLE"}
