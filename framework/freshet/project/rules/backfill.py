"""How a range of dates is computed again: checked against the target's partitions and the write strategy."""

from __future__ import annotations

from freshet.problems import Problems, did_you_mean
from freshet.project.model.pipeline import TableSpec
from freshet.project.model.steps import BackfillSpec, WriteSpec
from freshet.project.rules.write import PlaceOf
from freshet.project.shape.strategies import Backfill


def read_backfill(
    declared: Backfill | None,
    table: TableSpec,
    inputs: tuple[str, ...],
    write: WriteSpec,
    concurrency: str,
    place_of: PlaceOf,
    problems: Problems,
) -> BackfillSpec | None:
    """Check how a range of dates is computed again.

    Args:
        declared: The YAML's ``backfill``; None where it has none.
        table: The target.
        inputs: Names of the pipeline's inputs.
        write: The pipeline's write strategy.
        concurrency: Hudi's concurrency mode.
        place_of: Gives the place of a path of keys.
        problems: Receives what is wrong.
    """
    if declared is None:
        return None
    at = place_of("backfill")
    for name in declared.inputs:
        if name not in inputs:
            problems.add(
                at.file,
                at.line,
                "UNKNOWN_KEY",
                f"backfill.inputs: there is no input '{name[:80]}'.",
                did_you_mean(name, inputs),
            )
    if declared.partition is not None and declared.partition not in table.partition_by:
        problems.add(
            at.file,
            at.line,
            "UNKNOWN_COLUMN",
            f"backfill.partition: '{declared.partition[:80]}' is not a partition column of {table.ref.name}.",
            did_you_mean(declared.partition, table.partition_by),
        )
    if declared.write == "insert_overwrite":
        if concurrency == "NON_BLOCKING_CONCURRENCY_CONTROL":
            problems.add(
                at.file,
                at.line,
                "CONFLICTING_SETTING",
                f"Hudi 1.0 overwrites no partition by {concurrency}.",
                "Write 'backfill.write: upsert'.",
            )
        if declared.partition is None or len(table.partition_by) != 1:
            problems.add(
                at.file,
                at.line,
                "CONFLICTING_SETTING",
                "insert_overwrite replaces whole partitions, and backfill "
                "does not say which one partition column follows from the event time.",
                "Write 'backfill.partition: <column>', or 'write: upsert'.",
            )
        if write.strategy != "rows":
            problems.add(
                at.file,
                at.line,
                "CONFLICTING_SETTING",
                f"insert_overwrite would null the columns that the strategy {write.strategy} leaves alone.",
                "Write 'backfill.write: upsert'.",
            )
    return BackfillSpec(
        event_time={"SRC": declared.event_time, **declared.inputs},
        partition=declared.partition or "",
        granularity=declared.granularity,
        write=declared.write,
    )
