"""How the other inputs are planned: look-back, what drives, affected partitions, versions, positions, and the plan's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.sources.hudi.look.partitions import NULL_PARTITION, partition_values
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import DriveRows, ReadLookback, ReadPartitions, ReadSnapshot, Version
from freshet.status.status import pipeline_status
from tests.kit.memory import (
    AVRO_TYPES,
    COLUMNS,
    SOURCE,
    TARGET,
    Loaded,
    a_commit,
    a_spec,
    a_table_state,
    a_target,
    an_avro_schema,
    at,
)

TIPS = TableRef("raw.tips", "/lake/raw/tips")
LOOKBACK = InputSpec(name="tips", table=TIPS, read="incremental", line=7)
DRIVING = replace(LOOKBACK, drives=(("trip_id", "trip_id"),))
PARTITIONS = InputSpec(name="rest", table=SOURCE, read="affected_partitions", line=7, on=(("day", ("day",)),))
SCHEMA = {"schema": an_avro_schema(AVRO_TYPES)}


def stood(main: int, tips: int | None = None, table: str = TIPS.path) -> TableState:
    """Return the target as a run left it: positions of the main source and of the tips."""
    own = {} if tips is None else {"tips": HudiPosition(instant=at(tips), table=table)}
    return a_target((990, Checkpoint({MAIN: HudiPosition(instant=at(main), table=SOURCE.path), **own})))


def tips_with(*commits: Loaded, **config: Any) -> TableState:
    return a_table_state(commits, ref=TIPS, **config)


def planned(
    one: InputSpec,
    *,
    source: TableState | None = None,
    tips: TableState | None = None,
    target: TableState | None = None,
) -> Plan:
    return compile_plan(a_spec(inputs=(one,)), a_lake(source, tips, target), RunRequest())


def a_lake(source: TableState | None, tips: TableState | None, target: TableState | None) -> MemoryState:
    source = source or a_table_state([a_commit(10), a_commit(500)])
    held = {SOURCE.path: source, TIPS.path: tips or tips_with(a_commit(5), a_commit(300), a_commit(600))}
    return MemoryState(held | ({TARGET.path: target} if target else {}))


def refusal(*args: Any, **named: Any) -> StateError:
    with pytest.raises(StateError) as refused:
        planned(*args, **named)
    return refused.value


def stage(plan: Plan, kind: type[Any]) -> Any:
    (found,) = [s for s in plan.stages if isinstance(s, kind)]
    return found


def instants(plan: Plan) -> Mapping[str, str]:
    assert plan.checkpoint_after is not None
    return {name: position.instant for name, position in plan.checkpoint_after.positions.items()}


def lines(plan: Plan) -> list[str]:
    return [" ".join(line.split()) for line in plan_text(plan).splitlines()]


class TestLookback:
    def test_commits_are_counted_back_from_the_checkpoint_up_to_the_newest(self) -> None:
        plan = planned(LOOKBACK, target=stood(10, 5))
        looked = stage(plan, ReadLookback)
        assert (looked.window.kind, looked.window.requested) == ("increment", (at(299), at(599)))
        assert looked.partitions.by == ("day",)
        assert instants(plan) == {"SRC": at(500), "tips": at(600)}
        assert f"2. read tips: what changed in raw.tips: 2 commits since {at(10)}" in lines(plan)

    def test_whole_files_are_read_as_such(self) -> None:
        extra = {"schema": '{"fields": []}'}
        tips = a_table_state([a_commit(300, extra=extra), a_commit(600, extra=extra)], ref=TIPS, whole_files=True)
        assert stage(planned(LOOKBACK, tips=tips, target=stood(10, 5)), ReadLookback).window.whole_files

    def test_one_second_more(self) -> None:
        looked = stage(planned(replace(LOOKBACK, lookback_seconds=1), target=stood(10, 5)), ReadLookback)
        assert looked.window.begin_inclusive == at(5)

    def test_an_input_that_stood_still_for_long_reaches_no_further(self) -> None:
        source = a_table_state([a_commit(10), a_commit(700), a_commit(800)])
        plan = planned(LOOKBACK, source=source, target=stood(700, 5))
        assert stage(plan, ReadLookback).window.kind == "idle"
        assert instants(plan)["tips"] == at(600)

    def test_the_first_run_reads_all_that_the_position_will_cover(self) -> None:
        plan = planned(LOOKBACK)
        looked = stage(plan, ReadLookback).window
        assert (looked.kind, looked.end_inclusive) == ("whole_table", at(600))
        assert instants(plan) == {"SRC": at(500), "tips": at(600)}

    def test_a_source_that_is_read_whole_is_joined_with_all(self) -> None:
        source = a_table_state([a_commit(500)], archived=[a_commit(400)])
        spec = a_spec(inputs=(DRIVING,), source={"full_scan_when_expired": True, "max_commits": 1})
        plan = compile_plan(spec, a_lake(source, None, stood(10, 5)), RunRequest())
        assert (plan.window.kind, stage(plan, ReadLookback).window.kind) == ("whole_table", "whole_table")
        assert not [s for s in plan.stages if isinstance(s, DriveRows)]
        # Nothing is left to drive, however many commits a run may take.
        assert instants(plan)["tips"] == at(600)

    def test_history_that_is_gone_means_all_of_it(self) -> None:
        tips = a_table_state([a_commit(600)], ref=TIPS, archived=[a_commit(300)])
        plan = planned(LOOKBACK, tips=tips, target=stood(10, 5))
        assert stage(plan, ReadLookback).window.kind == "whole_table"
        assert any("further than the table's history" in line for line in lines(plan))

    def test_an_empty_table(self) -> None:
        plan = planned(LOOKBACK, tips=tips_with(), target=stood(10))
        assert stage(plan, ReadLookback).window.kind == "idle"
        assert instants(plan) == {"SRC": at(500)}

    def test_a_position_by_hand_leaves_the_inputs_where_they_are(self) -> None:
        plan = compile_override(a_spec(inputs=(DRIVING,)), a_lake(None, None, stood(500, 300)), at(10))
        assert instants(plan) == {"SRC": at(10), "tips": at(300)}


class TestDriving:
    def test_an_idle_source_is_driven_and_stays_where_it_is(self) -> None:
        plan = planned(DRIVING, target=stood(500, 5))
        assert (plan.window.kind, plan.window.requested) == ("driven", ())
        assert instants(plan) == {"SRC": at(500), "tips": at(600)}
        driven = stage(plan, DriveRows)
        assert (driven.changes.window.requested, driven.held, driven.as_of) == ((at(299), at(599)), (), at(500))
        # The look-back counts from what drives.
        assert stage(plan, ReadLookback).window.requested == (at(299), at(599))
        assert "window driven: no commit since the checkpoint; tips: 2 commits" in lines(plan)

    def test_rows_of_the_increment_are_not_driven_again(self) -> None:
        driven = stage(planned(DRIVING, target=stood(10, 5)), DriveRows)
        assert (driven.held, driven.as_of) == ((at(499),), at(500))

    def test_a_version_that_a_table_service_replaced_is_not_read(self) -> None:
        clustered = a_commit(700, action="replacecommit", operation="CLUSTER")
        plan = planned(DRIVING, source=a_table_state([a_commit(10), a_commit(500), clustered]), target=stood(500, 5))
        assert (stage(plan, DriveRows).as_of, instants(plan)["SRC"]) == (at(700), at(500))

    def test_nothing_new_is_idle(self) -> None:
        assert planned(DRIVING, target=stood(500, 600)).window.kind == "idle"

    def test_a_bound_holds_for_each_and_what_is_left_is_told(self) -> None:
        spec = a_spec(inputs=(DRIVING,), source={"max_commits": 1})
        plan = compile_plan(spec, a_lake(None, None, stood(500, 5)), RunRequest())
        assert (instants(plan)["tips"], plan.window.waiting_commits) == (at(300), 1)
        assert stage(plan, DriveRows).changes.window.requested == (at(299),)

    def test_one_that_is_idle_keeps_its_position(self) -> None:
        plan = planned(DRIVING, target=stood(10, 600))
        assert (plan.window.kind, instants(plan)) == ("increment", {"SRC": at(500), "tips": at(600)})
        assert not [s for s in plan.stages if isinstance(s, DriveRows)]

    @pytest.mark.parametrize("own", [stood(500), stood(500, 5, "/lake/raw/other")], ids=["new", "of another table"])
    def test_all_of_an_input_that_was_not_read_before_drives(self, own: TableState) -> None:
        plan = planned(DRIVING, target=own)
        assert (plan.window.kind, stage(plan, DriveRows).changes.window.kind) == ("driven", "whole_table")
        assert stage(plan, ReadLookback).window.kind == "whole_table"
        assert instants(plan)["tips"] == at(600)
        assert "window driven: no commit since the checkpoint; tips: the whole table" in lines(plan)

    @pytest.mark.parametrize(
        ("commit", "key", "compared"),
        [
            (a_commit(300), ("trip_id",), False),
            (a_commit(300, deletes=1), ("trip_id",), True),
            (a_commit(300, action="replacecommit", operation="INSERT_OVERWRITE"), ("trip_id",), True),
            (a_commit(300), ("tip_id",), False),
            ((a_commit(300)[0], replace(a_commit(300)[1], updates=1)), ("tip_id",), True),
        ],
        ids=["inserts", "deletes", "replaces", "inserts by another key", "updates by another key"],
    )
    def test_what_rows_named_before_is_looked_up_where_they_may_have_left_it(
        self,
        commit: Loaded,
        key: tuple[str, ...],
        compared: bool,
    ) -> None:
        plan = planned(DRIVING, tips=tips_with(a_commit(5), commit, record_key=key), target=stood(500, 5))
        assert stage(plan, DriveRows).changes.before == ((Version(at(5)),) if compared else ())

    @pytest.mark.parametrize("kept", [True, False])
    def test_one_that_is_read_whole_again_drives_what_its_rows_named_before(self, kept: bool) -> None:
        """Kind: a row that the driver has deleted meanwhile names the main source's rows no more, and they have changed."""
        tips = tips_with(a_commit(300), a_commit(600))
        tips = replace(tips, load_archived=lambda after: [a_commit(200)], retained_from="" if kept else at(299))
        spec = a_spec(inputs=(replace(DRIVING, name="other"), DRIVING), source={"full_scan_when_expired": True})
        target = a_target(
            (
                990,
                Checkpoint(
                    {
                        MAIN: HudiPosition(instant=at(500), table=SOURCE.path),
                        **{name: HudiPosition(instant=at(5), table=TIPS.path) for name in ("tips", "other")},
                    }
                ),
            )
        )
        plan = compile_plan(spec, a_lake(None, tips, target), RunRequest())
        drives = [s for s in plan.stages if isinstance(s, DriveRows)]
        assert {one.changes.window.kind for one in drives} == {"whole_table"}
        assert [(one.every_row, one.changes.before, len(one.earlier)) for one in drives] == (
            [(False, (Version(at(5)),), 0), (False, (Version(at(5)),), 1)] if kept else [(True, (), 0)]
        )
        assert any("all of raw.trips" in line for line in lines(plan)) is not kept

    def test_one_of_another_table_drives_every_row(self) -> None:
        """Kind: a driver that a migration, or the files, put another table in the place of.

        What the one that was read before named is not told by the rows of the other: of a tip that was deleted before it was
        loaded, or that its new logic leaves out, no row is there. A driver that is new names nothing that was joined before.
        """
        other = replace(DRIVING, name="other")
        target = a_target(
            (
                990,
                Checkpoint(
                    {
                        MAIN: HudiPosition(instant=at(500), table=SOURCE.path),
                        "tips": HudiPosition(instant=at(5), table=f"{TIPS.path}__m1"),
                        "other": HudiPosition(instant=at(600), table=TIPS.path),
                    }
                ),
            )
        )
        plan = compile_plan(a_spec(inputs=(other, DRIVING)), a_lake(None, None, target), RunRequest())
        driven = stage(plan, DriveRows)
        assert (driven.changes.table, driven.changes.window.kind, driven.every_row, driven.changes.before) == (
            TIPS,
            "whole_table",
            True,
            (),
        )
        assert plan.window.kind == "driven"
        assert any("all of raw.trips" in line for line in lines(plan))
        new = stage(planned(DRIVING, target=stood(500)), DriveRows)
        assert (new.changes.window.kind, new.every_row) == ("whole_table", False)

    def test_a_look_back_into_another_table_holds_all_that_it_may_have_missed(self) -> None:
        """A successor's load is newer than every commit of the table before it: a look-back that held one of them holds it."""
        loaded = tips_with(a_commit(650, operation="BULK_INSERT"))
        looked = stage(planned(LOOKBACK, tips=loaded, target=stood(10, 600, "/lake/raw/tips__m1")), ReadLookback).window
        assert (looked.kind, looked.requested) == ("increment", (at(649),))

    def test_a_position_that_cannot_be_read_from_names_the_input(self) -> None:
        tips = a_table_state([a_commit(600)], ref=TIPS, archived=[a_commit(300)])
        error = refusal(DRIVING, tips=tips, target=stood(500, 5))
        assert (error.code, error.details["input"]) == ("CHECKPOINT_EXPIRED", "tips")
        # That moves the main source's position, and would leave a gap.
        assert "checkpoint set" not in error.next_step

    def test_status_is_behind(self) -> None:
        state = a_lake(None, None, stood(500, 5))
        assert pipeline_status(a_spec(inputs=(DRIVING,)), state).state == "behind"
        assert pipeline_status(a_spec(inputs=(LOOKBACK,)), state).state == "up_to_date"


