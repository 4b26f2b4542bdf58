"""The values: from timelines, commits, records and leases; what nobody knows is left out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from freshet.hudi.checkpoint import CHECKS_KEY, EVENTS_KEY, PIPELINE_KEY
from freshet.metrics.samples import samples_of
from freshet.run.totals import Totals
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_source_spec, a_table_state, a_target, at
from tests.unit.metrics.kit import BEGIN, a_run, looked_at, unknown_lag, values, with_runs, working
from tests.unit.plan.test_inputs import DRIVING, TIPS, stood

MAIN = (SOURCE.name,)


def test_what_waits_and_how_old_it_is() -> None:
    found = looked_at(a_table_state([a_commit(n) for n in (10, 20, 30)]), a_target((15, a_checkpoint(10))), now=BEGIN + 60)
    assert values(found, "freshet_source_waiting_commits") == {MAIN: 2}
    assert values(found, "freshet_source_waiting_rows") == {MAIN: 20}
    assert values(found, "freshet_source_lag_seconds") == {MAIN: 59.98}
    assert values(found, "freshet_source_processed_timestamp_seconds") == {MAIN: BEGIN + 0.01}
    assert values(found, "freshet_pipeline_state") == {("behind",): 1}
    assert values(found, "freshet_pipeline_refused") == {(): 0}


def test_a_clock_that_was_set_back_makes_no_length_of_time_negative() -> None:
    """Kind: whatever counts from what a writer's clock has said: commits that wait, runs, a run at work, what was missed."""
    source, target = a_table_state([a_commit(n) for n in (10, 20, 30)]), a_target((15, a_checkpoint(10)))
    found = looked_at(source, target, now=BEGIN - 86_400, schedule="*/5 * * * *")
    told = samples_of([working(with_runs(found, a_run(16)), BEGIN)], "prod")
    lengths = {one.name: one.value for one in told if one.name.endswith("_seconds") and "timestamp" not in one.name}
    assert lengths["freshet_source_lag_seconds"] == 0
    assert {name: value for name, value in lengths.items() if value < 0} == {}


def test_nothing_waits() -> None:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))))
    assert values(found, "freshet_source_lag_seconds") == {MAIN: 0}
    assert values(found, "freshet_pipeline_state") == {("up_to_date",): 1}


def test_the_lag_of_a_refused_pipeline_is_told_as_far_as_it_is_known() -> None:
    source = a_table_state([a_commit(n) for n in (10, 20, 30)], retained_from=at(29))
    found = looked_at(source, a_target((12, a_checkpoint(10))))
    assert values(found, "freshet_pipeline_refused") == {(): 1}
    assert values(found, "freshet_pipeline_state") == {("CHECKPOINT_EXPIRED",): 1}
    assert values(found, "freshet_source_waiting_commits") == {MAIN: 2}


def test_of_a_zone_that_nobody_knows_no_age_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.timezone", -3600)
    local = {"hoodie.table.timeline.timezone": "LOCAL"}
    found = looked_at(a_table_state([a_commit(10), a_commit(20)], properties=local), a_target((15, a_checkpoint(10))))
    assert values(found, "freshet_source_waiting_commits") == {MAIN: 1}
    assert values(found, "freshet_source_lag_seconds") == values(found, "freshet_source_processed_timestamp_seconds") == {}


def test_an_input_that_drives_has_a_lag_of_its_own() -> None:
    tips = a_table_state([a_commit(5), a_commit(40)], ref=TIPS)
    found = looked_at(a_table_state([a_commit(10)]), tips, stood(10, 5), inputs=(DRIVING,))
    assert values(found, "freshet_source_waiting_commits") == {MAIN: 0, (TIPS.name,): 1}
    assert values(found, "freshet_source_lag_seconds")[(TIPS.name,)] == 59.96


def test_a_pipeline_that_never_ran_is_seen() -> None:
    found = looked_at(a_table_state([a_commit(10)]))
    assert values(with_runs(found), "freshet_pipeline_has_run") == {(): 0}
    assert values(found, "freshet_pipeline_state") == {("new",): 1}
    assert values(found, "freshet_last_success_timestamp_seconds") == {}
    assert values(found, "freshet_schedule_overdue_seconds") == {}, "nobody knows since when it should have run"


def test_whether_it_ever_ran_is_not_said_where_nobody_can_tell() -> None:
    found = looked_at(a_table_state([a_commit(10)]))
    assert values(replace(found, runs=None), "freshet_pipeline_has_run") == {}
    assert values(unknown_lag(with_runs(found), "TIMELINE_UNREADABLE"), "freshet_pipeline_has_run") == {}


