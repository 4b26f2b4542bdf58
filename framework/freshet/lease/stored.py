"""Leases that hold across machines: a small object beside the table, taken and renewed by conditional writes.

This machine's own lock comes first, as for every table: it tells the runs of one machine apart without a request, waits for a
JVM whose Python was killed, and says who was killed. The object then keeps the other machines away. Whether it has ended is
told by the store's clock alone, so that it does not matter what time a machine believes it to be.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freshet.errors import RetryableError, StateError
from freshet.events.event import Event, Listener
from freshet.lease.held import Lease, told_by
from freshet.lease.keeping import TTL_SECONDS, Keeping, steady
from freshet.lease.local import CHUNK, CHUNK_SECONDS, already_running, hold_lease, holder_of, is_free
from freshet.lease.record import LeaseRecord, place_of, record_of
from freshet.project.model.pipeline import TableRef
from freshet.secrets import redact_tree
from freshet.storage.conditional import ConditionalStore, Stored
from freshet.storage.failures import told

# Object stores tell when an object was written in whole seconds.
_SLACK_SECONDS = 2.0
_POLL_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class StoredLease:
    """A lease that is held across machines.

    Args:
        own: The lease of this machine, which is held with it.
        keeping: The one that all machines see.
    """

    own: Lease
    keeping: Keeping

    @property
    def writer_file(self) -> Path:
        """Return the lock file for the JVM that writes, on this machine."""
        return self.own.writer_file

    @property
    def left(self) -> Mapping[str, Any]:
        """Return what the last holder on this machine left."""
        return self.own.left

    @property
    def epoch(self) -> int:
        """Return how often the lease has been given to somebody."""
        return self.keeping.record.epoch

    def noting(self, listen: Listener) -> Listener:
        """Return a listener that writes each phase, and what the run reads, into the lease, too.

        Other machines see it with the next renewal.
        """
        inner = self.own.noting(listen)

        def heard(event: Event) -> None:
            self.keeping.said.update(redact_tree(told_by(event)))
            inner(event)

        return heard

    def renew(self) -> None:
        """Hold it for longer, and make sure that nobody else has it. Raises LEASE_LOST."""
        self.keeping.renew()

    def lost(self) -> RetryableError | None:
        """Return the error of a lease that is lost; None while it is held."""
        return self.keeping.lost()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call ``end`` where the lease is lost while the block is at work."""
        with self.keeping.ending(end):
            yield


