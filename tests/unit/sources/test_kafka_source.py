"""A pipeline over topics is planned, described and told where it is, over a cluster in memory: no JVM, no network.

Beside test_another_kind.py, which holds the plan to the interface: what here is Kafka's own.
"""

from __future__ import annotations

from typing import Any

import pytest

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.events.event import Event
from freshet.events.kinds import LagObserved
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Commit, Plan
from freshet.project.model.checks import CheckSpec, MalformedRule
from freshet.project.model.pipeline import InputSpec
from freshet.run.telling import tell_plan
from freshet.sources.hudi.reads import ReadRange
from freshet.sources.kafka import source as source_module
from freshet.sources.kafka.look.by_hand import text_by_hand
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.sources.kafka.source import KafkaSource
from freshet.sources.registry import source_of
from freshet.status.status import pipeline_status
from tests.kit.memory import CITIES, a_commit, a_spec, a_table_state, a_target
from tests.kit.topics import NOW, MemoryBroker, a_position, a_topic_spec

TABLE = a_table_state([a_commit(3)], ref=CITIES)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> MemoryBroker:
    held = MemoryBroker({("orders", 0): (0, 10), ("orders", 1): (0, 4)})
    monkeypatch.setattr(source_module, "open_broker", lambda topics: held)
    return held


def lake(target: TableState | None = None) -> MemoryState:
    return MemoryState({t.ref.path: t for t in (TABLE, target) if t is not None})


def planned(target: TableState | None = None, source: Any = None, full_refresh: bool = False, **changes: Any) -> Plan:
    spec = a_spec(source=source or a_topic_spec(), **changes)
    return compile_plan(spec, lake(target), RunRequest(full_refresh=full_refresh))


def at_offsets(offsets: dict[int, int]) -> TableState:
    return a_target((1, Checkpoint({MAIN: a_position(orders=offsets)})))


def committed(plan: Plan) -> TableState:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return a_target(extra=dict(commit.metadata))


def read_of(plan: Plan) -> ReadTopics:
    stage = plan.stages[0]
    assert isinstance(stage, ReadTopics)
    return stage


def code(target: TableState | None = None, **changes: Any) -> str:
    with pytest.raises(FreshetError) as refused:
        planned(target, **changes)
    return refused.value.code


def test_runs_go_on_from_the_offsets_that_the_commit_before_carries(cluster: MemoryBroker) -> None:
    source = a_topic_spec(max_events=6)
    first = planned(source=source)
    assert read_of(first).ranges == (Range("orders", 0, 0, 3), Range("orders", 1, 0, 3))
    assert first.checkpoint_after == Checkpoint({MAIN: a_position(orders={0: 3, 1: 3})})
    second = planned(committed(first), source=source)
    assert read_of(second).ranges == (Range("orders", 0, 3, 8), Range("orders", 1, 3, 4))
    third = planned(committed(second), source=source)
    assert read_of(third).ranges == (Range("orders", 0, 8, 10),)
    idle = planned(committed(third), source=source)
    assert (idle.window.kind, idle.stages) == ("idle", ())


def test_an_idle_tick_asks_the_cluster_once(cluster: MemoryBroker) -> None:
    planned(at_offsets({0: 10, 1: 4}))
    assert cluster.asked == 1


def test_the_plan_shows_offsets_and_no_password(cluster: MemoryBroker) -> None:
    source = a_topic_spec(client={"bootstrap.servers": "b:1", "sasl.jaas.config": "geheim"})
    plan = planned(at_offsets({0: 7, 1: 4}), source=source)
    text = plan_text(plan)
    assert "offsets orders,0:7,1:4 up to orders,0:10,1:4" in text
    assert "orders,0:7,1:4 -> orders,0:10,1:4" in text
    assert "geheim" not in text
    stage = plan_json(plan)["stages"][0]
    assert list(stage["ranges"]) == [{"topic": "orders", "partition": 0, "begin": 7, "end": 10}]
    assert stage["client"] == {"bootstrap.servers": "b:1"}
    assert "geheim" not in repr(read_of(plan))


def test_a_run_that_starts_at_the_latest_commits_a_checkpoint_without_rows(cluster: MemoryBroker) -> None:
    plan = planned(source=a_topic_spec(reset="latest"))
    assert plan.checkpoint_after == Checkpoint({MAIN: a_position(orders={0: 10, 1: 4})})
    assert [type(stage) for stage in plan.stages] == [Commit]


def test_a_full_refresh_reads_all_that_was_ever_written_or_nothing(cluster: MemoryBroker) -> None:
    plan = planned(at_offsets({0: 7, 1: 4}), full_refresh=True)
    assert (plan.window.kind, plan.window.rows) == ("whole_table", 14)
    assert read_of(plan).ranges == (Range("orders", 0, 0, 10), Range("orders", 1, 0, 4))
    cluster.parts["orders", 0] = (2, 10)
    assert code(at_offsets({0: 7, 1: 4}), full_refresh=True) == "TOPIC_TRIMMED"


