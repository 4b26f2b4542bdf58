"""Plan the commit that puts wrong rows right. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from freshet.audit.plan import AuditPlan
from freshet.audit.result import Group, summed
from freshet.errors import StateError
from freshet.hudi.instants import readable
from freshet.hudi.options import IS_DELETED, LEFT_TO_THE_RUNS, NON_BLOCKING, REPLACES_ALL, concurrency_of
from freshet.hudi.table import TableState
from freshet.plan.logic import with_logic
from freshet.plan.parts import commit_stage
from freshet.plan.stages import Plan, Precondition
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.steps import WriteSpec
from freshet.sources.hudi.reads import Window, counted

How = Literal["upsert", "insert_overwrite", "insert_overwrite_table"]
_DELETES = ("DELETE", "DELETE_PREPPED")
_STATIC = "hoodie.static.overwrite.partition.paths"


def choose_how(plan: AuditPlan, target: TableState, groups: Sequence[Group]) -> How:
    """Say how wrong rows are put right in one commit.

    An upsert writes least. It leaves a row alone that is newer by its ordering value; it deletes only where the table has
    Hudi's mark for that; of two rows of one key it deletes both; and it logs a row where a log may hold Hudi's own delete,
    which has no ordering value: beside such a one Hudi 1.0.2 reads neither (ClassCastException). Else the partitions of the
    wrong rows are replaced.

    Args:
        plan: The audit.
        target: The target as it stands.
        groups: What it has counted.

    Raises:
        StateError: REPAIR_NOT_POSSIBLE.
    """
    spec = plan.spec
    marks = any(column.name == IS_DELETED for column in spec.target.columns)
    surplus, twice = summed(groups, "surplus"), sum(one.twice for one in groups if one.kind == "surplus")
    outranked = 0 if spec.target.ordering_field in plan.left_out else sum(one.outranked for one in groups)
    logged = summed(groups, "missing") if _logs_deletes(target) else 0
    if not (twice or outranked or logged or (surplus and not marks)):
        return "upsert"
    why = (
        f"{counted(twice, 'row')} stand besides another one of their key"
        if twice
        else f"{counted(outranked, 'row')} are newer by {spec.target.ordering_field} than what should stand"
        if outranked
        else f"{counted(surplus, 'row')} must go, and {spec.target.file} has no {IS_DELETED}"
        if surplus and not marks
        else f"{counted(logged, 'row')} are missing that a log may hold as deleted"
    )
    by = spec.index.type if spec.index.type == "HBASE" else NON_BLOCKING if concurrency_of(spec) == NON_BLOCKING else ""
    if by:
        declare = "" if marks or twice or outranked or logged else f"Declare {IS_DELETED} BOOLEAN in the DDL, and repeat; or: "
        anew = f"freshet migrate {spec.name} --anyway" if by == NON_BLOCKING else f"freshet run {spec.name} --full-refresh"
        raise StateError(
            "REPAIR_NOT_POSSIBLE",
            f"{spec.name}: {why}: their partitions have to be replaced, which Hudi 1.0 does not do with {by}.",
            "Nothing was written.",
            f"{declare}Make the table anew: {anew}",
        )
    return "insert_overwrite" if spec.target.partition_by else "insert_overwrite_table"


def _logs_deletes(target: TableState) -> bool:
    if target.config.table_type != "MERGE_ON_READ":
        return False
    # What has been archived has been compacted, or is no longer in a log that is read.
    return any(target.info(instant).operation in _DELETES for instant in target.commits)


def as_whole_rows(spec: PipelineSpec, how: How) -> PipelineSpec:
    """Return a pipeline that writes whole rows by an operation, whatever its own are."""
    columns = tuple(column.name for column in spec.target.columns)
    operation = REPLACES_ALL if how == REPLACES_ALL else "upsert"
    return replace(spec, operation=operation, write=WriteSpec(strategy="rows", columns=columns))


def compile_repair(plan: AuditPlan, target: TableState, how: How, paths: Sequence[str]) -> Plan:
    """Compile the commit of a repair; it carries no checkpoint.

    Args:
        plan: The audit.
        target: The target as it stands.
        how: What ``choose_how`` says.
        paths: Of the partitions that are replaced.
    """
    spec = plan.spec
    window = Window(kind="repair", reason=f"rows that differ from a recompute as of {readable(plan.position)}")
    stage = commit_stage(as_whole_rows(spec, how), window, None, overwrite=paths if how == "insert_overwrite" else ())
    options = {**stage.options, **LEFT_TO_THE_RUNS}
    if how == "insert_overwrite":
        options[_STATIC] = ",".join(paths)
    elif how == REPLACES_ALL:
        options["hoodie.combine.before.insert"] = "false"
    guard = Precondition(plan.base, (), how != "upsert")
    commit = with_logic(
        replace(stage, options=dict(sorted(options.items())), guard=guard), spec, target, computes=how != REPLACES_ALL
    )
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        window=window,
        stages=(commit,),
    )
