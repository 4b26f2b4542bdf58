"""Which DAGs a project becomes; with a real Airflow: tests/airflow."""

from __future__ import annotations

import pytest

from freshet import airflow
from freshet.airflow.groups import Pipeline, groups_of


def pipeline(name: str, schedule: str = "", *upstream: str) -> Pipeline:
    return {"name": name, "schedule": schedule, "upstream": list(upstream), "target": f"derived.{name}"}


def shown(*pipelines: Pipeline) -> dict[str, tuple[str, tuple[str, ...], list[str]]]:
    return {one.name: (one.schedule, one.after, [p["name"] for p in one.pipelines]) for one in groups_of("etl", pipelines)}


def test_one_schedule_is_one_dag_and_who_has_none_follows_its_upstream() -> None:
    found = shown(pipeline("a", "@hourly"), pipeline("b", "@hourly", "a"), pipeline("c", "", "b"), pipeline("d", "", "c", "a"))
    assert found == {"etl": ("@hourly", (), ["a", "b", "c", "d"])}


def test_who_follows_several_dags_is_started_by_their_tables() -> None:
    every, daily = "*/30 * * * *", "0 6 * * *"
    found = shown(
        pipeline("a", every), pipeline("b", daily), pipeline("c", "", "a", "b"), pipeline("d", "", "c"), pipeline("e")
    )
    assert found == {
        "etl__xper30_x_x_x_x": (every, (), ["a"]),
        "etl__0_6_x_x_x": (daily, (), ["b"]),
        "etl__c": ("", ("derived.a", "derived.b"), ["c", "d"]),
        "etl__e": ("", (), ["e"]),
    }


def test_an_upstream_that_was_not_selected_is_waited_for_nowhere() -> None:
    """Its table is no asset that a task of this project announces."""
    assert shown(pipeline("b", "", "a")) == {"etl": ("", (), ["b"])}


def test_schedules_that_differ_have_ids_that_differ() -> None:
    schedules = ("* * * * *", "*/1 * * * *", "1 * * * *", "1,2 * * * *", "1-2 * * * *", "12 * * * *", "1 2 * * *")
    assert len(shown(*(pipeline(f"p{n}", text) for n, text in enumerate(schedules)))) == len(schedules)


def test_a_schedule_of_another_time_zone_is_refused() -> None:
    with pytest.raises(RuntimeError, match="b names another schedule_zone"):
        groups_of("etl", [pipeline("a", "0 6 * * *"), {**pipeline("b", "0 6 * * *"), "schedule_zone": "Europe/Berlin"}])
    assert shown({**pipeline("a", "0 6 * * *"), "schedule_zone": "UTC"}, {**pipeline("b"), "schedule_zone": "Asia/Tokyo"})


def test_without_airflow_it_is_said_what_is_missing() -> None:
    with pytest.raises(ImportError, match="apache-airflow"):
        _ = airflow.make_dags
    with pytest.raises(AttributeError):
        _ = airflow.make_dag
