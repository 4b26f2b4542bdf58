"""Where a pipeline stands: a checkpoint's paths in clear, as far as they are of sources that the pipeline reads. Pure.

What a commit keeps of a path that holds a secret are ``${env.NAME}`` in its place and a digest. Earlier versions kept the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from freshet.hudi.checkpoint import MAIN, PIPELINE_KEY, Checkpoint
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.position import Position


def checkpoint_of(spec: PipelineSpec, target: TableState) -> Checkpoint | None:
    """Return a pipeline's newest checkpoint; None where no commit carries one.

    Those of other pipelines are passed over, which may have written the same table: they tell how far these have read. One that
    names no pipeline is of HoodieStreamer, whose tables are taken over as they are.

    Args:
        spec: The pipeline.
        target: Its target, or the table that it takes the place of.

    Raises:
        StateError: See ``TableState.checkpoints``.
    """
    return next((found for _, info, found in checkpoints_of(spec, target) if maker_of(spec, info) == spec.name), None)


def maker_of(spec: PipelineSpec, info: CommitInfo) -> str:
    """Return the pipeline whose checkpoint a commit carries: the one that asks, where the commit names none."""
    return info.extra.get(PIPELINE_KEY, spec.name)


def checkpoints_of(spec: PipelineSpec, target: TableState) -> Iterator[tuple[Instant, CommitInfo, Checkpoint]]:
    """Walk the commits that carry a checkpoint, newest first; those of a pipeline's co-writers are passed over."""
    for instant, info, checkpoint in target.checkpoints(spec.co_writers, spec.name):
        yield instant, info, _with(checkpoint, spec, lambda position, place: position.in_clear(place, spec.hidden))


def of_own_tables(spec: PipelineSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Return what a checkpoint says of the tables that a pipeline reads, by the names that it gives them."""
    places, seen = _places(spec), checkpoint.seen
    positions = {name: at for name, at in checkpoint.positions.items() if name in places and at.is_at(places[name])}
    return Checkpoint(positions, seen if seen is not None and seen.is_at(places[MAIN]) else None)


def kept(spec: PipelineSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint as a commit may carry it: without a secret."""
    return _with(checkpoint, spec, lambda position, place: position.concealed(place, spec.hidden))


def _with(checkpoint: Checkpoint, spec: PipelineSpec, change: Callable[[Position, str], Position]) -> Checkpoint:
    places = _places(spec)
    positions = {name: change(position, places.get(name, "")) for name, position in checkpoint.positions.items()}
    return Checkpoint(positions, change(checkpoint.seen, places[MAIN]) if checkpoint.seen else None)


def _places(spec: PipelineSpec) -> dict[str, str]:
    return {MAIN: spec.source.place, **{item.name: item.table.path for item in spec.inputs}}
