"""Whether a chunk of a backfill was done by what the pipeline's files say now. Pure.

What counts is the logic: a comment that changed is no reason to do a chunk again. The fingerprint, which changes with every
word, answers for chunks of which nothing else is known, and alone says for certain that nothing has changed.
"""

from __future__ import annotations

import hashlib
import json

from freshet.backfill.record import ChunkCommit
from freshet.hudi.checkpoint import LOGIC_KEY
from freshet.plan.logic_record import decode_record
from freshet.project.model.logic import Logic, digest_of
from freshet.project.model.pipeline import PipelineSpec


def made_by(spec: PipelineSpec) -> str:
    """Return what a chunk's commit says of by what it is done: a digest of the logic, and one of ``backfill:``.

    Args:
        spec: The pipeline, rendered with the whole range of the backfill.
    """
    how = spec.backfill
    declared = [sorted(how.event_time.items()), how.partition, how.granularity, how.write] if how is not None else []
    return f"{digest_of(spec.logic)}/{hashlib.sha256(json.dumps(declared).encode()).hexdigest()[:8]}"


def is_of(spec: PipelineSpec, done: ChunkCommit, logic: Logic) -> bool:
    """Say whether a chunk was done by what a pipeline's files say now.

    Args:
        spec: The pipeline, rendered with the whole range of the backfill.
        done: The chunk's commit.
        logic: Of the pipeline as it is rendered for its runs.
    """
    (before, _, how_before), (now, _, how_now) = done.made_by.partition("/"), made_by(spec).partition("/")
    if how_before and how_before != how_now:
        return False
    if done.fingerprint == spec.fingerprint:
        return True
    if done.made_by:
        return before == now != ""
    # One of a freshet that did not say so yet: its record knows what made its rows, if it has any.
    record = decode_record(done.info.extra.get(LOGIC_KEY, ""))
    return record is not None and record.digest == digest_of(logic) != ""
