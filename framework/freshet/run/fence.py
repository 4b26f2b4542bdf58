"""Look once more, just before the write and after it, whether another writer came between."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from freshet.backfill.record import touched_between
from freshet.errors import RetryableError, StateError
from freshet.hudi.checkpoint import Checkpoint, encode
from freshet.hudi.table import TableState
from freshet.plan.positions import checkpoint_of
from freshet.plan.stages import Commit, Plan, Precondition
from freshet.project.model.pipeline import PipelineSpec

_NOTHING = "Nothing was written, and the checkpoint stays."


def check_clock(spark: SparkSession, spec: PipelineSpec, newest: str) -> None:
    """Refuse to write behind a clock that is ahead.

    Args:
        spark: A session.
        spec: The pipeline.
        newest: Completion time of the target's last commit.

    Raises:
        StateError: CLOCK_BEHIND.
    """
    # Hudi names instants by the writer's local time. A commit that sorts before the present one would hide its checkpoint.
    jvm: Any = spark._jvm
    pattern = jvm.java.time.format.DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")
    now = str(jvm.java.time.LocalDateTime.now().format(pattern))
    if newest.ljust(len(now), "0") > now:
        raise StateError(
            "CLOCK_BEHIND",
            f"{spec.name}: the last commit of {spec.target.ref.path} is of {newest}, and here it is {now}: "
            "another writer's clock or time zone is ahead of this one.",
            _NOTHING,
            "freshet writes in UTC. Write in that writer's time zone: spark.driver.extraJavaOptions: -Duser.timezone=Area/City",
            newest=newest,
            now=now,
        )


def fence(plan: Plan, spec: PipelineSpec, target: TableState | None, commit: Commit) -> None:
    """Refuse to write where another writer has been faster than the plan.

    Args:
        plan: The plan.
        spec: Its pipeline.
        target: The target now.
        commit: What is to be written.

    Raises:
        RetryableError: CHECKPOINT_MOVED or PARTITION_CHANGED.
    """
    if commit.guard is not None and target is not None:
        guard(spec, target, commit.guard, "9", "Nothing was written.")
    if plan.window.kind in ("override", "backfill", "replay", "repair"):
        return
    now = checkpoint_of(spec, target) if target else None
    # What it knows may have changed where it stands: commits that are named in the past have been read.
    if _entries(now) != _entries(plan.checkpoint_before):
        raise RetryableError(
            "CHECKPOINT_MOVED",
            f"{spec.name}: another writer moved the checkpoint of {plan.target.path} since this run was planned.",
            "Nothing was written.",
            "Run the same command again.",
        )


def _entries(checkpoint: Checkpoint | None) -> dict[str, str] | None:
    return encode(checkpoint) if checkpoint is not None else None


def guard(spec: PipelineSpec, target: TableState, held: Precondition, before: str, effect: str) -> None:
    """Refuse where a commit has come to partitions that a plan holds.

    Args:
        spec: The pipeline.
        target: The target.
        held: The commit that the plan began after, and its partitions.
        before: Completion time before which a commit counts.
        effect: What was or was not written, for the message.

    Raises:
        RetryableError: PARTITION_CHANGED.
    """
    found = touched_between(target, held.base, before, held.partitions)
    if found:
        raise RetryableError(
            "PARTITION_CHANGED",
            f"{spec.name}: another writer committed to {', '.join(held.partitions[:3]) or 'the table'} "
            f"since this was planned ({', '.join(found[:3])}).",
            effect,
            "Run the same command again.",
            commits=found,
        )
