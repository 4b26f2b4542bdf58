"""Handlers of the stages that hold a batch against the DDL and the checks."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from freshet.errors import FreshetError
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.options import REPLACES_ALL
from freshet.plan.checks import CheckBatch, CheckTable, table_after
from freshet.plan.row_stages import EnforceSchema, MergeColumns, MergeEvents
from freshet.project.model.checks import SqlRule, kind_of
from freshet.quality.contract import enforce_schema, with_aside
from freshet.quality.gate import check_batch
from freshet.quality.older import Older, count_older
from freshet.quality.outcome import Outcome, outcome
from freshet.quality.preview import before, touched_partitions
from freshet.quality.queries import check_table
from freshet.quality.secret_names import names_in, refuse_secret_names, texts_of
from freshet.quarantine import table as q
from freshet.run.steps.work import Work
from freshet.secrets import REDACTOR
from freshet.sinks.commit import empty_batch, without_moved
from freshet.sinks.events import merge_batch
from freshet.sinks.merge import merge_columns
from freshet.sources.hudi.read.held import hold_read
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import counted

_FEW_DROPPED = 100_000


def hold_to_ddl(work: Work, stage: EnforceSchema) -> None:
    """Give the batch the target's columns and types."""
    _refuse_secret_names(work, stage)
    kept = enforce_schema(work.batch, stage, work.spec.target.file, _kept(work))
    work.batch = without_moved(kept, stage.alive_by)
    if work.aside is not None:
        work.batch = with_aside(work.batch, work.aside)


def hold_to_checks(work: Work, stage: CheckBatch) -> None:
    """Evaluate the checks of the batch, and keep dropped rows apart."""
    work.phase(f"checking the batch: {counted(len(stage.checks), 'check')}")
    work.gated = check_batch(work.spark, stage, work.batch, _kept(work))
    work.batch, work.outcomes = work.gated.rows, work.gated.outcomes
    work.event_times = work.gated.event_times or work.event_times


def make_whole_rows(work: Work, stage: MergeColumns) -> None:
    """Take the columns that the batch does not own from the target."""
    hold_read(stage)
    work.batch = merge_columns(work.spark, stage, work.batch, is_kept=work.gated is not None)


def merge_into_target(work: Work, stage: MergeEvents) -> None:
    """Merge the batch's events into the rows that stand."""
    hold_read(stage)
    work.phase(f"merging events into {stage.table.name}")
    work.batch, work.merged = merge_batch(work.spark, stage, work.batch)
    counts = work.counts
    if counts is None:
        return
    work.phase(counts.in_words())
    if counts.lost:
        raise FreshetError(
            "EVENTS_MISCOUNTED",
            f"{work.spec.name}: {counts.read.events:,} events were read, and {abs(counts.lost):,} of them are in none of the "
            "places where they have to be, or in two.",
            "Nothing was published, and the checkpoint stays.",
            "Run the same command again; where it happens again, report it.",
        )


def hold_table_to_checks(work: Work, stage: CheckTable) -> None:
    """Evaluate the checks of the table as it would stand, but for those that Hudi evaluates within the commit."""
    if has_failed(work.outcomes):
        # Nothing will be published: what it would make of the table is not worth the look.
        return
    work.table_checks = stage
    work.outcomes = (*work.outcomes, *_of_table(work, stage))


def has_failed(outcomes: tuple[Outcome, ...]) -> bool:
    """Say whether a check has failed."""
    return any(one.status == "failed" for one in outcomes)


def in_order(work: Work) -> tuple[Outcome, ...]:
    """Return the outcomes in the order of the pipeline's checks; before them freshet's own that failed."""
    order = [check.name for check in work.spec.checks]
    own = tuple(one for one in work.outcomes if one.name not in order and one.status == "failed")
    return (*own, *sorted((one for one in work.outcomes if one.name in order), key=lambda one: order.index(one.name)))


