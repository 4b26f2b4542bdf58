"""How wrong rows are put right: by an upsert where that can do it, by whole partitions else, and never with a checkpoint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.audit.mending import choose_how, compile_repair
from freshet.audit.plan import AuditPlan, plan_audit
from freshet.audit.request import AuditRequest
from freshet.audit.result import Group
from freshet.errors import StateError
from freshet.hudi.checkpoint import BACKFILL_KEY, CHECKPOINT_KEY, ORIGIN_KEY, PIPELINE_KEY, STREAMER_V2_KEY
from freshet.hudi.table import MemoryState
from freshet.plan.stages import Commit, Precondition
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, PipelineSpec
from freshet.types.columns import Atomic, Column
from freshet.verdict.result import Scope
from tests.kit.memory import CITIES, COLUMNS, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target, at

MARKED = a_table_spec(columns=(*COLUMNS, Column(name="_hoodie_is_deleted", type=Atomic("boolean"))))
TARGET_STATE = a_target((22, a_checkpoint(20)), extra={PIPELINE_KEY: "earnings"})
NBCC = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
HBASE = IndexSpec("HBASE", {}, HBaseSpec(quorum="q", port=2181, znode="/hbase", table="t", server_rate=1, shares={}, client={}))


def planned(spec: PipelineSpec | None = None) -> AuditPlan:
    tables = (a_table_state([a_commit(20)]), a_table_state([a_commit(1)], ref=CITIES), TARGET_STATE)
    state = MemoryState({table.ref.path: table for table in tables})
    plan = plan_audit(a_spec(), state, AuditRequest(everything=True), Scope(), "/nowhere")
    return replace(plan, spec=spec) if spec else plan


MISSING, SURPLUS = Group(kind="missing", rows=1), Group(kind="surplus", commit=at(1), rows=2)
UNEQUAL = Group(kind="unequal", commit=at(1), rows=3)
TWICE, NEWER = replace(SURPLUS, twice=1), replace(UNEQUAL, outranked=1)


@pytest.mark.parametrize(
    ("spec", "groups", "how"),
    [
        (a_spec(), [MISSING, UNEQUAL], "upsert"),
        (a_spec(), [SURPLUS], "insert_overwrite"),
        (a_spec(target=MARKED), [SURPLUS, MISSING], "upsert"),
        (a_spec(target=MARKED), [TWICE], "insert_overwrite"),
        (a_spec(target=MARKED), [NEWER], "insert_overwrite"),
        (a_spec(target=a_table_spec(partition_by=())), [SURPLUS], "insert_overwrite_table"),
        (a_spec(index=HBASE), [MISSING, UNEQUAL], "upsert"),
        (a_spec(index=HBASE, target=MARKED), [SURPLUS], "upsert"),
        (a_spec(write_options=NBCC), [UNEQUAL], "upsert"),
    ],
)
def test_the_least_that_does_it(spec: PipelineSpec, groups: list[Group], how: str) -> None:
    assert choose_how(planned(spec), TARGET_STATE, groups) == how


def test_an_ordering_value_that_is_not_compared_is_never_the_newer_one() -> None:
    plan = replace(planned(), left_out=("updated_at",))
    assert choose_how(plan, TARGET_STATE, [NEWER]) == "upsert"


@pytest.mark.parametrize(
    ("table_type", "operation", "groups", "how"),
    [
        ("MERGE_ON_READ", "DELETE", [MISSING], "insert_overwrite"),
        ("MERGE_ON_READ", "DELETE", [UNEQUAL], "upsert"),
        ("MERGE_ON_READ", "UPSERT", [MISSING], "upsert"),
        ("COPY_ON_WRITE", "DELETE", [MISSING], "upsert"),
    ],
)
def test_no_row_is_logged_beside_a_delete_of_hudis_own(table_type: str, operation: str, groups: list[Group], how: str) -> None:
    """Seen on 1.0.2: the log's delete has no ordering value, and no reader gets past the two."""
    target = a_table_state([a_commit(22), a_commit(30, operation=operation)], table_type=table_type)
    assert choose_how(planned(), target, groups) == how


@pytest.mark.parametrize("changes", [{"index": HBASE}, {"write_options": NBCC}])
@pytest.mark.parametrize("group", [SURPLUS, TWICE, NEWER])
def test_where_no_partition_can_be_replaced_it_says_what_else(changes: dict[str, object], group: Group) -> None:
    with pytest.raises(StateError) as refused:
        choose_how(planned(a_spec(**changes)), TARGET_STATE, [group])
    assert refused.value.code == "REPAIR_NOT_POSSIBLE"
    assert refused.value.effect == "Nothing was written."
    assert ("migrate" in refused.value.next_step) == ("write_options" in changes)
    assert ("Declare" in refused.value.next_step) == (group is SURPLUS)


def commit_of(plan: AuditPlan, how: str, paths: tuple[str, ...] = ()) -> Commit:
    (commit,) = compile_repair(plan, TARGET_STATE, how, paths).stages  # type: ignore[arg-type]
    assert isinstance(commit, Commit)
    return commit


@pytest.mark.parametrize("how", ["upsert", "insert_overwrite", "insert_overwrite_table"])
def test_its_commit_moves_no_checkpoint_and_is_fenced(how: str) -> None:
    commit = commit_of(planned(), how, ("2026-08-01",))
    assert commit.checkpoint is None
    assert not {CHECKPOINT_KEY, STREAMER_V2_KEY, BACKFILL_KEY} & commit.metadata.keys()
    assert (commit.metadata[ORIGIN_KEY], commit.metadata[PIPELINE_KEY]) == ("repair", "earnings")
    assert commit.operation == how
    # Any commit since the look would be undone by it, or undo it.
    assert commit.guard == Precondition(at(22), (), how != "upsert")
    assert commit.options["hoodie.clean.automatic"] == "false"


def test_partitions_are_named_by_their_paths_and_keys_stand_once() -> None:
    commit = commit_of(planned(), "insert_overwrite", ("day=2026-08-01", "day=2026-08-02"))
    assert commit.options["hoodie.static.overwrite.partition.paths"] == "day=2026-08-01,day=2026-08-02"
    assert commit.options["hoodie.combine.before.insert"] == "true"
    whole = commit_of(planned(), "insert_overwrite_table")
    assert "hoodie.static.overwrite.partition.paths" not in whole.options
    assert whole.options["hoodie.combine.before.insert"] == "false"


def test_a_pipeline_that_inserts_is_repaired_by_an_upsert() -> None:
    for operation in ("insert", "insert_overwrite"):
        assert commit_of(planned(a_spec(operation=operation)), "upsert").operation == "upsert"
