"""The history of rows as Spark SQL: the versions that events make, and the interval in which each was valid.

A version is what one change made of a row: the key, the change's reference key, and of a forced change its time, too. Of two
changes of one version the greater one is kept, as everywhere. Everything else follows from the versions alone, whatever the
order in which they came: an ordinary version begins when it was created, and not before one that it follows by reference key;
a forced one begins when it was created; each ends where the next one begins. docs/concepts/changelog.md has the reasons.
"""

from __future__ import annotations

from freshet.changelog.layout import CURRENT, DELETED, ORDER, STATE, VALID_FROM, VALID_TO, VERSION, Layout
from freshet.changelog.merge_sql import CHANGED, EVENTS, IS_FORCED, PUBLISHED, change_parts, order_of
from freshet.changelog.sql import name, struct
from freshet.types.columns import Column

_CHANGE, _ORDER_OF, _STANDS = "__freshet_change", "__freshet_order", "__freshet_stands"
_OURS, _THEIRS, _SINCE, _NEXT = "__freshet_ours", "__freshet_theirs", "__freshet_since", "__freshet_next"
_PLAIN = "^[0-9A-Za-z.]+$"
_NOTHING = "CAST(NULL AS STRUCT<valid_from: TIMESTAMP, valid_to: TIMESTAMP, is_current: BOOLEAN, merges: BIGINT>)"


def made(layout: Layout) -> dict[str, str]:
    """Return over events the version that each makes.

    Args:
        layout: The table.

    Returns:
        Expressions by the name of the column that they make, beside the key; the columns of ``stood``.
    """
    group, columns = _group(layout)
    parts = change_parts(group, columns)
    # A key that the producer wrote may hold what Hudi parts the columns of a record key by.
    key = parts["ref_key"]
    version = f"CASE WHEN {key} RLIKE '{_PLAIN}' THEN {key} ELSE concat('x', hex({key})) END"
    return {
        VERSION: f"CASE WHEN {IS_FORCED} THEN concat({version}, '-', {parts['timestamp']}) ELSE {version} END",
        _CHANGE: _change(columns, {**parts, "is_forced": IS_FORCED}),
        _STANDS: _NOTHING,
    }


def stood(layout: Layout) -> dict[str, str]:
    """Return over the table as it stands the version that each row is; as ``made``."""
    _, columns = _group(layout)
    parts = {part: f"{STATE}.{part}" for part in ("ref_key", "timestamp", "is_forced")} | {"is_deleted": DELETED}
    return {
        VERSION: VERSION,
        _CHANGE: _change(columns, {**parts, **{f"values.{c.name}": name(c.name) for c in columns}}),
        _STANDS: f"named_struct('valid_from', {VALID_FROM}, 'valid_to', {VALID_TO}, 'is_current', {name(CURRENT)}, "
        f"'merges', {ORDER})",
    }


def ordered(layout: Layout) -> dict[str, str]:
    """Return over versions, those that stand and those of a batch, how each compares with others of its name."""
    _, columns = _group(layout)
    parts = {part: f"{_CHANGE}.{part}" for part in ("ref_key", "timestamp", "is_deleted")}
    parts |= {f"values.{c.name}": f"{_CHANGE}.values.{name(c.name)}" for c in columns}
    return {_ORDER_OF: order_of(layout.equal, columns, parts, False)}


def one_of_each() -> dict[str, str]:
    """Return the aggregates that leave one change of each version, to be grouped by the key and the version.

    Of each they count the events, and say which of the two sides has it.
    """
    return {
        _CHANGE: f"max_by({_CHANGE}, {_ORDER_OF})",
        _STANDS: f"max({_STANDS})",
        _OURS: f"max(CASE WHEN {_STANDS} IS NULL THEN {_ORDER_OF} END)",
        _THEIRS: f"max(CASE WHEN {_STANDS} IS NOT NULL THEN {_ORDER_OF} END)",
        EVENTS: f"count_if({_STANDS} IS NULL)",
    }


def begun(layout: Layout) -> dict[str, str]:
    """Return over one change of each version when it began, in milliseconds, and whether it came with the batch."""
    key = ", ".join(map(name, layout.key))
    over = f"PARTITION BY {key}, {_CHANGE}.is_forced ORDER BY {_CHANGE}.ref_key ROWS UNBOUNDED PRECEDING"
    since = f"CASE WHEN {_CHANGE}.is_forced THEN {_CHANGE}.timestamp ELSE max({_CHANGE}.timestamp) OVER ({over}) END"
    is_newer = f"{_OURS} IS NOT NULL AND ({_THEIRS} IS NULL OR {_OURS} > {_THEIRS})"
    return {_SINCE: since, PUBLISHED: f"CASE WHEN {is_newer} THEN 1 ELSE 0 END"}


def ended(layout: Layout) -> dict[str, str]:
    """Return over versions with their beginnings when the next one of the row began."""
    key = ", ".join(map(name, layout.key))
    return {
        _NEXT: f"lead({_SINCE}) OVER (PARTITION BY {key} ORDER BY {_SINCE}, {_CHANGE}.is_forced, {_CHANGE}.ref_key)",
    }


def rows(layout: Layout) -> dict[str, str]:
    """Return the table's columns over versions with both ends, its own first; then the numbers, and what is to be written.

    Where a row was deleted stands a mark, of an interval without length, by which no reader finds it: a late change is held
    against it.
    """
    since, until = f"timestamp_millis({_SINCE})", f"timestamp_millis({_NEXT})"
    is_deleted = f"{_CHANGE}.is_deleted"
    told = {
        VALID_FROM: since,
        VALID_TO: f"CASE WHEN {is_deleted} THEN {since} ELSE {until} END",
        CURRENT: f"NOT {is_deleted} AND {_NEXT} IS NULL",
    }
    stands = {VALID_FROM: "valid_from", VALID_TO: "valid_to", CURRENT: "is_current"}
    same = " AND ".join(f"{_STANDS}.{stands[column]} <=> ({value})" for column, value in told.items())
    own = {c.name: name(c.name) if c.name in layout.key else f"{_CHANGE}.values.{name(c.name)}" for c in layout.columns}
    return {
        **own,
        **told,
        VERSION: VERSION,
        STATE: struct((part, f"{_CHANGE}.{part}") for part in ("ref_key", "timestamp", "is_forced")),
        DELETED: is_deleted,
        ORDER: f"coalesce({_STANDS}.merges, 0) + 1",
        EVENTS: EVENTS,
        PUBLISHED: PUBLISHED,
        CHANGED: f"{PUBLISHED} > 0 OR NOT ({same})",
    }


def _group(layout: Layout) -> tuple[str, tuple[Column, ...]]:
    ((group, columns),) = layout.all_groups.items()
    return group, columns


def _change(columns: tuple[Column, ...], parts: dict[str, str]) -> str:
    values = struct((c.name, parts[f"values.{c.name}"]) for c in columns)
    told = [(part, parts[part]) for part in ("ref_key", "timestamp", "is_deleted", "is_forced")]
    return struct([*told, ("values", values)])