def test_a_success_that_is_not_recorded_is_the_last_commit() -> None:
    """Of before there were records, and behind more failures than are looked at."""
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))))
    assert values(found, "freshet_last_success_timestamp_seconds") == {(): BEGIN + 0.015}
    failing = with_runs(found, a_run(40, "failed"), failures=50)
    assert values(failing, "freshet_last_success_timestamp_seconds") == {(): BEGIN + 0.015}


def test_a_schedule_that_did_not_begin_a_run() -> None:
    """Every half hour; the last commit was requested at a quarter past."""
    source, target = a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10)))
    assert values(looked_at(source, target, now=BEGIN + 600), "freshet_schedule_overdue_seconds") == {(): 0}
    late = looked_at(source, target, now=BEGIN + 3600)
    assert values(late, "freshet_schedule_overdue_seconds") == {(): 2700}
    assert values(looked_at(source, target, schedule="H * * * *"), "freshet_schedule_overdue_seconds") == {}


def test_the_last_commit() -> None:
    found = {name: {"status": status, "rows": rows} for name, status, rows in (("a", "passed", 0), ("b", "warned", 4))}
    checks = {CHECKS_KEY: json.dumps({"rows": 9, "quarantined": 2, "checks": found}), PIPELINE_KEY: "earnings"}
    target = a_target((15, a_checkpoint(10)), extra=checks)
    files = (("d/f1_0_1.parquet", 700), ("d/.f2_1.log.1", 50))
    info = replace(target.info(target.commits[0]), updates=4, deletes=1, files=files, base_files=1, base_bytes=700)
    target = replace(target, load=lambda instant: info)
    seen = looked_at(a_table_state([a_commit(10)]), target)
    rows = {("inserted",): 10, ("updated",): 4, ("deleted",): 1, ("moved",): 0, ("quarantined",): 2}
    assert values(seen, "freshet_last_commit_rows") == rows
    told = with_runs(seen, a_run(12, commits=(at(15),), rows={"read": 31}, more={"source_commits": 3}))
    assert values(told, "freshet_last_commit_rows") == {**rows, ("read",): 31}
    assert values(told, "freshet_last_commit_source_commits") == {(): 3}
    other = with_runs(seen, a_run(12, commits=(at(14),), rows={"read": 31}))
    assert values(other, "freshet_last_commit_rows") == rows, "what was read is of another commit"
    assert values(seen, "freshet_last_commit_files") == {("base",): 1, ("log",): 1}
    assert values(seen, "freshet_last_commit_size_bytes") == {("base",): 700, ("log",): 50}
    assert values(seen, "freshet_check_rows") == {("a",): 0, ("b",): 4}
    told_checks = {labels for labels, value in values(seen, "freshet_check_result").items() if value}
    assert told_checks == {("a", "passed"), ("b", "warned")}
    assert values(seen, "freshet_last_commit_timestamp_seconds") == {(): BEGIN + 0.015}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"checks": {"a": 3}}', '{"checks": {"a": {"status": "passed"}}}', '{"quarantined": "x"}']
)
def test_what_is_no_record_of_checks_tells_nothing(text: str) -> None:
    target = a_target((15, a_checkpoint(10)), extra={CHECKS_KEY: text, PIPELINE_KEY: "earnings"})
    found = looked_at(a_table_state([a_commit(10)]), target)
    assert values(found, "freshet_check_rows") == {}
    assert values(found, "freshet_last_commit_rows")[("quarantined",)] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"in": 3, "published": 2, "reasons": {"null_key": 1}}', {("in",): 3, ("published",): 2}), ("{", {})],
)
def test_the_events_of_a_changelog(text: str, expected: dict[tuple[str], int]) -> None:
    target = a_target((15, a_checkpoint(10)), extra={EVENTS_KEY: text, PIPELINE_KEY: "earnings"})
    assert values(looked_at(a_table_state([a_commit(10)]), target), "freshet_last_commit_events") == expected


