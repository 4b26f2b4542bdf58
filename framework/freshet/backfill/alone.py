"""Whether a chunk and a run may write one table at a time. Pure."""

from __future__ import annotations

from freshet.project.model.pipeline import PipelineSpec


def goes_alone(spec: PipelineSpec) -> bool:
    """Say whether a chunk of a backfill must not be written beside a run of the pipeline.

    In two cases two writers at once lose or double rows, and Hudi does not see it: rows that are joined with the target as it
    stands, and a key that is new to both, under a global index.

    Args:
        spec: The pipeline.
    """
    return spec.write.strategy != "rows" or bool(spec.co_writers) or spec.index.is_global
