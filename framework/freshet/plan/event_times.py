"""Whose event times a run counts. Pure."""

from __future__ import annotations

from freshet.hudi.options import REPLACES_ALL
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import EventTimes
from freshet.sources.hudi.reads import Window


def counts_times(window: Window, operation: str) -> bool:
    """Say whether what a commit publishes are events that come for the first time, as those of a recompute do not."""
    return window.kind not in ("backfill", "repair") and operation != REPLACES_ALL


def times_of_batch(spec: PipelineSpec, window: Window, operation: str) -> EventTimes | None:
    """Return which event times of its batch a run counts; None for none, and where its events are counted as they are read.

    Args:
        spec: The pipeline.
        window: What was read.
        operation: The commit's write operation.
    """
    times = spec.event_times
    if times is None or not times.column or spec.source.changelog is not None:
        return None
    return times if counts_times(window, operation) else None
