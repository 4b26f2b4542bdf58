"""A lease of this machine that is held: it ends with the process that holds it, and is never lost before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freshet.errors import RetryableError
from freshet.events.event import Event, Listener
from freshet.events.kinds import Phase, WindowPlanned

#: Of the commits of the main source that are being read, and their rows.
READS_COMMITS, READS_ROWS = "reads_commits", "reads_rows"


def told_by(event: Event) -> dict[str, Any]:
    """Return what a lease says of its holder since an event: in words what it does, and how much it reads; else nothing."""
    match event:
        case Phase():
            return {"doing": event.message}
        case WindowPlanned():
            return {READS_COMMITS: event.commits or 0, READS_ROWS: event.rows or 0}
        case _:
            return {}


@dataclass(frozen=True)
class Lease:
    """A held lease.

    Args:
        writer_file: Lock file for the JVM that writes.
        left: What the last holder wrote of itself, where it was killed or failed; empty where it gave the lease back.
        note: Writes into the lease what its holder does now, for whoever looks: see ``told_by``.
    """

    writer_file: Path
    left: Mapping[str, Any] = field(default_factory=dict)
    note: Callable[[Mapping[str, Any]], None] = lambda told: None

    @property
    def epoch(self) -> int:
        """Return 0: the kernel hands the lease over, and nobody counts."""
        return 0

    def noting(self, listen: Listener) -> Listener:
        """Return a listener that writes each phase, and what the run reads, into the lease, too."""
        known: dict[str, Any] = {}

        def heard(event: Event) -> None:
            told = told_by(event)
            if told:
                known.update(told)
                # Whoever looks at the lease is told less where the disk is full; the run goes on.
                with suppress(OSError):
                    self.note(known)
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
