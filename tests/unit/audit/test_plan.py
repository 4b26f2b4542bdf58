"""What an audit reads: the versions that the target's checkpoint names, or the present ones; and when it is refused.

The kind: a recompute of other rows than the target's last run has read, which would call right rows wrong, or wrong ones right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freshet.audit.plan import AuditPlan, plan_audit
from freshet.audit.request import AuditRequest
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import BACKFILL_KEY, MAIN, ORIGIN_KEY, PIPELINE_KEY, Checkpoint
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.checks import CheckBatch
from freshet.plan.row_stages import EnforceSchema, MergeColumns
from freshet.plan.stages import RunPython, RunSql
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, SqlRule
from freshet.project.model.pipeline import IndexSpec, InputSpec, PipelineSpec, TableRef
from freshet.project.model.steps import WriteSpec
from freshet.sources.hudi.position import HudiPosition, Known
from freshet.sources.hudi.reads import ReadSnapshot
from freshet.types.columns import Atomic, Column
from freshet.verdict.result import Scope, ScopeColumn
from tests.kit.memory import (
    CITIES,
    COLUMNS,
    SOURCE,
    TARGET,
    a_checkpoint,
    a_commit,
    a_spec,
    a_table_spec,
    a_table_state,
    a_target,
    an_instant,
    at,
)

TIPS = TableRef("raw.tips", "/lake/raw/tips")
ALL = AuditRequest(everything=True)
OWN = {PIPELINE_KEY: "earnings"}


def lake(**changes: TableState | None) -> MemoryState:
    tables: dict[str, TableState | None] = {
        "source": a_table_state([a_commit(10), a_commit(20)]),
        "target": a_target((22, a_checkpoint(20)), extra=OWN),
        "cities": a_table_state([a_commit(1), a_commit(30)], ref=CITIES),
        **changes,
    }
    return MemoryState({table.ref.path: table for table in tables.values() if table})


def planned(
    spec: PipelineSpec | None = None, request: AuditRequest = ALL, scope: Scope | None = None, **tables: Any
) -> AuditPlan:
    return plan_audit(spec or a_spec(), lake(**tables), request, scope or Scope(), "/nowhere")


def reads(plan: AuditPlan) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {s.view: (s.as_of, s.overtakers) for s in plan.plan.stages if isinstance(s, ReadSnapshot)}


def refusal(**given: Any) -> FreshetError:
    with pytest.raises(FreshetError) as refused:
        planned(**given)
    return refused.value


def test_where_nothing_waits_all_is_read_as_it_is() -> None:
    plan = planned()
    # Hudi travels by request times; at its completion a commit is seen.
    assert reads(plan) == {MAIN: (at(20), ()), "cities": (at(30), ())}
    assert (plan.position, plan.commit, plan.base, plan.target.as_of) == (at(20), at(22), at(22), at(22))
    assert [type(stage) for stage in plan.plan.stages[2:]] == [RunSql, RunPython, EnforceSchema]
    assert plan.plan.window.end_inclusive == at(20), "what <SRC_INSTANT> stands for"
    assert (plan.cleaned, plan.left_out, plan.deletes) == ((), (), False)


def test_of_a_source_that_has_gone_on_the_version_of_the_checkpoint_is_read() -> None:
    plan = planned(source=a_table_state([a_commit(10), a_commit(20), a_commit(40)]))
    assert reads(plan)[MAIN] == (at(20), ())
    assert plan.tables[MAIN].waiting == (at(40),)


def test_a_commit_that_was_overtaken_is_not_seen() -> None:
    """It was requested before the last one that was read, and completed after it: time travel alone would show it."""
    plan = planned(source=a_table_state([a_commit(10), a_commit(20, 18), a_commit(40, 15)]))
    assert reads(plan)[MAIN] == (at(10), (at(18),))


def test_what_an_overtaker_deleted_no_version_tells() -> None:
    source = a_table_state([a_commit(10), a_commit(20, 18, deletes=1), a_commit(40, 15)])
    assert refusal(source=source).code == "VERSION_CLEANED"


def test_a_table_service_since_changes_nothing() -> None:
    source = a_table_state([a_commit(10), a_commit(20), a_commit(30, action="replacecommit", operation="CLUSTER")])
    assert reads(planned(source=source))[MAIN] == (at(30), ())


def tips(**changes: Any) -> PipelineSpec:
    one = InputSpec(name="tips", table=TIPS, read="incremental", line=8, lookback_seconds=3600, **changes)
    return a_spec(inputs=(one,), transform=())


def with_tips(position: int) -> TableState:
    positions = {
        MAIN: HudiPosition(instant=at(20), table=SOURCE.path),
        "tips": HudiPosition(instant=at(position), table=TIPS.path),
    }
    return a_target((22, Checkpoint(positions)), extra=OWN)


def test_an_input_is_read_as_of_its_own_position_whole_and_not_by_its_lookback() -> None:
    table = a_table_state([a_commit(5), a_commit(15), a_commit(35)], ref=TIPS)
    plan = planned(tips(), target=with_tips(15), tips=table)
    assert reads(plan)["tips"] == (at(15), ())
    assert plan.tables["tips"].waiting == (at(35),)
    assert reads(planned(tips(), tips=table))["tips"] == (at(35), ()), "without a position at the present"


def test_an_input_over_the_main_sources_table_is_read_as_of_its_position() -> None:
    one = InputSpec(name="day_trips", table=SOURCE, read="affected_partitions", line=8, on=(("day", ("day",)),))
    plan = planned(a_spec(inputs=(one,), transform=()), source=a_table_state([a_commit(10), a_commit(20), a_commit(40)]))
    assert reads(plan) == {MAIN: (at(20), ()), "day_trips": (at(20), ())}


def test_an_input_without_rows_and_one_of_before_the_first_run_are_empty() -> None:
    empty = planned(cities=a_table_state([], ref=CITIES))
    assert [s.empty for s in empty.plan.stages if isinstance(s, ReadSnapshot)] == [False, True]
    one = InputSpec(name="was", table=CITIES, read="snapshot", line=8, as_of="checkpoint")
    was = planned(a_spec(inputs=(one,), transform=()))
    assert [s.empty for s in was.plan.stages if isinstance(s, ReadSnapshot)] == [False, True]


def cleaned(*more: int) -> TableState:
    return a_table_state([a_commit(10), a_commit(20), *(a_commit(n) for n in more)], retained_from=at(29))


def test_of_a_cleaned_version_the_present_one_is_read_where_nothing_waits() -> None:
    assert reads(planned(source=cleaned()))[MAIN] == (at(20), ())
    table = a_table_state([a_commit(5), a_commit(15), a_commit(35)], ref=TIPS, retained_from=at(34))
    plan = planned(tips(), target=with_tips(15), tips=table)
    assert (plan.cleaned, reads(plan)["tips"][0]) == (("tips",), at(35))


def test_of_a_cleaned_version_nothing_is_told_where_something_waits() -> None:
    error = refusal(source=cleaned(30, 40))
    assert error.code == "VERSION_CLEANED"
    assert "freshet run earnings --drain" in error.next_step


def test_commits_that_are_named_in_the_past_are_read_first() -> None:
    known = HudiPosition(instant=at(20), table=SOURCE.path, known=Known(((at(19), at(20)),), at(1)))
    source = a_table_state([a_commit(15), a_commit(20), a_commit(40)])
    error = refusal(source=source, target=a_target((22, Checkpoint({MAIN: known})), extra=OWN))
    assert error.code == "COMMIT_IN_THE_PAST"
    assert "freshet run earnings --drain" in error.next_step


def chunk(completed: int, pipeline: str = "earnings") -> Any:
    return a_commit(completed, extra={BACKFILL_KEY: "{}", PIPELINE_KEY: pipeline, ORIGIN_KEY: "backfill"})


def ahead(*chunks: Any) -> TableState:
    base = a_target((22, a_checkpoint(20)), extra=OWN)
    loaded = {instant: base.info(instant) for instant in base.instants} | dict(chunks)
    return replace(base, instants=tuple(loaded), load=loaded.__getitem__)


def test_a_target_that_a_backfill_has_brought_ahead_of_its_checkpoint() -> None:
    gone_on = a_table_state([a_commit(10), a_commit(20), a_commit(40)])
    error = refusal(source=gone_on, target=ahead(chunk(45)))
    assert (error.code, error.details["commits"]) == ("TARGET_AHEAD", [at(45)])
    # It read what the checkpoint names, or is another pipeline's, or the source has nothing newer.
    assert planned(source=gone_on, target=ahead(chunk(35))).base == at(35)
    assert planned(source=gone_on, target=ahead(chunk(45, "other"))).base == at(45)
    assert planned(target=ahead(chunk(45))).base == at(45)


def test_a_checkpoint_that_was_set_back_by_hand() -> None:
    back = replace(a_checkpoint(10), seen=HudiPosition(instant=at(20), table=SOURCE.path))
    assert refusal(target=a_target((22, back), extra=OWN)).code == "TARGET_AHEAD"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"target": None}, "TARGET_MISSING"),
        ({"target": a_target((22, a_checkpoint(None)), extra=OWN)}, "NO_CHECKPOINT"),
        ({"source": None}, "SOURCE_MISSING"),
        ({"spec": a_spec(operation="delete")}, "NOT_RECOMPUTABLE"),
        ({"spec": a_spec(co_writers=("other",))}, "COLUMNS_NOT_OWNED"),
        (
            {"spec": a_spec(write=WriteSpec(strategy="partial_update", columns=tuple(c.name for c in COLUMNS)))},
            "NOT_RECOMPUTABLE",
        ),
        (
            {"spec": a_spec(inputs=(InputSpec(name="own", table=TARGET, read="snapshot", line=7),))},
            "READS_ITS_TARGET",
        ),
        ({"spec": a_spec(index=IndexSpec("BUCKET", {"hoodie.bucket.index.num.buckets": "8"}))}, "INDEX_CHANGED"),
        ({"request": AuditRequest(), "scope": Scope(why_none="LIMIT")}, "NO_SCOPE"),
        (
            {"source": replace(a_table_state([a_commit(10), a_commit(20, 18), a_commit(40, 15)]), pending=(at(17),))},
            "SOURCE_COMMIT_PENDING",
        ),
    ],
)
def test_what_is_refused_reads_nothing(given: dict[str, Any], code: str) -> None:
    error = refusal(**given)
    assert error.code == code
    assert error.effect in ("Nothing was read or written.", "The table was not touched.")
    assert error.next_step


CHECKS = (
    CheckSpec(name="fits", severity="drop", line=1, rule=MalformedRule(), most_rows=3),
    CheckSpec(name="fresh", severity="warn", line=2, rule=FreshnessRule(column="updated_at", within_seconds=60)),
    CheckSpec(name="few", severity="fail", line=3, rule=SqlRule(query="select 1", expect="1", compare="", scope="batch")),
)


def test_of_the_checks_those_are_evaluated_that_keep_rows_out() -> None:
    plan = planned(a_spec(checks=CHECKS))
    (stage,) = (s for s in plan.plan.stages if isinstance(s, CheckBatch))
    assert [(c.name, c.most_rows) for c in stage.checks] == [("fits", None)]
    assert not [s for s in planned(a_spec(checks=CHECKS[1:])).plan.stages if isinstance(s, CheckBatch)]


def test_rows_are_told_apart_as_the_target_does() -> None:
    bucket = planned()
    assert (bucket.identity, bucket.compared) == (("trip_id", "day"), ("fare", "rides", "updated_at"))
    within = a_spec(target=a_table_spec(record_key=("trip_id", "day")))
    stands = a_target((22, a_checkpoint(20)), extra=OWN, record_key=("trip_id", "day"))
    assert planned(within, target=stands).identity == ("trip_id", "day"), "a partition that is of the key stands once"
    record = IndexSpec("RECORD_INDEX", {})
    found = planned(a_spec(index=record), target=a_target((22, a_checkpoint(20)), index=record, extra=OWN))
    assert (found.identity, found.compared) == (("trip_id",), ("fare", "rides", "updated_at", "day"))


def test_a_strategy_that_owns_all_columns_merges_into_nothing() -> None:
    owned = tuple(c.name for c in COLUMNS if c.name not in ("trip_id", "day"))
    plan = planned(a_spec(write=WriteSpec(strategy="merge", columns=owned)))
    assert [s.target_exists for s in plan.plan.stages if isinstance(s, MergeColumns)] == [False]


def test_deletes_that_are_passed_on_leave_the_mark_for_the_sql() -> None:
    marked = a_table_spec(columns=(*COLUMNS, Column(name="_hoodie_is_deleted", type=Atomic("boolean"))))
    plan = planned(
        a_spec(target=marked),
        source=a_table_state([a_commit(10), a_commit(20)], records_changes=True),
        target=a_target((22, a_checkpoint(20)), extra=OWN),
    )
    assert plan.deletes
    assert "_hoodie_is_deleted" not in plan.compared


def test_the_sample_is_that_of_the_scope_and_of_the_request() -> None:
    scope = Scope(columns=(ScopeColumn(name="trip_id", carried={MAIN: "trip_id"}),))
    plan = planned(request=AuditRequest(keys=5, since=at(1), seed="x"), scope=scope)
    # The target's one commit has ten rows.
    assert (plan.sample.share, plan.sample.seed, plan.since) == (0.5, "x", at(1))
    assert an_instant(22).completed == plan.base
