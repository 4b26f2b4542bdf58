"""Compiling a run: from the files and what the tables' timelines say to a tuple of stages."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import (
    CHECKPOINT_KEY,
    FINGERPRINT_KEY,
    INDEX_KEY,
    METADATA_PREFIX,
    ORIGIN_KEY,
    PIPELINE_KEY,
    STREAMER_V2_KEY,
    Checkpoint,
    decode,
)
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_bootstrap, compile_override, compile_plan
from freshet.plan.describe import plan_json
from freshet.plan.row_stages import EnforceSchema
from freshet.plan.stages import Commit, Plan, RunPython, RunSql
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, PipelineSpec, TableRef
from freshet.project.model.steps import WriteSpec
from freshet.sources.hudi.reads import ReadIncrement, ReadSnapshot, Version
from freshet.types.columns import Atomic, Column
from tests.kit.memory import (
    CITIES,
    COLUMNS,
    SOURCE,
    TARGET,
    a_checkpoint,
    a_commit,
    a_spec,
    a_table_state,
    a_target,
    at,
)

GOLDEN = Path(__file__).parent / "golden"
IS_DELETED = Column(name="_hoodie_is_deleted", type=Atomic("boolean"))


def tables(**changes: TableState | None) -> dict[str, TableState]:
    """Return the lake of most tests: three source commits, of which the target has read one."""
    lake: dict[str, TableState | None] = {
        "source": a_table_state([a_commit(10), a_commit(20, rows=5), a_commit(30, rows=7)]),
        "target": a_target((12, a_checkpoint(10))),
        "cities": a_table_state([a_commit(1)], ref=CITIES),
        **changes,
    }
    return {table.ref.path: table for table in lake.values() if table}


def compiled(spec: PipelineSpec | None = None, **changes: TableState | None) -> Plan:
    return compile_plan(spec or a_spec(), MemoryState(tables(**changes)), RunRequest())


def refusal(spec: PipelineSpec | None = None, **changes: TableState | None) -> StateError:
    with pytest.raises(StateError) as refused:
        compiled(spec, **changes)
    return refused.value


def stage(plan: Plan, kind: type[Any]) -> Any:
    (found,) = [s for s in plan.stages if isinstance(s, kind)]
    return found


def test_stages_are_read_then_transform_in_the_listed_order_then_conform_then_one_commit() -> None:
    plan = compiled()
    assert [type(s) for s in plan.stages] == [ReadIncrement, ReadSnapshot, RunSql, RunPython, EnforceSchema, Commit]
    assert plan.window.requested == (at(19), at(29))
    assert plan.checkpoint_before == a_checkpoint(10)
    assert plan.checkpoint_after == a_checkpoint(30)
    assert not plan.first_run


def test_pure_the_same_input_gives_an_equal_plan() -> None:
    lake = tables()
    plans = [compile_plan(a_spec(), MemoryState(lake), RunRequest()) for _ in range(2)]
    assert plans[0] == plans[1]
    assert json.dumps(plan_json(plans[0])) == json.dumps(plan_json(plans[1]))


def test_pure_all_that_is_asked_of_the_world_is_the_tables() -> None:
    class Asked:
        """Answers ``table`` and notes it; any other question fails the test."""

        def __init__(self, held: Mapping[str, TableState]) -> None:
            self.held, self.paths = held, []

        def table(self, ref: TableRef) -> TableState | None:
            self.paths.append(ref.path)
            return self.held.get(ref.path)

    state = Asked(tables())
    compile_plan(a_spec(), state, RunRequest())
    assert sorted(state.paths) == sorted([TARGET.path, SOURCE.path, CITIES.path])


def test_golden() -> None:
    """Hold a whole plan against golden/increment.json.

    To write it anew after a wanted change: ``FRESHET_GOLDEN=write python -m pytest tests/unit/plan/test_compile.py``,
    then read the difference before committing it.
    """
    file = GOLDEN / "increment.json"
    text = json.dumps(plan_json(compiled(a_spec(source={"max_commits": 1}))), indent=2, sort_keys=True) + "\n"
    if os.environ.get("FRESHET_GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text()


class TestDeferred:
    def test_no_table_is_looked_at(self) -> None:
        class Closed:
            def table(self, ref: TableRef) -> TableState | None:
                pytest.fail(f"{ref.path} was looked at")

        plan = compile_plan(a_spec(), Closed(), RunRequest(look_at_tables=False))
        assert plan.window.kind == "deferred"
        assert plan.checkpoint_after is None
        assert [type(s) for s in plan.stages] == [ReadIncrement, ReadSnapshot, RunSql, RunPython, EnforceSchema, Commit]

    def test_the_bound_is_told(self) -> None:
        plan = compile_plan(a_spec(source={"max_commits": 3}), MemoryState({}), RunRequest(look_at_tables=False))
        assert "3 commits" in plan.window.reason


class TestNothingToDo:
    def test_an_idle_window_has_no_stages(self) -> None:
        plan = compiled(target=a_target((12, a_checkpoint(30))))
        assert (plan.window.kind, plan.stages, plan.checkpoint_after) == ("idle", (), None)
        assert plan.checkpoint_before == a_checkpoint(30)

    def test_source_missing(self) -> None:
        error = refusal(source=None)
        assert error.code == "SOURCE_MISSING"
        assert error.details == {"path": SOURCE.path}

    def test_input_missing_names_its_line(self) -> None:
        error = refusal(cities=None)
        assert error.code == "INPUT_MISSING"
        assert "pipelines/earnings.yml:7" in error.next_step

    def test_a_changed_target_is_refused_even_when_there_is_nothing_to_read(self) -> None:
        target = a_target((12, a_checkpoint(30)), record_key=("other",))
        assert refusal(target=target).code == "KEY_CHANGED"


class TestFirstRun:
    def test_whole_table_creates_the_target_and_starts_the_checkpoint(self) -> None:
        plan = compiled(target=None)
        assert plan.first_run
        assert plan.window.kind == "whole_table"
        assert (plan.checkpoint_before, plan.checkpoint_after) == (None, a_checkpoint(30))

    def test_read_latest_commits_a_checkpoint_without_rows(self) -> None:
        plan = compiled(a_spec(source={"missing_checkpoint": "READ_LATEST"}), target=None)
        assert [type(s) for s in plan.stages] == [Commit]
        assert stage(plan, Commit).empty
        assert stage(plan, Commit).checkpoint == a_checkpoint(30)

    def test_a_target_of_another_writer_without_checkpoint_begins_by_the_policy(self) -> None:
        plan = compiled(target=a_target())
        assert (plan.first_run, plan.window.kind) == (False, "whole_table")

    def test_a_reset_target_begins_as_the_first_run_did(self) -> None:
        plan = compiled(target=a_target((12, a_checkpoint(10)), (14, Checkpoint())))
        assert (plan.window.kind, plan.checkpoint_before) == ("whole_table", Checkpoint())


class TestDeletes:
    RECORDING = a_table_state(
        [
            a_commit(10),
            a_commit(20, partitions=("2026-08-02", "2026-08-01")),
            a_commit(30, deletes=1, partitions=("2026-08-02",)),
        ],
        records_changes=True,
    )

    def test_recorded_and_declared_are_passed_on(self) -> None:
        spec = a_spec(target={"columns": (*COLUMNS, IS_DELETED)})
        read = stage(compiled(spec, source=self.RECORDING), ReadIncrement)
        assert read.with_deletes
        assert (read.before, read.as_of) == ((Version(at(10)),), at(30))
        assert read.partitions.paths == ("2026-08-01", "2026-08-02")

    def test_partitions_are_those_of_the_window_alone(self) -> None:
        spec = a_spec(target={"columns": (*COLUMNS, IS_DELETED)})
        read = stage(compiled(spec, source=self.RECORDING, target=a_target((25, a_checkpoint(20)))), ReadIncrement)
        assert read.partitions.paths == ("2026-08-02",)

    def test_commits_that_deleted_nothing_spare_the_read_of_change_data(self) -> None:
        spec = a_spec(target={"columns": (*COLUMNS, IS_DELETED)}, source={"max_commits": 1})
        read = stage(compiled(spec, source=self.RECORDING), ReadIncrement)
        assert (read.with_deletes, read.before) == (True, ())

    def test_recorded_and_not_declared_are_refused_with_both_ways_out(self) -> None:
        error = refusal(source=self.RECORDING)
        assert error.code == "DELETES_NOT_DECLARED"
        assert "_hoodie_is_deleted BOOLEAN" in error.next_step
        assert "latest_state" in error.next_step

    def test_recorded_and_declined(self) -> None:
        plan = compiled(a_spec(source={"incremental_format": "latest_state"}), source=self.RECORDING)
        assert not stage(plan, ReadIncrement).with_deletes

    def test_an_insert_only_target_has_no_need_of_the_column(self) -> None:
        compiled(a_spec(operation="insert"), source=self.RECORDING)

    def test_a_strategy_must_be_told_what_a_delete_means(self) -> None:
        merge: dict[str, Any] = {"write": WriteSpec(strategy="merge", columns=("fare",))}
        error = refusal(a_spec(**merge), source=self.RECORDING)
        assert error.code == "DELETES_NOT_DECLARED"
        assert all(way in error.next_step for way in ("format: cdc", "write.columns", "latest_state"))
        compiled(a_spec(**merge, source={"incremental_format": "latest_state"}), source=self.RECORDING)
        nulling = compiled(a_spec(**merge, source={"incremental_format": "cdc"}), source=self.RECORDING)
        assert stage(nulling, EnforceSchema).columns[-1].name == IS_DELETED.name
        owning = a_spec(
            target={"columns": (*COLUMNS, IS_DELETED)}, write=WriteSpec(strategy="merge", columns=("fare", IS_DELETED.name))
        )
        assert [c.name for c in stage(compiled(owning, source=self.RECORDING), EnforceSchema).columns] == [
            "trip_id",
            "fare",
            "updated_at",
            "day",
            IS_DELETED.name,
        ]

    def test_asked_for_and_not_recorded(self) -> None:
        assert refusal(a_spec(source={"incremental_format": "cdc"})).code == "CDC_NOT_RECORDED"

    def test_the_first_run_has_no_deletes_to_look_for(self) -> None:
        spec = a_spec(target={"columns": (*COLUMNS, IS_DELETED)})
        read = stage(compiled(spec, source=self.RECORDING, target=None), ReadIncrement)
        assert (read.with_deletes, read.before) == (True, ())

    def test_unseen_deletes_are_told(self) -> None:
        plan = compiled(source=a_table_state([a_commit(10), a_commit(20, deletes=3), a_commit(30, deletes=2)]))
        (notice,) = plan.notices
        assert notice.code == "DELETES_NOT_SEEN"
        assert "5 deleted rows" in notice.message

    def test_what_a_source_has_is_not_advised(self) -> None:
        """Also of replaced files: nothing that is told of a source says to make what it has."""
        for commit in (a_commit(20, deletes=3), a_commit(20, action="replacecommit", operation="INSERT_OVERWRITE")):
            source = a_table_state([a_commit(10), commit], records_changes=True)
            (notice,) = compiled(a_spec(source={"incremental_format": "latest_state"}), source=source).notices
            assert notice.code == "DELETES_NOT_SEEN"
            assert "cdc.enabled" not in notice.message
            assert "latest_state" in notice.message

    def test_replaced_files_are_told(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20, action="replacecommit", operation="INSERT_OVERWRITE")])
        assert [n.code for n in compiled(source=source).notices] == ["DELETES_NOT_SEEN"]

    @pytest.mark.parametrize("target", [None, a_target((12, a_checkpoint(20)))], ids=["first run", "not in the window"])
    def test_deletes_outside_the_window_are_no_news(self, target: TableState | None) -> None:
        source = a_table_state([a_commit(10), a_commit(20, deletes=3), a_commit(30)])
        assert compiled(source=source, target=target).notices == ()


class TestEnforceSchema:
    def test_all_columns_and_no_null_where_hudi_or_the_ddl_needs_a_value(self) -> None:
        enforce_schema = stage(compiled(), EnforceSchema)
        assert enforce_schema.columns == COLUMNS
        assert enforce_schema.required == ("trip_id", "updated_at", "day")
        assert enforce_schema.keys == ("trip_id",)

    def test_a_delete_needs_only_what_finds_the_row(self) -> None:
        enforce_schema = stage(compiled(a_spec(operation="delete")), EnforceSchema)
        assert [c.name for c in enforce_schema.columns] == ["trip_id", "updated_at", "day"]
        assert enforce_schema.ignored == ("fare", "rides")


class TestCommit:
    def test_metadata_carries_all_that_the_next_run_and_other_readers_need(self) -> None:
        commit = stage(compiled(), Commit)
        assert decode(commit.metadata) == a_checkpoint(30)
        assert commit.metadata[STREAMER_V2_KEY] == at(30)
        assert commit.metadata[PIPELINE_KEY] == "earnings"
        assert commit.metadata[FINGERPRINT_KEY] == "0123456789abcdef"
        assert commit.metadata[ORIGIN_KEY] == "increment"
        assert json.loads(commit.metadata[INDEX_KEY]) == {
            "type": "BUCKET",
            "parameters": {"hoodie.bucket.index.num.buckets": "4"},
        }
        assert all(key.startswith(METADATA_PREFIX) for key in commit.metadata)
        assert commit.options["hoodie.datasource.write.commitmeta.key.prefix"] == METADATA_PREFIX

    def test_positions_of_other_inputs_are_kept(self) -> None:
        before = Checkpoint({**a_checkpoint(10).positions, "tips": a_checkpoint(3, "/lake/raw/tips").positions["SRC"]})
        after = compiled(target=a_target((12, before))).checkpoint_after
        assert after is not None
        assert after.positions["tips"] == before.positions["tips"]
        assert after.main == a_checkpoint(30).main

    def test_hoodie_streamers_position_goes_on_as_ours(self) -> None:
        target = a_table_state([a_commit(12, extra={STREAMER_V2_KEY: at(10)})], ref=TARGET)
        plan = compiled(target=target)
        assert (plan.window.begin_inclusive, plan.checkpoint_after) == (at(20), a_checkpoint(30))

    def test_options_say_what_the_ddl_says_whatever_the_yaml_adds(self) -> None:
        options = stage(compiled(), Commit).options
        assert {
            k: options[k]
            for k in (
                "hoodie.table.name",
                "hoodie.datasource.write.recordkey.field",
                "hoodie.datasource.write.partitionpath.field",
                "hoodie.datasource.write.precombine.field",
                "hoodie.index.type",
                "hoodie.bucket.index.num.buckets",
                "hoodie.upsert.shuffle.parallelism",
            )
        } == {
            "hoodie.table.name": "earnings",
            "hoodie.datasource.write.recordkey.field": "trip_id",
            "hoodie.datasource.write.partitionpath.field": "day",
            "hoodie.datasource.write.precombine.field": "updated_at",
            "hoodie.index.type": "BUCKET",
            "hoodie.bucket.index.num.buckets": "4",
            "hoodie.upsert.shuffle.parallelism": "2",
        }

    def test_our_defaults_give_way_to_the_yaml(self) -> None:
        key = "hoodie.parquet.compression.codec"
        assert stage(compiled(), Commit).options[key] == "zstd"
        assert stage(compiled(a_spec(write_options={key: "snappy"})), Commit).options[key] == "snappy"

    def test_record_index_is_switched_on(self) -> None:
        spec = a_spec(index=IndexSpec("RECORD_INDEX", {}))
        options = stage(compiled(spec, target=None), Commit).options
        assert options["hoodie.metadata.record.index.enable"] == "true"
        assert "hoodie.bucket.index.num.buckets" not in options

    @pytest.mark.parametrize(
        "index",
        [
            IndexSpec("RECORD_INDEX", {}),
            IndexSpec(
                "HBASE",
                {},
                HBaseSpec(quorum="127.0.0.1", port=2181, znode="/hbase", table="t", server_rate=1, shares={}, client={}),
            ),
        ],
        ids=lambda index: index.type,
    )
    def test_a_global_index_is_made_after_a_bulk_load_and_not_with_it(self, index: IndexSpec) -> None:
        commit = stage(compile_bootstrap(a_spec(index=index), MemoryState(tables(target=None))), Commit)
        assert commit.operation == "bulk_insert"
        assert commit.options["hoodie.metadata.record.index.enable"] == "false"
        assert commit.options["hoodie.index.type"] == "GLOBAL_SIMPLE", "which keeps no key in memory until the commit"
        assert f'"type": "{index.type}"' in commit.metadata[INDEX_KEY], "the table's index is the one of the files"

    def test_buckets_are_where_the_rows_of_a_bulk_load_go(self) -> None:
        commit = stage(compile_bootstrap(a_spec(), MemoryState(tables(target=None))), Commit)
        assert (commit.operation, commit.options["hoodie.index.type"]) == (
            "bulk_insert",
            "BUCKET",
        )


class TestOverride:
    def test_set_is_one_commit_without_rows(self) -> None:
        plan = compile_override(a_spec(), MemoryState(tables()), at(20))
        assert [type(s) for s in plan.stages] == [Commit]
        commit = stage(plan, Commit)
        assert commit.empty
        assert decode(commit.metadata) == a_checkpoint(20)
        assert commit.metadata[ORIGIN_KEY] == "override"
        assert (plan.checkpoint_before, plan.checkpoint_after) == (a_checkpoint(10), a_checkpoint(20))

    def test_it_counts_once(self) -> None:
        target = a_target((12, a_checkpoint(30)), (14, a_checkpoint(10)))
        plan = compiled(target=target)
        assert plan.window.begin_inclusive == at(20)
        after = a_target((12, a_checkpoint(30)), (14, a_checkpoint(10)), (16, plan.checkpoint_after or Checkpoint()))
        assert compiled(target=after).window.kind == "idle"

    def test_reset_is_an_empty_vector_and_no_key_of_hoodie_streamer(self) -> None:
        commit = stage(compile_override(a_spec(), MemoryState(tables()), None), Commit)
        assert json.loads(commit.metadata[CHECKPOINT_KEY])["positions"] == {}
        assert STREAMER_V2_KEY not in commit.metadata

    def test_before_the_first_run_it_makes_the_table(self) -> None:
        plan = compile_override(a_spec(), MemoryState(tables(target=None)), at(20))
        assert plan.first_run
        assert plan.checkpoint_before is None

    def test_before_the_first_run_there_is_nothing_to_reset(self) -> None:
        plan = compile_override(a_spec(), MemoryState(tables(target=None)), None)
        assert (plan.window.kind, plan.stages) == ("idle", ())

    def test_a_target_made_otherwise_is_refused(self) -> None:
        with pytest.raises(StateError) as refused:
            compile_override(a_spec(), MemoryState(tables(target=a_target(table_type="MERGE_ON_READ"))), at(20))
        assert refused.value.code == "TABLE_TYPE_CHANGED"

    def test_it_mends_a_checkpoint_that_nobody_can_read(self) -> None:
        broken = MemoryState(tables(target=a_target(extra={CHECKPOINT_KEY: "garbage"})))
        with pytest.raises(StateError) as unreadable:
            compile_plan(a_spec(), broken, RunRequest())
        assert unreadable.value.code == "CHECKPOINT_UNREADABLE"
        assert compile_override(a_spec(), broken, at(20)).checkpoint_after == a_checkpoint(20)
