"""Which check is evaluated where: over the batch, over the table as it would stand, or by Hudi inside the commit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.options import REPLACES_ALL
from freshet.hudi.table import TableState
from freshet.plan.event_times import times_of_batch
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, SqlRule, UniqueRule, VolumeRule
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.model.promises import EventTimes
from freshet.sources.hudi.reads import Window
from freshet.types.columns import Column

TABLE_MARK = "<TABLE_NAME>"
#: A check of freshet's own.
NEW_KEYS = "keys_are_new"
#: Rules that speak of what has come since the last run.
OF_NOW = (FreshnessRule, VolumeRule)
#: What keeps a row in the quarantine whose values do not fit still, whatever the pipeline's own checks are.
REPLAYED = CheckSpec(name="fits_the_table", severity="drop", line=0, rule=MalformedRule())


@dataclass(frozen=True, kw_only=True)
class CheckBatch:
    """Hold the batch against the checks that its rows alone can answer, all in one pass; bad rows may leave it here.

    Args:
        checks: The checks.
        record_key: Columns that name a row in a report.
        history: Rows of the pipeline's last commits, newest first; for checks of volume.
        quarantine: Where dropped rows go; None where no check drops, and where rows come from there.
        located: Columns that tell the target's rows apart. Empty where no dropped row leaves an older one published: where no
            check drops, and where the commit inserts, deletes or replaces partitions.
        ordering: The column that says which of two rows is the older one.
        event_times: Whose event times are counted on the way; None for none.
    """

    checks: tuple[CheckSpec, ...]
    record_key: tuple[str, ...]
    history: tuple[int, ...]
    quarantine: TableRef | None
    located: tuple[str, ...] = ()
    ordering: str = ""
    event_times: EventTimes | None = None


@dataclass(frozen=True)
class TableCheck:
    """One check of the table as it would stand after the commit.

    Args:
        check: The check.
        by: ``hudi`` inside the commit, or ``freshet`` before it.
        reason: Why it is freshet's; empty where it is Hudi's.
    """

    check: CheckSpec
    by: Literal["hudi", "freshet"]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckTable:
    """Hold the table, as it would stand after the commit, against SQL.

    Args:
        checks: The checks and who evaluates each.
        table: The target.
        columns: Its columns.
        record_key, partition_by: Its key and partition columns.
        ordering: Its ordering field.
        operation: Hudi's write operation.
        global_index: True where a key is looked for in every partition.
        overwritten: Values of the partitions that the commit replaces, whatever the batch holds.
        exists: False before the first run.
    """

    checks: tuple[TableCheck, ...]
    table: TableRef
    columns: tuple[Column, ...]
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: str
    operation: str
    global_index: bool
    overwritten: tuple[str, ...]
    exists: bool


def check_stages(
    spec: PipelineSpec,
    target: TableState | None,
    window: Window,
    operation: str,
    overwritten: Sequence[str] = (),
) -> tuple[CheckBatch | None, CheckTable | None]:
    """Return the stages that check a batch before it is published.

    Args:
        spec: The pipeline.
        target: The target's state; None before its first run, or where nobody looked.
        window: What was read: of a backfill, a replay or a full refresh, neither age nor volume says anything.
        operation: The commit's write operation.
        overwritten: Values of the partitions that the commit replaces.
    """
    # A replay must know its rows from each other even where no check is left.
    inserts = operation == "insert" and spec.index.type == "BUCKET"
    times = times_of_batch(spec, window, operation)
    if not spec.checks and not inserts and window.kind != "replay" and times is None:
        return None, None
    of_table = tuple(
        c
        for c in spec.checks
        if (isinstance(c.rule, SqlRule) and c.rule.scope != "batch")
        or (isinstance(c.rule, UniqueRule) and c.rule.within == "table")
    )
    live = window.kind not in ("backfill", "replay") and operation != REPLACES_ALL
    of_batch = tuple(c for c in spec.checks if c not in of_table and (live or not isinstance(c.rule, OF_NOW)))
    if window.kind == "replay":
        # Bad rows are what a quarantine holds; they simply stay in it, however many they are.
        kept = (c for c in of_batch if not isinstance(c.rule, MalformedRule))
        of_batch = (REPLAYED, *(replace(c, most_rows=None, most_share=None) for c in kept))
    drops = window.kind != "replay" and any(c.severity == "drop" for c in of_batch)
    # An event that is dropped is no row, and leaves the merge as it is: what it would have changed comes when it is mended.
    changes = drops and _changes_rows(spec, operation) and spec.source.changelog is None
    if not changes:
        # What a replay drops has done so before, and what a chunk replaces goes anyway.
        of_batch = tuple(replace(c, deletes=False) for c in of_batch)
    volumes = [c.rule.last for c in of_batch if isinstance(c.rule, VolumeRule)]
    batch = CheckBatch(
        checks=of_batch,
        record_key=spec.target.record_key,
        history=_history(spec, target, max(volumes)) if volumes else (),
        quarantine=spec.quarantine if drops else None,
        located=located_by(spec) if changes else (),
        ordering=(spec.write.ordering or spec.target.ordering_field) if changes else "",
        event_times=times,
    )
    # Without a look at the target it counts as there: `compile` shows what most runs do.
    exists = target is not None or window.kind == "deferred"
    checks = tuple(_placed(check, spec, operation, exists) for check in of_table)
    if inserts:
        checks = (_new_keys(spec), *checks)
    return batch, table_after(spec, exists, operation, overwritten, checks) if checks else None


def table_after(
    spec: PipelineSpec,
    exists: bool,
    operation: str,
    overwritten: Sequence[str] = (),
    checks: tuple[TableCheck, ...] = (),
) -> CheckTable:
    """Return how a commit changes the target, and what is asked of the table as it would stand.

    Args:
        spec: The pipeline.
        exists: Whether there is a target.
        operation: The commit's write operation.
        overwritten: Values of the partitions that the commit replaces.
        checks: What is asked.
    """
    return CheckTable(
        checks=checks,
        table=spec.target.ref,
        columns=spec.target.columns,
        record_key=spec.target.record_key,
        partition_by=spec.target.partition_by,
        ordering=spec.target.ordering_field,
        operation=operation,
        global_index=spec.index.is_global,
        overwritten=tuple(overwritten),
        exists=exists,
    )


def key_check(spec: PipelineSpec) -> CheckTable:
    """Return the stage that checks that an insert into an empty table makes no key stand twice."""
    return table_after(spec, False, "insert", checks=(_new_keys(spec),))


def _changes_rows(spec: PipelineSpec, operation: str) -> bool:
    return operation in ("upsert", "bulk_insert") or spec.write.strategy != "rows"


def keeping_older(spec: PipelineSpec) -> tuple[str, ...]:
    """Return the checks that drop rows of which an older one stays published."""
    if spec.source.changelog is not None:
        return ()
    return tuple(c.name for c in spec.checks if c.severity == "drop" and not c.deletes and _changes_rows(spec, spec.operation))


def located_by(spec: PipelineSpec) -> tuple[str, ...]:
    """Return the columns by which the target tells its rows apart."""
    return (*spec.target.record_key, *(() if spec.index.is_global else spec.target.partition_by))


def _new_keys(spec: PipelineSpec) -> TableCheck:
    """Return the check that an insert makes no key stand twice.

    Hudi 1.0 asks the index whether a key is there, and a bucket index answers for the bucket.
    """
    named = [f"`{name}`" for name in (*spec.target.record_key, *spec.target.partition_by)]
    keys = ", ".join(f"'{name}=', cast(`{name}` AS string)" for name in spec.target.record_key)
    twice = f"SELECT concat({keys}) AS k FROM {TABLE_MARK} GROUP BY {', '.join(named)} HAVING count(*) > 1"
    check = CheckSpec(
        name=NEW_KEYS,
        severity="fail",
        line=0,
        rule=SqlRule(query=f"SELECT min(k) FROM ({twice})", expect="NULL", compare="", scope="partitions"),
    )
    return TableCheck(check, "freshet", "Hudi takes every row of a bucket that has a file for a duplicate")


def _history(spec: PipelineSpec, target: TableState | None, last: int) -> tuple[int, ...]:
    found: list[int] = []
    for _, info in target.newest_first() if target else ():
        if info.extra.get(PIPELINE_KEY) == spec.name and info.extra.get(ORIGIN_KEY) in ("increment", "driven"):
            found.append(info.rows)
        if len(found) == last:
            break
    return tuple(found)


def _placed(check: CheckSpec, spec: PipelineSpec, operation: str, exists: bool) -> TableCheck:
    rule = check.rule
    reason = ""
    if not isinstance(rule, SqlRule) or rule.scope == "table":
        reason = "Hudi's validators see only the partitions that the commit touches"
    elif check.severity != "fail":
        reason = "Hudi's validators cannot warn"
    elif spec.target.table_type == "MERGE_ON_READ":
        reason = "Hudi's validators fail on updates of a MERGE_ON_READ table, good ones too"
    elif spec.index.type == "HBASE":
        reason = "Hudi puts entries into the HBase index before its validators look"
    elif operation == "insert":
        reason = "Hudi 1.0 writes an insert's rows twice for its validators, and then refuses them as duplicates"
    elif operation != "upsert":
        reason = f"Hudi's validators do not see what {operation} leaves"
    elif not exists:
        reason = "Hudi's validators know no columns before the first commit"
    elif any(mark in rule.query + rule.expect for mark in ";#"):
        reason = "Hudi cuts a validator's SQL at ';' and '#'"
    return TableCheck(check, "freshet" if reason else "hudi", reason)
