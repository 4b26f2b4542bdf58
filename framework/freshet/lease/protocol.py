"""What a writer may expect of a lease, wherever it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from freshet.errors import RetryableError
from freshet.events.event import Listener
from freshet.project.model.pipeline import TableRef


class HeldLease(Protocol):
    """A lease that is held."""

    @property
    def writer_file(self) -> Path:
        """Return the lock file for the JVM that writes, on this machine."""
        ...

    @property
    def left(self) -> Mapping[str, Any]:
        """Return what the last holder on this machine wrote of itself, where it was killed or failed; else nothing."""
        ...

    @property
    def epoch(self) -> int:
        """Return how often the lease has been given to somebody; 0 where nobody counts."""
        ...

    def noting(self, listen: Listener) -> Listener:
        """Return a listener that writes each phase into the lease, too, for whoever looks."""
        ...

    def renew(self) -> None:
        """Hold it for longer, and make sure that nobody else has it. Raises LEASE_LOST."""
        ...

    def lost(self) -> RetryableError | None:
        """Return the error of a lease that somebody else has, or may have; None while it is held."""
        ...

    def ending(self, end: Callable[[], None]) -> AbstractContextManager[None]:
        """Call ``end``, from another thread, where the lease is lost while the block is at work."""
        ...


class Leases(Protocol):
    """Where leases are kept."""

    def hold(
        self,
        target: TableRef,
        run_id: str,
        wait_seconds: float,
        on_wait: Callable[[str], None],
        chunk: bool = False,
        what: str = "run",
        pipeline: str = "",
    ) -> AbstractContextManager[HeldLease]:
        """Hold a target's lease: see ``lease.local.hold_lease``. Raises ALREADY_RUNNING."""
        ...

    def holder(self, target: TableRef) -> Mapping[str, Any] | None:
        """Return what the holder of a target's lease has written of itself; None where nobody holds it."""
        ...

    def is_held(self, target: TableRef) -> bool:
        """Say whether somebody holds a target's lease now."""
        ...
