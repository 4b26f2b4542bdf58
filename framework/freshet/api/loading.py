"""What the calls of ``freshet.Project`` that stand in modules of their own need of it."""

from __future__ import annotations

from typing import Protocol

from freshet.backfill.run import Load
from freshet.project.model.pipeline import Project


class Loading(Protocol):
    """A project's folder, whose files are read anew with every call."""

    def _load(self, names: tuple[str, ...], tags: tuple[str, ...] = ()) -> Project:
        """Load pipelines by names or tags."""

    def _backfill_of(self, name: str) -> Load:
        """Return what loads a pipeline for a window of a backfill."""
