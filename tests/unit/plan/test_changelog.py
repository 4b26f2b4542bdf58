"""A changelog as a plan: what is read, what becomes of it, what guards it, and what is refused.

The kind: a stage that is not whole as data, a table that is read as a target of rows, and a command that would guess.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from freshet.audit.plan import plan_audit
from freshet.audit.request import AuditRequest
from freshet.changelog.adapter import SKIPPED
from freshet.changelog.counts import Counts, Merged, Read, kinds_in
from freshet.changelog.layout import Keeps, Layout, stored_key
from freshet.changelog.producers import record_avro
from freshet.changelog.reference import BinlogPosition, Columns, Given, KafkaOffset, Lsn, MariaDbGtid, MySqlGtid, Reference
from freshet.errors import StateError
from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.table import MemoryState, TableState
from freshet.migration.events import refuse_events
from freshet.migration.plan import compile_copy
from freshet.plan.checks import REPLAYED, CheckBatch
from freshet.plan.compile import RunRequest, compile_bootstrap, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.migrated import a_note
from freshet.plan.replay import compile_replay
from freshet.plan.row_stages import AdaptEvents, EnforceSchema, MergeEvents
from freshet.plan.stages import Commit, Plan
from freshet.project.model.checks import CheckSpec, MalformedRule
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.table import ID
from freshet.sources.hudi.reads import ReadQuarantine
from freshet.sources.kafka import source as source_module
from freshet.sources.kafka.reads import ReadTopics
from freshet.verdict.judge import judge
from freshet.verdict.result import Scope
from tests.kit.events import a_changelog, an_event_spec
from tests.kit.memory import AVRO_TYPES, COLUMNS, a_checkpoint, a_commit, a_source_spec, a_table_state, a_target, at
from tests.kit.topics import MemoryBroker, a_topic_spec

STANDS: dict[str, Any] = {"partition_by": (), "ordering_field": "_event_order"}
CONFORMS = CheckSpec(name="conforms", severity="drop", line=9, rule=MalformedRule())


def lake(target: TableState | None = None, **source: Any) -> MemoryState:
    raw = a_table_state([a_commit(10), a_commit(20)], **source)
    return MemoryState({table.ref.path: table for table in (raw, target) if table is not None})


def planned(spec: PipelineSpec | None = None, target: TableState | None = None, **request: Any) -> Plan:
    return compile_plan(spec or an_event_spec(), lake(target), RunRequest(**request))


def stage_of(plan: Plan, kind: type[Any]) -> Any:
    (found,) = (stage for stage in plan.stages if isinstance(stage, kind))
    return found


def test_events_are_made_held_against_the_ddl_merged_and_committed() -> None:
    plan = planned()
    assert [one["stage"] for one in plan_json(plan)["stages"]] == [
        "read_increment",
        "adapt_events",
        "conform",
        "merge_events",
        "commit",
    ]
    held: EnforceSchema = stage_of(plan, EnforceSchema)
    assert [c.name for c in held.columns] == [*(c.name for c in COLUMNS), "_event"]
    assert (held.required, held.keys) == (("trip_id",), ("trip_id",))
    merge: MergeEvents = stage_of(plan, MergeEvents)
    assert [c.name for c in merge.columns][-3:] == ["_event_state", "_event_deleted", "_event_order"]
    assert (merge.target_exists, merge.partition_by) == (False, ())


def test_the_commit_is_guarded_against_another_one_in_between() -> None:
    plan = planned(target=a_target((15, a_checkpoint(10)), **STANDS))
    assert stage_of(plan, MergeEvents).target_exists
    commit: Commit = stage_of(plan, Commit)
    assert commit.guard is not None
    assert (commit.guard.base, commit.operation) == (at(15), "upsert")
    assert commit.options["hoodie.datasource.write.precombine.field"] == "_event_order"


def test_a_full_refresh_and_a_first_load_merge_into_nothing() -> None:
    plan = planned(target=a_target((22, a_checkpoint(20)), **STANDS), full_refresh=True)
    assert not stage_of(plan, MergeEvents).target_exists
    assert (stage_of(plan, Commit).operation, stage_of(plan, Commit).guard) == ("insert_overwrite_table", None)
    first = compile_bootstrap(an_event_spec(), lake())
    assert not stage_of(first, MergeEvents).target_exists
    assert stage_of(first, Commit).operation == "bulk_insert"


def test_events_that_do_not_conform_go_to_the_quarantine_where_a_check_says_so() -> None:
    assert stage_of(planned(), AdaptEvents).rule == ""
    plan = planned(an_event_spec(checks=(CONFORMS,)), a_target((15, a_checkpoint(10)), **STANDS))
    assert stage_of(plan, AdaptEvents).rule == "conforms"
    checks: CheckBatch = stage_of(plan, CheckBatch)
    # Of an event that is dropped no older row is looked for: the row that stands is not the event's.
    assert (checks.quarantine is not None, checks.located, checks.ordering) == (True, (), "")


def test_a_row_that_is_deleted_from_a_table_of_events_says_nothing_of_the_target() -> None:
    plan = compile_plan(an_event_spec(), lake(properties={"hoodie.table.cdc.enabled": "true"}), RunRequest())
    assert not plan.stages[0].with_deletes  # type: ignore[union-attr]


def test_records_of_a_topic_are_read_as_they_are_whatever_the_checks_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "open_broker", lambda topics: MemoryBroker({("orders", 0): (0, 10)}))
    log = a_changelog(adapter="debezium", is_typed=False, source={"reference": Lsn()})
    spec = an_event_spec(a_topic_spec(format="bytes", tombstones="row", columns=()), log, checks=(CONFORMS,))
    plan = compile_plan(spec, MemoryState({}), RunRequest())
    read: ReadTopics = stage_of(plan, ReadTopics)
    assert (read.format, read.rule, read.tombstones, read.with_deletes) == ("bytes", "", "row", False)
    assert stage_of(plan, AdaptEvents).rule == "conforms"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (BinlogPosition(("mysql-bin",)), "the position in the binary log (mysql-bin)"),
        (MariaDbGtid(0, generation=2), "MariaDB's GTID of domain 0, then the position in its transaction, generation 2"),
        (MySqlGtid(("u", "v"), "total_order"), "MySQL's GTID of 2 servers, then the order that"),
        (Lsn(), "PostgreSQL's log sequence number"),
        (Columns(COLUMNS[2:4]), "the columns rides, updated_at"),
        (Given(), "the event's own reference key, a number"),
        (KafkaOffset(), "the offset in the topic"),
    ],
)
def test_the_plan_says_in_words_and_as_data_what_orders_the_changes(reference: Reference, words: str) -> None:
    layout = Layout(key=("trip_id",), columns=COLUMNS, groups={"money": ("fare",)}, equal="row")
    log = a_changelog(adapter="debezium", is_typed=False, source={"reference": reference, "layout": layout})
    plan = planned(an_event_spec(log=log))
    text = plan_text(plan)
    assert f"make events of <SRC>: debezium, ordered by {words}" in text
    assert (
        "by reference key: row (rides, updated_at, day); money (fare); of two with one reference key the one that has" in text
    )
    told = json.loads(json.dumps(plan_json(plan)))["stages"][1]["changelog"]
    assert told["reference_key"]["kind"] == type(reference).__name__
    assert told["groups"] == {"row": ["rides", "updated_at", "day"], "money": ["fare"]}


def test_the_files_alone_give_the_same_stages() -> None:
    deferred = planned(look_at_tables=False)
    assert [type(one) for one in deferred.stages] == [type(one) for one in planned().stages]


def replayed(spec: PipelineSpec, repairs: tuple[tuple[str, str], ...] = ()) -> Plan:
    told = {PIPELINE_KEY: spec.name, ORIGIN_KEY: "run", RUN_ID_KEY: "r1"}
    target = a_target((15, a_checkpoint(10)), extra=told, **STANDS)
    quarantine = a_table_state([a_commit(14, extra=told)], ref=spec.quarantine, record_key=(ID,))
    return compile_replay(spec, MemoryState({one.ref.path: one for one in (target, quarantine)}), "", repairs)


def test_messages_are_replayed_as_they_came_and_go_on_by_their_ids() -> None:
    log = a_changelog(adapter="debezium", is_typed=False, source={"reference": Lsn()})
    plan = replayed(an_event_spec(log=log))
    assert [one["stage"] for one in plan_json(plan)["stages"]] == [
        "read_quarantine",
        "adapt_events",
        "conform",
        "check_batch",
        "merge_events",
        "commit",
    ]
    assert [c.name for c in stage_of(plan, ReadQuarantine).columns] == ["value", "_kafka"]
    adapted: AdaptEvents = stage_of(plan, AdaptEvents)
    # Also without a check of its own a replay leaves in the quarantine what does not conform.
    assert (adapted.rule, adapted.also) == (REPLAYED.name, (ID,))
    assert stage_of(plan, MergeEvents).target_exists


def test_what_cannot_be_told_or_done_is_refused() -> None:
    messages = a_changelog(adapter="debezium", is_typed=False, source={"reference": Lsn()})
    for spec, repairs in ((an_event_spec(), ()), (an_event_spec(log=messages), (("fare", "1"),))):
        with pytest.raises(StateError) as refused:
            replayed(spec, repairs)
        assert refused.value.code == "EVENTS_NOT_REPLAYED"
    with pytest.raises(StateError) as refused:
        plan_audit(an_event_spec(), lake(a_target((15, a_checkpoint(10)), **STANDS)), AuditRequest(), Scope(), "")
    assert refused.value.code == "NOT_RECOMPUTABLE"


def test_the_verdict_is_of_events_and_not_of_rows() -> None:
    exact = judge(an_event_spec(a_topic_spec(), accepts=()))
    assert (exact.kind, [(one.name, one.carried) for one in exact.scope.columns]) == (
        "exact",
        [("trip_id", {"SRC": "trip_id"})],
    )
    late = judge(an_event_spec(a_topic_spec(reset="latest"), accepts=()))
    assert [one.code for one in late.findings] == ["STARTS_AT_LATEST"]
    # A table can lose an event that the target has seen.
    of_table = judge(an_event_spec(a_source_spec(), accepts=()))
    assert [one.code for one in of_table.findings] == ["NOT_RECOMPUTABLE"]


def test_numbers_add_up_or_say_that_they_do_not() -> None:
    read = Read(events=10, reasons={SKIPPED: 1, "malformed": 2})
    counts = Counts(read=read, merged=Merged(events=7, published=4, rows=3), aside=2)
    assert counts.lost == 0
    assert json.loads(counts.metadata()) == {
        "in": 10,
        "published": 4,
        "older": 3,
        "aside": 2,
        "skipped": 1,
        "rows": 3,
        "reasons": {"malformed": 2},
    }
    assert counts.in_words() == "10 events: 4 published, 3 older, 2 aside, 1 skipped; 3 rows change"
    one = Counts(read=Read(events=1), merged=Merged(events=1, published=1, rows=1), aside=0)
    assert one.in_words() == "1 event: 1 published; 1 row changes"
    assert kinds_in(counts.metadata()) == {"in": 10, "published": 4, "older": 3, "aside": 2, "skipped": 1}
    assert [kinds_in(text) for text in (None, "", "{", "[1]", '{"in": []}', "7")] == [{}] * 6
    assert Counts(read=read, merged=Merged(events=6, published=4, rows=3), aside=2).lost == 1


@pytest.mark.parametrize(
    ("keeps", "words"),
    [
        ("newest", "merge into derived.earnings by reference key: whole rows; of two"),
        ("history", "cut the intervals of derived.earnings by reference key: each version of a row with its interval; of two"),
        ("events", "add to derived.earnings each event, once"),
    ],
)
def test_the_plan_says_what_is_kept_and_how_much_of_the_target_is_read(keeps: Keeps, words: str) -> None:
    log = a_changelog(source={"layout": Layout(key=("trip_id",), columns=COLUMNS, keeps=keeps)})
    spec = an_event_spec(log=log)
    key = stored_key(log.layout)
    stands = {**AVRO_TYPES, **dict.fromkeys(key[1:], "string")}
    plan = planned(spec, a_target((15, a_checkpoint(10)), schema=stands, record_key=key, **STANDS))
    held: EnforceSchema = stage_of(plan, EnforceSchema)
    # An event has the key of its row, and no version.
    assert (held.required, held.keys) == (("trip_id",), ("trip_id",))
    text = plan_text(plan)
    assert words in text
    assert ("it is read whole: it has no partitions" in text) == (keeps != "events")
    assert "it is read" not in plan_text(planned(spec))
    told = json.loads(json.dumps(plan_json(plan)))["stages"][1]["changelog"]
    assert told.get("keeps", "newest") == keeps


def columns_of_table(spec: PipelineSpec) -> str:
    """Return the Avro schema that a commit of the pipeline leaves."""
    return json.dumps(record_avro("rows", spec.target.columns))


def test_a_table_of_events_is_copied_where_its_rows_say_what_the_new_one_keeps() -> None:
    grouped = a_changelog(source={"layout": Layout(key=("trip_id",), columns=COLUMNS, groups={"money": ("fare",)})})
    of_versions = a_changelog(source={"layout": Layout(key=("trip_id",), columns=COLUMNS, keeps="history")})
    specs = [an_event_spec(), an_event_spec(log=grouped), an_event_spec(log=of_versions)]
    for spec in specs:
        key = spec.target.record_key
        stands = a_target((15, a_checkpoint(10)), extra={"schema": columns_of_table(spec)}, record_key=key, **STANDS)
        refuse_events(spec, stands, True)
        plan = compile_copy(spec, stands, a_note(spec, stands.ref.path, at(15), True), {})
        # Rows of the table are copied, and no events.
        held: EnforceSchema = stage_of(plan, EnforceSchema)
        assert (held.columns, set(held.keys)) == (spec.target.columns, set(key))
        for other in specs:
            if other is not spec:
                with pytest.raises(StateError) as refused:
                    refuse_events(other, stands, True)
                assert refused.value.code == "EVENTS_NOT_MIGRATED"
        with pytest.raises(StateError) as refused:
            refuse_events(spec, stands, False)
        assert (refused.value.code, "--copy" in refused.value.next_step) == ("EVENTS_NOT_MIGRATED", True)
