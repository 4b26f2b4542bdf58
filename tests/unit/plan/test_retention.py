"""What a pipeline of the project has not read yet, or a planned compaction is to read, is neither cleaned nor archived."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.hudi.checkpoint import MAIN, Checkpoint, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.retention import HELD, held_back, left_by_a_run, left_unfinished
from freshet.plan.stages import Commit
from freshet.project.model.pipeline import TableRef
from freshet.project.model.readers import Reader
from freshet.sources.hudi.position import HudiPosition, Known
from tests.kit.memory import TARGET, Loaded, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

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


@pytest.mark.parametrize(
    ("reader_at", "to_come", "held"),
    [
        (40, 1, False),  # it has read all, and the commit at 40 and the one to come are kept
        (30, 1, True),  # the commit at 30 would go, and with it what the reader has seen last
        (30, 0, False),  # without one to come it stays
        (20, 0, True),
        (10, 0, True),
    ],
)
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


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, True),
        ({"hoodie.clean.automatic": "false"}, False),
        # The service that compacts cleans, too.
        ({"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL", "hoodie.compact.inline": "false"}, False),
        ({"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}, True),
    ],
)
def test_a_run_leaves_them_while_a_compaction_is_planned_and_not_done(options: dict[str, str], left: bool) -> None:
    """Hudi would clean first, and do the compaction then: what it is to read may be gone (apache/hudi issue 19290)."""
    spec = a_spec(target={"table_type": "MERGE_ON_READ"}, write_options=options, inputs=())
    stands = a_target(*((10 * n, a_checkpoint(n)) for n in range(1, 5)), table_type="MERGE_ON_READ")
    stands = replace(stands, compacting=(at(35), at(45)))
    known = MemoryState({t.ref.path: t for t in (a_table_state([a_commit(n) for n in range(1, 20)]), stands)})
    plan = compile_plan(spec, known, RunRequest())
    assert [notice.code for notice in plan.notices] == ["COMPACTION_PENDING"] * (2 * left)
    assert all(time in notice.message for time, notice in zip(stands.compacting, plan.notices, strict=False))
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    assert commit.options["hoodie.clean.automatic"] == "false"
    assert left_by_a_run(spec, known, None) == ()


def test_a_rollback_of_what_has_been_committed_meanwhile_holds_them() -> None:
    """A cleaner died between the plan and its doing, and the writer that it took for dead went on; the next would do it."""
    stands = replace(target(4), load_overtaken=lambda: ((at(45), at(19)),))
    spec = a_spec(write_options=KEEPS_TWO, inputs=())
    (told,) = left_unfinished(spec, stands)
    assert (told.code, at(45) in told.message, at(19) in told.message) == ("ROLLBACK_OVERTAKEN", True, True)
    known = MemoryState({t.ref.path: t for t in (a_table_state([a_commit(n) for n in range(1, 20)]), stands)})
    plan = compile_plan(spec, known, RunRequest())
    assert [notice.code for notice in plan.notices] == ["ROLLBACK_OVERTAKEN"]
    assert isinstance(plan.stages[-1], Commit)
    assert plan.stages[-1].options["hoodie.clean.automatic"] == "false"


def test_by_hours_or_versions_only_a_reader_that_has_read_all_lets_them_go() -> None:
    spec = a_spec(readers=SPEC.readers, write_options={"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS"}, inputs=())
    assert held_back(spec, state(40, 4), target(4), 0) == ()
    assert held_back(spec, state(20, 4), target(4), 0) != ()


def test_nothing_to_hold_where_the_runs_neither_clean_nor_archive() -> None:
    spec = a_spec(readers=SPEC.readers, write_options={**KEEPS_TWO, **HELD}, inputs=())
    assert held_back(spec, state(10, 4), target(4), 1) == ()
    assert held_back(spec, state(10, 4), target(4), 0) != ()


def runs(*commits: Loaded) -> TableState:
    return a_table_state(sorted(commits), ref=TARGET)


def is_held(commits: TableState, keeps: int, read_upto: int, known: tuple[int, ...] = ()) -> bool:
    spec = a_spec(readers=SPEC.readers, write_options={"hoodie.clean.commits.retained": str(keeps)}, inputs=())
    position = HudiPosition(
        instant=at(read_upto), table=TARGET.path, known=Known(tuple((at(n - 1), at(n)) for n in known), at(0))
    )
    reader = a_table_state([a_commit(900, extra=encode(Checkpoint({MAIN: position})))], ref=BELOW)
    return held_back(spec, MemoryState({TARGET.path: commits, BELOW.path: reader}), commits, 1) != ()


@pytest.mark.parametrize(
    ("commits", "keeps", "read_upto", "known", "held"),
    [
        # A chunk of a backfill that began long before what completed since; the runs clean for it.
        ([*map(a_commit, (10, 20, 30, 40, 90)), a_commit(95, requested=3)], 4, 40, (), True),
        ([*map(a_commit, (10, 20, 30, 40)), a_commit(95, requested=3), a_commit(96)], 4, 40, (), True),
        ([*map(a_commit, (10, 20, 30, 40, 90)), a_commit(95, requested=3)], 4, 95, (), False),
        # It is the first one that stays itself, and what the reader saw before it would go.
        ([*map(a_commit, (10, 20)), a_commit(50, requested=40), a_commit(60, requested=30)], 3, 50, (), True),
        ([*map(a_commit, (10, 20)), a_commit(50, requested=40), a_commit(60, requested=45)], 3, 60, (), False),
        # Named in the past by a clock that is behind: it came after the position was taken.
        ([*map(a_commit, (10, 20, 25, 30, 40, 50))], 4, 50, (10, 20, 30, 40, 50), True),
        ([*map(a_commit, (10, 20, 25, 30, 40, 50))], 4, 50, (10, 20, 25, 30, 40, 50), False),
    ],
    ids=["unread last", "unread first", "read", "before the oldest kept", "all read", "late", "none is late"],
)
def test_each_commit_that_a_reader_has_not_read_holds_the_services(
    commits: list[Loaded],
    keeps: int,
    read_upto: int,
    known: tuple[int, ...],
    held: bool,
) -> None:
    """Kind: a commit that completes in another order than it was requested, or is named before the position.

    Cleaning and archiving go by request time, readers by completion time: any commit that is unread counts, not the first.
    """
    assert is_held(runs(*commits), keeps, read_upto, known) == held


def test_a_long_commit_that_completes_last_holds_them_until_it_is_read() -> None:
    """As a chunk beside ten runs: held from its completion on until the reader has come by, and then no more."""
    ran = [a_commit(10 * n) for n in range(1, 11)]
    assert not is_held(runs(*ran), 4, 100)
    later, chunk = (a_commit(110), a_commit(120)), a_commit(125, requested=3)
    assert not is_held(runs(*ran, *later), 4, 100)
    assert is_held(runs(*ran, *later, chunk), 4, 100)
    assert not is_held(runs(*ran, *later, chunk), 4, 125)


def test_a_setting_is_read_whatever_its_case() -> None:
    off = {"hoodie.clean.automatic": "False", "hoodie.archive.automatic": "FALSE"}
    spec = a_spec(readers=SPEC.readers, write_options={**KEEPS_TWO, **off}, inputs=())
    assert held_back(spec, state(10, 4), target(4), 1) == ()
