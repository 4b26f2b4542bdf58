"""A pipeline over a source that is no Hudi table is planned, described, and goes on from its checkpoint.

The kind: whatever the plan, the status or a backfill takes for granted of Hudi's timeline fails here, because there is none.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import compile_chunk, plan_backfill
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, STREAMER_V2_KEY, Checkpoint, decode, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Commit, Plan
from freshet.project.model.pipeline import InputSpec
from freshet.project.model.steps import BackfillSpec
from freshet.sources import encodings, registry
from freshet.sources.hudi.read.held import hold_plan
from freshet.sources.hudi.reads import ReadIncrement, ReadLookback, ReadPartitions, ReadSnapshot
from freshet.status.status import pipeline_status
from tests.kit.memory import CITIES, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at
from tests.unit.sources.numbers_source import ENCODING, KIND, NumberPosition, Queue, a_number_spec

TABLE = a_table_state([a_commit(3)], ref=CITIES)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    held = Queue(last=7)
    monkeypatch.setitem(encodings.ENCODINGS, KIND, ENCODING)
    monkeypatch.setitem(registry.KINDS, KIND, held.kind)
    return held


def numbers(**changes: Any) -> Any:
    return a_spec(**{"source": a_number_spec(), **changes})


def lake(target: TableState | None = None) -> MemoryState:
    return MemoryState({t.ref.path: t for t in (TABLE, target) if t is not None})


def planned(target: TableState | None = None, full_refresh: bool = False, **changes: Any) -> Plan:
    return compile_plan(numbers(**changes), lake(target), RunRequest(full_refresh=full_refresh))


def committed(plan: Plan) -> TableState:
    """Return the target after a plan's commit."""
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return a_target(extra=dict(commit.metadata))


def at_number(number: int) -> TableState:
    return a_target((1, Checkpoint({MAIN: NumberPosition(number)})))


def code(target: TableState | None = None, **changes: Any) -> str:
    with pytest.raises(FreshetError) as refused:
        planned(target, **changes)
    return refused.value.code


def test_runs_go_on_from_the_position_that_the_commit_before_carries(queue: Queue) -> None:
    first = planned()
    assert (first.window.kind, first.first_run, first.checkpoint_before) == ("whole_table", True, None)
    assert first.checkpoint_after == Checkpoint({MAIN: NumberPosition(7)})
    assert [type(stage) for stage in first.stages[:2]] == [ReadIncrement, ReadSnapshot]
    queue.last = 20
    second = planned(committed(first))
    assert second.checkpoint_before == first.checkpoint_after
    assert (second.window.begin_inclusive, second.window.end_inclusive, second.window.rows) == ("8", "12", 5)
    third = planned(committed(second))
    assert (third.window.begin_inclusive, third.checkpoint_after) == ("13", Checkpoint({MAIN: NumberPosition(17)}))
    idle = planned(at_number(20))
    assert (idle.window.kind, idle.stages) == ("idle", ())


def test_a_plan_is_described_in_the_sources_own_words(queue: Queue) -> None:
    queue.last = 12
    plan = planned(at_number(7))
    text = plan_text(plan)
    assert "numbers 8 to 12" in text
    assert "number 7 -> number 12" in text
    assert plan_json(plan)["checkpoint_after"] == {
        "version": 1,
        "positions": {"SRC": {"kind": "memory", "version": 2, "number": 12, "queue": "trips"}},
    }


def test_a_commit_keeps_the_position_in_its_own_form_with_its_version(queue: Queue) -> None:
    found = encode(Checkpoint({MAIN: NumberPosition(7, "rides"), "cities": a_checkpoint(5).positions[MAIN]}))
    positions = json.loads(found[CHECKPOINT_KEY])["positions"]
    assert positions["SRC"] == {"kind": "memory", "version": 2, "number": 7, "queue": "rides"}
    assert positions["cities"]["kind"] == "hudi"
    assert found[STREAMER_V2_KEY] == "rides,7"
    assert decode(found) == Checkpoint({MAIN: NumberPosition(7, "rides"), "cities": a_checkpoint(5).positions[MAIN]})


def test_a_position_of_an_older_version_goes_up_the_ladder_of_its_kind(queue: Queue) -> None:
    for older in ({"kind": "memory", "version": 1, "number": 7}, {"kind": "memory", "number": 7}):
        found = decode({CHECKPOINT_KEY: json.dumps({"version": 1, "positions": {MAIN: older}})})
        assert found == Checkpoint({MAIN: NumberPosition(7, "trips")})


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ({"version": 3, "number": 7}, "CHECKPOINT_TOO_NEW"),
        ({"version": 0, "number": 7}, "CHECKPOINT_UNREADABLE"),
        ({"version": "2", "number": 7}, "CHECKPOINT_UNREADABLE"),
        ({"version": True, "number": 7}, "CHECKPOINT_UNREADABLE"),
        ({"version": 2, "number": "7", "queue": "trips"}, "CHECKPOINT_UNREADABLE"),
        ({"version": 2, "number": 7}, "CHECKPOINT_UNREADABLE"),
    ],
)
def test_a_position_that_its_kind_does_not_read_is_refused(queue: Queue, position: dict[str, Any], expected: str) -> None:
    kept = a_target(extra={CHECKPOINT_KEY: json.dumps({"version": 1, "positions": {MAIN: {"kind": "memory", **position}}})})
    assert code(kept) == expected


