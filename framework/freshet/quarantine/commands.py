"""What the commands on checks and quarantines do on Spark: check the next batch without publishing it, show rows, drop rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError, foreign_text
from freshet.events.bus import new_run_id
from freshet.hudi.table import StateReader, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.quality.outcome import Outcome
from freshet.quarantine import table as q
from freshet.quarantine.identity import refuse_occupied
from freshet.quarantine.run import held_quarantine
from freshet.quarantine.write import removed_rows, waiting_rows, write_quarantine
from freshet.run.batch import make_batch
from freshet.run.spark import session_for
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.reads import Version

_UNTOUCHED = "Nothing was written."
_SHOWN_COLUMNS = (q.ID, q.RULE, q.REASON, q.RUN, q.POSITION, q.ROW)


@dataclass(frozen=True)
class Waiting:
    """Rows that wait in a quarantine.

    Args:
        count: How many there are, by rule.
        rows: Some of them: column to text.
    """

    count: dict[str, int]
    rows: tuple[dict[str, str], ...]


def check_next(project: Project, spec: PipelineSpec, state: StateReader, phase: Callable[[str], None]) -> tuple[Outcome, ...]:
    """Read and transform the next batch, evaluate its checks, and publish nothing.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        phase: Told what goes on.

    Returns:
        What was found; empty where there is no batch, or no check.
    """
    plan = compile_plan(spec, state, RunRequest())
    if not plan.stages:
        phase(f"nothing to check: {plan.window.reason}")
        return ()
    spark = session_for(spec, project.root, phase)
    try:
        return make_batch(plan, spec, spark, project.root, project.env, phase, all_here=True).outcomes
    finally:
        spark.catalog.clearCache()


def show(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    where: str,
    limit: int,
    phase: Callable[[str], None],
) -> Waiting:
    """Return the rows that wait.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        where: SQL condition over the quarantine's columns; empty for all.
        limit: How many rows are returned.
        phase: Told what goes on.

    Raises:
        StateError: QUARANTINE_LOST, QUARANTINE_OCCUPIED, FILE_MISSING or FILE_CORRUPT.
    """
    if _quarantine(spec, state) is None:
        return Waiting({}, ())
    spark = session_for(spec, project.root, phase)
    with _in_words(spec):
        rows = _selected(spark, spec, state, where).persist()
        counts = {str(row[0]): int(row[1]) for row in rows.groupBy(q.RULE).count().orderBy(q.RULE).collect()}
        shown = rows.orderBy(q.RUN, q.ID).limit(limit).select(*_SHOWN_COLUMNS)
        found = tuple(
            {name.removeprefix("_quarantine_"): str(value) for name, value in row.asDict().items()} for row in shown.collect()
        )
        rows.unpersist()
    return Waiting(counts, found)


def drop(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    where: str,
    phase: Callable[[str], None],
) -> int:
    """Take rows out of the quarantine for good.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        where: SQL condition over the quarantine's columns; empty for all.
        phase: Told what goes on.

    Returns:
        How many.

    Raises:
        StateError: QUARANTINE_LOST, QUARANTINE_OCCUPIED, FILE_MISSING or FILE_CORRUPT.
    """
    if _quarantine(spec, state) is None:
        return 0
    run_id = new_run_id()
    spark = session_for(spec, project.root, phase)
    with held_quarantine(spec, spark, run_id, phase, 60.0) as session, _in_words(spec):
        rows = _selected(spark, spec, state, where).persist()
        count = rows.count()
        if count:
            session.confirm()
            write_quarantine(spec, [removed_rows(spec, rows)], run_id, "command")
        rows.unpersist()
    return count


def _quarantine(spec: PipelineSpec, state: StateReader) -> TableState | None:
    found = q.quarantine_of(spec, state, state.table(spec.target.ref))
    refuse_occupied(spec, found)
    if found is not None:
        hold_version(found, Version(""), _UNTOUCHED)
    return found


@contextmanager
def _in_words(spec: PipelineSpec) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(spec.quarantine, str(error), reading=True) from error


def _selected(spark: SparkSession, spec: PipelineSpec, state: StateReader, where: str) -> DataFrame:
    try:
        return waiting_rows(spark, spec, q.hidden_runs(spec, state), where)
    except (AnalysisException, ParseException) as error:
        raise DataError(
            "BAD_CONDITION",
            f"--where: {foreign_text(error)}",
            "Nothing was written.",
            "Name columns of the quarantine: those of the target, and _quarantine_rule, _quarantine_run_id and the like.",
        ) from error
