"""A changelog as a pipeline declares it: which adapter reads the events, what orders them, and into which table they go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from typing_extensions import assert_never

from freshet.changelog.adapter import Adapter, Source
from freshet.changelog.canal import canal
from freshet.changelog.debezium import Debezium, debezium
from freshet.changelog.layout import Layout
from freshet.changelog.maxwell import maxwell
from freshet.changelog.plain import changelog, plain
from freshet.changelog.reference import (
    BinlogPosition,
    Columns,
    Given,
    KafkaOffset,
    Lsn,
    MariaDbGtid,
    MySqlGtid,
    Reference,
)

AdapterName = Literal["freshet", "debezium", "maxwell", "canal", "plain"]
Tombstones = Literal["delete", "skip", "aside"]


@dataclass(frozen=True, kw_only=True)
class Changelog:
    """How the events of a source are read, and merged into its table.

    Args:
        adapter: Which form they have.
        source: The table, the order of changes, and how values are written.
        connector: How Debezium's connector is set; of the other adapters it says nothing.
        tombstones: Of ``plain``: what a message without a value is.
        is_typed: True where the source has the table's columns and ``_event`` with their types, as a table of events does;
            False where it has messages.
    """

    adapter: AdapterName
    source: Source
    connector: Debezium = field(default_factory=Debezium)
    tombstones: Tombstones = "delete"
    is_typed: bool = False

    @property
    def layout(self) -> Layout:
        """Return the table into which the events are merged."""
        return self.source.layout


def adapter_of(declared: Changelog) -> Adapter:
    """Return the adapter of a changelog of messages.

    Raises:
        ValueError: When the table or the order needs what the messages do not tell, or a value's coding is not declared.
    """
    match declared.adapter:
        case "freshet":
            return changelog(declared.source)
        case "debezium":
            return debezium(declared.source, declared.connector)
        case "maxwell":
            return maxwell(declared.source)
        case "canal":
            return canal(declared.source)
        case "plain":
            return plain(declared.source, declared.tombstones)
        case _:
            assert_never(declared.adapter)


def order_in_words(reference: Reference) -> str:
    """Return what orders changes, in words."""
    generation = f", generation {reference.generation}" if reference.generation else ""
    match reference:
        case BinlogPosition(logs):
            words = f"the position in the binary log ({', '.join(logs)})"
        case MariaDbGtid(domain, within):
            words = f"MariaDB's GTID of domain {domain}, then {_WITHIN[within]}"
        case MySqlGtid(servers, within):
            words = f"MySQL's GTID of {len(servers)} server{'s' * (len(servers) > 1)}, then {_WITHIN[within]}"
        case Lsn():
            words = "PostgreSQL's log sequence number"
        case Columns(columns):
            words = f"the column{'s' * (len(columns) > 1)} {', '.join(column.name for column in columns)}"
        case Given(form):
            words = f"the event's own reference key, a {form}"
        case KafkaOffset():
            words = "the offset in the topic"
        case _:
            assert_never(reference)
    return words + generation


def groups_in_words(layout: Layout) -> str:
    """Return what a row's registers are, in words."""
    if not layout.groups:
        return "whole rows"
    return "; ".join(f"{name} ({', '.join(c.name for c in columns)})" for name, columns in layout.all_groups.items())


def equal_in_words(layout: Layout) -> str:
    """Return which of two changes with one reference key wins, in words."""
    wins = {"deleted": "the one that deletes", "row": "the one that has a row"}[layout.equal]
    return f"of two with one reference key {wins} wins"


def kept_in_words(layout: Layout) -> str:
    """Return what a table keeps of a changelog, in words."""
    match layout.keeps:
        case "newest":
            return f"{groups_in_words(layout)}; {equal_in_words(layout)}"
        case "history":
            return f"each version of a row with its interval; {equal_in_words(layout)}"
        case "events":
            return "each event, once"
        case _:
            assert_never(layout.keeps)


def as_json(declared: Changelog) -> dict[str, Any]:
    """Return a changelog as a JSON-serialisable mapping."""
    source, layout = declared.source, declared.layout
    coded = {"": source.coding, **(source.codings or {})}
    return {
        "adapter": declared.adapter,
        "reference_key": {"kind": type(source.reference).__name__, **_plain(vars(source.reference))},
        "key": list(layout.key),
        "groups": {name: [c.name for c in columns] for name, columns in layout.all_groups.items()},
        "equal_reference_keys": layout.equal,
        "coding": {name or "*": dict(vars(coding)) for name, coding in coded.items()},
        "connector": dict(vars(declared.connector)) if declared.adapter == "debezium" else None,
        "tombstones": declared.tombstones if declared.adapter == "plain" else None,
        "data_center": source.data_center,
        "is_strict": source.strict,
        "is_typed": declared.is_typed,
        # What a table of the newest rows never said, it goes on not to say: what is told here is of its logic.
        **({"keeps": layout.keeps} if layout.keeps != "newest" else {}),
    }


def of_changelog(declared: Changelog | None) -> list[Any]:
    """Return what of a changelog decides about rows; nothing where there is none."""
    return [as_json(declared)] if declared is not None else []


_WITHIN = {"position": "the position in its transaction", "total_order": "the order that the transaction's metadata gives"}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: [getattr(one, "name", one) for one in value] if isinstance(value, tuple) else value
        for name, value in fields.items()
    }