def test_streamers_checkpoint_is_read_by_the_kind_that_knows_it(queue: Queue) -> None:
    assert decode({STREAMER_V2_KEY: "rides,7"}) == Checkpoint({MAIN: NumberPosition(7, "rides")})
    assert decode({STREAMER_V2_KEY: at(7)}) == Checkpoint({MAIN: a_checkpoint(7, table="").positions[MAIN]})
    with pytest.raises(FreshetError) as refused:
        decode({STREAMER_V2_KEY: "file:a.csv"})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"


def test_a_position_set_by_hand_is_the_kinds_and_what_was_read_before_is_kept(queue: Queue) -> None:
    after = compile_override(numbers(), lake(at_number(7)), "3").checkpoint_after
    assert after == Checkpoint({MAIN: NumberPosition(3)}, NumberPosition(7))
    plan = planned(a_target((1, after)))
    assert (plan.window.begin_inclusive, plan.checkpoint_after) == ("4", Checkpoint({MAIN: NumberPosition(7)}))
    assert compile_override(numbers(), lake(at_number(7)), None).checkpoint_after == Checkpoint({}, NumberPosition(7))


def test_a_full_refresh_reads_all_of_it(queue: Queue) -> None:
    plan = planned(at_number(3), full_refresh=True)
    assert (plan.window.kind, plan.checkpoint_after) == ("whole_table", Checkpoint({MAIN: NumberPosition(7)}))


def test_other_inputs_are_read_as_far_as_they_need_no_timeline_of_it(queue: Queue) -> None:
    queue.last = 9
    by_partition = InputSpec(name="cities", table=CITIES, read="affected_partitions", line=7, on=(("day", ("day",)),))
    stage = planned(at_number(7), inputs=(by_partition,)).stages[1]
    assert isinstance(stage, ReadPartitions)
    assert stage.known is None
    back = InputSpec(name="cities", table=CITIES, read="incremental", line=7, lookback_seconds=60)
    plan = planned(at_number(7), inputs=(back,))
    stage = plan.stages[1]
    assert isinstance(stage, ReadLookback)
    assert stage.window.kind == "whole_table"
    assert plan.checkpoint_after is not None
    assert plan.checkpoint_after.positions["cities"].text == at(3)
    assert code(at_number(7), inputs=(InputSpec(name="c", table=CITIES, read="snapshot", line=7, as_of="checkpoint"),)) == (
        "NO_VERSIONS"
    )


def test_a_source_that_is_not_there_or_has_expired_is_refused_by_code(queue: Queue) -> None:
    queue.last, queue.dropped = 9, 8
    assert code(at_number(3)) == "CHECKPOINT_EXPIRED"
    queue.last = None
    assert code() == "SOURCE_MISSING"
    found = pipeline_status(numbers(), lake())
    assert (found.state, found.message) == ("SOURCE_MISSING", "no queue at memory:trips")


def test_status_shows_how_far_it_has_gone_on(queue: Queue) -> None:
    found = pipeline_status(numbers(), lake(at_number(3)))
    assert (found.state, found.checkpoint, found.commits_behind, found.horizon) == ("behind", "3", 4, "1")


def test_a_backfill_reads_its_newest_version(queue: Queue) -> None:
    how = BackfillSpec(event_time={"SRC": "updated_at"}, partition="day", granularity="day", write="upsert")
    options = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
    spec = numbers(backfill=how, write_options=options)
    plan = plan_backfill(spec, lake(at_number(3)), BackfillRequest(start=datetime(2026, 1, 5), end=datetime(2026, 1, 6)))
    chunk = compile_chunk(spec, lake(at_number(3)), plan, plan.chunks[0].chunk)
    assert chunk.window.end_inclusive == "7"
    assert chunk.stages[0].as_of == "7"  # type: ignore[union-attr]


def test_a_position_in_another_kind_of_source_is_never_gone_on_from(queue: Queue) -> None:
    """The members: the main source, one that was set back by hand, and an input; whoever asks."""
    table = a_table_state([a_commit(3)])
    for vector in (Checkpoint({MAIN: NumberPosition(3)}), Checkpoint({MAIN: NumberPosition(3)}, NumberPosition(5))):
        state = MemoryState({t.ref.path: t for t in (table, TABLE, a_target((1, vector)))})
        with pytest.raises(FreshetError) as refused:
            compile_plan(a_spec(), state, RunRequest())
        assert refused.value.code == "CHECKPOINT_OF_ANOTHER_KIND"
        assert pipeline_status(a_spec(), state).state == "CHECKPOINT_OF_ANOTHER_KIND"
    tips = InputSpec(name="cities", table=CITIES, read="incremental", line=7, lookback_seconds=60)
    vector = Checkpoint({MAIN: a_checkpoint(3).positions[MAIN], "cities": NumberPosition(3)})
    state = MemoryState({t.ref.path: t for t in (table, TABLE, a_target((1, vector)))})
    with pytest.raises(FreshetError) as refused:
        compile_plan(a_spec(inputs=(tips,)), state, RunRequest())
    assert (refused.value.code, refused.value.details["input"]) == ("CHECKPOINT_OF_ANOTHER_KIND", "cities")


def test_a_kind_that_nobody_knows_is_refused_by_code() -> None:
    assert code() == "SOURCE_KIND_UNKNOWN"
    assert pipeline_status(numbers(), lake()).state == "SOURCE_KIND_UNKNOWN"
    kept = a_target(extra={CHECKPOINT_KEY: '{"version":1,"positions":{"SRC":{"kind":"memory","number":7}}}'})
    assert code(kept) == "CHECKPOINT_KIND_UNKNOWN"


def test_files_of_a_table_are_not_looked_for_where_there_is_none(queue: Queue) -> None:
    hold_plan(planned(inputs=()), lake())
