"""What a pipeline of the project has not read yet is neither cleaned nor archived."""

from __future__ import annotations

import pytest

from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.retention import HELD, held_back
from freshet.plan.stages import Commit
from freshet.spec.model import Reader, TableRef
from freshet.state.checkpoint import encode
from freshet.state.table import MemoryState, TableState
from tests.kit.memory import TARGET, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

BELOW = TableRef("derived.slips", "/lake/derived/slips")
KEEPS_TWO = {"hoodie.clean.commits.retained": "2"}
SPEC = a_spec(readers=(Reader("slips", BELOW, ()),), write_options=KEEPS_TWO, inputs=())


def target(commits: int) -> TableState:
    return a_target(*((10 * n, a_checkpoint(n)) for n in range(1, commits + 1)))


def state(reader_at: int | None, commits: int, table: str = TARGET.path) -> MemoryState:
    reader = None
    if reader_at is not None:
        reader = a_table_state([a_commit(900, extra=encode(a_checkpoint(reader_at, table)))], ref=BELOW)
    source = a_table_state([a_commit(n) for n in range(1, 20)])
    return MemoryState({t.ref.path: t for t in (source, target(commits), reader) if t})


@pytest.mark.parametrize(("reader_at", "to_come", "held"), [
    (40, 1, False),  # it has read all, and the commit at 40 and the one to come are kept
    (30, 1, True),   # the commit at 30 would go, and with it what the reader has seen last
    (30, 0, False),  # without one to come it stays
    (20, 0, True),
    (10, 0, True),
])
def test_a_reader_behind_what_stays_holds_the_services(reader_at: int, to_come: int, held: bool) -> None:
    found = held_back(SPEC, state(reader_at, 4), target(4), to_come)
    assert [notice.code for notice in found] == ["RETENTION_HELD"] * held
    assert all("slips" in notice.message and at(reader_at) in notice.message for notice in found)


@pytest.mark.parametrize(("reader_at", "table"), [(None, ""), (1, "/lake/derived/other")])
def test_who_never_read_or_reads_another_table_holds_nothing(reader_at: int | None, table: str) -> None:
    assert held_back(SPEC, state(reader_at, 9, table), target(9), 1) == ()


def test_the_commit_of_a_run_leaves_them_and_the_plan_says_so() -> None:
    plan = compile_plan(SPEC, state(10, 4), RunRequest())
    assert [notice.code for notice in plan.notices] == ["RETENTION_HELD"]
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    assert {key: commit.options[key] for key in HELD} == HELD
    free = compile_plan(SPEC, state(40, 4), RunRequest()).stages[-1]
    assert isinstance(free, Commit)
    assert not set(HELD) & set(free.options)


def test_by_hours_or_versions_only_a_reader_that_has_read_all_lets_them_go() -> None:
    spec = a_spec(readers=SPEC.readers, write_options={"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS"}, inputs=())
    assert held_back(spec, state(40, 4), target(4), 0) == ()
    assert held_back(spec, state(20, 4), target(4), 0) != ()


def test_nothing_to_hold_where_the_runs_neither_clean_nor_archive() -> None:
    spec = a_spec(readers=SPEC.readers, write_options={**KEEPS_TWO, **HELD}, inputs=())
    assert held_back(spec, state(10, 4), target(4), 1) == ()
    assert held_back(spec, state(10, 4), target(4), 0) != ()
