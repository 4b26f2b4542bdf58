"""One thing at a time that is done beside the loop, now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Aside(Generic[Made]):
    """Does something in a thread of its own, and has what it made until somebody takes it.

    Args:
        every_seconds: So long at least from the begin of one time to the next.
    """

    def __init__(self, every_seconds: float) -> None:
        self._every = every_seconds
        self._begun: float | None = None
        self._made: list[Made] = []
        self._thread: threading.Thread | None = None

    def take(self) -> Made | None:
        """Return what was made since the last call; None where nothing was."""
        return self._made.pop() if self._made else None

    @property
    def is_at_work(self) -> bool:
        """Say whether it is being done."""
        return self._thread is not None and self._thread.is_alive()

    def is_due(self, steady: float) -> bool:
        """Say whether it may be done again.

        Args:
            steady: The time, by the steady clock.
        """
        return not self.is_at_work and not self._made and (self._begun is None or steady - self._begun >= self._every)

    def do(self, make: Callable[[], Made], steady: float) -> None:
        """Do it.

        Args:
            make: Makes something; what it raises is lost.
            steady: The time, by the steady clock.
        """
        self._begun = steady
        self._thread = threading.Thread(target=lambda: self._made.append(make()), name="aside", daemon=True)
        self._thread.start()
