"""Put wrong rows right: one commit, through the checks, while the target is held."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from freshet.audit.compare import COMMIT, KIND, PLACE, RIGHT, STANDS, TWICE, target_rows
from freshet.audit.look import Looked
from freshet.audit.mending import How, as_whole_rows, choose_how, compile_repair
from freshet.audit.plan import AuditPlan
from freshet.audit.result import Repaired, summed
from freshet.audit.sample import Sample
from freshet.errors import StateError
from freshet.events.event import Listener, teller
from freshet.events.kinds import Done, Phase
from freshet.hudi.options import IS_DELETED, REPLACES_ALL
from freshet.hudi.table import StateReader
from freshet.plan.checks import check_stages
from freshet.plan.stages import Commit, Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.quality.gate import check_batch
from freshet.quality.kept import keep_rows
from freshet.quality.outcome import Outcome
from freshet.quality.queries import check_table
from freshet.run.batch import Batch
from freshet.run.executor import execute
from freshet.run.steps import work
from freshet.run.telling import stage_teller, tell_done
from freshet.run.write_session import WriteSession
from freshet.sinks.failures import in_words
from freshet.sources.hudi.reads import Window as Read

# Of more, a recompute of the whole table writes no more.
_MOST_PARTITIONS = 10_000
_NUMBER, _AT = "__freshet_number", "__freshet_at_"


def repair(
    looked: Looked,
    spark: SparkSession,
    project: Project,
    state: StateReader,
    session: WriteSession,
    run_id: str,
    listen: Listener,
) -> Repaired:
    """Publish the right rows of what was found wrong, and delete what should not be there.

    Args:
        looked: What was found, with its rows kept.
        spark: The session in which they are kept.
        project: The project.
        state: Reader of the tables.
        session: The target, held for writing.
        run_id: Of the repair; stands in its commit.
        listen: Told what happens.

    Raises:
        StateError: REPAIR_NOT_POSSIBLE.
        RetryableError: PARTITION_CHANGED, COMMIT_CONFLICT.
        CheckError: CHECK_FAILED.
    """
    plan, groups = looked.plan, looked.counted.groups
    target = state.table(plan.spec.target.ref)
    assert target is not None, "it was looked at"
    how = choose_how(plan, target, groups)
    try:
        right = right_rows(looked)
        rows, paths = (_upsert(looked, right), ()) if how == "upsert" else _replaced(looked, right, spark, how)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(plan.spec.target.ref, str(error), (plan.spec.target.ref,), reading=True) from error
    commit = compile_repair(plan, target, how, paths)

    def made(_: Plan, spec: PipelineSpec, other: SparkSession, root: str, env: str, phase: work.Phase) -> Batch:
        # Its rows are of the session that has found them.
        return _checked(looked, commit, how, right, rows, spark, phase)

    done = execute(
        commit,
        plan.spec,
        project.root,
        project.env,
        state,
        session,
        run_id,
        teller(listen, Phase, plan.spec.name),
        finished=stage_teller(listen, plan.spec.name),
        make=made,
    )
    tell_done(listen, plan.spec, commit, done)
    listen(Done(pipeline=plan.spec.name, message="repair", commits=(done.instant.completed,)))
    return Repaired(
        commit=done.instant.completed,
        written=summed(groups, "missing") + summed(groups, "unequal"),
        deleted=summed(groups, "surplus"),
        how="upsert" if how == "upsert" else "insert_overwrite",
    )


def right_rows(looked: Looked) -> DataFrame:
    """Return the rows that are missing, or stand otherwise, as they should stand."""
    ordering = looked.plan.spec.target.ordering_field
    rows = looked.marked.where(F.col(KIND).isin("missing", "unequal"))
    named = {name: F.col(f"{RIGHT}.`{name}`") for name in rows.select(f"{RIGHT}.*").columns}
    if ordering in looked.plan.left_out:
        # It says when a row was computed, and must not be older than what it replaces.
        named[ordering] = F.greatest(named[ordering], F.col(f"{STANDS}.`{ordering}`"))
    return rows.select(*(value.alias(name) for name, value in named.items()))


def _upsert(looked: Looked, right: DataFrame) -> DataFrame:
    if not summed(looked.counted.groups, "surplus"):
        return right
    gone = looked.marked.where(F.col(KIND) == "surplus").select(f"{STANDS}.*").withColumn(IS_DELETED, F.lit(True))
    return right.unionByName(gone)


def _replaced(looked: Looked, right: DataFrame, spark: SparkSession, how: How) -> tuple[DataFrame, tuple[str, ...]]:
    """Return the partitions of the wrong rows as they should stand, those that were not drawn as they are; and their paths."""
    plan, table = looked.plan, looked.plan.spec.target
    stands = target_rows(_whole(plan), spark)
    if any(one.twice for one in looked.counted.groups):
        key = Window.partitionBy(*(F.col(f"`{name}`") for name in plan.identity))
        # In the order in which they were compared.
        first = key.orderBy(F.col(f"`{table.ordering_field}`").desc_nulls_last(), F.col(COMMIT).desc())
        stands = stands.withColumn(_NUMBER, F.row_number().over(first))
    else:
        stands = stands.withColumn(_NUMBER, F.lit(1))
    paths: tuple[str, ...] = ()
    if how != REPLACES_ALL:
        wrong = looked.marked.where(F.col(KIND).isin("missing", "surplus", "unequal"))
        named = table.partition_by
        sides = [
            wrong.where(F.col(side).isNotNull()).select(
                *(F.col(f"{side}.`{n}`").alias(f"{_AT}{i}") for i, n in enumerate(named))
            )
            for side in (RIGHT, STANDS)
        ]
        values = reduce(DataFrame.unionByName, sides).distinct()
        same = reduce(
            lambda one, other: one & other, (F.col(f"`{n}`").eqNullSafe(F.col(f"{_AT}{i}")) for i, n in enumerate(named))
        )
        stands = keep_rows(stands.join(F.broadcast(values), same, "left_semi"))
        paths = tuple(sorted(str(row[0]) for row in stands.select(PLACE).distinct().limit(_MOST_PARTITIONS + 1).collect()))
        if len(paths) > _MOST_PARTITIONS or any("," in path for path in paths):
            raise StateError(
                "REPAIR_NOT_POSSIBLE",
                f"{plan.spec.name}: the wrong rows lie in more than {_MOST_PARTITIONS:,} partitions, or in one with a comma in "
                "its name: they cannot be replaced by one commit.",
                "Nothing was written.",
                f"Make the table anew: freshet run {plan.spec.name} --full-refresh",
            )
    taken = looked.marked.where(F.col(KIND).isin("surplus", "unequal") & ~F.col(TWICE)).select(
        *(F.col(f"`{name}`") for name in plan.identity)
    )
    kept = stands.where(F.col(_NUMBER) == 1).join(taken.distinct(), list(plan.identity), "left_anti")
    return kept.select(*(F.col(f"`{column.name}`") for column in table.columns)).unionByName(right), paths


def _checked(
    looked: Looked, commit: Plan, how: How, right: DataFrame, rows: DataFrame, spark: SparkSession, phase: work.Phase
) -> Batch:
    plan = looked.plan
    (stage,) = (one for one in commit.stages if isinstance(one, Commit))
    of_batch, of_table = check_stages(
        as_whole_rows(plan.spec, how), None, Read(kind="backfill"), "upsert" if how == "upsert" else how
    )
    found: tuple[Outcome, ...] = ()
    # Rows that a check drops are out of the recompute by now, and what stands besides them is not this commit's matter.
    checks = tuple(one for one in of_batch.checks if one.severity != "drop") if of_batch else ()
    if of_batch is not None and checks:
        phase("checking the rows that are put right")
        found = check_batch(spark, replace(of_batch, checks=checks, quarantine=None, located=()), right).outcomes
    if of_table is not None and not any(one.status == "failed" for one in found):
        phase("checking the table as it would stand")
        exists = replace(of_table, exists=True)
        found = (*found, *check_table(spark, exists, exists.checks, rows, target_rows(_whole(plan), spark).drop(COMMIT, PLACE)))
    return Batch(rows=rows, commit=stage, outcomes=found)


def _whole(plan: AuditPlan) -> AuditPlan:
    return replace(plan, sample=Sample())
