"""A made clock, and an agenda that goes by it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timezone

from freshet.project.model.cron import Schedule
from freshet.serve.agenda import Agenda
from freshet.serve.entry import Ended
from freshet.serve.moment import Moment
from freshet.serve.served import Served

IDLE, COMMITTED = Ended(outcome="idle"), Ended(outcome="committed")
FAILED, LOST = Ended(outcome="failed"), Ended(outcome="failed", retryable=True)


def scheduled(name: str, text: str = "*/10 * * * *", *upstream: str, zone: str = "UTC") -> Served:
    return Served(name=name, schedule=Schedule(text, zone), upstream=upstream, apart=frozenset({name}))


def continuous(name: str, seconds: float = 30, *upstream: str) -> Served:
    return Served(name=name, interval=seconds, upstream=upstream, apart=frozenset({name}))


def follows(name: str, *upstream: str) -> Served:
    return Served(name=name, upstream=upstream, apart=frozenset({name}))


def on_call(name: str) -> Served:
    return Served(name=name, apart=frozenset({name}))


class Made:
    """An agenda with a clock of its own; it is 10:00 UTC on a Saturday.

    Args:
        served: The pipelines.
        parallel: How many may run at a time.
        due: Those that are due at once.
    """

    def __init__(self, *served: Served, parallel: int = 2, due: Collection[str] = ()) -> None:
        self.wall, self.steady = datetime(2026, 8, 1, 10, tzinfo=timezone.utc).timestamp(), 1000.0
        self.agenda = Agenda(parallel, self.now)
        self.agenda.load(served, due, (), self.now)

    @property
    def now(self) -> Moment:
        return Moment(self.wall, self.steady)

    def passes(self, seconds: float) -> None:
        self.wall, self.steady = self.wall + seconds, self.steady + seconds

    def starts(self) -> list[str]:
        """Return what begins now: ``look a``, ``run b``."""
        self.agenda.tick(self.now)
        return [f"{one.what} {one.name}" for one in self.agenda.starts(self.now)]

    def looked(self, name: str, ended: Ended | None = None) -> None:
        self.agenda.looked(name, ended, self.now)

    def ran(self, name: str, ended: Ended = COMMITTED) -> None:
        self.agenda.ran(name, ended, self.now)

    def phase(self, name: str) -> str:
        return str(self.agenda.shown(self.now)[name]["phase"])

    def through(self, name: str, ended: Ended = COMMITTED) -> None:
        """Look at a pipeline that is due, and run it."""
        assert f"look {name}" in self.starts()
        self.looked(name)
        assert f"run {name}" in self.starts()
        self.ran(name, ended)

    def next_start(self, most: float = 100_000.0) -> tuple[float, list[str]]:
        """Wait as the loop does until something begins; returns after how many seconds, and what."""
        waited = 0.0
        while waited < most:
            begun = self.starts()
            if begun:
                return waited, begun
            step = max(self.agenda.wait(self.now), 0.001)
            self.passes(step)
            waited += step
        return waited, []
