"""Which targets have a new commit, whoever made it: a run by hand, a backfill, another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from freshet.hudi.table import StateReader
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import PipelineSpec
from freshet.serve.aside import Aside
from freshet.serve.loading import Loaded
from freshet.serve.served import followed_by

_EVERY_SECONDS = 30.0


class Targets:
    """Looks at the targets that other pipelines follow.

    Args:
        every_seconds: How often.
        state: Makes a reader of the tables as they stand.
    """

    def __init__(self, every_seconds: float = _EVERY_SECONDS, state: Callable[[], StateReader] = TimelineState) -> None:
        self._state = state
        self._aside: Aside[Mapping[str, str]] = Aside(every_seconds)
        self._known: dict[str, str] = {}

    def look(self, loaded: Loaded, steady: float) -> tuple[str, ...]:
        """Return the pipelines whose targets have a commit that was not seen before; those first seen are among them.

        Args:
            loaded: The pipelines.
            steady: The time, by the steady clock.
        """
        found = self._aside.take() or {}
        # What was committed between a follower's first look and this one must not be lost.
        new = tuple(name for name, commit in found.items() if commit and self._known.get(name) != commit)
        self._known |= found
        followed = followed_by(loaded.project)
        if followed and self._aside.is_due(steady):
            specs = tuple(spec for spec in (*loaded.project.pipelines, *loaded.others) if spec.name in followed)
            self._aside.do(lambda: _newest(specs, self._state()), steady)
        return new


def _newest(specs: tuple[PipelineSpec, ...], state: StateReader) -> Mapping[str, str]:
    found = {}
    for spec in specs:
        # One that cannot be read is told by its own runs.
        with suppress(Exception):
            table = state.table(spec.target.ref)
            found[spec.name] = max((one.completed for one in table.commits), default="") if table is not None else ""
    return found
