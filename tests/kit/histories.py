"""The history of rows in plain Python: what a set of events means, and how a table gets there batch by batch.

``meaning`` looks at all events at once. ``merge`` sees one batch and the table as it stands, of which it has no more than the
table stores. ``as_of`` says of one moment what the source's row was then, and knows of no intervals. All three must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.kit.changelogs import Change, Event, changes, order_of

GROUP = "row"


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of a row, as the table stores it.

    Args:
        change: What made it.
        is_forced: Whether that was a forced change.
        since, until: When it was valid; None while no other one follows.
    """

    change: Change
    is_forced: bool
    since: int = 0
    until: int | None = None

    @property
    def name(self) -> tuple[Any, ...]:
        """What tells it from other versions of its row."""
        return (self.change.ref_key, self.change.timestamp if self.is_forced else None)

    @property
    def is_current(self) -> bool:
        """Whether the source has it now."""
        return self.until is None


History = tuple[Version, ...]


def meaning(size: int, equal: str, events: Iterable[Event]) -> dict[int, History]:
    """Return the table that a set of events means.

    Args:
        size: How many columns a row has beside its key.
        equal: As ``Layout.equal``.
        events: The events, in whatever order.
    """
    return merge(size, equal, {}, events)


def merge(size: int, equal: str, stands: Mapping[int, History], events: Iterable[Event]) -> dict[int, History]:
    """Return a table after one more batch; the arguments are those of ``meaning``, and the table as it stands."""
    found: dict[int, dict[tuple[Any, ...], Version]] = {
        key: {one.name: one for one in history} for key, history in stands.items()
    }
    for event in events:
        change = changes({GROUP: size}, event)[GROUP]
        one = Version(change=change, is_forced=event.force_update)
        there = found.setdefault(event.key, {}).setdefault(one.name, one)
        if order_of(equal, change) > order_of(equal, there.change):
            found[event.key][one.name] = one
    return {key: _placed(versions.values()) for key, versions in found.items()}


def as_of(size: int, equal: str, events: Iterable[Event], moment: int) -> dict[int, tuple[Any, ...]]:
    """Return the rows that the source had at a moment, by their keys."""
    rows = {}
    for key, history in meaning(size, equal, events).items():
        ordinary = [one for one in history if not one.is_forced]
        newest: tuple[Any, ...] = ()
        for one in history:
            if one.is_forced:
                begun = one.change.timestamp
            else:
                begun = max(other.change.timestamp for other in ordinary if other.change.ref_key <= one.change.ref_key)
            if begun <= moment:
                newest = max(newest, (begun, one.is_forced, one.change.ref_key, one.change.is_deleted, one.change.values))
        if newest and not newest[3]:
            rows[key] = newest[4]
    return rows


def _placed(versions: Iterable[Version]) -> History:
    latest, begun = None, []
    for one in sorted(versions, key=lambda version: version.change.ref_key):
        if one.is_forced:
            begun.append(replace(one, since=one.change.timestamp))
        else:
            latest = one.change.timestamp if latest is None else max(latest, one.change.timestamp)
            begun.append(replace(one, since=latest))
    inorder = sorted(begun, key=lambda version: (version.since, version.is_forced, version.change.ref_key))
    ends = [*(one.since for one in inorder[1:]), None]
    return tuple(
        replace(one, until=one.since if one.change.is_deleted else end) for one, end in zip(inorder, ends, strict=False)
    )
