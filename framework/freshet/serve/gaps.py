"""What is done in gaps between ticks: table services and backfills, one step at a time. Pure, as the agenda is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from freshet.serve.agenda import Agenda
from freshet.serve.moment import Moment

What = Literal["service", "backfill"]
#: One that has waited for so long for a gap goes before the next tick of its target: of a table that is never compacted every
#: tick becomes slower.
PATIENCE_SECONDS = 900.0


@dataclass(kw_only=True)
class Chore:
    """Something that is done for a pipeline's target besides its runs.

    Args:
        pipeline: The pipeline.
        what: ``service`` or ``backfill``.
        words: What exactly, in words.
        apart: What a step of it must not have in common with a run at the same time: see ``serve.served.Served``. Of a step
            that may go beside the pipeline's runs it is empty.
        since: Since when its next step waits, by the steady clock.
        not_before: It rests until then, by the steady clock.
        phase: ``waiting`` for a gap, or ``working`` on a step.
        stopping: True where no other step is to begin.
        granted: True where the step that goes on was begun for it, and it has not taken that up yet.
        step, steps: Which step it is at, and of how many; 0 where nobody knows yet.
    """

    pipeline: str
    what: What
    words: str
    apart: frozenset[str] = frozenset()
    since: float = 0.0
    not_before: float = 0.0
    phase: Literal["waiting", "working"] = "waiting"
    stopping: bool = False
    granted: bool = False
    step: int = 0
    steps: int = 0

    def shown(self, now: Moment) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        waits = self.phase == "waiting"
        return {
            "pipeline": self.pipeline,
            "what": self.what,
            "words": self.words,
            "phase": "stopping" if self.stopping else self.phase,
            "step": self.step,
            "steps": self.steps,
            "waiting_seconds": round(now.steady - self.since, 3) if waits else 0,
        }


class Gaps:
    """The chores, and whose turn it is: the one that has waited for longest, one step of one chore at a time."""

    def __init__(self) -> None:
        self._chores: list[Chore] = []

    def __iter__(self) -> Iterator[Chore]:
        return iter(self._chores)

    def of(self, pipeline: str, what: What) -> Chore | None:
        """Return a pipeline's chore of a kind; None where there is none."""
        return next((one for one in self._chores if (one.pipeline, one.what) == (pipeline, what)), None)

    def add(self, chore: Chore) -> None:
        """Have a chore wait for a gap."""
        self._chores.append(chore)

    def remove(self, chore: Chore) -> None:
        """Take a chore away that is done, or given up."""
        self._chores = [one for one in self._chores if one is not chore]

    def wait(self, chore: Chore, now: Moment, rest_seconds: float = 0.0) -> None:
        """Note that a step has ended and the next one waits.

        Args:
            chore: The chore.
            now: The time.
            rest_seconds: How long it rests first.
        """
        chore.phase, chore.since, chore.not_before = "waiting", now.steady, now.steady + rest_seconds

    @property
    def working(self) -> Chore | None:
        """Return the chore of which a step goes on; None where none does."""
        return next((one for one in self._chores if one.phase == "working"), None)

    def start(self, agenda: Agenda, now: Moment) -> Chore | None:
        """Return the chore of which a step begins now, and note that it does; None where there is no gap.

        Args:
            agenda: What the pipelines do.
            now: The time.
        """
        if self.working is not None:
            return None
        for chore in sorted(self._chores, key=lambda one: one.since):
            is_patient = now.steady - max(chore.since, chore.not_before) < PATIENCE_SECONDS
            if chore.stopping or chore.not_before > now.steady:
                continue
            if agenda.has_gap(chore.pipeline, chore.apart, now, is_patient):
                chore.phase, chore.granted = "working", True
                chore.step += 1
                return chore
        return None
