"""Which check is evaluated where, what Hudi is told, and whose rows in a quarantine count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.table import TableState
from freshet.plan.checks import NEW_KEYS, CheckBatch, CheckTable, check_stages, validator_options
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, RowRule, Rule, SqlRule, UniqueRule, VolumeRule
from freshet.project.model.pipeline import IndexSpec
from freshet.quality.volume import freshness, volume
from freshet.quarantine.table import unpublished_run
from freshet.sources.hudi.reads import Window
from tests.kit.memory import BUCKETS, Loaded, a_commit, a_spec, a_table_spec, a_table_state, a_target

INCREMENT = Window(kind="increment")
COUNT = SqlRule(query="select count(*) from <TABLE_NAME> where fare < 0", expect="0", compare="", scope="partitions")


def a_check(rule: Rule, severity: Any = "fail", **changes: Any) -> CheckSpec:
    return CheckSpec(name="it", severity=severity, line=3, rule=rule, **changes)


def placed(
    rule: Rule,
    severity: str = "fail",
    operation: str = "upsert",
    *,
    first: bool = False,
    index: IndexSpec = BUCKETS,
    **table: Any,
) -> tuple[str, str]:
    target = a_table_spec(**{"table_type": "COPY_ON_WRITE", **table})
    spec = replace(a_spec(checks=(a_check(rule, severity),), target=target), index=index)
    _, stage = check_stages(spec, None if first else a_target(), INCREMENT, operation)
    assert stage is not None
    one = next(check for check in stage.checks if check.check.name == "it")
    return one.by, one.reason


def test_hudi_evaluates_what_it_can() -> None:
    assert placed(COUNT) == ("hudi", "")
    assert placed(replace(COUNT, expect="", compare="unchanged")) == ("hudi", "")


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (placed(COUNT, table_type="MERGE_ON_READ"), "MERGE_ON_READ"),
        (placed(COUNT, index=IndexSpec("HBASE", {})), "HBase"),
        (placed(COUNT, operation="insert"), "insert"),
        (placed(COUNT, operation="insert_overwrite"), "insert_overwrite"),
        (placed(COUNT, operation="delete"), "delete"),
        (placed(COUNT, severity="warn"), "warn"),
        (placed(COUNT, first=True), "first commit"),
        (placed(replace(COUNT, scope="table")), "partitions"),
        (placed(replace(COUNT, query="select ';' from <TABLE_NAME>")), "';'"),
        (placed(replace(COUNT, expect="'a#b'")), "'#'"),
        (placed(UniqueRule(("trip_id",), "table")), "partitions"),
    ],
)
def test_the_rest_is_evaluated_before_the_commit(found: tuple[str, str], word: str) -> None:
    assert found[0] == "freshet"
    assert word in found[1]


def stages(window: Window = INCREMENT, *checks: CheckSpec, **changes: Any) -> tuple[CheckBatch | None, CheckTable | None]:
    return check_stages(a_spec(checks=checks, **changes), a_target(), window, str(changes.get("operation", "upsert")))


def test_a_pipeline_without_checks_has_no_stage_for_them() -> None:
    assert stages() == (None, None)


def test_an_insert_looks_for_its_keys_where_hudi_asks_for_the_bucket_alone() -> None:
    batch, table = stages(INCREMENT, operation="insert")
    assert batch is not None
    assert table is not None
    assert [one.check.name for one in table.checks] == [NEW_KEYS]


def test_a_replay_leaves_what_does_not_fit_and_has_no_limit() -> None:
    fits, few = a_check(MalformedRule(), "fail"), a_check(RowRule("fare < 0"), "drop", most_share=0.01)
    batch, _ = stages(Window(kind="replay"), fits, few)
    assert batch is not None
    assert [(c.severity, c.most_share) for c in batch.checks] == [("drop", None), ("drop", None)]
    assert batch.quarantine is None
    batch, _ = stages(INCREMENT, fits, few)
    assert batch is not None
    assert batch.quarantine is not None


def test_age_and_volume_say_nothing_of_a_backfill() -> None:
    fresh, many = a_check(FreshnessRule("updated_at", 60)), a_check(VolumeRule(5, 0.5, None))
    batch, _ = stages(Window(kind="backfill"), fresh, many)
    assert batch is not None
    assert batch.checks == ()


def test_validators_compare_by_sparks_types_and_keep_their_comments() -> None:
    spec = a_spec(
        target=a_table_spec(table_type="COPY_ON_WRITE"),
        checks=(
            a_check(replace(COUNT, query="select sum(fare) from <TABLE_NAME> -- all")),
            replace(a_check(replace(COUNT, expect="", compare="changed")), name="other"),
        ),
    )
    _, table = check_stages(spec, a_target(), INCREMENT, "upsert")
    assert table is not None
    head = "hoodie.precommit.validators"
    found = validator_options(table.checks)
    assert found[f"{head}.single.value.sql.queries"] == "SELECT (\nselect sum(fare) from <TABLE_NAME> -- all\n) <=> 0#true"
    assert found[f"{head}.inequality.sql.queries"] == COUNT.query
    assert [name.rsplit(".", 1)[1] for name in found[head].split(",")] == [
        "SqlQuerySingleResultPreCommitValidator",
        "SqlQueryInequalityPreCommitValidator",
    ]


def test_volume_is_held_against_the_median_of_the_last_commits() -> None:
    check = a_check(VolumeRule(3, 0.5, 2.0), "warn")
    assert volume(check, 50, (100, 10, 1000, 1)).status == "passed"
    assert volume(check, 49, (100, 10, 1000, 1)).status == "warned"
    assert volume(check, 201, (100, 10, 1000, 1)).status == "warned"
    assert volume(check, 0, (100, 10)).status == "skipped"


def test_freshness() -> None:
    check = a_check(FreshnessRule("updated_at", 3600))
    assert freshness(check, "2026-01-01 00:00:00", 3600).status == "passed"
    late = freshness(check, "2026-01-01 00:00:00", 7300)
    assert (late.status, late.seen) == ("failed", "the newest is 2026-01-01 00:00:00, 2.03 h old")
    assert freshness(check, None, None).status == "skipped"


def a_run(completed: int, run: str, origin: str, pipeline: str = "earnings") -> Loaded:
    return a_commit(completed, extra={RUN_ID_KEY: run, ORIGIN_KEY: origin, PIPELINE_KEY: pipeline})


def of(*commits: Loaded) -> TableState:
    return a_table_state(commits)


@pytest.mark.parametrize(
    ("quarantine", "target", "expected"),
    [
        (None, of(a_run(10, "a", "increment")), ""),
        (of(a_run(9, "a", "run")), of(a_run(10, "a", "increment")), ""),
        (of(a_run(9, "a", "run")), None, "a"),
        (of(a_run(9, "a", "run"), a_run(20, "b", "run")), of(a_run(10, "a", "increment")), "b"),
        # The next run had nothing bad, and looked.
        (of(a_run(9, "a", "run")), of(a_run(10, "a", "increment"), a_run(30, "c", "increment")), ""),
        # Others say nothing of it: a chunk, another pipeline's columns, a checkpoint set by hand, an index made.
        (
            of(a_run(20, "b", "run")),
            of(
                a_run(10, "a", "increment"),
                a_run(30, "c", "backfill"),
                a_run(31, "d", "override"),
                a_run(32, "e", "increment", "tips"),
                a_run(33, "f", "index"),
            ),
            "b",
        ),
        (of(a_run(9, "a", "chunk"), a_run(12, "x", "command")), of(a_run(10, "c", "increment")), ""),
    ],
    ids=["none", "published", "first run died", "second run died", "cleaned since", "of others", "of a chunk"],
)
def test_whose_rows_do_not_count(quarantine: TableState | None, target: TableState | None, expected: str) -> None:
    assert unpublished_run("earnings", quarantine, target, "run") == expected
