"""Another pipeline's table at the path of a target: by its checkpoint rows of this one's source would be passed over. Pure."""

from __future__ import annotations

from freshet.errors import StateError
from freshet.hudi.checkpoint import PIPELINE_KEY
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec


def refuse_foreign(spec: PipelineSpec, target: TableState | None) -> None:
    """Refuse to go on from a checkpoint that another pipeline has left in the target.

    One that names no pipeline is of HoodieStreamer, whose tables are taken over as they are.

    Args:
        spec: The pipeline.
        target: Its target's state; None before the first run.

    Raises:
        StateError: TARGET_OF_ANOTHER_PIPELINE.
    """
    _, info, checkpoint = next(target.checkpoints(spec.partners, spec.name), _NONE) if target is not None else _NONE
    maker = info.extra.get(PIPELINE_KEY, spec.name) if info is not None else spec.name
    if target is None or checkpoint is None or maker == spec.name:
        return
    go_on = f"set {spec.name} {checkpoint.main.text}" if checkpoint.main is not None else f"reset {spec.name}"
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


_NONE = (None, None, None)
