"""What became of the events of one batch, as numbers that add up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet.changelog.adapter import SKIPPED


@dataclass(frozen=True, kw_only=True)
class Read:
    """Events as they were read.

    Args:
        events: How many there are, all of them.
        reasons: How many have each reason to go aside, ``SKIPPED`` among them.
        first: Where the first one of each reason stands, in words.
    """

    events: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)

    @property
    def skipped(self) -> int:
        """Return how many are meant to hold no change."""
        return self.reasons.get(SKIPPED, 0)

    @property
    def aside(self) -> dict[str, int]:
        """Return how many go aside, by their reason."""
        return {reason: count for reason, count in sorted(self.reasons.items()) if reason != SKIPPED}


@dataclass(frozen=True)
class Merged:
    """Events as they were merged.

    Args:
        events: How many there are.
        published: How many are the newest change of a column group; the others are older, or came before.
        rows: Rows of the table that they change.
    """

    events: int
    published: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What became of a batch's events: ``read = published + older + aside + skipped``.

    Args:
        read, merged: See there.
        aside: Events that went to the quarantine.
    """

    read: Read
    merged: Merged
    aside: int

    @property
    def lost(self) -> int:
        """Return how many events are in none of the places in which they have to be; 0, or something is wrong with freshet."""
        return self.read.events - self.read.skipped - self.aside - self.merged.events

    def metadata(self) -> str:
        """Return the text that the commit keeps."""
        told = {
            "in": self.read.events,
            "published": self.merged.published,
            "older": self.merged.events - self.merged.published,
            "aside": self.aside,
            "skipped": self.read.skipped,
            "rows": self.merged.rows,
            "reasons": self.read.aside,
        }
        return json.dumps(told, sort_keys=True)
