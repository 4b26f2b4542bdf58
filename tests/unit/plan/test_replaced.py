"""Another table under the path of the source, or of an input, is not read on in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.hudi.look.late import position_at
from freshet.sources.hudi.position import HudiPosition, Known
from freshet.status.status import pipeline_status
from tests.kit.memory import SOURCE, a_commit, a_spec, a_table_state, a_target, at
from tests.unit.plan.test_inputs import DRIVING, LOOKBACK, TIPS

SPEC = a_spec(inputs=())
FIRST = a_table_state([a_commit(n) for n in (10, 20)])


def standing(source: TableState, position: HudiPosition, *others: TableState, **inputs: HudiPosition) -> MemoryState:
    target = a_target((500, Checkpoint({MAIN: position, **inputs})))
    return MemoryState({t.ref.path: t for t in (source, target, *others)})


def planned(spec: PipelineSpec, state: MemoryState) -> Plan:
    return compile_plan(spec, state, RunRequest())


def test_a_position_knows_the_commits_up_to_it() -> None:
    source = a_table_state([a_commit(n) for n in (10, 20, 30)])
    plan = planned(SPEC, standing(source, position_at(FIRST, at(20), None)))
    assert plan.checkpoint_after is not None
    assert plan.checkpoint_after.positions[MAIN].known == Known(tuple((at(n - 1), at(n)) for n in (10, 20, 30)), at(20))
    by_hand = compile_override(SPEC, standing(source, position_at(FIRST, at(20), None)), at(10))
    assert by_hand.checkpoint_after is not None
    # What is there when it is set.
    assert by_hand.checkpoint_after.positions[MAIN].known == Known(((at(9), at(10)),), at(10))


OTHERS = pytest.mark.parametrize(
    "commits",
    [
        [a_commit(n) for n in (40, 50)],
        [a_commit(15), a_commit(40)],
        [a_commit(20, requested=11), a_commit(40)],
        [a_commit(12)],
    ],
    ids=["made anew", "from a copy, and written to", "another commit at the same time", "older than all that was read"],
)


@OTHERS
@pytest.mark.parametrize("config", [{}, {"table_type": "MERGE_ON_READ"}, {"archived": [a_commit(5)]}], ids=str)
def test_a_table_that_does_not_know_the_commit_is_another_one(commits: list[object], config: dict[str, object]) -> None:
    """Dropped and made anew, restored from a backup and written to, remade as another type: news would hide what is lost."""
    state = standing(a_table_state(commits, **config), position_at(FIRST, at(20), None))  # type: ignore[arg-type]
    with pytest.raises(StateError) as raised:
        planned(SPEC, state)
    assert pipeline_status(SPEC, state).state == "SOURCE_REPLACED"
    assert (raised.value.code, f"checkpoint reset {SPEC.name}" in raised.value.next_step) == ("SOURCE_REPLACED", True)


@OTHERS
@pytest.mark.parametrize("one", [LOOKBACK, DRIVING], ids=["looked back in", "drives"])
def test_so_is_one_that_stands_for_an_input(commits: list[object], one: InputSpec) -> None:
    source = a_table_state([a_commit(n) for n in (10, 20)])
    tips = replace(FIRST, ref=TIPS)
    spec, now = a_spec(inputs=(one,)), a_table_state(commits, ref=TIPS)  # type: ignore[arg-type]
    own = position_at(tips, at(20), None)
    state = standing(source, position_at(source, at(20), None), now, tips=own)
    with pytest.raises(StateError) as raised:
        planned(spec, state)
    assert (raised.value.code, raised.value.details["source"]) == ("SOURCE_REPLACED", TIPS.path)
    assert "checkpoint reset earnings" in raised.value.next_step
    assert pipeline_status(spec, state).state == "SOURCE_REPLACED"
    # A position of the main source that is set by hand mends nothing here; that of an input of another table is taken as it is.
    by_hand = compile_override(spec, state, at(20)).checkpoint_after
    assert by_hand is not None
    assert by_hand.positions["tips"].known == own.known
    assert planned(spec, standing(source, position_at(source, at(20), None), now, tips=replace(own, table="/elsewhere")))
    assert planned(spec, standing(source, position_at(source, at(20), None), tips, tips=own)).window.kind == "idle"


@pytest.mark.parametrize(
    ("source", "position"),
    [
        (a_table_state([a_commit(20), a_commit(40)]), position_at(FIRST, at(20), None)),
        (a_table_state([a_commit(40)], archived=[a_commit(20)]), position_at(FIRST, at(20), None)),
        (a_table_state([a_commit(15), a_commit(40)]), HudiPosition(instant=at(20), table=SOURCE.path)),
    ],
    ids=["known", "archived", "knows none"],
)
def test_a_table_that_knows_it_is_read_on(source: TableState, position: HudiPosition) -> None:
    """In the timeline or its archive; a checkpoint that knows none, such as HoodieStreamer's, is taken as it is."""
    assert planned(SPEC, standing(source, position)).window.kind == "increment"