def test_what_cannot_be_decoded_goes_to_the_quarantine_where_a_check_sends_it_there(cluster: MemoryBroker) -> None:
    def rule(severity: Any) -> str:
        check = CheckSpec(name="decoded", rule=MalformedRule(), severity=severity, line=1)
        return read_of(planned(checks=(check,))).rule

    assert (rule("drop"), rule("fail")) == ("decoded", "")
    assert read_of(planned()).rule == ""


def test_what_topics_cannot_do_is_refused_by_code(cluster: MemoryBroker) -> None:
    as_of = InputSpec(name="c", table=CITIES, read="snapshot", line=7, as_of="checkpoint")
    assert code(at_offsets({0: 7, 1: 4}), inputs=(as_of,)) == "TOPIC_HAS_NO_VERSIONS"
    source = source_of(a_spec(source=a_topic_spec()), lake())
    assert isinstance(source, KafkaSource)
    with pytest.raises(StateError) as refused:
        source.look_whole("orders,0:1")
    assert refused.value.code == "TOPIC_HAS_NO_VERSIONS"


def chunk_of(event_time: str, start: str = "2027-01-15T07:59:00") -> ReadTopics:
    """Return what a backfill of five minutes reads."""
    times = ReadRange(view=MAIN, table=TABLE.ref, as_of="", column=event_time, start=start, end="2027-01-15T08:04:00")
    stage = source_of(a_spec(source=a_topic_spec()), lake()).read_range(times)
    assert isinstance(stage, ReadTopics)
    assert stage.times == times
    return stage


def test_a_backfill_by_kafkas_time_begins_where_the_time_index_says(cluster: MemoryBroker) -> None:
    cluster.times = {("orders", 0): {2: NOW - 61_000, 3: NOW - 5000, 4: NOW - 9000}, ("orders", 1): {0: NOW - 90_000}}
    # Not up to the first record behind the range: a producer's clock may go back.
    assert chunk_of("_kafka.timestamp").ranges == (Range("orders", 0, 3, 10),)
    assert chunk_of("updated_at").ranges == (Range("orders", 0, 0, 10), Range("orders", 1, 0, 4))


def test_a_backfill_of_what_may_be_gone_is_refused(cluster: MemoryBroker) -> None:
    cluster.parts = {("orders", 0): (2, 10), ("orders", 1): (0, 4)}
    cluster.times = {("orders", 0): {2: NOW - 61_000, 3: NOW - 5000}, ("orders", 1): {0: NOW - 5000}}
    assert chunk_of("_kafka.timestamp").ranges == (Range("orders", 0, 3, 10), Range("orders", 1, 0, 4))
    for column, start in (("updated_at", "2027-01-15T07:59:00"), ("_kafka.timestamp", "2027-01-15T07:58:00")):
        with pytest.raises(StateError) as refused:
            chunk_of(column, start)
        assert refused.value.code == "TOPIC_TRIMMED"


def test_a_topic_that_is_not_there_is_said_with_its_cluster(cluster: MemoryBroker) -> None:
    cluster.parts = {("trips", 0): (0, 1)}
    cluster.parts.clear()
    assert code() == "SOURCE_MISSING"
    found = pipeline_status(a_spec(source=a_topic_spec()), lake())
    assert (found.state, found.message) == ("SOURCE_MISSING", "no topic orders at 127.0.0.1:9092")


def test_status_shows_the_lag_in_records_and_the_age_of_the_oldest(cluster: MemoryBroker) -> None:
    cluster.times = {("orders", 0): {7: NOW - 90_000, 8: NOW - 500}, ("orders", 1): {1: NOW - 30_000}}
    found = pipeline_status(a_spec(source=a_topic_spec()), lake(at_offsets({0: 7, 1: 4})))
    assert (found.state, found.checkpoint, found.commits_behind, found.rows_behind) == ("behind", "orders,0:7,1:4", 0, 3)
    assert found.minutes_behind == 1.5
    done = pipeline_status(a_spec(source=a_topic_spec()), lake(at_offsets({0: 10, 1: 4})))
    assert (done.state, done.rows_behind, done.minutes_behind) == ("up_to_date", 0, 0.0)
    # A producer's clock that is ahead.
    cluster.times = {("orders", 0): {7: NOW + 90_000}}
    assert pipeline_status(a_spec(source=a_topic_spec()), lake(at_offsets({0: 7, 1: 4}))).minutes_behind == 0.0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (" Earliest ", "earliest"),
        ("latest", "latest"),
        ("orders,1:4,0:12", "orders,0:12,1:4"),
        ("2026-08-01T10:15:00Z", "2026-08-01T10:15:00.000Z"),
        ("2026-08-01 12:15:00.5+02:00", "2026-08-01T10:15:00.500Z"),
        ("2026-08-01", "2026-08-01T00:00:00.000Z"),
    ],
)
def test_a_position_by_hand_has_one_form(text: str, normal: str) -> None:
    assert text_by_hand(text) == normal
    assert text_by_hand(normal) == normal


