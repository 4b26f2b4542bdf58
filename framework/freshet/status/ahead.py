"""What the next run would read, by the timelines alone: the windows of a plan, without the plan."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import StateReader, TableState
from freshet.plan.foreign import refuse_foreign
from freshet.plan.inputs import look_at_inputs, with_drivers
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import DriveRows, Window
from freshet.sources.registry import source_of


def look_ahead(
    spec: PipelineSpec,
    state: StateReader,
    target: TableState | None,
    before: Checkpoint | None,
) -> tuple[Window, Mapping[str, Window]]:
    """Return what the next run would read of its main source, and of each input that drives it, by the inputs' names.

    A plan is held against more: the target's columns, the SQL, the files that it reads.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        target: The target; None before its first commit.
        before: Its checkpoint.

    Raises:
        StateError: The timelines forbid the run; the code says why.
    """
    source = source_of(spec, state)
    refuse_foreign(spec, target)
    tables = look_at_inputs(spec, state, before)
    main, seen = (before.main, before.furthest(spec.source.place)) if before else (None, None)
    return with_drivers(source.look(main, seen), tables), tables.drivers


def drivers_in(spec: PipelineSpec, plan: Plan) -> Mapping[str, Window]:
    """Return what a plan reads of each input that drives it, by the inputs' names; an idle window where nothing is new."""
    windows = {stage.changes.table: stage.changes.window for stage in plan.stages if isinstance(stage, DriveRows)}
    return {one.name: windows.get(one.table, Window(kind="idle")) for one in spec.inputs if one.drives}