def touching(*paths: str, completed: int = 500, **config: Any) -> TableState:
    return a_table_state([a_commit(10), a_commit(completed, partitions=paths, extra=SCHEMA)], **config)


class TestPartitions:
    def test_the_sources_commits_name_them(self) -> None:
        plan = planned(PARTITIONS, source=touching("day=2026-01-02", "2026-01-01"), target=stood(10))
        assert stage(plan, ReadPartitions).known == (("2026-01-01",), ("2026-01-02",))
        assert "2. read rest: of raw.trips 2 partitions: day=2026-01-01, day=2026-01-02" in lines(plan)

    def test_of_many_the_text_shows_some(self) -> None:
        plan = planned(PARTITIONS, source=touching(*(f"day={number:02}" for number in range(25))), target=stood(10))
        assert [line for line in lines(plan) if "day=00" in line and line.endswith("day=19 and 5 more")]

    def test_null_is_one_of_them(self) -> None:
        plan = planned(PARTITIONS, source=touching(f"day={NULL_PARTITION}"), target=stood(10))
        assert stage(plan, ReadPartitions).known == ((NULL_PARTITION,),)

    @pytest.mark.parametrize(
        ("on", "source"),
        [
            ((("day", ("day", "date_sub(day, 1)")),), touching("day=a")),
            ((("day", ("day",)),), touching("day=a/b")),
            ((("day", ("day",)),), touching("day=100%25")),
            ((("day", ("rides",)),), touching("rides=1", partition_by=("rides",))),
            ((("day", ("day",)),), a_table_state([a_commit(10), a_commit(500, partitions=("day=a",))])),
        ],
        ids=["expression", "slash", "percent", "no text", "no schema"],
    )
    def test_where_the_paths_do_not_tell_for_sure_the_batch_does(self, on: Any, source: TableState) -> None:
        one = InputSpec(name="rest", table=TIPS, read="affected_partitions", line=7, on=on)
        plan = planned(one, source=source, target=stood(10))
        assert (stage(plan, ReadPartitions).known, stage(plan, ReadPartitions).also) == (None, ())
        assert [line for line in lines(plan) if "the partitions that the batch needs: day = " in line]

    def test_two_columns_in_the_order_of_on(self) -> None:
        schema = {"schema": an_avro_schema({"city": "string", "day": ["null", "string"]})}
        source = a_table_state(
            [a_commit(10), a_commit(500, partitions=("city=x/day=1",), extra=schema)], partition_by=("city", "day")
        )
        one = replace(PARTITIONS, on=(("day", ("day",)), ("city", ("city", "day"))))
        assert stage(planned(one, source=source, target=stood(10)), ReadPartitions).known == (("1", "1"), ("1", "x"))

    def test_driven_rows_are_told_by_the_batch_besides(self) -> None:
        spec = a_spec(inputs=(DRIVING, PARTITIONS))
        plan = compile_plan(spec, a_lake(touching("day=a"), None, stood(10, 5)), RunRequest())
        found = stage(plan, ReadPartitions)
        assert (found.known, found.also) == (None, (("a",),))

    def test_a_column_that_is_no_partition(self) -> None:
        error = refusal(replace(PARTITIONS, on=(("fare", ("fare",)),)), target=stood(10))
        assert (error.code, error.details["column"]) == ("NOT_A_PARTITION", "fare")

    def test_a_source_that_is_read_whole_needs_all(self) -> None:
        found = stage(planned(PARTITIONS), ReadSnapshot)
        assert (found.view, found.empty) == ("rest", False)

    @pytest.mark.parametrize(
        ("path", "columns", "values"),
        [
            ("day=1", ("day",), ("1",)),
            ("1", ("day",), ("1",)),
            ("day=a=b", ("day",), ("a=b",)),
            ("", (), None),
            ("a=1/b=2", ("a", "b"), ("1", "2")),
            ("a=1", ("a", "b"), None),
            ("a=%2F", ("a",), None),
        ],
    )
    def test_values_of_a_path(self, path: str, columns: tuple[str, ...], values: tuple[str, ...] | None) -> None:
        assert partition_values(path, columns) == values


