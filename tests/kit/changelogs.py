"""The merge by reference key in plain Python: what every history means, and how a table gets there batch by batch.

``meaning`` looks at all events of a row at once and knows no order of arrival. ``merge`` sees one batch and the table as it
stands, of which it has no more than the table stores. Both must say the same of every history, and Spark the same as both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Values = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event of one row.

    Args:
        key: The row's key.
        ref_key: Its reference key.
        timestamp: When it was created.
        is_deleted: Whether it deletes the row.
        force_update: Whether it is forced.
        values: The columns of each group that it changes.
        references: Reference keys of groups that have one of their own.
    """

    key: int
    ref_key: str
    timestamp: int
    is_deleted: bool = False
    force_update: bool = False
    values: Mapping[str, Values] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)


class Change(NamedTuple):
    """What an event does to one group."""

    ref_key: str
    timestamp: int
    is_deleted: bool
    values: Values


class Register(NamedTuple):
    """A group as the table stores it: how new its ordinary change is, its forced change, and what is shown."""

    ordinary: tuple[str, int, bool] | None
    forced: Change | None
    shown: Values
    is_deleted: bool


Row = Mapping[str, Register]


def meaning(sizes: Mapping[str, int], equal: str, events: Iterable[Event]) -> dict[int, Row]:
    """Return the table that a history means, whatever its order.

    Args:
        sizes: How many columns each group has.
        equal: As ``Layout.equal``.
        events: The history.
    """
    found: dict[int, dict[str, tuple[list[Change], list[Change]]]] = {}
    for event in events:
        row = found.setdefault(event.key, {group: ([], []) for group in sizes})
        for group, change in changes(sizes, event).items():
            row[group][event.force_update].append(change)
    return {
        key: {
            group: _register(
                sizes[group],
                max(ordinary, key=lambda one: order_of(equal, one), default=None),
                max(forced, key=lambda one: _forced_order(equal, one), default=None),
            )
            for group, (ordinary, forced) in row.items()
        }
        for key, row in found.items()
    }


def merge(sizes: Mapping[str, int], equal: str, stands: Mapping[int, Row], events: Iterable[Event]) -> dict[int, Row]:
    """Return a table after one more batch.

    Args:
        sizes: How many columns each group has.
        equal: As ``Layout.equal``.
        stands: The table as it stands.
        events: The batch.
    """
    table = dict(stands)
    for event in events:
        row = dict(table.get(event.key, {group: Register(None, None, (None,) * size, True) for group, size in sizes.items()}))
        for group, change in changes(sizes, event).items():
            kept = row[group]
            # Of the ordinary change the table has no values but those that it shows.
            ordinary = Change(*kept.ordinary, kept.shown) if kept.ordinary else None
            forced = kept.forced
            if event.force_update:
                forced = change if forced is None else max(forced, change, key=lambda one: _forced_order(equal, one))
            else:
                ordinary = change if ordinary is None else max(ordinary, change, key=lambda one: order_of(equal, one))
            row[group] = _register(sizes[group], ordinary, forced)
        table[event.key] = row
    return table


def changes(sizes: Mapping[str, int], event: Event) -> dict[str, Change]:
    """Return what an event does to each group."""
    if event.is_deleted:
        nothing = {group: (None,) * size for group, size in sizes.items()}
        return {
            group: Change(event.references.get(group, event.ref_key), event.timestamp, True, values)
            for group, values in nothing.items()
        }
    return {
        group: Change(event.references.get(group, event.ref_key), event.timestamp, False, values)
        for group, values in event.values.items()
    }


def _register(size: int, ordinary: Change | None, forced: Change | None) -> Register:
    shown = ordinary
    if forced is not None and (ordinary is None or forced.timestamp >= ordinary.timestamp):
        shown = forced
    return Register(
        ordinary[:3] if ordinary else None,
        forced,
        shown.values if shown else (None,) * size,
        shown.is_deleted if shown else True,
    )


def order_of(equal: str, change: Change) -> tuple[Any, ...]:
    """Return by what two ordinary changes of a group compare."""
    return change.ref_key, change.is_deleted is (equal == "deleted"), change.timestamp, _content(change)


def _forced_order(equal: str, change: Change) -> tuple[Any, ...]:
    return change.timestamp, change.ref_key, change.is_deleted is (equal == "deleted"), _content(change)


def _content(change: Change) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is not None, value if value is not None else 0) for value in change.values)
