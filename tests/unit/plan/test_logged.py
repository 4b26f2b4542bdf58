"""Whether an increment of MERGE_ON_READ may be read out of logs alone, and from which commit on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from freshet.hudi.table import TableState
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import Logs
from tests.kit.memory import SOURCE, Loaded, a_commit, a_source_spec, a_table_state, an_instant, at

BY_TIME = {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
SCHEMA: dict[str, Any] = {"fields": [{"name": "ts", "type": ["null", "long"]}, {"name": "day", "type": "string"}]}


def a_delta(
    completed: int,
    *,
    logs: tuple[str, ...] = ("g",),
    base: tuple[str, ...] = (),
    schema: Any = SCHEMA,
    action: str = "deltacommit",
    **more: Any,
) -> Loaded:
    return a_commit(
        completed,
        action=action,
        file_ids=(*logs, *base),
        log_ids=logs,
        partitions=("day=1",),
        extra={"schema": json.dumps(schema)},
        **more,
    )


def a_compaction(completed: int, *groups: str, requested: int | None = None) -> Loaded:
    return a_delta(completed, logs=(), base=groups, action="commit", operation="COMPACT", requested=requested)


def logs(*commits: Loaded, properties: dict[str, str] = BY_TIME, **config: Any) -> Logs | None:
    whole: dict[str, Any] = {"whole_logs": True, "table_type": "MERGE_ON_READ", "ordering_field": "ts", "hive_style": True}
    return of(a_table_state(commits, properties=properties, **{**whole, **config}))


def of(source: TableState) -> Logs | None:
    found = next_window("earnings", source, a_source_spec(max_commits=2), HudiPosition(instant=at(100), table=SOURCE.path))
    assert found.kind == "increment"
    return found.logs


LOADED = a_delta(10, logs=(), base=("g",), operation="BULK_INSERT")


def test_the_logs_that_lie_over_the_same_base_files_are_read() -> None:
    assert logs(LOADED, a_delta(50), a_delta(60, logs=("other",)), a_delta(200), a_delta(300)) == Logs(at(50), "ts")
    assert logs(LOADED, a_delta(50), a_compaction(70, "g"), a_delta(80), a_delta(200)) == Logs(at(80), "ts")
    # One that compacted another group alone is of no use, and stands between.
    assert logs(LOADED, a_delta(50), a_compaction(70, "other"), a_delta(80), a_delta(200)) is None
    # A log lies over a base file that was requested before it completed.
    assert logs(LOADED, a_delta(55), a_compaction(70, "g", requested=52), a_delta(200)) is None
    assert logs(LOADED, a_delta(60, requested=40), a_compaction(55, "g", requested=50), a_delta(200)) == Logs(at(60), "ts")


def test_where_the_last_write_wins_the_windows_own_are_enough() -> None:
    found = logs(LOADED, a_delta(50), a_delta(200), properties={"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
    assert found == Logs(at(200))


def test_groups_that_are_logs_alone() -> None:
    source = a_table_state(
        [a_delta(50), a_delta(200)],
        properties=BY_TIME,
        whole_logs=True,
        ordering_field="ts",
        table_type="MERGE_ON_READ",
        hive_style=True,
    )
    assert of(source) == Logs(at(50), "ts")
    for group, found in (("g", None), ("other", Logs(at(50), "ts"))):
        old = a_delta(20, logs=(group,))
        assert of(replace(source, load_archived=lambda after, old=old: [] if after else [old])) == found
    # Their base file may be as old as that.
    compacted = [a_delta(20), a_compaction(30, "g")]
    assert of(replace(source, load_archived=lambda after: [] if after else compacted)) == Logs(at(50), "ts")


@pytest.mark.parametrize(
    "commits",
    [
        (a_delta(200), a_compaction(300, "g"), a_delta(400)),
        (a_delta(200), a_delta(300, requested=150)),
        (a_delta(200), a_delta(300, schema={"fields": [*SCHEMA["fields"], {"name": "v", "type": "string"}]})),
        (a_delta(200, action="replacecommit", operation="INSERT_OVERWRITE"),),
        (a_delta(200, operation="ALTER_SCHEMA"),),
        (a_delta(200), a_delta(300, operation="UNKNOWN")),
    ],
    ids=["compacted between", "overlapping", "of two schemas", "replacing", "altering", "unknown"],
)
def test_other_histories_are_read_as_versions(commits: tuple[Loaded, ...]) -> None:
    assert logs(LOADED, *commits) is None


@pytest.mark.parametrize(
    "config",
    [
        {"whole_logs": False},
        {"ordering_field": "day"},
        {"ordering_field": ""},
        {"ordering_field": "none"},
        {"partition_by": ("ts", "day")},
    ],
)
def test_other_tables_are_read_as_versions(config: dict[str, Any]) -> None:
    assert logs(LOADED, a_delta(200)) == Logs(at(200), "ts")
    assert logs(LOADED, a_delta(200), **config) is None


def test_a_commit_that_is_under_way_may_become_part_of_it() -> None:
    source = a_table_state(
        [LOADED, a_delta(200)],
        other=[an_instant(5, action="clean")],
        properties=BY_TIME,
        whole_logs=True,
        ordering_field="ts",
        table_type="MERGE_ON_READ",
        hive_style=True,
    )
    assert of(source) is not None
    assert of(replace(source, pending=(at(150),))) is None


def test_a_later_one_that_completed_first_may_lie_over_it() -> None:
    for properties in (BY_TIME, {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}):
        assert logs(LOADED, a_delta(90), a_delta(200), properties=properties) is not None
        assert logs(LOADED, a_delta(90), a_delta(200, requested=50), properties=properties) is None
