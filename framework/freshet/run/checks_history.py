"""What the checks of a pipeline found in its last commits: it stands in the commits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from freshet.credentials import tree_without_credentials
from freshet.hudi.checkpoint import CHECKS_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import PipelineSpec
from freshet.secrets import redact_tree


@dataclass(frozen=True)
class ChecksHistory:
    """What the checks of a pipeline found.

    Args:
        pipeline: Its name.
        history: One mapping for each commit with checks, the newest first: ``commit`` (completion time), ``run_id``,
            ``origin``, and ``checks`` by their names.
    """

    pipeline: str
    history: tuple[dict[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the history as a JSON-serialisable mapping, without secrets."""
        return {"pipeline": self.pipeline, "history": redact_tree(self.history)}


def checks_history(spec: PipelineSpec, state: StateReader, limit: int) -> ChecksHistory:
    """Read what the checks of a pipeline found, from its target's commits.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        limit: How many commits, the newest first.
    """
    target = state.table(spec.target.ref)
    history: list[dict[str, Any]] = []
    for instant, info in target.newest_first() if target else ():
        if len(history) == limit:
            break
        text = info.extra.get(CHECKS_KEY)
        if text is not None and info.extra.get(PIPELINE_KEY) == spec.name:
            history.append(
                {
                    "commit": instant.completed,
                    **tree_without_credentials(
                        {
                            "run_id": info.extra.get(RUN_ID_KEY, ""),
                            "origin": info.extra.get(ORIGIN_KEY, ""),
                            **json.loads(text),
                        }
                    ),
                }
            )
    return ChecksHistory(spec.name, tuple(history))
