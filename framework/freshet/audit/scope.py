"""Ask the analysis of a pipeline's SQL for the pieces into which its result falls."""

from __future__ import annotations

from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.result import Scope


def scope_of(spec: PipelineSpec) -> Scope:
    """Return the pieces of a pipeline's result.

    Args:
        spec: The pipeline.
    """
    return Scope(why_none=f"nothing is known of the SQL of {spec.name}")
