"""A full refresh as a plan: what it reads, what it replaces, and what it is refused for."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.options import NO_ENTRIES
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.checks import CheckBatch, CheckTable
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.describe import plan_text
from freshet.plan.row_stages import MergeColumns
from freshet.plan.stages import Commit, Plan
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, SqlRule, VolumeRule
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, InputSpec, PipelineSpec
from freshet.project.model.readers import Reader
from freshet.project.model.steps import WriteSpec
from freshet.sources.hudi.reads import ReadIncrement
from tests.kit.memory import (
    CITIES,
    SOURCE,
    TARGET,
    a_checkpoint,
    a_commit,
    a_source_spec,
    a_spec,
    a_table_state,
    a_target,
    at,
)


def refreshed(spec: PipelineSpec | None = None, **changes: TableState | None) -> Plan:
    lake: dict[str, TableState | None] = {
        "source": a_table_state([a_commit(10), a_commit(20)]),
        "target": a_target((22, a_checkpoint(20))),
        "cities": a_table_state([a_commit(1)], ref=CITIES),
        **changes,
    }
    state = MemoryState({table.ref.path: table for table in lake.values() if table})
    return compile_plan(spec or a_spec(), state, RunRequest(full_refresh=True))


def commit_of(plan: Plan) -> Commit:
    assert isinstance(plan.stages[-1], Commit)
    return plan.stages[-1]


@pytest.mark.parametrize("strategy", ["READ_UPTO_LATEST_COMMIT", "READ_LATEST", "ERROR"])
def test_it_reads_all_and_replaces_all_though_nothing_is_new(strategy: str) -> None:
    plan = refreshed(a_spec(source={"missing_checkpoint": strategy}))
    (read,) = (stage for stage in plan.stages if isinstance(stage, ReadIncrement))
    assert (plan.window.kind, plan.window.end_inclusive, read.before) == ("whole_table", at(20), ())
    assert plan.replaces_all
    assert not plan.first_run
    assert commit_of(plan).operation == "insert_overwrite_table"
    # What the fence holds it against, and what the commit carries.
    assert plan.checkpoint_before == a_checkpoint(20)
    assert commit_of(plan).checkpoint is not None
    assert plan.checkpoint_after == commit_of(plan).checkpoint
    assert "full refresh" in plan_text(plan)


def test_a_position_that_expired_or_belongs_to_another_table_does_not_matter() -> None:
    """Kind: what stops an incremental run of the same pipeline; its own remedy must not be stopped by it."""
    source = a_table_state([a_commit(50)], archived=[a_commit(20), a_commit(30)])
    for checkpoint in (a_checkpoint(10), a_checkpoint(90), a_checkpoint(10, "/lake/raw/other")):
        plan = refreshed(source=source, target=a_target((12, checkpoint)))
        assert plan.checkpoint_after is not None
        assert plan.checkpoint_after.main is not None
        assert (plan.checkpoint_after.main.instant, plan.checkpoint_after.main.table) == (at(50), SOURCE.path)


def test_nothing_of_the_old_checkpoint_is_kept() -> None:
    old = Checkpoint({**a_checkpoint(20).positions, "gone_input": a_checkpoint(5).positions[MAIN]}, a_checkpoint(30).main)
    after = refreshed(target=a_target((22, old))).checkpoint_after
    assert after is not None
    assert set(after.positions) == {MAIN}
    assert after.seen is None


def test_a_first_run_and_a_source_without_commits_are_what_they_always_are() -> None:
    first = refreshed(target=None)
    assert first.first_run
    assert not first.replaces_all
    assert commit_of(first).operation == "upsert"
    assert refreshed(source=a_table_state()).stages == ()


def test_a_table_that_was_made_otherwise_is_refused_as_by_every_run() -> None:
    with pytest.raises(StateError) as refused:
        refreshed(target=a_target((22, a_checkpoint(20)), record_key=("other",)))
    assert refused.value.code == "KEY_CHANGED"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"co_writers": ("tips",)}, "COLUMNS_NOT_OWNED"),
        ({"write": WriteSpec(strategy="partial_update", columns=("fare",))}, "COLUMNS_NOT_OWNED"),
        ({"write": WriteSpec(strategy="merge", columns=("fare", "rides"), insert_missing=False)}, "COLUMNS_NOT_OWNED"),
        ({"operation": "delete"}, "NOT_RECOMPUTABLE"),
        ({"inputs": (InputSpec(name="before", table=TARGET, read="snapshot", line=7),)}, "READS_ITS_TARGET"),
        ({"write_options": {"hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}}, "OVERWRITES_BESIDE_WRITERS"),
    ],
)
def test_what_holds_more_than_a_recompute_gives_is_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(StateError) as refused:
        refreshed(a_spec(**changes))
    assert refused.value.code == code


@pytest.mark.parametrize("strategy", ["merge", "partial_update", "full_outer_join"])
def test_a_strategy_that_owns_all_columns_makes_its_rows_of_nothing(strategy: Any) -> None:
    spec = a_spec(
        write=WriteSpec(strategy=strategy, columns=("fare", "rides")), source=a_source_spec(incremental_format="latest_state")
    )
    plan = refreshed(spec)
    (merge,) = (stage for stage in plan.stages if isinstance(stage, MergeColumns))
    assert not merge.target_exists
    assert commit_of(plan).guard is None
    assert commit_of(plan).operation == "insert_overwrite_table"


def test_checks_of_the_table_are_freshets_own_and_an_insert_keeps_its_keys_apart() -> None:
    rule = SqlRule(query="select count(*) from <TABLE_NAME>", expect="", compare="unchanged", scope="partitions")
    plan = refreshed(a_spec(operation="insert", checks=(CheckSpec(name="same", severity="fail", line=3, rule=rule),)))
    first, second = (stage for stage in plan.stages if isinstance(stage, CheckTable))
    assert [one.by for one in (*first.checks, *second.checks)] == ["freshet", "freshet"]
    assert (first.operation, first.exists, second.operation, second.exists) == ("insert_overwrite_table", True, "insert", False)


def test_an_inserts_batch_is_computed_once_though_its_keys_are_checked() -> None:
    kinds = [type(stage) for stage in refreshed(a_spec(operation="insert")).stages]
    assert [kind for kind in kinds if kind in (CheckBatch, CheckTable)] == [CheckBatch, CheckTable]


def test_what_speaks_of_the_last_run_says_nothing_of_all_rows() -> None:
    """Kind: checks of what has come since the last run; the other checks of the batch stay."""
    rules = {"usual": VolumeRule(20, 0.5, 3.0), "fresh": FreshnessRule("updated_at", 60), "fits": MalformedRule()}
    checks = tuple(CheckSpec(name=name, severity="fail", line=1, rule=rule) for name, rule in rules.items())
    (stage,) = (one for one in refreshed(a_spec(checks=checks)).stages if isinstance(one, CheckBatch))
    assert [check.name for check in stage.checks] == ["fits"]


def test_an_index_outside_the_table_is_made_afterwards() -> None:
    hbase = HBaseSpec(
        quorum="zk", port=2181, znode="/hbase", table="index", server_rate=1000, shares={"earnings": (TARGET, None)}, client={}
    )
    index = IndexSpec("HBASE", {}, hbase)
    plan = refreshed(a_spec(index=index), target=a_target((22, a_checkpoint(20)), index=index))
    assert plan.index_follows
    assert commit_of(plan).options["hoodie.index.type"] == NO_ENTRIES
    assert not refreshed().index_follows


def test_readers_are_told_whether_they_see_what_goes() -> None:
    spec = a_spec(readers=(Reader("after", TARGET, ()),))
    (told,) = (n for n in refreshed(spec).notices if n.code == "READERS_READ_ALL")
    assert "DELETES_NOT_SEEN" in told.message
    assert "freshet run after --full-refresh" in told.message
    (told,) = refreshed(spec, target=a_target((22, a_checkpoint(20)), records_changes=True)).notices
    assert "DELETES_NOT_SEEN" not in told.message
