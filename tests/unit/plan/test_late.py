"""Commits that are named in the past: they come after the checkpoint was taken, and their times lie before it.

Of the kind: a writer's clock that is behind, the hour that comes twice in a LOCAL timeline, two commits that complete in the
other order than their times; of the source and of an input that drives; one that brought rows, deleted or replaced some.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint, decode, encode
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.sources.hudi.look.late import MARGIN, position_at
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import NONE_KNOWN, HudiPosition, Known
from freshet.sources.hudi.reads import ReadIncrement
from freshet.status.status import pipeline_status
from freshet.types.columns import Atomic, Column
from tests.kit.memory import SOURCE, Loaded, a_commit, a_source_spec, a_spec, a_table_spec, a_table_state, a_target, at
from tests.unit.plan.test_inputs import DRIVING, TIPS

READ = [a_commit(10), a_commit(50), a_commit(90)]
CDC = {"records_changes": True}
CDC_SPEC = {"incremental_format": "latest_state"}


def stood(*commits: Loaded, upto: int = 90, **config: Any) -> HudiPosition:
    """Return the position of a run that saw these commits."""
    return position_at(a_table_state(commits or READ, **config), at(upto), None)


def window(source: TableState, position: HudiPosition, **spec: Any) -> Any:
    return next_window("earnings", source, a_source_spec(**spec), position)


def plan_of(table: TableState, position: HudiPosition, **spec: Any) -> Plan:
    state = MemoryState({SOURCE.path: table, "/lake/derived/earnings": a_target((990, Checkpoint({MAIN: position})))})
    return compile_plan(a_spec(inputs=(), **spec), state, RunRequest())


@pytest.mark.parametrize(
    ("late", "news"),
    [
        ([a_commit(60)], []),
        ([a_commit(60)], [a_commit(95)]),
        ([a_commit(5), a_commit(60), a_commit(70)], [a_commit(95)]),
        ([a_commit(60, requested=58), a_commit(60, requested=59)], []),
        ([a_commit(90, requested=70)], []),
        ([a_commit(60, operation="INSERT_OVERWRITE", action="replacecommit")], []),
    ],
    ids=["behind", "and one that is not", "three, one before all", "in one moment", "in its own moment", "replaces"],
)
def test_they_are_read_once_and_the_position_stays_or_goes_on(late: list[Loaded], news: list[Loaded]) -> None:
    source = a_table_state([*READ, *late, *news])
    plan = plan_of(source, stood(), source={"max_commits": 1})
    assert plan.window.requested == tuple(i.requested for i, _ in sorted(late, key=lambda pair: pair[0]))
    assert plan.window.late == plan.window.requested
    assert (plan.window.end_inclusive, plan.window.waiting_commits) == (at(90), len(news))
    assert "COMMIT_IN_THE_PAST" in [notice.code for notice in plan.notices]
    after = plan.checkpoint_after
    assert after is not None
    (read,) = [stage for stage in plan.stages if isinstance(stage, ReadIncrement)]
    assert not read.window.whole_files
    # What the commit remembers is what the next run finds.
    then = decode(encode(after))
    assert then is not None
    assert then.main is not None
    assert window(source, then.main).requested == tuple(i.requested for i, _ in news)


def test_status_counts_them() -> None:
    state = MemoryState(
        {
            SOURCE.path: a_table_state([*READ, a_commit(60, rows=7)]),
            "/lake/derived/earnings": a_target((990, Checkpoint({MAIN: stood()}))),
        }
    )
    found = pipeline_status(a_spec(inputs=()), state)
    assert (found.state, found.commits_behind, found.rows_behind, found.minutes_behind) == ("behind", 1, 7, 0.0)


@pytest.mark.parametrize(
    "late",
    [
        a_commit(60, deletes=3),
        a_commit(60, action="replacecommit", operation="INSERT_OVERWRITE"),
    ],
    ids=["deleted", "replaced"],
)
def test_what_they_deleted_cannot_be_told_and_is_refused_where_deletes_are_passed_on(late: Loaded) -> None:
    """Hudi's versions go by times: none shows the rows as they stood before such a commit."""
    source = a_table_state([*READ, late], **CDC)
    with pytest.raises(StateError) as refused:
        plan_of(source, stood(), target=with_deletes())
    assert (refused.value.code, refused.value.details["commits"]) == ("COMMIT_IN_THE_PAST", [late[0].requested])
    assert "Nothing was" in refused.value.effect
    plan = plan_of(source, stood(), source=CDC_SPEC)
    assert plan.window.requested == (late[0].requested,)
    # Deletes of others are found by versions that hold it, and so it is no hindrance where it brought rows alone.
    source = a_table_state([*READ, a_commit(60), a_commit(95, deletes=1)], **CDC)
    assert plan_of(source, stood(), target=with_deletes()).window.requested == (at(59), at(94))