def test_the_last_run() -> None:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))))
    failed = a_run(
        40, "failed", 2.5, error={"code": "CHECK_FAILED", "message": "x"}, more={"waited_seconds": 7, "conflicts": 2}
    )
    told = with_runs(found, failed, a_run(12), success=at(20), failures=3)
    results = {labels[0] for labels, value in values(told, "freshet_last_run_result").items() if value}
    assert results == {"failed"}
    assert values(told, "freshet_last_run_duration_seconds") == {("total",): 2.5}
    assert values(told, "freshet_last_commit_duration_seconds") == {("total",): 8.0}
    assert values(told, "freshet_last_run_timestamp_seconds") == {(): BEGIN + 0.04}
    assert values(told, "freshet_last_success_timestamp_seconds") == {(): BEGIN + 0.02}
    assert values(told, "freshet_last_run_lease_wait_seconds") == {(): 7}
    assert values(told, "freshet_last_run_conflicts") == {(): 2}
    assert values(told, "freshet_consecutive_failed_runs") == {(): 3}
    busy = with_runs(found, a_run(40, "failed", error={"code": "ALREADY_RUNNING", "message": "x"}))
    assert values(busy, "freshet_last_run_result")[("busy",)] == 1


def test_what_is_at_work_and_what_a_table_owes() -> None:
    logs = [a_commit(n, action="deltacommit") for n in (20, 30)]
    target = a_table_state([a_commit(10, operation="COMPACT"), *logs], ref=TARGET, table_type="MERGE_ON_READ")
    spec = {"target": {"table_type": "MERGE_ON_READ"}}
    found = working(looked_at(a_table_state([a_commit(10)]), target, **spec), BEGIN + 20, "table services")
    assert values(found, "freshet_target_compaction_debt_commits") == {(): 2}
    assert values(found, "freshet_pipeline_running_seconds") == {("table services",): 40}
    assert values(replace(found, backfill=(3, 12)), "freshet_backfill_chunks") == {("done",): 3, ("missing",): 9}


def test_retention() -> None:
    source = a_table_state([a_commit(n) for n in (10, 20, 30)], retained_from=at(9))
    found = looked_at(source, a_target((35, a_checkpoint(30))), source=a_source_spec())
    assert values(found, "freshet_source_retention_left_seconds") == {MAIN: 0}


def test_samples_of_one_metric_stand_together_in_the_registrys_order() -> None:
    one = looked_at(a_table_state([a_commit(10)]))
    other = replace(one, spec=replace(one.spec, name="other"))
    names = [sample.name for sample in samples_of([one, other], "prod")]
    assert names == sorted(names, key=names.index)
    assert names.count("freshet_metrics_timestamp_seconds") == 2
    assert {sample.labels[0] for sample in samples_of([one], "prod")} == {("env", "prod")}


def test_what_the_run_at_work_reads_is_in_progress() -> None:
    found = looked_at(a_table_state([a_commit(10), a_commit(20)]), a_target((15, a_checkpoint(10))))
    assert values(found, "freshet_source_in_progress_commits") == {MAIN: 0}
    running = {"what": "run", "begun": BEGIN, "reads_commits": 3, "reads_rows": 30}
    busy = replace(found, looked=replace(found.looked, status=replace(found.looked.status, running=running)))
    assert values(busy, "freshet_source_in_progress_commits") == {MAIN: 3}
    assert values(busy, "freshet_source_in_progress_rows") == {MAIN: 30}
    damaged = {**running, "reads_rows": "many"}
    busy = replace(found, looked=replace(found.looked, status=replace(found.looked.status, running=damaged)))
    assert values(busy, "freshet_source_in_progress_commits") == {MAIN: 0}


def test_the_newest_event_time_is_what_a_check_of_freshness_saw() -> None:
    checks = {
        "fresh": {"kind": "freshness", "status": "passed", "rows": 0, "newest": 1790000000},
        "ids": {"kind": "unique", "status": "passed", "rows": 0},
    }
    told = {PIPELINE_KEY: "earnings", CHECKS_KEY: json.dumps({"quarantined": 0, "checks": checks})}
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10)), extra=told))
    assert values(found, "freshet_target_event_timestamp_seconds") == {("fresh",): 1790000000}
    assert ("ids", "passed") in values(found, "freshet_check_result")


def test_counters_begin_at_0_and_say_what_was_summed() -> None:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))))
    assert set(values(found, "freshet_runs_total").values()) == {0}
    totals = Totals(runs={"committed": 3}, rows={"read": 9}, seconds=12.5, commits=4, conflicts=1, waited_seconds=2.0)
    summed = replace(found, totals=totals)
    assert values(summed, "freshet_runs_total")[("committed",)] == 3
    assert values(summed, "freshet_processed_rows_total")[("read",)] == 9
    assert values(summed, "freshet_run_duration_seconds_total") == {(): 12.5}
    assert values(summed, "freshet_processed_commits_total") == {(): 4}
    assert values(summed, "freshet_run_conflicts_total") == {(): 1}
    assert values(summed, "freshet_lease_wait_seconds_total") == {(): 2.0}
    assert values(replace(found, totals=None), "freshet_runs_total") == {}