class TestVersions:
    def test_the_runs_start_is_the_newest_commit_and_the_checkpoint_what_the_target_has_seen(self) -> None:
        assert stage(planned(replace(PARTITIONS, as_of="run_start"), target=stood(10)), ReadPartitions).as_of == at(500)
        plan = planned(replace(PARTITIONS, as_of="checkpoint"), source=touching("day=a"), target=stood(10))
        assert stage(plan, ReadPartitions).as_of == at(10)
        assert f"2. read rest: of raw.trips as of {at(10)} 1 partition: day=a" in lines(plan)

    @pytest.mark.parametrize(("begun", "version"), [(499, 300), (200, 10)])
    def test_a_table_service_after_the_checkpoint_is_that_version_too_unless_the_change_began_first(
        self,
        begun: int,
        version: int,
    ) -> None:
        source = a_table_state(
            [
                a_commit(10),
                a_commit(300, action="replacecommit", operation="CLUSTER"),
                a_commit(500, begun),
            ]
        )
        plan = planned(replace(PARTITIONS, as_of="checkpoint"), source=source, target=stood(10))
        assert stage(plan, ReadPartitions).as_of == at(version)

    def test_a_version_that_was_cleaned_is_refused_where_it_is_needed(self) -> None:
        source = a_table_state([a_commit(10), a_commit(500)], retained_from=at(499))
        error = refusal(replace(PARTITIONS, as_of="checkpoint"), source=source, target=stood(10))
        assert (error.code, error.details["version"]) == ("VERSION_CLEANED", at(10))
        assert planned(PARTITIONS, source=source, target=stood(10)).window.kind == "increment"
        tips = tips_with(a_commit(5), a_commit(300, deletes=1), retained_from=at(299))
        assert refusal(DRIVING, tips=tips, target=stood(500, 5)).code == "VERSION_CLEANED"

    @pytest.mark.parametrize("read", ["snapshot", "affected_partitions"])
    def test_before_the_first_checkpoint_there_was_nothing(self, read: Any) -> None:
        found = stage(planned(replace(PARTITIONS, read=read, as_of="checkpoint")), ReadSnapshot)
        assert (found.empty, found.as_of, found.columns) == (True, "", ())

    def test_where_all_is_read_again_nobody_knows_what_was(self) -> None:
        source = a_table_state([a_commit(500)], archived=[a_commit(400)])
        spec = a_spec(inputs=(replace(PARTITIONS, as_of="checkpoint"),), source={"full_scan_when_expired": True})
        plan = compile_plan(spec, a_lake(source, None, stood(10)), RunRequest())
        assert (plan.window.kind, stage(plan, ReadSnapshot).empty) == ("whole_table", True)

    def test_the_own_target_is_empty_before_it_is_there(self) -> None:
        own = InputSpec(name="old", table=TARGET, read="snapshot", line=7)
        plan = planned(own)
        assert (stage(plan, ReadSnapshot).columns, stage(plan, ReadSnapshot).empty) == (COLUMNS, True)
        assert "2. read old: nothing of derived.earnings yet" in lines(plan)
        assert not stage(planned(own, target=stood(10)), ReadSnapshot).empty


