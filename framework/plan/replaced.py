"""Another table under the path of the main source: known by the commit that the checkpoint names. Pure."""

from __future__ import annotations

from dataclasses import replace

from framework.errors import StateError
from framework.plan.stages import Commit, Plan
from framework.spec.model import PipelineSpec
from framework.state.checkpoint import SOURCE_COMMIT_KEY
from framework.state.table import TableState


def with_source_commit(plan: Plan, source: TableState) -> Plan:
    """Return the plan whose commit remembers the source's commit at which its checkpoint stands.

    Args:
        plan: A plan that may commit.
        source: The main source.
    """
    main = plan.checkpoint_after.main if plan.checkpoint_after else None
    requested = next((i.requested for i in reversed(source.commits) if main and i.completed == main.instant), "")
    if not requested:
        return plan
    stages = tuple(
        replace(one, metadata=dict(sorted({**one.metadata, SOURCE_COMMIT_KEY: requested}.items())))
        if isinstance(one, Commit) else one for one in plan.stages
    )
    return replace(plan, stages=stages)


def refuse_replaced(spec: PipelineSpec, target: TableState | None, source: TableState) -> None:
    """Refuse to go on in a table that does not know the commit up to which it was read.

    A checkpoint that was set by hand, or by HoodieStreamer, names none. Request times name a commit for good: they outlast
    the archive and an upgrade of the table.

    Args:
        spec: The pipeline.
        target: Its target; None before its first commit.
        source: The main source.

    Raises:
        StateError: SOURCE_REPLACED.
    """
    newest = next(target.checkpoints(spec.partners, spec.name), None) if target is not None else None
    requested = newest[1].extra.get(SOURCE_COMMIT_KEY, "") if newest else ""
    if not requested or any(i.requested == requested for i in source.commits):
        return
    if any(i.requested == requested for i, _ in source.load_archived("")):
        return
    raise StateError(
        "SOURCE_REPLACED",
        f"{spec.name}: {source.ref.path} is another table than the one that was read, or was brought back from a copy: it "
        f"knows no commit {requested}, up to which the target holds its rows.",
        "Nothing was read or written. Rows that the table no longer has may stand in the target.",
        f"To have the target hold what the table holds now, move the target away and run {spec.name} anew; to read the table "
        f"again over what the target holds: freshet checkpoint reset {spec.name}",
        source=spec.source.table.path, commit=requested,
    )
