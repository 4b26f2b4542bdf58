"""The steps by which a pipeline's checkpoint went on: each commit of its target that carries one. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from freshet.credentials import without_credentials
from freshet.hudi.checkpoint import CHECKS_KEY, ORIGIN_KEY, RUN_ID_KEY, Checkpoint
from freshet.hudi.instants import UTC_ZONE, readable, zone_of
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.plan.positions import checkpoints_of, maker_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.position import Position

# What a commit reads that moves the checkpoint: HoodieStreamer's say nothing of themselves.
_READING = ("increment", "driven", "deferred", "whole_table", "")
#: Of a run that reads the source as it stands, whatever was read before.
WHOLE = "whole_table"
#: Of a first run that begins behind what there is: READ_LATEST.
LATEST = "start_at_latest"
BY_HAND = "override"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A commit of the target that carries the pipeline's checkpoint.

    Args:
        instant: The commit.
        info: What it did.
        checkpoint: Where the pipeline stood after it.
        zone: Zone by which the target names commits.
    """

    instant: Instant
    info: CommitInfo
    checkpoint: Checkpoint
    zone: str = UTC_ZONE

    @property
    def when(self) -> str:
        """Return when it completed, as people read it."""
        return readable(self.instant.completed, self.zone)

    @property
    def origin(self) -> str:
        """Return what the commit says of itself; empty of one that freshet did not make."""
        return self.info.extra.get(ORIGIN_KEY, "")

    @property
    def reads(self) -> bool:
        """Return True where the commit holds what was read up to its checkpoint."""
        return self.origin in _READING

    @property
    def run_id(self) -> str:
        """Return the run that made it."""
        return without_credentials(self.info.extra.get(RUN_ID_KEY, ""))

    def position(self, name: str) -> Position | None:
        """Return how far an input had been read, by its name."""
        return self.checkpoint.positions.get(name)

    @property
    def counted(self) -> tuple[int | None, int]:
        """Return the rows of the batch, None where no check counted them, and those that went to the quarantine."""
        try:
            told = json.loads(self.info.extra.get(CHECKS_KEY) or "{}")
            rows = told.get("rows")
            return (rows if isinstance(rows, int) else None), int(told.get("quarantined") or 0)
        except (ValueError, TypeError, AttributeError, RecursionError):
            # What is no record of checks tells nothing.
            return None, 0


def steps_of(spec: PipelineSpec, target: TableState, since: str = "") -> tuple[Step, ...]:
    """Return a pipeline's steps, oldest first.

    Args:
        spec: The pipeline.
        target: Its target.
        since: Completion time; the last step before it is the first one returned, as what the others begin from. Empty for all.

    Raises:
        StateError: A checkpoint cannot be read.
    """
    found: list[Step] = []
    zone = zone_of(target)
    for instant, info, checkpoint in checkpoints_of(spec, target):
        if maker_of(spec, info) != spec.name:
            continue
        found.append(Step(instant=instant, info=info, checkpoint=checkpoint, zone=zone))
        if instant.completed < since:
            break
    return tuple(reversed(found))
