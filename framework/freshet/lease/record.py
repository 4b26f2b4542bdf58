"""What stands in a lease that other machines see: its holder, how often it was given away, and for how long it holds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from freshet.errors import StateError
from freshet.lease.text import holder_from, known_values
from freshet.project.model.pipeline import TableRef
from freshet.storage.conditional import Stored
from freshet.storage.files import is_local, local_path


@dataclass(frozen=True, kw_only=True)
class LeaseRecord:
    """What a lease says.

    Args:
        epoch: How often it has been given to somebody.
        ttl_seconds: How long it holds after it was written.
        holder: What its holder has written of itself; empty where it was given back.
        renewals: How often its holder has renewed it.
    """

    epoch: int
    ttl_seconds: float
    holder: Mapping[str, Any]
    renewals: int = 0

    @property
    def run_id(self) -> str:
        """Return whose it is; empty where it is nobody's."""
        return str(self.holder.get("run_id", ""))

    def in_words(self) -> str:
        """Return who holds it."""
        return holder_from(self.holder)

    def renewed(self, said: Mapping[str, Any]) -> LeaseRecord:
        """Return the record of its next renewal, with what its holder has said of itself since."""
        return replace(self, holder={**self.holder, **said}, renewals=self.renewals + 1)

    def as_bytes(self) -> bytes:
        """Return what is written. ``expires`` is for people: by the clock of the holder, which nobody relies on."""
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.ttl_seconds))
        told = {
            "version": 1,
            "epoch": self.epoch,
            "ttl_seconds": self.ttl_seconds,
            "expires": ends if self.holder else "",
            "renewals": self.renewals,
            "holder": dict(self.holder),
        }
        return json.dumps(told, sort_keys=True).encode()


def record_of(target: TableRef, path: str, found: Stored) -> LeaseRecord:
    """Return what a lease says.

    Args:
        target: The table.
        path: Where the lease lies.
        found: What was read there.

    Raises:
        StateError: LEASE_UNREADABLE.
    """
    try:
        told = json.loads(found.data)
        if told["version"] == 1 and isinstance(told["holder"], dict):
            return LeaseRecord(
                epoch=int(told["epoch"]),
                ttl_seconds=float(told["ttl_seconds"]),
                holder=known_values(told["holder"]),
                renewals=int(told["renewals"]),
            )
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        pass
    raise StateError(
        "LEASE_UNREADABLE",
        f"{target.name}: {path} is no lease of this release of freshet: who writes the table is unknown.",
        "Nothing was read or written.",
        f"Where no machine is at work on the table, delete {path}.",
        file=path,
    )


def place_of(target: TableRef) -> str:
    """Return the path of the lease of a table that other machines write, too."""
    base = local_path(target.path) if is_local(target.path) else target.path
    parent, _, name = base.rstrip("/").rpartition("/")
    return f"{parent}/.freshet/{name}.lease.json"
