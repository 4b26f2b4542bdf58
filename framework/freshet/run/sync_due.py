"""Whether a catalogue is still to be told of a table: a mark beside it, from before the commit until the sync succeeds.

So a sync that failed, and one that a killed run never came to, is made up for by the next run, also by one without rows.
"""

from __future__ import annotations

from pathlib import Path

from freshet.lease.local import stem_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.rules.sync import sync_tools


def mark_due(spec: PipelineSpec) -> None:
    """Note that a commit is about to be made that a catalogue must learn of; nothing where there is no catalogue."""
    if sync_tools(spec.write_options):
        mark = _mark(spec)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def mark_done(spec: PipelineSpec) -> None:
    """Note that the catalogue knows the table as it stands."""
    _mark(spec).unlink(missing_ok=True)


def is_due(spec: PipelineSpec) -> bool:
    """Say whether there is a catalogue that does not know the table as it stands, as far as this machine knows."""
    return bool(sync_tools(spec.write_options)) and _mark(spec).exists()


def _mark(spec: PipelineSpec) -> Path:
    stem = stem_of(spec.target.ref)
    return stem.with_name(f"{stem.name}.sync")
