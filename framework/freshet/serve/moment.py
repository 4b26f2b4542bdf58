"""What time it is: by the clock on the wall, which can be set, and by one that only goes forward."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """One moment by two clocks.

    Args:
        wall: Seconds since 1970. Schedules go by it.
        steady: Seconds since some time. Intervals, pauses and turns go by it.
    """

    wall: float
    steady: float

    def jumped_since(self, before: Moment) -> float:
        """Return by how many seconds the clock on the wall was set since an earlier moment; negative where it was put back."""
        return (self.wall - before.wall) - (self.steady - before.steady)


def now() -> Moment:
    """Return this moment."""
    return Moment(time.time(), time.monotonic())
