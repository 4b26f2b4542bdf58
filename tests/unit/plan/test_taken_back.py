"""Commits that were read and then taken back by the source: their rows stand in the target, and nothing tells which.

Of the kind: a rollback of the position's own commit, of one before it (several writers clean failed writes lazily, and then
Hudi takes back any), of one that was overtaken; a restore to a savepoint at a commit that stays; a rollback that went to the
archive before anybody looked; a position that was set by hand, or set back; an input that drives, or that is looked back in.
Not of the kind: failed writes, which never completed; what was archived or cleaned; a service that is tried again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint, decode, encode
from freshet.hudi.table import Instant, MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.project.model.pipeline import InputSpec
from freshet.sources.hudi.look.late import MARGIN, position_at
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.status.status import pipeline_status
from tests.kit.memory import SOURCE, TARGET, Loaded, a_commit, a_source_spec, a_spec, a_table_state, a_target, an_instant, at
from tests.unit.plan.test_inputs import DRIVING, LOOKBACK, TIPS

READ = [a_commit(10), a_commit(20), a_commit(30)]
# B was overtaken by A: requested later, and completed first.
OVERTAKEN = [a_commit(30, requested=20), a_commit(40, requested=10)]
NEWS = a_commit(80)


def stood(commits: list[Loaded], upto: int = 30) -> HudiPosition:
    """Return the position of a run that read these commits, as the next run finds it."""
    found = decode(encode(Checkpoint({MAIN: position_at(a_table_state(commits), at(upto), None)})))
    assert found is not None
    assert found.main is not None
    return found.main


def now(
    *commits: Loaded, rollbacks: dict[int, tuple[int, ...]] | None = None, restores: tuple[int, ...] = (), **more: Any
) -> TableState:
    """Return the source as it is: rollbacks by their completion, each with the requests that it names."""
    taken = {at(done): tuple(at(one) for one in named) for done, named in (rollbacks or {}).items()}
    other = [*(Instant(done, done, "rollback") for done in taken), *(an_instant(done, action="restore") for done in restores)]
    return replace(a_table_state(commits, other=other, **more), load_taken_back=lambda instant: taken[instant.completed])


def window(source: TableState, position: HudiPosition | None, seen: HudiPosition | None = None) -> Any:
    return next_window("earnings", source, a_source_spec(), position, seen)


def refusal(source: TableState, position: HudiPosition | None, seen: HudiPosition | None = None) -> StateError:
    with pytest.raises(StateError) as refused:
        window(source, position, seen)
    return refused.value


@pytest.mark.parametrize("news", [(), (NEWS,)], ids=["idle", "news"])
@pytest.mark.parametrize(
    ("source", "position", "code", "gone", "standing"),
    [
        (now(READ[0], READ[2], rollbacks={50: (19,)}), stood(READ), "SOURCE_ROLLED_BACK", [19], 30),
        (now(READ[1], READ[2], rollbacks={50: (9,)}), stood(READ), "SOURCE_ROLLED_BACK", [9], 30),
        (now(*READ[:2], rollbacks={50: (29,)}), stood(READ), "SOURCE_ROLLED_BACK", [29], 20),
        (now(READ[0], rollbacks={50: (29,), 51: (19,)}), stood(READ), "SOURCE_ROLLED_BACK", [19, 29], 10),
        (now(READ[2], rollbacks={50: (19,)}, archived=READ[:1]), stood(READ), "SOURCE_ROLLED_BACK", [19], 30),
        (now(OVERTAKEN[1], rollbacks={50: (20,)}), stood(OVERTAKEN, 40), "SOURCE_ROLLED_BACK", [20], 40),
        (now(OVERTAKEN[1], restores=(50,)), stood(OVERTAKEN, 40), "SOURCE_RESTORED", [20], 40),
        (now(READ[0], restores=(50,)), stood(READ), "SOURCE_RESTORED", [19, 29], 10),
    ],
    ids=["a middle one", "the oldest", "its own", "two", "beside archived ones", "overtaken", "restored to it", "restored"],
)
def test_they_are_refused(
    source: TableState,
    position: HudiPosition,
    code: str,
    gone: list[int],
    standing: int,
    news: tuple[Loaded, ...],
) -> None:
    source = replace(source, instants=(*source.instants, *(i for i, _ in news)), load=lambda instant: a_commit(1)[1])
    error = refusal(source, position)
    assert (error.code, error.details["commits"]) == (code, [at(one) for one in gone])
    assert error.details["standing"] == at(standing)
    assert "--full-refresh" in error.next_step


def test_a_rollback_that_went_to_the_archive_meanwhile() -> None:
    """Its trace is gone with commits that are younger than it, so that these are in the archive."""
    source = now(NEWS, a_commit(90), archived=[READ[0], READ[2], a_commit(55)])
    error = refusal(source, stood(READ))
    assert (error.code, error.details["commits"]) == ("SOURCE_ROLLED_BACK", [at(19)])


def test_one_that_a_full_list_has_dropped() -> None:
    many = [a_commit(n) for n in range(1, MARGIN + 51)]
    position = stood(many, MARGIN + 50)
    assert refusal(now(*many[:4], *many[5:], rollbacks={600: (4,)}), position).details["commits"] == [at(4)]
    assert window(now(*many, rollbacks={600: (MARGIN + 49,)}), position).kind == "idle"
    # A service that was tried again.
    for source in (now(*many, rollbacks={600: (4,)}), now(*many[10:], rollbacks={600: (4,)}, archived=many[:10])):
        assert window(source, position).kind == "idle"


@pytest.mark.parametrize(
    "source",
    [
        now(*READ, NEWS, rollbacks={50: (25,)}),
        now(READ[2], NEWS, rollbacks={50: (25,)}, archived=READ[:2]),
        now(NEWS, rollbacks={50: (25,)}, archived=READ),
        now(READ[2], READ[0], NEWS, archived=[READ[1]]),
        now(*READ, NEWS, rollbacks={50: (19,)}),
        now(*READ, NEWS, restores=(50,)),
        now(READ[2], NEWS, restores=(50,), archived=READ[:2]),
        now(READ[2], NEWS),
        now(*READ, NEWS, rollbacks={25: (19,)}),
        now(*READ, NEWS, rollbacks={50: (79,)}),
        now(*READ, NEWS, retained_from=at(29)),
        now(*READ, NEWS, rollbacks={50: ()}),
    ],
    ids=[
        "a failed write",
        "and archived ones",
        "all archived",
        "archived past a savepoint",
        "a service tried again",
        "restored to what was read",
        "restored and archived",
        "an archive that was deleted",
        "before it was read",
        "of a later one",
        "cleaned",
        "of nothing",
    ],
)
def test_ordinary_timelines_go_on(source: TableState) -> None:
    assert window(source, stood(READ)).requested == (at(79),)


def test_an_idle_tick_leaves_the_archive_closed() -> None:
    source = replace(now(READ[2], rollbacks={50: (25,)}), load_archived=lambda *_: pytest.fail("the archive was opened"))
    assert window(source, stood(READ)).kind == "idle"


def a_lake(source: TableState, checkpoint: Checkpoint, *others: TableState) -> MemoryState:
    target = a_target((990, checkpoint))
    return MemoryState({t.ref.path: t for t in (source, target, *others)})


def by_hand(source: TableState, before: Checkpoint, instant: str | None) -> Checkpoint:
    after = compile_override(a_spec(inputs=()), a_lake(source, before), instant).checkpoint_after
    assert after is not None
    found = decode(encode(after))
    assert found is not None
    return found


class TestByHand:
    def test_at_a_time_between_commits_a_failed_write_is_no_matter(self) -> None:
        before = Checkpoint({MAIN: stood(READ)})
        for instant in (at(25), at(5)):
            set_to = by_hand(now(*READ), before, instant).main
            waiting = tuple(i.requested for i, _ in READ if i.completed > instant)
            assert window(now(*READ, NEWS, rollbacks={50: (3, 24)}), set_to).requested == (*waiting, at(79))

    @pytest.mark.parametrize("source", [now(READ[0], NEWS, rollbacks={50: (19,)}), now(READ[1], NEWS, rollbacks={50: (9,)})])
    def test_what_is_taken_back_after_it_is_refused(self, source: TableState) -> None:
        set_to = by_hand(now(*READ), Checkpoint({MAIN: stood(READ)}), at(20))
        assert refusal(source, set_to.main).code == "SOURCE_ROLLED_BACK"

    def test_what_had_been_taken_back_before_it_is_taken_as_it_is(self) -> None:
        source = now(READ[0], READ[2], NEWS, rollbacks={50: (19,)})
        error = refusal(source, stood(READ))
        set_to = by_hand(source, Checkpoint({MAIN: stood(READ)}), error.details["standing"])
        assert window(source, set_to.main, set_to.seen).requested == (at(79),)

    @pytest.mark.parametrize("instant", [at(10), None], ids=["set back", "reset"])
    def test_what_the_target_had_seen_before_it_was_set_back(self, instant: str | None) -> None:
        after = by_hand(now(*READ), Checkpoint({MAIN: stood(READ)}), instant)
        assert after.seen is not None
        source = now(READ[0], READ[2], NEWS, rollbacks={50: (19,)})
        assert refusal(source, after.main, after.seen).code == "SOURCE_ROLLED_BACK"
        assert pipeline_status(a_spec(inputs=()), a_lake(source, after)).state == "SOURCE_ROLLED_BACK"
        # And the ways out that it names.
        again = by_hand(source, after, instant)
        assert window(source, again.main, again.seen).kind in ("increment", "whole_table")

    def test_a_source_that_cannot_be_read_or_is_not_there_hinders_nobody(self) -> None:
        class Broken(MemoryState):
            def table(self, ref: Any) -> TableState | None:
                if ref == SOURCE:
                    raise StateError("TIMELINE_UNREADABLE", "cut off")
                return super().table(ref)

        found = compile_override(a_spec(inputs=()), Broken({TARGET.path: a_target((990, Checkpoint()))}), at(20))
        assert found.checkpoint_after == Checkpoint({MAIN: HudiPosition(instant=at(20), table=SOURCE.path)})


@pytest.mark.parametrize("one", [DRIVING, LOOKBACK], ids=["drives", "looked back in"])
@pytest.mark.parametrize("set_by_hand", [False, True])
def test_in_an_input(one: InputSpec, set_by_hand: bool) -> None:
    """Setting the main source's position mends nothing of an input."""
    spec = a_spec(inputs=(one,))
    before = Checkpoint({MAIN: stood(READ), "tips": replace(stood(READ), table=TIPS.path)})
    tips = now(READ[0], READ[2], rollbacks={50: (19,)}, ref=TIPS)
    if set_by_hand:
        after = compile_override(spec, a_lake(now(*READ), before, tips), at(30)).checkpoint_after
        assert after is not None
        before = after
    with pytest.raises(StateError) as refused:
        compile_plan(spec, a_lake(now(*READ), before, tips), RunRequest())
    assert (refused.value.code, refused.value.details["input"]) == ("SOURCE_ROLLED_BACK", "tips")
    assert "checkpoint reset earnings" in refused.value.next_step
    kept = now(READ[2], archived=READ[:2], rollbacks={50: (25,)}, ref=TIPS)
    assert compile_plan(spec, a_lake(now(*READ), before, kept), RunRequest()).window.kind == "idle"


