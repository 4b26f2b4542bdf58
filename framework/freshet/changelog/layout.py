"""How a table keeps changelogs: what of them, its key, its column groups, and the columns that freshet adds to its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import assert_never

from freshet.changelog.fields import EVENT, event_type
from freshet.types.columns import Array, Atomic, Column, DataType, Map, Struct

#: The group of all columns that no other group names; it is there only where such columns are.
ROW = "row"
#: Reserved columns of the table: how new each group is, whether the row is deleted in its source, and how often it was merged.
STATE, DELETED, ORDER = "_event_state", "_event_deleted", "_event_order"
#: And of a table that keeps each version of a row: when it was valid, and which one it is.
VALID_FROM, VALID_TO, CURRENT, VERSION = "valid_from", "valid_to", "current", "_event_version"
#: And of one that keeps each event: on which day it was created, by UTC, and which one it is.
DAY, ENTRY = "_event_day", "_event_id"
_REGISTER = (("ref_key", Atomic("string")), ("timestamp", Atomic("bigint")), ("is_deleted", Atomic("boolean")))
_ORDER = Column(name=ORDER, type=Atomic("bigint"), comment="How often the row was merged; kept by freshet")
_DELETED = Column(name=DELETED, type=Atomic("boolean"), comment="True where the source has the row no more; kept by freshet")
Equal = Literal["deleted", "row"]
#: What a table keeps: each row as its newest changes make it; each version of a row, and when it was valid; each event.
Keeps = Literal["newest", "history", "events"]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A table into which changelogs are merged.

    Args:
        key: The columns that find a row, partition columns included; they never change.
        columns: The table's columns, key included, without the reserved ones.
        groups: Columns that a partial event changes together, by the name that events give the group.
        equal: Which of two changes with one reference key wins: the one that deletes, or the one that has a row. Between two
            rows the one that was created later wins, and between those the greater one, column by column.
        keeps: What the table keeps.
    """

    key: tuple[str, ...]
    columns: tuple[Column, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    equal: Equal = "deleted"
    keeps: Keeps = "newest"

    def __post_init__(self) -> None:
        """Refuse what cannot be merged.

        Raises:
            ValueError: With all that is wrong.
        """
        wrong = list(_faults(self))
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def all_groups(self) -> dict[str, tuple[Column, ...]]:
        """Every group with its columns, in the order of the table."""
        grouped = {name for members in self.groups.values() for name in members}
        rest = tuple(column.name for column in self.columns if column.name not in (*grouped, *self.key))
        named = {**({ROW: rest} if rest else {}), **self.groups}
        return {group: tuple(c for c in self.columns if c.name in members) for group, members in named.items()}


def reserved_columns(layout: Layout) -> tuple[Column, ...]:
    """Return the columns that the table has beside its own; the last one is Hudi's ordering field.

    Of a table of the newest rows they are the state of each group, the mark of deleted rows, and an order. The state holds of
    each group the reference key and the time of the newest ordinary change, and the newest forced change with its values: a
    later ordinary change may turn out to be older than that. The order is Hudi's: each merge makes a row that follows the one
    that stands, whatever its own columns say.
    """
    match layout.keeps:
        case "newest":
            return (_state(layout), _DELETED, _ORDER)
        case "history":
            return _of_versions()
        case "events":
            told = "Which event it is, by all that it says; kept by freshet"
            return (
                Column(name=EVENT, type=event_type(), comment="The event; kept by freshet"),
                Column(name=DAY, type=Atomic("string"), nullable=False, comment="When it was created, a day of UTC"),
                Column(name=ENTRY, type=Atomic("string"), nullable=False, comment=told),
                Column(name=ORDER, type=Atomic("bigint"), comment="When the event was created, in ms; kept by freshet"),
            )
        case _:
            assert_never(layout.keeps)


def stored_key(layout: Layout) -> tuple[str, ...]:
    """Return the columns by which the table tells its rows apart: Hudi's record key."""
    return (*layout.key, *{"newest": (), "history": (VERSION,), "events": (DAY, ENTRY)}[layout.keeps])


def reserved_names(keeps: Keeps) -> tuple[str, ...]:
    """Return the names that the columns of a table's own cannot have."""
    own = {"newest": (), "history": (VALID_FROM, VALID_TO, CURRENT, VERSION), "events": (DAY, ENTRY)}[keeps]
    return (STATE, DELETED, ORDER, EVENT, "_event_reason", *own)


def _state(layout: Layout) -> Column:
    groups = layout.all_groups
    registers = Struct(tuple((group, Struct(_REGISTER)) for group in groups))
    forced = Struct(tuple((group, register_type(columns)) for group, columns in groups.items()))
    return Column(
        name=STATE,
        type=Struct((("groups", registers), ("forced", forced))),
        comment="How new each column group is; kept by freshet",
    )


def _of_versions() -> tuple[Column, ...]:
    time, truth, text = Atomic("timestamp"), Atomic("boolean"), Atomic("string")
    state = Struct((("ref_key", text), ("timestamp", Atomic("bigint")), ("is_forced", truth)))
    return (
        Column(name=VALID_FROM, type=time, comment="When the version began; kept by freshet"),
        Column(name=VALID_TO, type=time, comment="When the next one began; null while there is none; kept by freshet"),
        Column(name=CURRENT, type=truth, comment="True for the version of a row that its source has now; kept by freshet"),
        Column(name=VERSION, type=text, nullable=False, comment="Which change made the version; kept by freshet"),
        Column(name=STATE, type=state, comment="How new the change is; kept by freshet"),
        _DELETED,
        _ORDER,
    )


def register_type(columns: Sequence[Column]) -> Struct:
    """Return the type of one change of a group: how new it is, and the values it has."""
    return Struct((*_REGISTER, ("values", Struct(tuple((column.name, column.type) for column in columns)))))


def holds_map(kind: DataType) -> bool:
    """Say whether a type holds a map, of which Spark knows no greater one."""
    match kind:
        case Map():
            return True
        case Array(element):
            return holds_map(element)
        case Struct(fields):
            return any(holds_map(inner) for _, inner in fields)
    return False


def _faults(layout: Layout) -> list[str]:
    names = [column.name for column in layout.columns]
    members = [name for group in layout.groups.values() for name in group]
    faults = []
    if not layout.key or not set(layout.key) <= set(names):
        faults.append("the key names columns of the table")
    if not set(names) - set(layout.key):
        faults.append("the table has a column beside its key")
    if len({name.lower() for name in names}) != len(names):
        faults.append("each column has a name of its own")
    if len(set(members)) != len(members) or not set(members) <= set(names) - set(layout.key):
        faults.append("each column beside the key is in one group at most, and a group names no others")
    if any(not group for group in layout.groups.values()):
        faults.append("a group has columns")
    if ROW in layout.groups:
        faults.append(f"'{ROW}' is the group of all other columns")
    taken = {*reserved_names(layout.keeps)} & {name.lower() for name in names}
    if taken:
        faults.append(f"freshet keeps {', '.join(sorted(taken))} itself")
    if layout.keeps == "history" and layout.groups:
        faults.append("a version is a whole row: of one that keeps each version there are no groups")
    required = [c.name for c in layout.columns if not c.nullable and c.name not in layout.key]
    if required:
        faults.append(f"a deleted row has no values: {', '.join(required)} must not be NOT NULL")
    return faults
