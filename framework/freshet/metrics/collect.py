"""The whole set of a project's metrics, from timelines and records, without a JVM."""

from __future__ import annotations

import time

from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.metrics.measured import Measured, measure
from freshet.metrics.samples import Sample, samples_of
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.sources.registry import look_together
from freshet.status.standing import More


def measure_all(
    project: Project,
    more: More,
    pipelines: tuple[PipelineSpec, ...],
    now: float | None = None,
) -> tuple[Measured, ...]:
    """Measure pipelines; each timeline that several of them read is read once.

    Args:
        project: The pipelines that were asked for.
        more: Loads others of the project by their names.
        pipelines: Those of the project that are measured.
        now: Seconds since 1970; None for the clock's.
    """
    moment = time.time() if now is None else now
    state = OneLook(TimelineState())
    look_together(pipelines, state)
    return tuple(measure(project, spec, state, more, moment) for spec in pipelines)


def collect(project: Project, more: More) -> tuple[Sample, ...]:
    """Return the samples of all pipelines of a project that were asked for; see ``measure_all``."""
    return samples_of(measure_all(project, more, project.pipelines), project.env)