def with_deletes() -> Any:
    return a_table_spec(columns=(*a_table_spec().columns, Column(name=IS_DELETED, type=Atomic("boolean"))))


@pytest.mark.parametrize(
    "source",
    [
        a_table_state([*READ[1:], a_commit(95)], archived=READ[:1]),
        a_table_state([a_commit(95)], archived=READ),
        a_table_state([*READ, a_commit(95)], archived=[a_commit(30), a_commit(60)]),
        a_table_state([*READ, a_commit(95)], retained_from=at(89)),
        a_table_state([a_commit(95), *READ, a_commit(60, action="replacecommit", operation="CLUSTER")]),
        a_table_state([a_commit(95), *READ, a_commit(60, operation="COMPACT")], table_type="MERGE_ON_READ"),
        a_table_state(
            [a_commit(95), *READ, a_commit(60, action="deltacommit", operation="LOG_COMPACT")], table_type="MERGE_ON_READ"
        ),
        a_table_state([a_commit(95), *READ[:2]], archived=[READ[2]]),
        a_table_state([a_commit(95), READ[2]], archived=[*READ[:2], a_commit(70, operation="CLUSTER", action="replacecommit")]),
    ],
    ids=[
        "archived",
        "all archived",
        "archived before it was first read",
        "cleaned",
        "clustering",
        "compaction",
        "of logs",
        "not in order",
        "archived clustering",
    ],
)
def test_archiving_cleaning_and_services_are_no_late_commits(source: TableState) -> None:
    found = window(source, stood())
    assert (found.kind, found.requested, found.late) == ("increment", (at(94),), ())


def test_one_that_is_archived_or_cleaned_already_is_a_gap() -> None:
    """The archive goes by request times, so that a commit of an hour ago may go there before anybody has seen it."""
    then = position_at(a_table_state([*READ, a_commit(100)]), at(100), stood())
    for source in (
        a_table_state([*READ, a_commit(100), a_commit(110)], archived=[a_commit(95)]),
        a_table_state([*READ, a_commit(100), a_commit(95)], retained_from=at(99)),
    ):
        with pytest.raises(StateError) as refused:
            window(source, then)
        assert (refused.value.code, refused.value.details["first_lost"]) == ("CHECKPOINT_EXPIRED", at(95))
        assert window(source, then, full_scan_when_expired=True).kind == "whole_table"


def test_after_a_whole_read_the_archive_is_no_gap_for_ever() -> None:
    source = a_table_state([*READ, a_commit(100), a_commit(110)], archived=[a_commit(95)])
    then = position_at(a_table_state([*READ, a_commit(100)]), at(100), stood())
    after = plan_of(source, then, source={"full_scan_when_expired": True}).checkpoint_after
    assert after is not None
    assert after.main is not None
    grown = a_table_state([*READ, a_commit(100), a_commit(110), a_commit(120)], archived=[a_commit(95)])
    assert window(grown, after.main).requested == (at(119),)


@pytest.mark.parametrize(
    "position",
    [HudiPosition(instant=at(90), table=SOURCE.path), HudiPosition(instant=at(89), basis="requested")],
    ids=["set", "V1"],
)
def test_a_position_that_knows_no_commits_goes_on_as_it_did(position: HudiPosition) -> None:
    """Written before positions knew any, set by hand, or HoodieStreamer's."""
    assert window(a_table_state([*READ, a_commit(60)]), position).kind == "idle"
    assert encode(Checkpoint({MAIN: position}))["streamer.freshet.checkpoint"].count("known") == 0


