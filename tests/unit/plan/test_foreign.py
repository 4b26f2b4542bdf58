"""Another table at the path of a target: a run would write beside its rows, go on from its checkpoint, or fail within Hudi."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, PIPELINE_KEY, STREAMER_V2_KEY, Checkpoint, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.checks import CheckBatch
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.stages import Plan
from freshet.project.model.checks import CheckSpec, RowRule
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.read import held
from freshet.sources.hudi.read.held import hold_plan
from freshet.status.status import pipeline_status
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target, at

OTHERS = {PIPELINE_KEY: "refunds"}


def planned(target: TableState | None, spec: PipelineSpec | None = None, **request: Any) -> Plan:
    there = {SOURCE.path: a_table_state([a_commit(10), a_commit(20)])} | ({TARGET.path: target} if target else {})
    return compile_plan(spec or a_spec(inputs=()), MemoryState(there), RunRequest(**request))


def refusal(target: TableState, **request: Any) -> StateError:
    with pytest.raises(StateError) as refused:
        planned(target, **request)
    held = {SOURCE.path: a_table_state([a_commit(10), a_commit(20)]), TARGET.path: target}
    assert pipeline_status(a_spec(inputs=()), MemoryState(held)).state == refused.value.code
    return refused.value


def named(name: str) -> dict[str, Any]:
    return {"properties": {"hoodie.table.name": name}}


@pytest.mark.parametrize("full_refresh", [False, True])
@pytest.mark.parametrize("read_upto", [10, 20], ids=["news", "idle"])
def test_a_table_of_another_name_is_refused(read_upto: int, full_refresh: bool) -> None:
    """Kind: what Hudi refuses within a write, with no word on what to do; of a run that finds nothing to do, too."""
    error = refusal(a_target((30, a_checkpoint(read_upto)), **named("trips")), full_refresh=full_refresh)
    assert (error.code, error.details) == ("TABLE_NAME_CHANGED", {"before": "trips", "after": "earnings"})
    assert planned(a_target((30, a_checkpoint(read_upto)), **named("EARNINGS")), full_refresh=full_refresh)


@pytest.mark.parametrize("full_refresh", [False, True])
def test_a_table_with_another_pipelines_checkpoint_is_refused(full_refresh: bool) -> None:
    """Kind: a copy of another pipeline's table, made from the same source with the same columns, or one that it still writes:
    this one would pass over what the other has read. By `checkpoint set` a pipeline takes it over that got another name.
    """
    target = a_target((30, a_checkpoint(10)), extra=OTHERS)
    error = refusal(target, full_refresh=full_refresh)
    assert (error.code, error.details["pipeline"]) == ("TARGET_OF_ANOTHER_PIPELINE", "refunds")
    assert f"freshet checkpoint set earnings {at(10)}" in error.next_step
    override = compile_override(a_spec(inputs=()), MemoryState({TARGET.path: target}), at(10))
    assert override.stages[-1].metadata[PIPELINE_KEY] == "earnings"  # type: ignore[union-attr]


def test_tables_that_a_pipeline_may_go_on_with() -> None:
    """Its own, whoever wrote between; one of HoodieStreamer's or of a plain writer's; and one that co-writers write, too."""
    own = a_target((30, a_checkpoint(10)), extra={PIPELINE_KEY: "earnings"}, **named("earnings"))
    planned(own)
    planned(a_table_state([a_commit(5, extra={STREAMER_V2_KEY: at(10)})], ref=TARGET))
    planned(a_table_state([a_commit(5)], ref=TARGET))
    commits = [(i, own.info(i)) for i in own.commits]
    planned(a_table_state([*commits, a_commit(40, extra=OTHERS)], ref=TARGET))
    partner = a_commit(40, extra={**OTHERS, STREAMER_V2_KEY: at(20)})
    plan = planned(a_table_state([*commits, partner], ref=TARGET), a_spec(inputs=(), co_writers=("refunds",)))
    assert plan.window.requested == (at(19),)


def test_a_pipeline_goes_on_from_its_own_checkpoint_whoever_wrote_after_it() -> None:
    """Kind: two pipelines that share a table, of which one was retired or got another name: its checkpoint is newer, and one in
    another source's timeline. Wrong were a refusal, and a command that sets the other's position as this one's.
    """
    other = Checkpoint(
        {MAIN: HudiPosition(instant=at(20), table="/lake/raw/other"), "tips": HudiPosition(instant=at(19), table="/t")}
    )
    left = a_commit(40, extra={**OTHERS, **encode(other)})
    own = a_target((30, a_checkpoint(10)), extra={PIPELINE_KEY: "earnings"})
    both = a_table_state([*((i, own.info(i)) for i in own.commits), left], ref=TARGET)
    assert planned(both).window.requested == (at(19),)
    override = compile_override(a_spec(inputs=()), MemoryState({TARGET.path: both}), at(10))
    assert set(override.checkpoint_after.positions) == {MAIN}  # type: ignore[union-attr]
    alone = a_table_state([left], ref=TARGET)
    assert "freshet checkpoint reset earnings" in refusal(alone).next_step
    override = compile_override(a_spec(inputs=()), MemoryState({TARGET.path: alone}), at(10))
    assert set(override.checkpoint_after.positions) == {MAIN}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("there", "is_foreign"),
    [
        (("part-0.snappy.parquet",), True),
        (("_SUCCESS", "part-00000"), True),
        (("day=2026-01-05/a.parquet",), True),
        (("_delta_log/0.json",), True),
        (("data/a.parquet", "metadata/v1.json"), True),
        (("2026.csv.gz",), True),
        ((), False),
        ((".hoodie/timeline/x",), False),
        ((".freshet/copy.lease",), False),
        ((".part-0.parquet.crc",), False),
    ],
    ids=str,
)
def test_a_place_where_something_else_lies_is_refused(tmp_path: Path, there: tuple[str, ...], is_foreign: bool) -> None:
    """Kind: files that are no Hudi table's, of Spark, Delta or Iceberg, or of a table whose .hoodie is gone: the first run
    would make a table among them.
    """
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    ref = TableRef(TARGET.name, str(tmp_path))
    plan = planned(None, a_spec(inputs=(), target=a_table_spec(ref=ref)))
    plan = replace(plan, stages=plan.stages[-1:])
    if not is_foreign:
        hold_plan(plan, MemoryState({}))
        return
    with pytest.raises(StateError) as refused:
        hold_plan(plan, MemoryState({}))
    assert refused.value.code == "TARGET_OCCUPIED"


@pytest.mark.parametrize(
    ("there", "is_foreign"),
    [
        (("part-0.snappy.parquet",), True),
        (("day=2026-01-05/a.parquet",), True),
        (("_delta_log/0.json",), True),
        ((".hoodie/timeline/x", "2026-01-05/a.parquet"), False),
        ((), False),
    ],
    ids=str,
)
def test_a_quarantines_place_where_something_else_lies_is_refused(
    tmp_path: Path,
    there: tuple[str, ...],
    is_foreign: bool,
) -> None:
    """Kind: as above, of the table beside the target that a run makes when it drops its first row."""
    target = TableRef(TARGET.name, str(tmp_path / "earnings"))
    place = TableRef("derived.earnings_quarantine", str(tmp_path / "earnings_quarantine"))
    for name in there:
        (tmp_path / "earnings_quarantine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "earnings_quarantine" / name).write_bytes(b"x")
    check = CheckSpec(name="it", severity="drop", line=1, rule=RowRule("fare < 0"))
    plan = planned(None, a_spec(inputs=(), target=a_table_spec(ref=target), quarantine=place, checks=(check,)))
    plan = replace(plan, stages=tuple(stage for stage in plan.stages if isinstance(stage, CheckBatch)))
    assert plan.stages
    if not is_foreign:
        hold_plan(plan, MemoryState({}))
        return
    with pytest.raises(StateError) as refused:
        hold_plan(plan, MemoryState({}))
    assert refused.value.code == "QUARANTINE_OCCUPIED"


@pytest.mark.parametrize(("root", "listed"), [("s3a://lake", []), ("/lake", ["/lake/raw/trips", "/lake/derived/earnings"])])
def test_before_a_run_the_files_of_a_store_are_listed_once(
    monkeypatch: pytest.MonkeyPatch,
    root: str,
    listed: list[str],
) -> None:
    """Kind: a listing for each partition, made by the plan and a moment later by the run. On a local disk it costs nothing, and
    saves the start of Spark; a plan that nobody carries out looks at all.
    """
    source, target = TableRef("raw.trips", f"{root}/raw/trips"), TableRef(TARGET.name, f"{root}/derived/earnings")
    spec = a_spec(inputs=(), source={"table": source}, target={"ref": target})
    stands = a_target((30, a_checkpoint(10, source.path)))
    state = MemoryState({source.path: a_table_state([a_commit(10), a_commit(20)]), target.path: replace(stands, ref=target)})
    plan, seen = compile_plan(spec, state, RunRequest()), list[str]()
    monkeypatch.setattr(held, "hold_files", lambda ref, *_: seen.append(ref.path))
    monkeypatch.setattr(held, "hold_metadata", lambda *_: None)
    monkeypatch.setattr(held, "hold_version", lambda one, *_, **__: seen.append(getattr(one, "ref", one).path))
    hold_plan(plan, state, is_run_next=True)
    assert seen == listed
    seen.clear()
    hold_plan(plan, state)
    assert seen == [source.path, target.path]
