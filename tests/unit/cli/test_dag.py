"""``freshet dag``: what people and schedulers read of a project."""

from __future__ import annotations

from pathlib import Path

from freshet.errors import Exit
from tests.kit.project import PIPELINE, a_project
from tests.unit.cli.conftest import Freshet, parsed


def test_what_runs_when_after_what_and_which_failures_are_repeated(freshet: Freshet, root: Path) -> None:
    top = 'owner: pay\nschedule: "*/30 * * * *"\nrun: {timeout: 1h}\ntags: [a]\n'
    a_project(root, "payments", files={"pipelines/payments.yml": PIPELINE.format(name="payments", source="events") + top})
    found = parsed(freshet("dag", "--output", "json", "--set", "spark.spark.master=local[1]"))
    (one,) = found["pipelines"]
    assert found["repeat_on"] == [Exit.RETRY, Exit.SYNC, 129, 130, 137, 143]
    assert (one["name"], one["schedule"], one["owner"], one["tags"]) == ("payments", "*/30 * * * *", "pay", ["a"])
    assert (one["upstream"], one["target"], one["timeout_seconds"]) == ([], "derived.payments", 3600)
    assert one["command"] == ["run", "payments", "--set", "spark.spark.master=local[1]"]
    text = freshet("dag").stdout
    assert "payments\n  runs        */30 * * * *\n" in text
    assert "  writes      derived.payments\n" in text


def test_a_schedule_elsewhere_and_a_continuous_pipeline(freshet: Freshet, root: Path) -> None:
    """By the second version alone: who reads the first takes every schedule for one in UTC."""
    made = PIPELINE.format(name="payments", source="events")
    assert parsed(freshet("dag", "--output", "json"))["version"] == 1
    a_project(root, "payments", files={"pipelines/payments.yml": made + "continuous: {min_interval: 1m}\n"})
    found = parsed(freshet("dag", "--output", "json"))
    assert (found["version"], found["pipelines"][0]["interval_seconds"]) == (1, 60)
    assert "  runs        again after 60 s, under freshet serve\n" in freshet("dag").stdout
    top = 'schedule: "0 6 * * *"\nschedule_zone: Europe/Berlin\n'
    a_project(root, "payments", files={"pipelines/payments.yml": made + top})
    found = parsed(freshet("dag", "--output", "json"))
    assert (found["version"], found["pipelines"][0]["schedule_zone"]) == (2, "Europe/Berlin")
    assert "  runs        0 6 * * * (Europe/Berlin)\n" in freshet("dag").stdout