@given(
    st.lists(st.sampled_from(["commit", "overtaken", "fail", "take back", "archive", "read", "run"]), min_size=4, max_size=25),
    st.randoms(use_true_random=False),
)
def test_whatever_happens_it_is_refused_just_where_a_commit_that_was_read_is_gone(operations: list[str], draw: Any) -> None:
    """By the rules of Hudi's archiver: the oldest commits by request, and the rollbacks before the newest of them."""
    moment = 1
    commits: list[Loaded] = [a_commit(2, requested=1)]
    archived: list[Loaded] = []
    rollbacks: dict[int, tuple[int, ...]] = {}
    read: dict[str, bool] = {}
    position: HudiPosition | None = None
    for operation in operations:
        moment += 6
        if operation == "commit":
            commits.append(a_commit(moment + 1, requested=moment))
        elif operation == "overtaken":
            commits += [a_commit(moment + 5, requested=moment), a_commit(moment + 4, requested=moment + 1)]
        elif operation == "fail":
            rollbacks[moment + 3] = (moment,)
        elif operation == "take back" and len(commits) > 1:
            gone = draw.choice(commits)
            commits.remove(gone)
            rollbacks[moment] = (int(gone[0].requested[-3:]),)
        elif operation == "archive" and len(commits) > 2:
            # By a commit that has just been made.
            commits.append(a_commit(moment + 1, requested=moment))
            for _ in range(2):
                oldest = min(commits, key=lambda one: one[0].requested)
                commits.remove(oldest)
                archived.append(oldest)
            newest = int(archived[-1][0].requested[-3:])
            rollbacks = {done: taken for done, taken in rollbacks.items() if done >= newest}
        elif operation in ("read", "run"):
            if operation == "run":
                commits.append(a_commit(moment + 1, requested=moment))
            source = now(*commits, rollbacks=rollbacks, archived=archived)
            there = {i.requested for i, _ in (*commits, *archived)}
            wrong = [one for one in read if one not in there]
            code = ""
            try:
                found = window(source, position)
            except StateError as error:
                code = error.code
            if code:
                # Of so short a history the newest commit may be in the archive.
                assert code in (("SOURCE_ROLLED_BACK", "SOURCE_REPLACED") if wrong else ("CHECKPOINT_EXPIRED",))
                return
            # An idle tick moves nothing, and looks at the archive where something in the timeline tells it to.
            assert not wrong or (found.kind == "idle" and archived)
            if found.kind != "idle":
                position = position_at(source, found.end_inclusive, position if found.kind == "increment" else None)
                read |= {i.requested: True for i in source.commits if i.completed <= position.instant}