@pytest.mark.parametrize("text", ["", "yesterday", "20260801101500000", "20260801", "orders", "orders,0:1,0:2"])
def test_other_texts_are_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="orders,0:12,1:40"):
        text_by_hand(text)


def test_a_position_is_set_by_offsets_by_a_time_and_by_an_end(cluster: MemoryBroker) -> None:
    cluster.times = {("orders", 0): {3: NOW - 5000, 4: NOW - 9000, 5: NOW}}
    spec = a_spec(source=a_topic_spec())

    def set_to(text: str | None) -> Checkpoint | None:
        return compile_override(spec, lake(at_offsets({0: 2, 1: 2})), text).checkpoint_after

    assert set_to("orders,0:5,1:3") == Checkpoint({MAIN: a_position(orders={0: 5, 1: 3})})
    assert set_to("latest") == Checkpoint({MAIN: a_position(orders={0: 10, 1: 4})})
    # The first record of the time or a later one; of a partition that has none, its end.
    assert set_to("2027-01-15T07:59:54.000Z") == Checkpoint({MAIN: a_position(orders={0: 3, 1: 4})})
    back = set_to("earliest")
    assert back == Checkpoint({MAIN: a_position(orders={0: 0, 1: 0})}, a_position(orders={0: 2, 1: 2}))
    assert set_to(None) == Checkpoint({}, a_position(orders={0: 2, 1: 2}))


@pytest.mark.parametrize("text", ["orders,0:5", "orders,0:5,1:3,2:0", "trips,0:1"])
def test_offsets_that_leave_a_partition_out_are_refused(cluster: MemoryBroker, text: str) -> None:
    with pytest.raises(StateError) as refused:
        compile_override(a_spec(source=a_topic_spec()), lake(at_offsets({0: 2, 1: 2})), text)
    assert refused.value.code == "OFFSETS_INCOMPLETE"


def test_offsets_behind_the_end_are_refused(cluster: MemoryBroker) -> None:
    source = source_of(a_spec(source=a_topic_spec()), lake())
    source.refuse_ahead("orders,0:10,1:4")
    for text in ("latest", "2027-01-15T07:59:54.000Z"):
        source.refuse_ahead(text)
    with pytest.raises(StateError) as refused:
        source.refuse_ahead("orders,0:11,1:4")
    assert refused.value.code == "CHECKPOINT_AHEAD"


def test_offsets_can_be_set_before_the_topic_is_there_and_a_time_cannot(cluster: MemoryBroker) -> None:
    cluster.parts.clear()
    spec = a_spec(source=a_topic_spec())
    after = compile_override(spec, lake(at_offsets({0: 2})), "orders,0:5").checkpoint_after
    assert after == Checkpoint({MAIN: a_position(orders={0: 5}, ids={})})
    with pytest.raises(StateError) as refused:
        compile_override(spec, lake(at_offsets({0: 2})), "earliest")
    assert refused.value.code == "SOURCE_MISSING"


def test_a_groups_offsets_are_set_after_a_commit_and_a_failure_is_only_said(
    cluster: MemoryBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = a_position(orders={0: 7, 1: 4})
    spec = a_spec(source=a_topic_spec(group="earnings"))
    assert source_module.KIND.published(spec, position) == ""
    assert cluster.published == {"earnings": {("orders", 0): 7, ("orders", 1): 4}}
    assert source_module.KIND.published(a_spec(source=a_topic_spec()), position) == ""

    def away(topics: object) -> MemoryBroker:
        raise RetryableError("KAFKA_UNREACHABLE", "gone", "Nothing was read.", "")

    monkeypatch.setattr(source_module, "open_broker", away)
    assert "KAFKA_UNREACHABLE" in source_module.KIND.published(spec, position)


def test_a_run_tells_how_many_records_wait(cluster: MemoryBroker) -> None:
    events = list[Event]()
    plan = planned(at_offsets({0: 7, 1: 4}), source=a_topic_spec(max_events=1), inputs=())
    tell_plan(events.append, a_spec(source=a_topic_spec(), inputs=()), plan, lake())
    found = [(one.input, one.commits, one.rows, one.seconds) for one in events if isinstance(one, LagObserved)]
    assert found == [("kafka:orders", 0, 3, None)]
    assert [one.message for one in events if isinstance(one, LagObserved)] == ["kafka:orders: 3 rows wait"]
