"""Look at a target once: recompute, compare, count."""

from __future__ import annotations

from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.audit.compare import Counted, count_rows, draws_pieces, marked_rows, target_rows
from freshet.audit.plan import AuditPlan
from freshet.audit.recompute import recompute
from freshet.hudi.instants import readable
from freshet.hudi.table import StateReader
from freshet.quality.kept import keep_rows
from freshet.run.batch import tables_read
from freshet.run.steps.work import Phase
from freshet.sinks.failures import in_words


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What was seen.

    Args:
        plan: The audit.
        marked: See ``compare.marked_rows``; kept where they are read again.
        counted: What was counted of them.
    """

    plan: AuditPlan
    marked: DataFrame
    counted: Counted


def look_at(plan: AuditPlan, spark: SparkSession, state: StateReader, root: str, env: str, phase: Phase, again: bool) -> Looked:
    """Recompute the drawn pieces of a target, and hold them against it.

    Args:
        plan: The audit.
        spark: A session of its own.
        state: Reader of the tables.
        root: The project's root.
        env: The environment's name.
        phase: Told what goes on.
        again: True where the wrong rows are read once more, to be put right.

    Raises:
        FreshetError: What the stages raise, or the tables' files.
    """
    target = plan.spec.target.ref
    phase(f"recomputing {target.name} as of {readable(plan.position, plan.plan.source_zone)}")
    found = recompute(plan, spark, state, root, env, phase)
    phase(f"comparing with {target.name}")
    try:
        marked = marked_rows(plan, found, target_rows(plan, spark))
        if again or draws_pieces(plan):
            marked = keep_rows(marked)
        return Looked(plan=plan, marked=marked, counted=count_rows(plan, marked))
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(target, str(error), (*tables_read(plan.plan), target), reading=True) from error
