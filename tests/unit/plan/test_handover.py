"""A table of HoodieStreamer's goes on here from its older key, which holds a request time.

That writer reads by request times: what was requested after its position it has not read, and everything up to it has. Kind:
commits that overtook the position's own, those of them that deleted rows, and those that are archived or cleaned already.
"""

from __future__ import annotations

from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.status.status import pipeline_status
from freshet.types.columns import Atomic, Column
from tests.kit.memory import (
    SOURCE,
    TARGET,
    Loaded,
    a_checkpoint,
    a_commit,
    a_source_spec,
    a_spec,
    a_table_spec,
    a_table_state,
    a_target,
    at,
)

OWN = a_commit(90, requested=10)
BEFORE = a_commit(8, requested=5)
OVERTOOK = a_commit(60, requested=50)
POSITION = HudiPosition(instant=at(10), basis="requested")


def window(source: TableState, position: HudiPosition = POSITION, **spec: Any) -> Any:
    return next_window("earnings", source, a_source_spec(**spec), position)


def a_lake(source: TableState) -> MemoryState:
    return MemoryState({SOURCE.path: source, TARGET.path: a_target((990, a_checkpoint(10, "", "requested")))})


@pytest.mark.parametrize(
    ("commits", "requested"),
    [
        ([BEFORE, OWN], ()),
        ([BEFORE, OWN, OVERTOOK], (50,)),
        ([OWN, OVERTOOK, a_commit(95)], (50, 94)),
        ([OWN, a_commit(80, requested=7)], ()),
        ([OWN, a_commit(90, requested=11)], (11,)),
        ([OWN, OVERTOOK, a_commit(70, requested=61), a_commit(120, requested=3)], (50, 61, 3)),
        ([OWN, a_commit(60, requested=50, action="replacecommit", operation="CLUSTER")], ()),
        ([OWN, a_commit(60, requested=50, action="deltacommit", operation="LOG_COMPACT")], ()),
    ],
    ids=["none", "one", "and a later one", "requested before", "in the same moment", "several", "a clustering", "of logs"],
)
def test_what_overtook_the_positions_commit_is_read_once(commits: list[Loaded], requested: tuple[int, ...]) -> None:
    source = a_table_state(commits)
    found = window(source)
    assert found.requested == tuple(at(one) for one in requested)
    assert pipeline_status(a_spec(inputs=()), a_lake(source)).commits_behind == len(requested)
    if requested:
        plan = compile_plan(a_spec(inputs=()), a_lake(source), RunRequest())
        assert plan.checkpoint_after is not None
        then = plan.checkpoint_after.main
        assert then is not None
        assert (then.basis, then.instant >= at(90), window(source, then).kind) == ("completed", True, "idle")


def test_of_the_archive_they_are_a_gap() -> None:
    for source in (
        a_table_state([OWN, a_commit(95)], archived=[BEFORE, OVERTOOK]),
        a_table_state([a_commit(95)], archived=[BEFORE, OWN, OVERTOOK]),
        a_table_state([OWN, OVERTOOK, a_commit(95)], retained_from=at(70)),
    ):
        with pytest.raises(StateError) as refused:
            window(source)
        assert (refused.value.code, refused.value.details["first_lost"]) == ("CHECKPOINT_EXPIRED", at(60))
    old = a_table_state([a_commit(95)], archived=[a_commit(3, requested=2), BEFORE, OWN])
    assert window(old).requested == (at(94),)


@pytest.mark.parametrize(
    "late",
    [
        a_commit(60, requested=50, deletes=2),
        a_commit(60, requested=50, action="replacecommit", operation="INSERT_OVERWRITE"),
    ],
    ids=["deleted", "replaced"],
)
def test_what_they_deleted_cannot_be_told_and_is_refused_where_deletes_are_passed_on(late: Loaded) -> None:
    target = a_table_spec(columns=(*a_table_spec().columns, Column(name=IS_DELETED, type=Atomic("boolean"))))
    state = a_lake(a_table_state([BEFORE, OWN, late], records_changes=True))
    with pytest.raises(StateError) as refused:
        compile_plan(a_spec(inputs=(), target=target), state, RunRequest())
    assert refused.value.code == "COMMIT_IN_THE_PAST"
    plan = compile_plan(a_spec(inputs=(), source={"incremental_format": "latest_state"}), state, RunRequest())
    assert plan.window.requested == (at(50),)


def test_the_key_of_completion_times_goes_on_as_it_did() -> None:
    assert window(a_table_state([OWN, OVERTOOK]), HudiPosition(instant=at(90))).kind == "idle"
