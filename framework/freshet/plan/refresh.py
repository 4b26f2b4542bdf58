"""A full refresh: the target anew from the whole source, in one commit that replaces every row that stands. Pure."""

from __future__ import annotations

from dataclasses import replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.keys.options import INDEX_TYPE
from freshet.hudi.options import NO_ENTRIES, NON_BLOCKING, concurrency_of
from freshet.hudi.table import TableState
from freshet.plan.checks import CheckBatch, key_check
from freshet.plan.row_stages import EnforceSchema, MergeColumns, MergeEvents
from freshet.plan.stages import Commit, Notice, Plan, Stage
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec

_UNTOUCHED = "Nothing was read or written."


def refuse_recompute(spec: PipelineSpec, remedy: str = "") -> None:
    """Refuse a pipeline whose target holds what no recompute of it gives.

    Args:
        spec: The pipeline.
        remedy: What to do instead; empty for a run that reads the source again over what stands.

    Raises:
        StateError: COLUMNS_NOT_OWNED, NOT_RECOMPUTABLE or READS_ITS_TARGET.
    """
    name, target = spec.name, spec.target
    remedy = remedy or (
        f"To read the whole source again over what stands: freshet checkpoint reset {name}, with "
        "READ_UPTO_LATEST_COMMIT; rows that the source no longer has stay."
    )
    located = {*target.record_key, *target.partition_by, target.ordering_field}
    others = [c.name for c in target.columns if c.name not in located and c.name not in spec.write.columns]
    if spec.co_writers or (spec.write.strategy != "rows" and (others or not spec.write.insert_missing)):
        who = (
            f"{', '.join(spec.co_writers)} writes it too"
            if spec.co_writers
            else (f"it does not write {', '.join(others)}" if others else "it changes rows that others have put there")
        )
        raise StateError(
            "COLUMNS_NOT_OWNED",
            f"{name}: a recompute gives whole rows of {target.ref.path}, and {who}.",
            _UNTOUCHED,
            remedy,
            columns=others,
            partners=list(spec.co_writers),
        )
    if spec.operation == "delete":
        raise StateError(
            "NOT_RECOMPUTABLE",
            f"{name}: its operation deletes rows that others have put there; nothing can be loaded anew.",
            _UNTOUCHED,
            remedy,
        )
    own = next((item.name for item in spec.inputs if same_place(item.table.path) == same_place(target.ref.path)), "")
    if own:
        raise StateError(
            "READS_ITS_TARGET",
            f"{name}: input {own} is the target itself: what that holds may come from runs that no recompute repeats.",
            _UNTOUCHED,
            f"{remedy} Where a recompute from nothing is right, move {target.ref.path} away, then: freshet run {name}",
            input=own,
        )


def replacing(plan: Plan, spec: PipelineSpec, target: TableState, before: Checkpoint | None) -> Plan:
    """Return the plan of a first run as one that replaces what stands.

    Args:
        plan: The plan of a run that reads the whole source, by the operation ``REPLACES_ALL``.
        spec: The pipeline as its files declare it.
        target: The target as it stands.
        before: The checkpoint that it carries.

    Raises:
        StateError: OVERWRITES_BESIDE_WRITERS.
    """
    if concurrency_of(spec) == NON_BLOCKING:
        # Writers name a bucket's first file alike. Of one that was replaced, no later row would be seen.
        raise StateError(
            "OVERWRITES_BESIDE_WRITERS",
            f"{spec.name}: Hudi 1.0 replaces no rows by {NON_BLOCKING}.",
            _UNTOUCHED,
            f"Make the table anew beside this one: freshet migrate {spec.name} --anyway",
        )
    stages: list[Stage] = []
    for stage in plan.stages:
        match stage:
            case MergeColumns() | MergeEvents():
                # All that stands goes, so that there is nothing to keep another's columns from.
                stages.append(replace(stage, target_exists=False))
            case EnforceSchema() if spec.operation == "insert" and not any(isinstance(one, CheckBatch) for one in plan.stages):
                # The check of keys reads the batch, which is computed once.
                stages += (stage, CheckBatch(checks=(), record_key=spec.target.record_key, history=(), quarantine=None))
            case Commit():
                if spec.operation == "insert":
                    stages.append(key_check(spec))
                options = {**stage.options, "hoodie.combine.before.insert": "false"}
                if spec.index.hbase is not None:
                    # Hudi would leave the entries of rows that go. The index is made anew afterwards, from the rows.
                    options[INDEX_TYPE] = NO_ENTRIES
                stages.append(replace(stage, options=dict(sorted(options.items())), guard=None))
            case _:
                stages.append(stage)
    window = replace(plan.window, reason="full refresh: the whole source, which replaces every row that stands")
    return replace(
        plan, window=window, checkpoint_before=before, notices=(*plan.notices, *_notices(spec, target)), stages=tuple(stages)
    )


def _notices(spec: PipelineSpec, target: TableState) -> tuple[Notice, ...]:
    if not spec.readers:
        return ()
    names = ", ".join(reader.name for reader in spec.readers)
    gone = (
        "rows that go are deleted for those that pass deletes on"
        if target.config.records_changes
        else "rows that go are not told to them (DELETES_NOT_SEEN), because the table keeps no change data: "
        + "; ".join(f"freshet run {reader.name} --full-refresh" for reader in spec.readers)
    )
    return (
        Notice(
            "READERS_READ_ALL",
            f"{spec.name}: {names} will read every row of {spec.target.ref.name} anew; {gone}; "
            "where the recompute gave a row a smaller ordering value, a reader keeps the row that it has, until it is "
            "refreshed, too",
        ),
    )
