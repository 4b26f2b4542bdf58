"""Which pipelines another one waits for, because what they make is not there yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from freshet.errors import SpecError
from freshet.hudi.table import StateReader
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, Project


def waits_for(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    more: Callable[[tuple[str, ...]], Project],
) -> tuple[str, ...]:
    """Return the pipelines whose first run makes a table that this one reads.

    Args:
        project: The pipelines that were asked for.
        spec: One of them.
        state: Reader of the tables.
        more: Loads others of the project by their names.
    """
    upstream = project.upstream.get(spec.name, ())
    known = {one.name: one for one in project.pipelines}
    others = tuple(name for name in upstream if name not in known)
    # What is wrong with a pipeline that was not asked for is told when it is.
    with suppress(SpecError):
        known |= {one.name: one for one in more(others).pipelines} if others else {}
    return tuple(_makers([known[name] for name in upstream if name in known], spec, state))


def _makers(upstream: Iterable[PipelineSpec], spec: PipelineSpec, state: StateReader) -> Iterable[str]:
    read = {same_place(table.path) for table in (spec.source.table, *(one.table for one in spec.inputs))}
    for one in upstream:
        if same_place(one.target.ref.path) in read and state.table(one.target.ref) is None:
            yield one.name
