"""Ask the analysis of a pipeline's SQL for the pieces into which its result falls."""

from __future__ import annotations

from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.result import Scope


def scope_of(spec: PipelineSpec, state: StateReader) -> Scope:
    """Return the pieces of a pipeline's result.

    Args:
        spec: The pipeline.
        state: Reader of the tables, which know their columns and keys.
    """
    # What parses SQL takes a fifth of a second to import, and who compares all of a table needs none of it.
    from freshet.verdict.judged import judged
    from freshet.verdict.tables import facts_of

    return judged(spec, facts_of(spec, {}, state=state)).scope
