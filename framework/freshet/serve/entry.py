"""One pipeline on the agenda: what it does, since when it is due, and what has become of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from freshet.serve.moment import Moment
from freshet.serve.served import Served, next_time, pause_after

Phase = Literal["resting", "looking", "ready", "running"]
# What another writer holds may be free again soon.
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a look or a run ended.

    Args:
        outcome: ``committed``, ``idle``, ``failed``, ``busy`` (another writer holds the target), ``waiting`` (for the first run
            of another) or ``held`` (its files are not as they were loaded).
        retryable: True where the next attempt may find something else.
        more_waits: True where the source has something left.
    """

    outcome: Literal["committed", "idle", "failed", "busy", "waiting", "held"]
    retryable: bool = False
    more_waits: bool = False


class Entry:
    """A pipeline on the agenda.

    Args:
        served: The pipeline.
        index: Its place in the project: upstream before downstream.
    """

    def __init__(self, served: Served, index: int) -> None:
        self.served, self.index = served, index
        self.phase: Phase = "resting"
        #: Since when it is due, by the steady clock; None where it is not. It keeps its turn until it has ended.
        self.due: float | None = None
        #: Its next time by the schedule, by the wall's clock.
        self.next_wall: float | None = None
        #: Its next time by interval or after a failure, by the steady clock.
        self.next_steady: float | None = None
        #: Until then it rests after a failure, by the steady clock.
        self.not_before = 0.0
        self.failures = 0
        self.paused = self.asked = self.again = False
        self.begun = 0.0

    def take_over(self, served: Served, index: int, now: Moment) -> None:
        """Go by what the files say now.

        Args:
            served: The pipeline.
            index: Its place in the project.
            now: The time.
        """
        before, self.served, self.index = self.served, served, index
        if before.schedule != served.schedule or self.next_wall is None:
            self.next_wall = None
            self.plan_again(now)
        if before.interval != served.interval:
            self.next_steady = None
        if served.interval is not None and self.next_steady is None:
            # At work it finds its next time when it ends.
            self.next_steady = now.steady

    def make_due(self, now: Moment) -> None:
        """Let it be looked at when its turn comes; once more where it is at work."""
        if self.paused:
            return
        if self.phase != "resting":
            self.again = True
        elif self.due is None:
            self.due = now.steady

    def tick(self, now: Moment) -> None:
        """Make it due where its time has come."""
        if self.next_wall is not None and self.next_wall <= now.wall and self.served.schedule is not None:
            # However many times were missed: a run reads all that is new.
            self.next_wall = next_time(self.served.schedule, now.wall)
            self.make_due(now)
        if self.next_steady is not None and self.next_steady <= now.steady and self.phase == "resting":
            self.next_steady = None
            self.make_due(now)

    def plan_again(self, now: Moment) -> None:
        """Find its next time by the schedule anew, as after the clock was set."""
        if self.served.schedule is not None:
            self.next_wall = next_time(self.served.schedule, now.wall)

    def may_start(self, now: Moment) -> bool:
        """Say whether it is due, and no failure holds it back."""
        return self.due is not None and not self.paused and (self.asked or self.not_before <= now.steady)

    def meets(self, others: Iterable[Entry]) -> bool:
        """Say whether it must not run beside one of others."""
        return any(self.served.apart & other.served.apart for other in others)

    def begin(self, phase: Phase, now: Moment) -> None:
        """Note that a look or a run begins."""
        if phase == "looking":
            self.begun, self.asked = now.steady, False
        self.phase = phase

    def end(self, ended: Ended, now: Moment) -> None:
        """Note how a look or a run has ended, and find its next time."""
        again, self.again = self.again, False
        self.phase, self.due = "resting", None
        interval = self.served.interval
        self.next_steady = None if interval is None else max(now.steady, self.begun + interval)
        match ended.outcome:
            case "busy" | "held":
                self.next_steady = now.steady + _BUSY_SECONDS
            case "failed":
                self._failed(ended, now)
            case "waiting":
                self.failures, self.not_before = 0, 0.0
            case "committed" | "idle":
                self.failures, self.not_before = 0, 0.0
                # Behind the others: its turn is as long ago as this.
                again = again or (ended.more_waits and interval is None)
        if again:
            self.make_due(now)

    def _failed(self, ended: Ended, now: Moment) -> None:
        self.failures += 1
        self.not_before = now.steady + pause_after(self.failures, ended.retryable)
        # What is scheduled comes again by itself, and what failed by its data would fail the same way until then.
        if ended.retryable or self.served.kind in ("continuous", "follows"):
            self.next_steady = self.not_before

    def shown(self, now: Moment) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        times = [at for at in (self.next_wall, self._wall(self.next_steady, now)) if at is not None]
        return {
            "kind": self.served.kind,
            "phase": "paused" if self.paused and self.phase == "resting" else self._waiting(now),
            "waiting_seconds": 0 if self.due is None or self.phase == "running" else round(now.steady - self.due, 3),
            "next": min(times, default=None) if not self.paused else None,
            "failures": self.failures,
            "paused": self.paused,
        }

    def _waiting(self, now: Moment) -> str:
        if self.phase == "resting" and self.not_before > now.steady and not self.asked:
            return "backoff"
        return "due" if self.phase == "resting" and self.due is not None else self.phase

    def _wall(self, steady: float | None, now: Moment) -> float | None:
        return None if steady is None else now.wall + steady - now.steady
