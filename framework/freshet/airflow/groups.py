"""Which pipelines of a project stand in one DAG: those that one schedule starts, and what follows them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: As ``freshet dag --output json`` writes a pipeline.
Pipeline = Mapping[str, Any]
_UTC = "UTC"


@dataclass(frozen=True)
class Group:
    """The pipelines of one DAG, upstream before downstream.

    Args:
        name: The DAG's id.
        schedule: Cron text; empty where its tables start it, or nothing does.
        after: Tables whose change starts it, where it has no schedule of its own.
        pipelines: The pipelines.
    """

    name: str
    schedule: str
    after: tuple[str, ...]
    pipelines: tuple[Pipeline, ...]


def groups_of(project: str, pipelines: Sequence[Pipeline]) -> tuple[Group, ...]:
    """Return the DAGs of a project.

    Pipelines with the same schedule stand in one. One without a schedule follows its upstream: in its DAG where all of its
    upstream stands in one, else in a DAG of its own that these tables start. With neither it is started by hand.

    Args:
        project: Name of the project; the ids begin with it.
        pipelines: As ``freshet dag`` lists them: upstream before downstream.

    Raises:
        RuntimeError: A schedule has another time zone than UTC.
    """
    elsewhere = [one["name"] for one in pipelines if one["schedule"] and one.get("schedule_zone", _UTC) != _UTC]
    if elsewhere:
        # Run by another clock they would be hours late, and nobody told.
        raise RuntimeError(
            f"freshet.airflow runs schedules in UTC, and {', '.join(elsewhere)} names another schedule_zone: "
            "write the schedule in UTC, or let freshet serve run it."
        )
    place: dict[str, str] = {}
    members: dict[str, list[Pipeline]] = {}
    for one in pipelines:
        above = {place[name] for name in one["upstream"] if name in place}
        if one["schedule"]:
            key = f"at {one['schedule']}"
        elif len(above) == 1 and all(name in place for name in one["upstream"]):
            key = next(iter(above))
        else:
            key = f"of {one['name']}"
        place[one["name"]] = key
        members.setdefault(key, []).append(one)
    target = {one["name"]: str(one["target"]) for one in pipelines}
    found = []
    for key, ones in members.items():
        at, by_schedule = key[3:], key.startswith("at ")
        first = ones[0]
        after = () if by_schedule else tuple(dict.fromkeys(target[name] for name in first["upstream"] if name in target))
        name = project if len(members) == 1 else f"{project}__{_slug(at) if by_schedule else first['name']}"
        found.append(Group(name, at if by_schedule else "", after, tuple(ones)))
    return tuple(found)


def _slug(schedule: str) -> str:
    # What an id may hold, https://airflow.apache.org/docs/apache-airflow/stable/core-concepts/dags.html: the cron's own signs
    # in words, so that no two schedules share an id.
    signs = {"*": "x", "/": "per", ",": "and", "-": "to", " ": "_"}
    return re.sub(r"[^A-Za-z0-9_.]", "", "".join(signs.get(sign, sign) for sign in schedule))
