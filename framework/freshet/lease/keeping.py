"""A lease in a store that other machines see, while one process holds it: renewed, and given up where that does not succeed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any

from freshet.errors import FreshetError, RetryableError
from freshet.lease.record import LeaseRecord, record_of
from freshet.project.model.pipeline import TableRef
from freshet.storage.conditional import ConditionalStore
from freshet.storage.failures import told

#: How long a lease holds after it was written: as long as a JVM may live whose Python was killed, and more than enough for a
#: store that is slow, as it is renewed four times as often.
TTL_SECONDS = 60.0
# Before the end of a lease that could not be renewed its holder must be done: the JVM is killed within that time.
_MARGIN_SECONDS = 5.0


def steady() -> float:
    """Return seconds of a clock that nobody sets, and that goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Keeping:
    """A lease that is held.

    Args:
        store: Where it is kept.
        path: Its place there.
        target: The table.
        record: What it says.
        tag: Of the version that this holder wrote.
        asked: When that was asked for, by ``clock``: from then on it holds.
        clock: See ``steady``.
    """

    def __init__(
        self,
        store: ConditionalStore,
        path: str,
        target: TableRef,
        record: LeaseRecord,
        tag: str,
        asked: float,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.store, self.path, self.target, self.record = store, path, target, record
        self.said: dict[str, Any] = {}
        self._tag, self._asked, self._clock = tag, asked, clock
        self._turn = Lock()
        self._lost: RetryableError | None = None
        self._end: Callable[[], None] = lambda: None

    def renew(self) -> None:
        """Write it anew over what this holder wrote last.

        Raises:
            RetryableError: LEASE_LOST, or what the store answers.
        """
        with self._turn:
            if self._lost is not None:
                raise self._lost
            told(self.target, self._renew)()

    def lost(self) -> RetryableError | None:
        """Return the error of a lease that is lost; None while it is held."""
        return self._lost

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call ``end`` where the lease is lost while the block is at work."""
        self._end = end
        try:
            yield
        finally:
            self._end = lambda: None

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew it from a thread of its own while the block is at work."""
        done = Flag()
        thread = Thread(target=self._keep, args=(done,), name=f"lease of {self.target.name}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()

    def give_back(self) -> None:
        """Let others take it at once; where that fails, they take it when it ends."""
        with self._turn:
            if self._lost is None:
                free = LeaseRecord(epoch=self.record.epoch, ttl_seconds=self.record.ttl_seconds, holder={})
                self.store.swap(self.path, free.as_bytes(), self._tag)

    def _keep(self, done: Flag) -> None:
        pause = self.record.ttl_seconds / 4
        while not done.wait(pause):
            try:
                self.renew()
                pause = self.record.ttl_seconds / 4
            except FreshetError:
                # A store that does not answer may do so again; what it says of another holder is final.
                pause = self.record.ttl_seconds / 12
                if self._lost is None and self._rest() < min(_MARGIN_SECONDS, self.record.ttl_seconds / 6):
                    self._lost = _lost(self.target, "it could not be renewed in time, and another machine may have it")
                if self._lost is not None and not done.is_set():
                    self._end()
                    return

    def _rest(self) -> float:
        return self._asked + self.record.ttl_seconds - self._clock()

    def _renew(self) -> None:
        next_record = self.record.renewed(self.said)
        for _ in range(2):
            asked = self._clock()
            tag = self.store.swap(self.path, next_record.as_bytes(), self._tag)
            if tag is not None:
                self.record, self._tag, self._asked = next_record, tag, asked
                return
            found = self.store.read(self.path)
            other = record_of(self.target, self.path, found) if found is not None else None
            if found is None or other is None or (other.run_id, other.epoch) != (self.record.run_id, self.record.epoch):
                who = other.in_words() if other is not None and other.run_id else "nobody: it was given back or deleted"
                self._lost = _lost(self.target, f"it belongs to {who}")
                raise self._lost
            # An answer was lost on the way, and what it was about has been written.
            self._tag = found.tag
        self._lost = _lost(self.target, "it changes under its holder")
        raise self._lost


def _lost(target: TableRef, why: str) -> RetryableError:
    return RetryableError(
        "LEASE_LOST",
        f"{target.name}: this run does not hold the lease of the table any more: {why}.",
        "The run was ended. A commit holds its checkpoint, so that repeating the command is safe.",
        "Run the same command again.",
        target=target.path,
    )
