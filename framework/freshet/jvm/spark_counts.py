"""What Spark's stages at work have done, by the pipeline that they work for: for people who wait. It never fails."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How far the stages of one pipeline are that are at work now.

    Args:
        doing: Which of the units is being done, as a jar's file; empty for tasks, whose jobs have names that only Hudi's and
            Spark's own code explains.
        done: Tasks that are done.
        of: All tasks of these stages.
        rows: Rows that their tasks have read, from files or from an exchange.
        bytes: The same in bytes.
        seconds: Since the first of them began.
        unit: What is done one by one, instead of tasks.
    """

    doing: str
    done: int
    of: int
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    unit: str = "task"


def whole_context() -> Any:
    """Return this process's SparkContext; None where there is none, where it is being made, or where it has ended.

    PySpark names a context the active one before it has a JVM's, and imports nothing for the sake of who asks.
    """
    spark_context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    context = getattr(spark_context, "_active_spark_context", None)
    return context if getattr(context, "_jsc", None) is not None else None


def spark_counts() -> dict[str, Counts]:
    """Return the counts of each pipeline's stages; those of jobs that carry no pipeline's name are under the empty one.

    Returns:
        Nothing where no stage is at work, and where Spark cannot be asked.
    """
    try:
        context = whole_context()
        return _counts(context) if context is not None else {}
    except Exception:  # a JVM that ends while it is asked: whoever works with it says so
        return {}


def _counts(context: Any) -> dict[str, Counts]:
    store = context._jsc.sc().statusStore()
    stages = {int(one.stageId()): one for one in _items(store.activeStages())}
    if not stages:
        return {}
    running = context._jvm.java.util.ArrayList()
    running.add(context._jvm.org.apache.spark.JobExecutionStatus.RUNNING)
    found: dict[str, list[Any]] = {}
    for job in sorted(_items(store.jobsList(running)), key=lambda job: int(job.jobId())):
        name = str(job.jobTags().mkString(","))
        mine = [
            stages.pop(number)
            for number in map(int, filter(None, str(job.stageIds().mkString(",")).split(",")))
            if number in stages
        ]
        if mine:
            found.setdefault(name, []).extend(mine)
    return {name: _summed(its, time.time()) for name, its in found.items()}


def _summed(stages: list[Any], now: float) -> Counts:
    begun = [int(s.submissionTime().get().getTime()) / 1000 for s in stages if s.submissionTime().isDefined()]
    return Counts(
        doing="",
        done=sum(int(s.numCompleteTasks()) for s in stages),
        of=sum(int(s.numTasks()) for s in stages),
        rows=sum(int(s.inputRecords()) + int(s.shuffleReadRecords()) for s in stages),
        bytes=sum(int(s.inputBytes()) + int(s.shuffleReadBytes()) for s in stages),
        seconds=max(0.0, now - min(begun)) if begun else 0.0,
    )


def _items(found: Any) -> list[Any]:
    return [found.apply(number) for number in range(found.size())]
