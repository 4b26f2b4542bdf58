"""A plan as people and machines read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import Atomic, Column
from tests.kit.memory import (
    CITIES,
    COLUMNS,
    SOURCE,
    TARGET,
    a_checkpoint,
    a_commit,
    a_spec,
    a_table_state,
    a_target,
    at,
)

NAMES = ["read_increment", "read_snapshot", "run_sql", "run_python", "conform", "commit"]


def a_lake(source: TableState, target: TableState | None) -> MemoryState:
    held = {SOURCE.path: source, CITIES.path: a_table_state([a_commit(1)], ref=CITIES)}
    return MemoryState(held | ({TARGET.path: target} if target else {}))


def a_plan(spec: PipelineSpec | None = None, target: TableState | None = None, **request: Any) -> Plan:
    source = a_table_state([a_commit(10), a_commit(20, rows=1500, deletes=1), a_commit(30, rows=7)])
    return compile_plan(spec or a_spec(source={"max_commits": 1}), a_lake(source, target), RunRequest(**request))


def shown(moment: int, zone: str = "Z") -> str:
    return f"2026-08-01 10:15:00.{moment:03d}{zone}"


def lines(plan: Plan, **options: Any) -> list[str]:
    return [" ".join(line.split()) for line in plan_text(plan, **options).splitlines()]


def test_text_of_an_increment() -> None:
    spec = a_spec(source={"max_commits": 1}, target={"columns": (*COLUMNS, Column(name="tip", type=Atomic("double")))})
    found = lines(a_plan(spec, a_target((12, a_checkpoint(10)))))
    assert found[:3] == [
        "earnings",
        f"target derived.earnings {TARGET.path}",
        "window increment: 1 commit since the checkpoint",
    ]
    assert found[3] == (f"1 commit, 1,501 rows, completed {shown(20)} to {shown(20)}; 1 commit (7 rows) left for the next run")
    assert found[4] == f"checkpoint {shown(10)} -> {shown(20)}"
    assert found[5] == "schema add tip: - -> double"
    assert found[6].startswith("notice DELETES_NOT_SEEN: earnings: the source's commits hold 1 deleted rows")
    assert found[7:] == [
        "1. read <SRC> incrementally from raw.trips",
        "2. read cities: all of raw.cities",
        "3. run transformers/earnings.sql (2 statements)",
        "4. call transform() of transformers/earnings.py",
        "5. hold the batch against the DDL: 6 columns, no null in trip_id, updated_at, day",
        "6. commit upsert to derived.earnings (COPY_ON_WRITE, BUCKET)",
    ]


def test_text_of_a_first_run() -> None:
    found = lines(a_plan())
    assert found[1].endswith("(will be created)")
    assert f"checkpoint none -> {shown(30)}" in found


def test_text_of_an_idle_run_keeps_the_checkpoint() -> None:
    found = lines(a_plan(target=a_target((12, a_checkpoint(30)))))
    assert f"checkpoint {shown(30)} -> {shown(30)}" in found
    assert [line for line in found if "nothing to do" in line] == ["window nothing to do: no commit since the checkpoint"]


def test_text_of_a_deferred_plan_claims_no_checkpoint() -> None:
    assert not [line for line in lines(a_plan(look_at_tables=False)) if line.startswith("checkpoint")]


def test_text_of_an_override() -> None:
    state = a_lake(a_table_state([a_commit(10)]), a_target((12, a_checkpoint(20))))
    found = lines(compile_override(a_spec(), state, at(10)))
    assert "window override: set by hand" in found
    assert f"checkpoint {shown(20, '')} -> {shown(10, '')}" in found
    assert found[-1] == "1. commit a checkpoint without rows to derived.earnings (COPY_ON_WRITE, BUCKET)"


def test_text_of_a_reset_ends_without_checkpoint() -> None:
    state = a_lake(a_table_state([a_commit(10)]), a_target((12, a_checkpoint(20))))
    assert f"checkpoint {shown(20, '')} -> none" in lines(compile_override(a_spec(), state, None))


def test_text_lists_the_writers_options_and_metadata_when_asked() -> None:
    plan = a_plan()
    assert "hoodie.index.type = BUCKET" not in lines(plan)
    found = lines(plan, show_options=True)
    assert "hoodie.index.type = BUCKET" in found
    assert "streamer.freshet.pipeline = earnings" in found


@pytest.mark.parametrize("request_", [{}, {"look_at_tables": False}], ids=["looked", "deferred"])
def test_json_names_every_stage_and_survives_the_round_trip(request_: dict[str, bool]) -> None:
    found = plan_json(a_plan(**request_))
    assert [s["stage"] for s in found["stages"]] == NAMES
    fare = json.loads(json.dumps(found))["stages"][4]["columns"][1]
    assert fare == {"name": "fare", "type": "decimal(10,2)", "nullable": True}


def test_json_of_the_commit_shows_the_checkpoint_as_it_is_stored() -> None:
    found = plan_json(a_plan())
    assert found["stages"][-1]["checkpoint"] == found["checkpoint_after"] == a_checkpoint(30).as_json()


def test_json_of_an_idle_plan() -> None:
    found = plan_json(a_plan(target=a_target((12, a_checkpoint(30)))))
    assert (found["stages"], found["checkpoint_after"], found["window"]["kind"]) == ([], None, "idle")
