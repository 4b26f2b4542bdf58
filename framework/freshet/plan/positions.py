"""Where a pipeline stands: a checkpoint's paths in clear, as far as they are of tables that the pipeline reads. Pure.

What a commit keeps of a path that holds a secret are ``${env.NAME}`` in its place and a digest. Earlier versions kept the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from freshet.hudi.checkpoint import MAIN, PIPELINE_KEY, Checkpoint, Position
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.hidden import NOT_SHOWN, beside, digest_of
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec

_Change = Callable[[PipelineSpec, Position, str], Position]


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
    """Walk the commits that carry a checkpoint, newest first; those of a pipeline's partners are passed over."""
    for instant, info, checkpoint in target.checkpoints(spec.partners, spec.name):
        yield instant, info, _with(checkpoint, spec, _in_clear)


def of_own_tables(spec: PipelineSpec, checkpoint: Checkpoint) -> Checkpoint:
    """Return what a checkpoint says of the tables that a pipeline reads, by the names that it gives them."""
    paths = {MAIN: spec.source.table.path, **{one.name: one.table.path for one in spec.inputs}}
    positions = {name: at for name, at in checkpoint.positions.items() if name in paths and is_at(at, paths[name])}
    seen = checkpoint.seen
    return Checkpoint(positions, seen if seen is not None and is_at(seen, paths[MAIN]) else None)


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
    # Of an input that the pipeline has no more nobody can tell whether its path held a secret.
    shown = (spec.hidden.get(position.table) if path else NOT_SHOWN) if not position.digest else None
    return replace(position, table=shown, digest=digest_of(position.table, shown)) if shown else position