def every_read() -> PipelineSpec:
    return a_spec(inputs=(DRIVING, PARTITIONS, InputSpec(name="all", table=TIPS, read="snapshot", line=9, as_of="run_start")))


@pytest.mark.parametrize("looked", [True, False])
def test_json_and_text_name_every_way_of_reading(looked: bool) -> None:
    plan = compile_plan(every_read(), a_lake(touching("day=a"), None, stood(10, 5)), RunRequest(look_at_tables=looked))
    found = json.loads(json.dumps(plan_json(plan)))
    assert [s["stage"] for s in found["stages"]][:5] == [
        "read_increment",
        "drive_rows",
        "read_lookback",
        "read_partitions",
        "read_snapshot",
    ]
    drive = found["stages"][1]
    assert (drive["on"], drive["changes"]["table"]["name"], drive["held"]) == (
        [["trip_id", "trip_id"]],
        "raw.tips",
        [at(499)] if looked else [],
    )
    text = lines(plan)
    assert [line for line in text if line.startswith("2. add to <SRC> what raw.tips changed: rows of raw.trips")]
    if looked:
        assert f"5. read all: all of raw.tips as of {at(600)}" in text


def test_the_same_state_gives_the_same_plan() -> None:
    state = a_lake(touching("day=a"), None, stood(10, 5))
    assert compile_plan(every_read(), state, RunRequest()) == compile_plan(every_read(), state, RunRequest())


def test_an_input_that_is_no_longer_listed_keeps_its_position() -> None:
    plan = compile_plan(a_spec(inputs=()), a_lake(None, None, stood(10, 5)), RunRequest())
    assert instants(plan) == {"SRC": at(500), "tips": at(5)}
