"""Another table under the source's path is not read on in."""

from __future__ import annotations

from typing import Any

import pytest

from framework.errors import StateError
from framework.plan.compile import RunRequest, compile_override, compile_plan
from framework.plan.stages import Commit, Plan
from framework.plan.status import pipeline_status
from framework.state.checkpoint import ORIGIN_KEY, SOURCE_COMMIT_KEY, encode
from framework.state.table import MemoryState, TableState
from tests.kit.memory import TARGET, a_checkpoint, a_commit, a_spec, a_table_state, at

SPEC = a_spec(inputs=())


def standing(source: TableState, named: str | None, position: int = 20) -> MemoryState:
    extra = encode(a_checkpoint(position)) | {ORIGIN_KEY: "increment"} | ({SOURCE_COMMIT_KEY: named} if named else {})
    return MemoryState({t.ref.path: t for t in (source, a_table_state([a_commit(500, extra=extra)], ref=TARGET))})


def planned(source: TableState, named: str | None) -> Plan:
    return compile_plan(SPEC, standing(source, named), RunRequest())


def published(plan: Plan) -> Any:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return commit.metadata.get(SOURCE_COMMIT_KEY)


def test_a_commit_remembers_the_sources_commit_that_its_checkpoint_names() -> None:
    source = a_table_state([a_commit(n) for n in (10, 20, 30)])
    assert published(planned(source, at(19))) == at(29)
    first = MemoryState({source.ref.path: source})
    assert published(compile_plan(SPEC, first, RunRequest())) == at(29)
    assert published(compile_override(SPEC, first, at(20))) is None


@pytest.mark.parametrize("source", [
    a_table_state([a_commit(n) for n in (40, 50)]),
    a_table_state([a_commit(15), a_commit(40)]),
    a_table_state([a_commit(20, requested=11), a_commit(40)]),
    a_table_state([a_commit(15), a_commit(40)], table_type="MERGE_ON_READ"),
    a_table_state([a_commit(10), a_commit(40)], archived=[a_commit(5)]),
], ids=["made anew", "from a copy, and written to", "another commit at the same time", "of another type", "archived otherwise"])
def test_a_table_that_does_not_know_the_commit_is_another_one(source: TableState) -> None:
    """Dropped and made anew, restored from a backup and written to, remade as another type: news would hide what is lost."""
    with pytest.raises(StateError) as raised:
        planned(source, at(19))
    assert pipeline_status(SPEC, standing(source, at(19))).state == "SOURCE_REPLACED"
    assert (raised.value.code, f"checkpoint reset {SPEC.name}" in raised.value.next_step) == ("SOURCE_REPLACED", True)


@pytest.mark.parametrize(("source", "named"), [
    (a_table_state([a_commit(20), a_commit(40)]), at(19)),
    (a_table_state([a_commit(40)], archived=[a_commit(20)]), at(19)),
    (a_table_state([a_commit(15), a_commit(40)]), None),
], ids=["known", "archived", "set by hand"])
def test_a_table_that_knows_it_is_read_on(source: TableState, named: str | None) -> None:
    """In the timeline or its archive; a checkpoint that names no commit, as one set by hand, is taken as it is."""
    assert planned(source, named).window.kind == "increment"
