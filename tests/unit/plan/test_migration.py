"""A migration as a plan: what differs, how the new table is loaded, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import plan_backfill
from freshet.errors import StateError
from freshet.hudi.checkpoint import COMPARED_KEY, MIGRATION_KEY, ORIGIN_KEY, Checkpoint
from freshet.hudi.table import MemoryState, TableState
from freshet.migration.differences import differences, needs_migration, size_of
from freshet.migration.plan import compile_copy, compile_load, compile_verdict
from freshet.plan.checks import CheckTable
from freshet.plan.compile import RunRequest, compile_bootstrap, compile_override, compile_plan
from freshet.plan.migrated import Note, Verdict, note_of, unseen_writes, verdict_of, waits_for
from freshet.plan.replay import compile_replay
from freshet.plan.row_stages import EnforceSchema
from freshet.plan.stages import Commit, Plan, RunSql
from freshet.project.model.checks import CheckSpec, SqlRule, VolumeRule
from freshet.project.model.pipeline import IndexSpec, InputSpec, PipelineSpec, TableRef
from freshet.project.model.steps import BackfillSpec, WriteSpec
from freshet.sources.hudi.reads import ReadIncrement, ReadSnapshot
from freshet.types.columns import Atomic, Column
from tests.kit.memory import (
    AVRO_TYPES,
    CITIES,
    COLUMNS,
    TARGET,
    a_checkpoint,
    a_commit,
    a_spec,
    a_table_state,
    a_target,
    an_avro_schema,
    at,
)

NEW = TableRef(TARGET.name, f"{TARGET.path}__m2")
NOTE = Note(before=TARGET.path, commit=at(12), copied=False)
DELETES = Column(name="_hoodie_is_deleted", type=Atomic("boolean"))


def a_successor(**changes: Any) -> PipelineSpec:
    spec = a_spec(**changes)
    return replace(spec, target=replace(spec.target, ref=NEW))


def state(**changes: TableState | None) -> MemoryState:
    lake: dict[str, TableState | None] = {
        "source": a_table_state([a_commit(10), a_commit(20), a_commit(30)]),
        "target": a_target((12, a_checkpoint(10))),
        "cities": a_table_state([a_commit(1)], ref=CITIES),
        **changes,
    }
    return MemoryState({table.ref.path: table for table in lake.values() if table})


def commit_of(plan: Plan) -> Commit:
    assert isinstance(plan.stages[-1], Commit)
    return plan.stages[-1]


def test_everything_that_differs_is_told_at_once_and_what_a_run_makes_is_none_of_it() -> None:
    target = a_target(
        (12, a_checkpoint(10)),
        record_key=("id",),
        partition_by=(),
        ordering_field="ts",
        table_type="MERGE_ON_READ",
        properties={"hoodie.table.cdc.enabled": "false"},
        index=IndexSpec("RECORD_INDEX", {}),
    )
    columns = (*(c for c in COLUMNS if c.name != "rides"), Column(name="extra", type=Atomic("string")))
    spec = a_spec(target={"columns": columns}, write_options={"hoodie.table.cdc.enabled": "true"})
    found = differences(spec, target)
    assert [one.code for one in found] == [
        "KEY_CHANGED",
        "PARTITIONING_CHANGED",
        "ORDERING_CHANGED",
        "TABLE_TYPE_CHANGED",
        "SETTING_CHANGED",
        "INDEX_CHANGED",
        "SCHEMA_CHANGED",
        "COLUMN_ADDED",
    ]
    assert needs_migration(found)
    added = differences(a_spec(target={"columns": (*COLUMNS, columns[-1])}), a_target((12, a_checkpoint(10))))
    assert [one.code for one in added] == ["COLUMN_ADDED"]
    assert not needs_migration(added)


@pytest.mark.parametrize("code", ["KEY_CHANGED", "SCHEMA_CHANGED"])
def test_a_refusal_names_the_command(code: str) -> None:
    target = a_target(
        (12, a_checkpoint(10)),
        record_key=("id",) if code == "KEY_CHANGED" else ("trip_id",),
        schema={**AVRO_TYPES, "gone": ["null", "string"]},
    )
    with pytest.raises(StateError) as refused:
        compile_plan(a_spec(), state(target=target), RunRequest())
    assert (refused.value.code, "freshet migrate earnings" in refused.value.next_step) == (code, True)


def test_the_load_reads_what_the_old_table_has_read_and_says_what_it_takes_the_place_of() -> None:
    plan = compile_load(a_successor(), state(), NOTE, at(10))
    assert (plan.window.kind, plan.window.end_inclusive, plan.window.requested) == ("whole_table", at(10), (at(9),))
    (read,) = (stage for stage in plan.stages if isinstance(stage, ReadIncrement))
    assert at(10) <= read.as_of < at(19)
    commit = commit_of(plan)
    assert (commit.table, commit.operation) == (NEW, "bulk_insert")
    assert commit.checkpoint is not None
    assert commit.checkpoint.main is not None
    assert commit.checkpoint.main.instant == at(10), "from where its runs go on"
    made = a_table_state([a_commit(40, extra=dict(commit.metadata))], ref=NEW)
    assert note_of(made) == NOTE
    assert note_of(state().table(TARGET)) is None


@pytest.mark.parametrize(("upto", "retained_from"), [("", ""), (at(10), at(15)), (at(99), "")])
def test_where_that_version_is_unknown_or_cleaned_the_newest_is_read(upto: str, retained_from: str) -> None:
    source = a_table_state([a_commit(10), a_commit(20), a_commit(30)], retained_from=retained_from)
    assert compile_load(a_successor(), state(source=source), NOTE, upto).window.end_inclusive == at(30)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"co_writers": ("tips",)}, "COLUMNS_NOT_OWNED"),
        ({"write": WriteSpec(strategy="merge", columns=("fare",))}, "COLUMNS_NOT_OWNED"),
        ({"operation": "delete"}, "NOT_RECOMPUTABLE"),
        ({"inputs": (InputSpec(name="own", table=NEW, read="snapshot", line=7),)}, "READS_ITS_TARGET"),
    ],
)
def test_what_no_recompute_gives_is_not_computed(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(StateError) as refused:
        compile_load(a_successor(**changes), state(), NOTE, "")
    assert (refused.value.code, "--copy" in refused.value.next_step) == (code, True)


def test_checks_that_look_at_what_was_before_say_nothing_of_a_load() -> None:
    rules = {
        "usual": VolumeRule(20, 0.5, 3.0),
        "same": SqlRule(query="select count(*) from <TABLE_NAME>", expect="", compare="unchanged", scope="table"),
        "none": SqlRule(query="select count(*) from <TABLE_NAME> where fare < 0", expect="0", compare="", scope="table"),
    }
    checks = tuple(CheckSpec(name=name, severity="fail", line=1, rule=rule) for name, rule in rules.items())
    plan = compile_load(a_successor(checks=checks), state(), NOTE, "")
    (stage,) = (one for one in plan.stages if isinstance(one, CheckTable))
    assert [one.check.name for one in stage.checks] == ["none"]


def test_a_source_without_commits_loads_nothing() -> None:
    with pytest.raises(StateError) as refused:
        compile_load(a_successor(), state(source=a_table_state()), NOTE, "")
    assert refused.value.code == "SOURCE_EMPTY"


def test_a_copy_takes_the_rows_as_they_stand_and_their_checkpoint() -> None:
    """Kind: where a column of the new table comes from. Members: the same, renamed, new, swapped, the mark of deleted rows."""
    columns = (
        *(c for c in COLUMNS if c.name not in ("fare", "rides")),
        Column(name="price", type=COLUMNS[1].type),
        Column(name="rides", type=Atomic("int")),
        Column(name="fare", type=Atomic("int")),
        Column(name="note", type=Atomic("string")),
        DELETES,
    )
    spec = a_successor(target={"columns": columns}, operation="insert", write=WriteSpec(strategy="merge", columns=("price",)))
    old = a_target((12, a_checkpoint(10)))
    plan = compile_copy(spec, old, replace(NOTE, copied=True), {"fare": "price", "rides": "fare"})
    read, sql, enforce_schema, commit = plan.stages
    assert isinstance(read, ReadSnapshot)
    assert (read.table, read.as_of) == (TARGET, at(12))
    assert isinstance(sql, RunSql)
    text = sql.statements[0].text
    assert "`fare` AS `price`" in text
    assert "`rides` AS `fare`" in text
    assert "`trip_id` AS `trip_id`" in text
    assert "CAST(NULL AS int) AS `rides`" in text, "whose old values have another name now"
    assert "CAST(NULL AS string) AS `note`" in text
    assert "CAST(false AS boolean) AS `_hoodie_is_deleted`" in text
    assert isinstance(enforce_schema, EnforceSchema)
    assert enforce_schema.columns == columns, "whole rows, whatever the pipeline owns of them"
    assert isinstance(commit, Commit)
    assert (commit.checkpoint, commit.operation) == (a_checkpoint(10), "bulk_insert")


@pytest.mark.parametrize(
    ("checkpoint", "renames", "code"),
    [
        (Checkpoint(), {}, "NO_CHECKPOINT"),
        (a_checkpoint(10), {"x": "fare"}, "UNKNOWN_COLUMN"),
        (a_checkpoint(10), {"fare": "x"}, "UNKNOWN_COLUMN"),
    ],
)
def test_a_copy_that_would_guess_is_refused(checkpoint: Checkpoint, renames: dict[str, str], code: str) -> None:
    with pytest.raises(StateError) as refused:
        compile_copy(a_successor(), a_target((12, checkpoint)), NOTE, renames)
    assert refused.value.code == code


@pytest.mark.parametrize("first_run", ["run", "full refresh", "bootstrap"])
def test_no_first_run_into_a_place_whose_old_table_stands(first_run: str) -> None:
    """Kind: files that were switched elsewhere. A run would load the new table, and nobody would compare the two."""
    request = RunRequest(full_refresh=first_run == "full refresh")
    with pytest.raises(StateError) as refused:
        compile_bootstrap(a_successor(), state()) if first_run == "bootstrap" else compile_plan(a_successor(), state(), request)
    assert refused.value.code == "MIGRATION_NOT_DONE"
    assert compile_plan(a_successor(), state(target=None), RunRequest()).first_run


WRITES: dict[str, Callable[[PipelineSpec, MemoryState], object]] = {
    "run": lambda spec, lake: compile_plan(spec, lake, RunRequest()),
    "full refresh": lambda spec, lake: compile_plan(spec, lake, RunRequest(full_refresh=True)),
    "checkpoint": lambda spec, lake: compile_override(spec, lake, None),
    "replay": lambda spec, lake: compile_replay(spec, lake, "", ()),
    "backfill": lambda spec, lake: plan_backfill(
        spec, lake, BackfillRequest(start=datetime(2026, 1, 1), end=datetime(2026, 1, 2))
    ),
}


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_written_to_a_table_that_was_not_compared(write: str) -> None:
    """Kind: whoever writes rows or a position into a new table whose comparison was lost, or failed."""
    spec = a_successor(
        backfill=BackfillSpec(event_time={"SRC": "updated_at"}, partition="day", granularity="day", write="upsert"),
        write_options={"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"},
    )
    made = [
        a_commit(40, extra={MIGRATION_KEY: NOTE.encode(), "schema": an_avro_schema(AVRO_TYPES)}),
        a_commit(41, extra={ORIGIN_KEY: "index"}),
        a_commit(42, operation="CLUSTER", action="replacecommit"),
    ]
    lake = state(new=a_table_state(made, ref=NEW), quarantine=a_table_state([a_commit(5)], ref=spec.quarantine))
    with pytest.raises(StateError) as refused:
        WRITES[write](spec, lake)
    assert refused.value.code == "MIGRATION_NOT_DONE"
    made.append(a_commit(50, extra={COMPARED_KEY: Verdict("equal", False).encode(), ORIGIN_KEY: "index"}))
    WRITES[write](spec, state(new=a_table_state(made, ref=NEW)))


def test_the_comparison_is_a_commit_without_rows_that_keeps_the_position() -> None:
    made = a_target((40, a_checkpoint(10)), extra={MIGRATION_KEY: NOTE.encode()})
    new = replace(made, ref=NEW)
    plan = compile_verdict(a_successor(), new, Verdict("2 rows before, 2 after", True))
    commit = commit_of(plan)
    assert (commit.empty, commit.checkpoint, plan.checkpoint_before) == (True, None, a_checkpoint(10))
    compared = a_table_state([a_commit(50, extra=dict(commit.metadata))], ref=NEW)
    assert verdict_of(compared) == Verdict("2 rows before, 2 after", True)
    assert verdict_of(new) is None
    waits = waits_for(NEW, state(new=new), new)
    assert waits is not None
    assert waits.ref == TARGET
    assert waits_for(NEW, state(new=compared), compared) is None


def test_what_the_archive_holds_of_the_old_table_counts_too() -> None:
    replays = [a_commit(moment, extra={ORIGIN_KEY: "replay"}) for moment in (11, 30)]
    old = a_table_state(
        [a_commit(50, extra={ORIGIN_KEY: "increment"})], ref=TARGET, archived=[*replays, a_commit(31, operation="COMPACT")]
    )
    assert unseen_writes(old, NOTE) == (at(30),)


@pytest.mark.parametrize(("key", "read"), [(MIGRATION_KEY, note_of), (COMPARED_KEY, verdict_of)])
def test_a_note_of_a_later_version_is_refused(key: str, read: Callable[[TableState], object]) -> None:
    with pytest.raises(StateError) as refused:
        read(a_table_state([a_commit(1, extra={key: '{"version": 99}'})]))
    assert refused.value.code == "MIGRATION_UNREADABLE"


def test_a_tables_size_is_that_of_its_newest_files() -> None:
    commits = [
        a_commit(10, rows=100, files=(("p/a_1_10.parquet", 1000), ("p/b_1_10.parquet", 500))),
        a_commit(20, rows=5, files=(("p/a_1_20.parquet", 1100), ("p/.b_10.log.1_1", 50))),
        a_commit(30, rows=0, deletes=2, files=(("p/.b_10.log.2_1", 7),)),
    ]
    assert size_of(a_table_state(commits)) == (103, 1657)
    anew = a_commit(
        40,
        action="replacecommit",
        operation="INSERT_OVERWRITE_TABLE",
        rows=8,
        replaced_ids=("a", "b"),
        files=(("p/c_1_40.parquet", 90),),
    )
    assert size_of(a_table_state([*commits, anew])) == (8, 90)