def test_a_position_knows_a_margin_of_the_newest_and_no_more() -> None:
    many = a_table_state([a_commit(n) for n in range(1, MARGIN + 51)])
    position = position_at(many, at(MARGIN + 50), None)
    assert (len(position.known.commits), position.known.since) == (MARGIN, at(MARGIN + 50))
    assert window(many, position).kind == "idle"
    grown = replace(many, instants=(*many.instants, a_commit(MARGIN, requested=0)[0]), load=lambda instant: a_commit(1)[1])
    assert window(grown, position).late == (at(0),)
    # Of what it has dropped since, the archive may hold more.
    more = position_at(a_table_state([a_commit(n) for n in range(100, 400)]), at(399), stood(a_commit(100), upto=100))
    assert (len(more.known.commits), more.known.since) == (MARGIN, at(399 - MARGIN))


@given(
    st.lists(
        st.tuples(st.integers(1, 900), st.booleans(), st.booleans()), min_size=2, max_size=12, unique_by=lambda drawn: drawn[0]
    ),
    st.integers(1, 3),
)
def test_every_commit_is_read_once_in_whatever_order_they_appear(drawn: list[tuple[int, bool, bool]], most: int) -> None:
    """Runs between appearances that go by no order; some commits are archived, in the order of requests, once they are read."""
    position: Any = None
    read: list[str] = []
    there: list[Loaded] = []
    archived: list[Loaded] = []
    for moment, runs, archives in [(500, True, False), *(one for one in drawn if one[0] != 500), (990, True, False)]:
        there.append(a_commit(moment))
        while runs:
            found = next_window("p", a_table_state(there, archived=archived), a_source_spec(max_commits=most), position)
            if found.kind == "idle":
                break
            read += [r for r in found.requested if found.kind == "increment"] or [i.requested for i, _ in there]
            began = position if found.kind == "increment" else None
            position = position_at(a_table_state(there), found.end_inclusive, began)
        if archives and runs:
            first = min(there, key=lambda pair: pair[0].requested)
            if first[0].completed < position.instant:
                archived.append(first)
                there.remove(first)
    assert sorted(read) == sorted(i.requested for i, _ in (*there, *archived))


class TestOfAnInputThatDrives:
    def planned(self, *late: Loaded) -> Plan:
        source = a_table_state(READ)
        tips = a_table_state([*READ, *late], ref=TIPS)
        known = position_at(a_table_state(READ, ref=TIPS), at(90), None)
        target = a_target((990, Checkpoint({MAIN: stood(), "tips": known})))
        state = MemoryState({SOURCE.path: source, TIPS.path: tips, "/lake/derived/earnings": target})
        return compile_plan(a_spec(inputs=(DRIVING,)), state, RunRequest())

    def test_it_drives(self) -> None:
        plan = self.planned(a_commit(60))
        assert (plan.window.kind, plan.window.end_inclusive) == ("driven", at(90))
        assert [notice.code for notice in plan.notices] == ["COMMIT_IN_THE_PAST"]
        assert plan.checkpoint_after is not None
        known = plan.checkpoint_after.positions["tips"].known
        assert ((at(59), at(60)) in known.commits, plan.checkpoint_after.positions["tips"].instant) == (True, at(90))
        assert self.planned().window.kind == "idle"

    def test_where_its_rows_may_have_named_others_before_it_is_refused(self) -> None:
        with pytest.raises(StateError) as refused:
            self.planned(a_commit(60, deletes=1))
        assert refused.value.code == "COMMIT_IN_THE_PAST"


@pytest.mark.parametrize(
    "known",
    [
        {"since": "", "commits": []},
        {"since": at(9), "commits": [at(9)]},
        {"since": at(9), "commits": "x"},
        {"commits": []},
        [],
    ],
)
def test_what_a_position_knows_is_commits_or_it_is_no_checkpoint(known: object) -> None:
    text = encode(Checkpoint({MAIN: stood()}))["streamer.freshet.checkpoint"]
    raw = json.loads(text)
    raw["positions"][MAIN]["known"] = known
    with pytest.raises(StateError) as refused:
        decode({"streamer.freshet.checkpoint": json.dumps(raw)})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"
    assert Known() == NONE_KNOWN
