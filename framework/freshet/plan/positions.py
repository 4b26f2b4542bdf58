"""Where a pipeline stands: a checkpoint's paths in clear, as far as they are of sources that the pipeline reads. Pure.

What a commit keeps of a path that holds a secret are ``${env.NAME}`` in its place and a digest. Earlier versions kept the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.position import Position


def checkpoint_of(spec: PipelineSpec, target: TableState) -> Checkpoint | None:
    """Return a pipeline's newest checkpoint; None where no commit carries one.

    Args:
        spec: The pipeline.
        target: Its target, or the table that it takes the place of.

    Raises:
        StateError: See ``TableState.checkpoints``.
    """
    return next((checkpoint for _, _, checkpoint in checkpoints_of(spec, target)), None)


def checkpoints_of(spec: PipelineSpec, target: TableState) -> Iterator[tuple[Instant, CommitInfo, Checkpoint]]:
    """Walk the commits that carry a checkpoint of a pipeline, newest first."""
    for instant, info, checkpoint in target.checkpoints(spec.partners, spec.name):
        yield instant, info, _with(checkpoint, spec, lambda position, place: position.in_clear(place, spec.hidden))


def kept(spec: PipelineSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint as a commit may carry it: without a secret."""
    return _with(checkpoint, spec, lambda position, place: position.concealed(spec.hidden))


def _with(checkpoint: Checkpoint, spec: PipelineSpec, change: Callable[[Position, str], Position]) -> Checkpoint:
    places = {MAIN: spec.source.place, **{one.name: one.table.path for one in spec.inputs}}
    positions = {name: change(position, places.get(name, "")) for name, position in checkpoint.positions.items()}
    return Checkpoint(positions, change(checkpoint.seen, places[MAIN]) if checkpoint.seen else None)