class StoredLeases:
    """Leases of one store.

    Args:
        store: The store.
        ttl_seconds: How long a lease holds after it was written.
        clock: See ``keeping.steady``.
    """

    def __init__(
        self,
        store: ConditionalStore,
        ttl_seconds: float = TTL_SECONDS,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.store, self.ttl_seconds, self.clock = store, ttl_seconds, clock

    @contextmanager
    def hold(
        self,
        target: TableRef,
        run_id: str,
        wait_seconds: float,
        on_wait: Callable[[str], None],
        chunk: bool = False,
        what: str = "run",
        pipeline: str = "",
    ) -> Iterator[StoredLease]:
        """Hold a target's lease on this machine, then across machines.

        Raises:
            RetryableError: ALREADY_RUNNING, or what the store answers.
            StateError: NOT_WRITABLE, STORAGE_FULL, LEASE_UNREADABLE, LEASE_UNSAFE.
        """
        deadline = self.clock() + wait_seconds
        with hold_lease(target, run_id, wait_seconds, on_wait, chunk, what, pipeline) as own:
            holder = {
                "run_id": run_id,
                "what": CHUNK if chunk else what,
                "pipeline": pipeline,
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "begun": time.time(),
            }
            keeping = self.take(target, holder, deadline, on_wait, wait_seconds, str(own.left.get("run_id", "")))
            try:
                with keeping.renewing():
                    yield StoredLease(own=own, keeping=keeping)
            finally:
                # A JVM that goes on without its Python may still write: others wait until the lease has ended.
                if is_free(own.writer_file):
                    with suppress(Exception):
                        keeping.give_back()

    def take(
        self,
        target: TableRef,
        holder: Mapping[str, Any],
        deadline: float,
        on_wait: Callable[[str], None] = lambda words: None,
        wait_seconds: float = 0.0,
        killed: str = "",
    ) -> Keeping:
        """Take the lease that all machines see.

        Args:
            target: The table.
            holder: What is written of the one who takes it.
            deadline: Until when to wait for another holder, by the clock of these leases.
            on_wait: Told once, in words, when there is something to wait for.
            wait_seconds: The wait that was asked for, for the words of the error.
            killed: The last holder on this machine, which is known to be gone.

        Raises:
            RetryableError: ALREADY_RUNNING, or what the store answers.
            StateError: LEASE_UNREADABLE, LEASE_UNSAFE.
        """
        path, announced, begun = place_of(target), False, self.clock()
        while True:
            asked = self.clock()
            record, tag, other = told(target, self._try)(target, path, holder, killed)
            if tag is not None:
                return Keeping(self.store, path, target, record, tag, asked, self.clock)
            until = max(deadline, begun + CHUNK_SECONDS) if other.holder.get("what") == CHUNK else deadline
            if self.clock() >= until:
                raise already_running(target, other.in_words(), wait_seconds)
            if not announced:
                on_wait(already_running(target, other.in_words(), wait_seconds).message)
                announced = True
            time.sleep(min(_POLL_SECONDS, self.ttl_seconds / 10))

    def holder(self, target: TableRef) -> Mapping[str, Any] | None:
        """Return what the holder of a target's lease has written of itself; None where nobody holds it."""
        return holder_of(target) or told(target, self._holder)(target)

    def is_held(self, target: TableRef) -> bool:
        """Say whether somebody holds a target's lease now, here or on another machine."""
        return self.holder(target) is not None

    def _holder(self, target: TableRef) -> Mapping[str, Any] | None:
        path = place_of(target)
        found = self.store.read(path)
        record = record_of(target, path, found) if found is not None else None
        # For people and for politeness alone, so by this machine's clock: that of the store is told by what is written, and who
        # only looks writes nothing.
        if found is None or record is None or not record.run_id or self._ended(time.time(), found, record):
            return None
        return record.holder

    def _ended(self, now: float, found: Stored, record: LeaseRecord) -> bool:
        return now - found.modified > record.ttl_seconds + _SLACK_SECONDS

    def _try(
        self, target: TableRef, path: str, holder: Mapping[str, Any], killed: str
    ) -> tuple[LeaseRecord, str | None, LeaseRecord]:
        """Return the record that was tried, its tag where it was written, and who holds the lease where it was not."""
        found = self.store.read(path)
        if found is None:
            self.store.create(path, self._unproven.as_bytes())
            found = self.store.read(path) or Stored(b"", "", 0.0)
        other = record_of(target, path, found)
        mine = LeaseRecord(epoch=other.epoch + 1, ttl_seconds=self.ttl_seconds, holder=holder)
        if other.run_id not in ("", killed) and not self._ended(self.store.now(path), found, other):
            return mine, None, other
        tag = self._proven(target, path, found.tag, other) if other.epoch == 0 else found.tag
        # Whoever renews or takes it at this moment writes another version: one of the two succeeds.
        return mine, self.store.swap(path, mine.as_bytes(), tag) if tag is not None else None, other

    @property
    def _unproven(self) -> LeaseRecord:
        return LeaseRecord(epoch=0, ttl_seconds=self.ttl_seconds, holder={})

    def _proven(self, target: TableRef, path: str, tag: str, record: LeaseRecord) -> str | None:
        """Return the tag of a new lease in a store that holds to conditions; None where somebody else was faster.

        Asked once in a table's life. Some servers of S3's interface take a condition, and write all the same.
        """
        kept = self.store.create(path, record.as_bytes()) is None
        # Another text than what stands there, which somebody may have proven already: most stores' tags are of the text.
        after = self.store.swap(path, record.renewed({}).as_bytes(), tag) if kept else None
        if after is None and kept:
            return None
        if kept and self.store.swap(path, record.as_bytes(), tag) is None:
            return after
        raise StateError(
            "LEASE_UNSAFE",
            f"{target.name}: the store of {target.path} wrote over an object though it was told not to: no lease holds there.",
            "Nothing was read or written.",
            "Write lease: {across_machines: false}, and let one scheduler start the runs of a pipeline.",
            target=target.path,
        )
