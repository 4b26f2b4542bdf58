"""The merge by reference key as Spark SQL: which change of each column group wins, and the rows that come of it.

Each column group of a row is a register. It holds the newest ordinary change, by reference key, and the newest forced change,
by the time of its creation. The later of the two, by that time, is what the table shows; a forced change wins where both are of
one time. A row that is deleted is such a change of every group, without values. Each register takes the greater of two changes
and nothing else, so that the order and the number of arrivals make no difference. docs/concepts/changelog.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshet.changelog.fields import EVENT
from freshet.changelog.layout import DELETED, ORDER, STATE, Equal, Layout, holds_map
from freshet.changelog.sql import any_of, name, struct, text
from freshet.types.columns import Column

#: Aliases of the two frames, and the columns of the first after the fold.
BATCH, STANDS = "b", "s"
_ORDINARY, _FORCED = "__freshet_ordinary_", "__freshet_forced_"
_SHOWN = "__freshet_shown_"
#: Column of the events that tells one from another within its batch; and per key, how many there are and how many count.
EVENT_ID, EVENTS, PUBLISHED = "__freshet_event_id", "__freshet_events", "__freshet_published"
#: Whether a row differs from what stands, and is to be written.
CHANGED = "__freshet_changed"
_IS_DELETED = f"coalesce({EVENT}.is_deleted, false)"
IS_FORCED = f"coalesce({EVENT}.force_update, false)"


def fold(layout: Layout) -> dict[str, str]:
    """Return the aggregates over a batch's events, to be grouped by the key: of each group its newest changes.

    Args:
        layout: The table.

    Returns:
        Expressions by the name of the column that they make; over the events with ``EVENT_ID``.
    """
    found = {EVENTS: "count(1)"}
    for position, (group, columns) in enumerate(layout.all_groups.items()):
        change = _change(group, columns)
        touched = _is_touched(group)
        for prefix, forced in ((_ORDINARY, False), (_FORCED, True)):
            order = order_of(layout.equal, columns, change_parts(group, columns), forced)
            # Of two events that are alike one wins in every group, so that one counts and the other does not.
            order = struct([("order", order), ("event", EVENT_ID)])
            taken = f"({touched}) AND {'' if forced else 'NOT '}{IS_FORCED}"
            told = struct([("change", change), ("event", EVENT_ID)])
            found[f"{prefix}{position}"] = f"max_by(CASE WHEN {taken} THEN {told} END, CASE WHEN {taken} THEN {order} END)"
    return found


def registers(layout: Layout) -> dict[str, str]:
    """Return the registers after the merge, over the folded batch left-joined with the table as it stands.

    Args:
        layout: The table.

    Returns:
        Expressions by the name of the column that they make; for ``shown``, beside the key. ``PUBLISHED`` counts the batch's
        events that are the newest change of a group.
    """
    found = {EVENTS: f"{BATCH}.{EVENTS}", ORDER: f"coalesce({STANDS}.{name(ORDER)}, 0) + 1"}
    won = []
    for position, (group, columns) in enumerate(layout.all_groups.items()):
        stands = f"{STANDS}.{name(STATE)}.groups.{name(group)}"
        forced = f"{STANDS}.{name(STATE)}.forced.{name(group)}"
        shown = struct((c.name, f"{STANDS}.{name(c.name)}") for c in columns)
        # Where a forced change is shown, the ordinary one's values are not kept: one that is as new as that is taken for it.
        hidden = f"coalesce({forced}.timestamp >= {stands}.timestamp, false)"
        values = f"CASE WHEN {hidden} THEN {BATCH}.{_ORDINARY}{position}.change.values ELSE {shown} END"
        kept = struct(
            [(part, f"{stands}.{part}") for part in ("ref_key", "timestamp", "is_deleted")] + [("values", values)],
        )
        for prefix, theirs, is_forced in ((_ORDINARY, kept, False), (_FORCED, forced, True)):
            column = f"{prefix}{position}"
            ours, present = f"{BATCH}.{column}.change", f"{forced if is_forced else stands}.ref_key"
            newer = _is_newer(layout.equal, columns, ours, theirs, present, forced=is_forced)
            found[column] = f"CASE WHEN {newer} THEN {ours} WHEN {present} IS NOT NULL THEN {theirs} END"
            won.append(f"CASE WHEN {newer} THEN {BATCH}.{column}.event END")
    found[PUBLISHED] = f"size(array_distinct(array_compact(array({', '.join(won)}))))"
    return found


def shown(layout: Layout) -> dict[str, str]:
    """Return over the registers which change of each group the table shows.

    Args:
        layout: The table.

    Returns:
        Expressions by the name of the column that they make; for ``rows``, beside the registers.
    """
    found = {}
    for position in range(len(layout.all_groups)):
        ordinary, forced = f"{_ORDINARY}{position}", f"{_FORCED}{position}"
        wins = f"{ordinary} IS NULL OR {forced}.timestamp >= {ordinary}.timestamp"
        found[f"{_SHOWN}{position}"] = f"CASE WHEN {forced} IS NOT NULL AND ({wins}) THEN {forced} ELSE {ordinary} END"
    return found


def rows(layout: Layout) -> dict[str, str]:
    """Return the table's columns over the registers and what is shown: its own in their order, then the reserved ones.

    Args:
        layout: The table.
    """
    groups = layout.all_groups
    at = {column.name: position for position, columns in enumerate(groups.values()) for column in columns}
    found = {
        c.name: name(c.name) if c.name in layout.key else f"{_SHOWN}{at[c.name]}.values.{name(c.name)}" for c in layout.columns
    }
    state = [
        (group, struct((part, f"{_ORDINARY}{n}.{part}") for part in ("ref_key", "timestamp", "is_deleted")))
        for n, group in enumerate(groups)
    ]
    forced = [(group, f"{_FORCED}{n}") for n, group in enumerate(groups)]
    found[STATE] = struct([("groups", struct(state)), ("forced", struct(forced))])
    alive = any_of(f"NOT coalesce({_SHOWN}{n}.is_deleted, true)" for n in range(len(groups)))
    found[DELETED] = f"NOT ({alive})"
    found[ORDER] = name(ORDER)
    return found


def _is_touched(group: str) -> str:
    return f"{_IS_DELETED} OR {EVENT}.changelog_columns IS NULL OR {_entry(group)} IS NOT NULL"


def _entry(group: str) -> str:
    return f"get(filter({EVENT}.changelog_columns, x -> x.name = {text(group)}), 0)"


def change_parts(group: str, columns: Sequence[Column]) -> dict[str, str]:
    """Return what an event says of a group: how new its change is, and as ``values.NAME`` the values, as SQL over the event."""
    own = f"coalesce({_entry(group)}.ref_key, {EVENT}.ref_key)"
    return {
        "ref_key": own,
        "timestamp": f"{EVENT}.timestamp",
        "is_deleted": _IS_DELETED,
        **{f"values.{c.name}": f"CASE WHEN NOT {_IS_DELETED} THEN {name(c.name)} END" for c in columns},
    }


def _change(group: str, columns: Sequence[Column]) -> str:
    parts = change_parts(group, columns)
    values = struct((c.name, parts[f"values.{c.name}"]) for c in columns)
    return struct([*((part, parts[part]) for part in ("ref_key", "timestamp", "is_deleted")), ("values", values)])


def order_of(equal: Equal, columns: Sequence[Column], parts: Mapping[str, str], forced: bool) -> str:
    """Return a struct by which two changes of a group compare, as SQL.

    Args:
        equal: As ``Layout.equal``.
        columns: The group's.
        parts: What the change is, as ``change_parts`` names it.
        forced: Whether it is forced.
    """
    wins = {"deleted": "1 ELSE 0", "row": "0 ELSE 1"}[equal]
    rank = ("rank", f"CASE WHEN {parts['is_deleted']} THEN {wins} END")
    reference, time = ("ref_key", parts["ref_key"]), ("timestamp", parts["timestamp"])
    first = [time, reference, rank] if forced else [reference, rank, time]
    content = [(f"v{n}", _comparable(parts[f"values.{c.name}"], c)) for n, c in enumerate(columns)]
    return struct([*first, *content])


def _comparable(value: str, column: Column) -> str:
    return f"to_json(struct({value}))" if holds_map(column.type) else value


def _is_newer(equal: Equal, columns: Sequence[Column], ours: str, theirs: str, present: str, *, forced: bool) -> str:
    def order(change: str) -> str:
        parts = {part: f"{change}.{part}" for part in ("ref_key", "timestamp", "is_deleted")}
        parts |= {f"values.{c.name}": f"{change}.values.{name(c.name)}" for c in columns}
        return order_of(equal, columns, parts, forced)

    return f"({ours} IS NOT NULL AND ({present} IS NULL OR {order(ours)} > {order(f'({theirs})')}))"
