"""A lease of this machine that is held: it ends with the process that holds it, and is never lost before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freshet.errors import RetryableError
from freshet.events.event import Event, Listener
from freshet.events.kinds import Phase


@dataclass(frozen=True)
class Lease:
    """A held lease.

    Args:
        writer_file: Lock file for the JVM that writes.
        left: What the last holder wrote of itself, where it was killed or failed; empty where it gave the lease back.
        note: Writes into the lease what its holder does now, for whoever looks.
    """

    writer_file: Path
    left: Mapping[str, Any] = field(default_factory=dict)
    note: Callable[[str], None] = lambda words: None

    @property
    def epoch(self) -> int:
        """Return 0: the kernel hands the lease over, and nobody counts."""
        return 0

    def noting(self, listen: Listener) -> Listener:
        """Return a listener that writes each phase into the lease, too."""

        def heard(event: Event) -> None:
            if isinstance(event, Phase):
                # Whoever looks at the lease is told less where the disk is full; the run goes on.
                with suppress(OSError):
                    self.note(event.message)
            listen(event)

        return heard

    def renew(self) -> None:
        """Do nothing: the kernel holds it."""

    def lost(self) -> RetryableError | None:
        """Return None: whoever can ask holds it."""
        return None

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Do nothing: it is not lost."""
        yield