def older_rows(work: Work) -> Older:
    """Return what becomes of the rows that stand in the target under the keys of dropped ones."""
    spec, gated = work.spec, work.gated
    stage = next((one for one in work.plan.stages if isinstance(one, CheckBatch)), None)
    if stage is None or not stage.located or gated is None or gated.dropped is None:
        return Older()
    none_is_kept = work.plan.first_run or gated.dropped_count == gated.deletes
    if none_is_kept or has_failed(work.outcomes):
        return Older(undeletable=gated.undeletable)
    work.phase(f"looking what stands under the keys of {counted(gated.dropped_count, 'dropped row')}")
    table = table_after(spec, True, "upsert")
    # Of a global index the older row may lie elsewhere: to find it there, all of the table would have to be read.
    there = replace(table, global_index=False)
    partitions = touched_partitions(there, gated.dropped, gated.dropped) if table.partition_by else None
    few = gated.dropped_count <= _FEW_DROPPED
    stands = before(table, standing(work.spark, table), partitions)
    kept = count_older(stage, gated.dropped, gated.rows, stands, few=few)
    return Older(kept, table.global_index and partitions is not None, gated.undeletable)


def standing(spark: SparkSession, stage: CheckTable) -> DataFrame:
    """Return the target as it stands; without rows before its first commit."""
    return load_table(spark, stage.table.path) if stage.exists else empty_batch(spark, stage.columns)


def _refuse_secret_names(work: Work, stage: EnforceSchema) -> None:
    # Without a contract that lets a batch add columns, what is not declared is refused anyway.
    if stage.evolution == "nothing" or all(one.kind != "python" for one in work.spec.transform):
        return
    declared = {name.lower() for name in (*(c.name for c in stage.columns), *stage.ignored, *_kept(work))}
    new = [one for one in work.batch.schema.fields if one.name.lower() not in declared]
    read = [rows for name, rows in work.inputs.items() if name != MAIN] + ([work.source] if work.source is not None else [])
    refuse_secret_names(
        work.spec.name,
        (name for one in new for name in (one.name, *names_in(one.dataType.jsonValue()))),
        [name for rows in read for name in (*rows.columns, *names_in(rows.schema.jsonValue()))],
        lambda: texts_of(work.root, [one.file for one in work.spec.transform]),
        REDACTOR,
    )


def _kept(work: Work) -> tuple[str, ...]:
    # By it a replay takes the rows that it has published out of the quarantine.
    return (q.ID,) if work.plan.window.kind == "replay" else ()


def _of_table(work: Work, stage: CheckTable) -> tuple[Outcome, ...]:
    spark, rows = work.spark, work.batch
    empty = work.gated is not None and work.gated.is_empty
    # No rows change nothing, unless partitions are replaced by them; and Hudi has nothing that its validators could look at.
    replaces = bool(stage.overwritten) or stage.operation == REPLACES_ALL
    idle = [
        one
        for one in stage.checks
        if empty and not replaces and isinstance(one.check.rule, SqlRule) and one.check.rule.compare == "changed"
    ]
    first = [one for one in stage.checks if (work.all_here or empty or one.by == "freshet") and one not in idle]
    later = [one for one in stage.checks if one not in (*idle, *first)]
    found: tuple[Outcome, ...] = ()
    if first:
        work.phase(f"checking the table as it would stand: {counted(len(first), 'check')}")
        found = check_table(spark, stage, first, rows, standing(spark, stage))
    if later and has_failed(found):
        # There will be no commit within which Hudi could evaluate the rest: the report names all that is wrong.
        found, later = (*found, *check_table(spark, stage, later, rows, standing(spark, stage))), []
    return (
        *found,
        *(outcome(one.check, False, seen="held within the commit") for one in later),
        *(Outcome(one.check.name, kind_of(one.check.rule), one.check.severity, "skipped", seen="no row") for one in idle),
    )
