"""Where a pipeline stands: a checkpoint's paths in clear, as far as they are of tables that the pipeline reads. Pure.

What a commit keeps of a path that holds a secret are ``${env.NAME}`` in its place and a digest. Earlier versions kept the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from freshet.hudi.checkpoint import MAIN, Checkpoint, Position
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.hidden import NOT_SHOWN, beside, digest_of
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec

_Change = Callable[[PipelineSpec, Position, str], Position]


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
        yield instant, info, _with(checkpoint, spec, _in_clear)


def kept(spec: PipelineSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint as a commit may carry it: without a secret."""
    return _with(checkpoint, spec, _hidden)


def is_at(position: Position, path: str) -> bool:
    """Say whether a position is one in the table at a path, however it was kept and however Hadoop calls the place."""
    if position.digest:
        return position.digest == digest_of(path, position.table)
    return same_place(position.table) == same_place(path)


def _with(checkpoint: Checkpoint, spec: PipelineSpec, change: _Change) -> Checkpoint:
    paths = {MAIN: spec.source.table.path, **{one.name: one.table.path for one in spec.inputs}}
    positions = {name: change(spec, position, paths.get(name, "")) for name, position in checkpoint.positions.items()}
    return Checkpoint(positions, change(spec, checkpoint.seen, paths[MAIN]) if checkpoint.seen else None)


def _in_clear(spec: PipelineSpec, position: Position, path: str) -> Position:
    if position.digest:
        return replace(position, table=path, digest="") if path and is_at(position, path) else position
    # Of an input that the pipeline has no more nobody can tell what its path held.
    doubtful = path in spec.hidden if path else bool(spec.hidden)
    if not doubtful or position.table in ("", path, *spec.hidden):
        return position
    shown = beside(position.table, spec.hidden[path]) if path else NOT_SHOWN
    return replace(position, table=shown, digest=digest_of(position.table, shown))


def _hidden(spec: PipelineSpec, position: Position, path: str) -> Position:
    shown = spec.hidden.get(position.table) if not position.digest else None
    return replace(position, table=shown, digest=digest_of(position.table, shown)) if shown else position
