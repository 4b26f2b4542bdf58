"""What became of the events of one batch, as numbers that add up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from freshet.changelog.adapter import SKIPPED

#: What comes in, and where all of it is.
KINDS = ("in", "published", "older", "aside", "skipped")

#: Why something goes aside that could not be read at all.
UNREAD = "unreadable"


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

    def with_unread(self, number: int) -> Read:
        """Return it with what could not be read at all, and goes aside."""
        return replace(self, events=self.events + number, reasons={**self.reasons, UNREAD: number})

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

    @property
    def kinds(self) -> dict[str, int]:
        """Return how many came in, and how many of them are where."""
        older = self.merged.events - self.merged.published
        counts = (self.read.events, self.merged.published, older, self.aside, self.read.skipped)
        return dict(zip(KINDS, counts, strict=True))

    def metadata(self) -> str:
        """Return the text that the commit keeps."""
        return json.dumps({**self.kinds, "rows": self.merged.rows, "reasons": self.read.aside}, sort_keys=True)

    def in_words(self) -> str:
        """Return the numbers, but for those that are none."""
        told = [f"{count:,} {kind}" for kind, count in self.kinds.items() if count and kind != "in"]
        came = f"{self.read.events:,} event{'s' * (self.read.events != 1)}"
        changed = f"{self.merged.rows:,} row{' changes' if self.merged.rows == 1 else 's change'}"
        return f"{came}: {', '.join(told)}; {changed}" if told else f"{came}; {changed}"


def kinds_in(text: str | None) -> dict[str, int]:
    """Return how many events a commit's metadata names of each kind; nothing where it names none that can be read.

    Args:
        text: What the commit keeps, see ``Counts.metadata``; None where it keeps nothing.
    """
    try:
        found = json.loads(text or "{}")
        return {kind: int(found[kind]) for kind in KINDS if kind in found}
    except (ValueError, TypeError, RecursionError):
        return {}
