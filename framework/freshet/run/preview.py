"""What the next run, or a backfill, would write: read, transform and check as it does, and hold the batch against the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError, FreshetError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader
from freshet.plan.checks import table_after
from freshet.plan.schema import evolved
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.quality.changes import CHANGED, KIND, ROWS, TIED, WAS, changes_of
from freshet.quality.kept import keep_rows
from freshet.quality.older import Older
from freshet.quality.outcome import Outcome, refuse_failed
from freshet.run.batch import Batch, make_batch, tables_read
from freshet.run.executor import reading
from freshet.run.runner import FEW_ROWS
from freshet.run.spark import session_for
from freshet.run.steps.check import standing
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.held import hold_plan
from freshet.sources.hudi.reads import counted

#: The kinds of which rows are shown.
SHOWN = ("updated", "moved", "inserted", "deleted", "older", "unsure")


@dataclass(frozen=True)
class Changed:
    """A row that a commit would change, or would not.

    Args:
        row: Its values as they would be; of one that goes, as they are.
        was: By column what differs, as it is.
    """

    row: Mapping[str, Any]
    was: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a run would do.

    Args:
        reads: What it reads, in words.
        counts: How many rows of the target by what would become of them; see ``quality.changes.Kind``.
        batch: Rows of the batch, those that are not published among them.
        superseded: Of these, those of which the batch has a newer one.
        rows: Some rows of each kind.
        outcomes: What the checks found.
        quarantined: Rows for the quarantine.
        older: What becomes of the rows that are older than these.
        unknown: What only Hudi knows, in sentences.
        error: Why the run would publish nothing; None where it would publish.
    """

    reads: str
    counts: Mapping[str, int]
    batch: int
    superseded: int
    rows: Mapping[str, tuple[Changed, ...]]
    outcomes: tuple[Outcome, ...]
    quarantined: int
    older: Older
    unknown: tuple[str, ...]
    error: FreshetError | None


def preview_run(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    plan: Plan,
    phase: Callable[[str], None],
    *,
    where: str = "",
    limit: int = 10,
) -> Preview:
    """Make the batch of a plan and say what its commit would do; nothing is written, and no lease is held.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        plan: A plan with stages that read.
        phase: Told what goes on.
        where: SQL condition over the target's columns; empty for all rows.
        limit: How many rows of each kind are returned.

    Raises:
        FreshetError: What a run would raise before its commit, but for checks that fail.
        DataError: BAD_CONDITION.
    """
    hold_plan(plan, state)
    phase("starting Spark")
    few = plan.window.kind in ("increment", "driven") and plan.window.rows <= FEW_ROWS
    spark = session_for(spec, project.root, phase, short=few)
    target = state.table(spec.target.ref)
    spec = evolved(spec, target)
    try:
        phase(reading(plan))
        batch = make_batch(plan, spec, spark, project.root, project.env, phase, all_here=True)
        phase(f"comparing with {plan.target.name}")
        found = _compared(spec, spark, plan, batch, target is not None, where, limit)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(spec.target.ref, str(error), (*tables_read(plan), plan.target), reading=True) from error
    finally:
        spark.catalog.clearCache()
    now = state.table(spec.target.ref)
    if now is not None and (target is None or now.commits != target.commits):
        said = f"another writer committed to {plan.target.name} meanwhile, and some rows may be compared with what it wrote"
        return replace(found, unknown=(*found.unknown, said))
    return found


def _compared(
    spec: PipelineSpec,
    spark: SparkSession,
    plan: Plan,
    batch: Batch,
    exists: bool,
    where: str,
    limit: int,
) -> Preview:
    commit, gated = batch.commit, batch.gated
    overwritten = commit.guard.partitions if commit.guard is not None and commit.guard.after_write else ()
    stage = table_after(spec, exists, commit.operation, overwritten)
    # What was checked is kept already; what is joined with the target after that is not.
    rows = batch.rows if gated is not None and spec.write.strategy == "rows" else keep_rows(batch.rows)
    changes = keep_rows(_selected(changes_of(stage, rows, standing(spark, stage)), where))
    told = changes.groupBy(KIND).agg(F.count(F.lit(1)), F.sum(ROWS), F.count_if(F.col(ROWS) > 0), F.count_if(TIED)).collect()
    counts = {str(row[0]): int(row[1]) for row in told}
    written = sum(int(row[2]) for row in told)
    key = [F.col(f"`{name}`") for name in spec.target.record_key]
    shown = {
        kind: tuple(_changed(row.asDict()) for row in changes.where(F.col(KIND) == kind).orderBy(*key).limit(limit).collect())
        for kind in SHOWN
        if counts.get(kind)
    }
    error = None
    try:
        refuse_failed(spec, batch.outcomes)
    except FreshetError as failed:
        error = failed
    dropped = gated.dropped_count if gated is not None and plan.window.kind != "replay" else 0
    return Preview(
        reads=reading(plan),
        counts=counts,
        batch=gated.count if gated is not None and not where else written,
        superseded=written - sum(int(row[3]) for row in told),
        rows=shown,
        outcomes=batch.outcomes,
        quarantined=dropped,
        older=batch.older,
        unknown=_unknown(spec, counts, sum(int(row[4]) for row in told)),
        error=error,
    )


def _selected(changes: DataFrame, where: str) -> DataFrame:
    try:
        return changes.where(where) if where else changes
    except PySparkException as error:
        raise DataError(
            "BAD_CONDITION", f"--where: {foreign_text(error)}", "Nothing is shown.", "Name columns of the target."
        ) from error


def _changed(row: dict[str, Any]) -> Changed:
    was = row[WAS].asDict()
    values = {name: value for name, value in row.items() if name not in (KIND, CHANGED, WAS, ROWS, TIED)}
    return Changed(values, {name: was[name] for name in row[CHANGED]} if row[KIND] not in ("inserted", "deleted") else {})


def _unknown(spec: PipelineSpec, counts: Mapping[str, int], tied: int) -> tuple[str, ...]:
    target, found = spec.target, []
    if tied:
        found.append(f"which row Hudi takes of {counted(tied, 'key')} of which the batch has several that are equally new")
    if counts.get("unsure"):
        found.append(f"what becomes of {counted(counts['unsure'], 'row')} that stands without a {target.ordering_field}")
    deletes = any(c.name == IS_DELETED for c in target.columns) or (spec.index.is_global and bool(target.partition_by))
    if counts.get("inserted") and target.table_type == "MERGE_ON_READ" and deletes:
        found.append(
            "whether a new row appears whose key a newer one has deleted since the last compaction: until the next it does not"
        )
    return tuple(found)
