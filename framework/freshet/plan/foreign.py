"""Another pipeline's table at the path of a target: by its checkpoint rows of this one's source would be passed over. Pure."""

from __future__ import annotations

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.table import CommitInfo, TableState
from freshet.plan.positions import checkpoint_of, checkpoints_of, maker_of, of_own_tables
from freshet.project.model.pipeline import PipelineSpec


def refuse_foreign(spec: PipelineSpec, target: TableState | None) -> None:
    """Refuse to begin in a table that holds another pipeline's checkpoint, and none of this one's.

    Args:
        spec: The pipeline.
        target: Its target's state; None before the first run.

    Raises:
        StateError: TARGET_OF_ANOTHER_PIPELINE.
    """
    found = of_another(spec, target)
    if target is None or found is None:
        return
    info, checkpoint = found
    main, maker = of_own_tables(spec, checkpoint).positions.get(MAIN), maker_of(spec, info)
    # A position in another table would be one nowhere in this pipeline's source.
    go_on = f"set {spec.name} {main.text}" if main is not None else f"reset {spec.name}"
    raise StateError(
        "TARGET_OF_ANOTHER_PIPELINE",
        f"{spec.name}: the checkpoint in {target.ref.path} is one of the pipeline {maker}: it is that one's table, or a copy "
        "of it.",
        "Nothing was read or written.",
        f"Move it away, or name another place: LOCATION in {spec.target.file}. Where the pipeline has got another name, and "
        f"goes on in this table: freshet checkpoint {go_on}",
        path=target.ref.path,
        pipeline=maker,
    )


def of_another(spec: PipelineSpec, target: TableState | None) -> tuple[CommitInfo, Checkpoint] | None:
    """Return the newest checkpoint of another pipeline, with its commit, where a table holds none of this one's."""
    if target is None or checkpoint_of(spec, target) is not None:
        return None
    return next(((info, found) for _, info, found in checkpoints_of(spec, target)), None)
