"""Reference keys: which of two changes of a row is the newer one, as one text that compares right.

A description says where the order comes from; ``expression`` makes Spark SQL of it over parts that an adapter provides. What
has no place in the order, such as a GTID of a server that nobody declared, has a null key, and such a row goes aside. A key
begins with a generation, which a person raises when a table is read anew from its source: rows of the new reading, and all
changes after it, are then newer than whatever is in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from freshet.changelog.ordered import digits, joined, of_type, signed
from freshet.changelog.sql import name, text
from freshet.types.columns import Column

#: Part of an adapter: true where the row was read and not changed.
SNAPSHOT = "snapshot"
_MOST_GENERATIONS = 9999
_READ, _CHANGED = "'0'", "'1'"


@dataclass(frozen=True)
class BinlogPosition:
    """Position in MySQL's or MariaDB's binary log: file, position and row.

    Args:
        logs: Base names of the logs, such as ``mysql-bin``, of one server after the other where one took over. A row of
            another log goes aside: numbers of two logs do not compare.
        generation: See the module.
    """

    logs: tuple[str, ...]
    generation: int = 0


@dataclass(frozen=True)
class MariaDbGtid:
    """MariaDB's GTID within one domain, and the position within the transaction.

    Args:
        domain: The replication domain. Domains have no order among each other, so that a row of another one goes aside.
        within: ``position``, by the binary log's; or ``total_order``, by the transaction's metadata, which also holds where
            another server takes over in the middle of a transaction.
        generation: See the module.
    """

    domain: int
    within: Literal["position", "total_order"] = "position"
    generation: int = 0


@dataclass(frozen=True)
class MySqlGtid:
    """MySQL's GTID, and the position within the transaction.

    Args:
        servers: UUIDs of the servers that wrote, in the order in which they did. A row of another one goes aside.
        within: As for ``MariaDbGtid``.
        generation: See the module.
    """

    servers: tuple[str, ...]
    within: Literal["position", "total_order"] = "position"
    generation: int = 0


@dataclass(frozen=True)
class Lsn:
    """PostgreSQL's log sequence numbers: of the commit before the change's transaction, and of the change.

    A change's own number does not do: a long transaction writes its changes before a snapshot and commits after it.
    """

    generation: int = 0


@dataclass(frozen=True)
class Columns:
    """Columns of the row, the most significant first.

    Args:
        columns: The columns with their types.
        generation: See the module.
    """

    columns: tuple[Column, ...]
    generation: int = 0


@dataclass(frozen=True)
class Given:
    """The reference key that the producer wrote into the event.

    Args:
        form: ``number`` for up to 20 digits; ``text`` for a text that is compared as it is.
        generation: See the module.
    """

    form: Literal["number", "text"] = "number"
    generation: int = 0


@dataclass(frozen=True)
class KafkaOffset:
    """The offset in the topic, for sources that have no order of their own.

    It holds while a key stays in its partition: not over a new number of partitions, nor over a topic that was made anew.
    """

    generation: int = 0


Reference = BinlogPosition | MariaDbGtid | MySqlGtid | Lsn | Columns | Given | KafkaOffset


def needed(reference: Reference) -> tuple[str, ...]:
    """Return the parts that an adapter has to provide."""
    match reference:
        case BinlogPosition():
            return ("file", "pos", "row", SNAPSHOT, "snapshot_has_position")
        case MariaDbGtid(within=within) | MySqlGtid(within=within):
            return ("gtid", *(("pos", "row") if within == "position" else ("total_order",)), SNAPSHOT)
        case Lsn():
            return ("commit_lsn", "lsn", SNAPSHOT)
        case Given():
            return ("ref_key",)
        case KafkaOffset():
            return ("offset", "within")
        case Columns(columns):
            return tuple(column.name for column in columns)


def expression(reference: Reference, parts: Mapping[str, str]) -> str:
    """Return the reference key as Spark SQL.

    Args:
        reference: Where the order comes from.
        parts: SQL by name: texts for numbers, truth values for SNAPSHOT and ``snapshot_has_position``, and for ``Columns`` the
            row's typed columns.

    Returns:
        A text, null where the row has no place in the order.

    Raises:
        ValueError: When the adapter has no such parts, or the description is not one that can be right.
    """
    if not 0 <= reference.generation <= _MOST_GENERATIONS:
        raise ValueError(f"a generation is a number up to {_MOST_GENERATIONS}")
    missing = [part for part in needed(reference) if part not in parts]
    if missing:
        raise ValueError(f"{type(reference).__name__} needs what this source does not tell: {', '.join(missing)}")
    generation = text(f"{reference.generation:04d}")
    return _keyed(generation, reference, parts)


def given(reference: Given, value: str) -> str:
    """Return a reference key that the producer wrote, of the row or of a column group, as Spark SQL."""
    part = digits(value) if reference.form == "number" else f"nullif({value}, '')"
    return joined([text(f"{reference.generation:04d}"), part])


def _keyed(generation: str, reference: Reference, parts: Mapping[str, str]) -> str:
    match reference:
        case BinlogPosition(logs):
            return _binlog(generation, logs, parts)
        case MariaDbGtid(domain, within):
            number = _group(parts["gtid"], f"^{int(domain)}-[0-9]+-([0-9]+)$", 1)
            return _read_first(generation, parts, [digits(number), *_within(within, parts)])
        case MySqlGtid(servers, within):
            rank = _rank(_group(f"lower({parts['gtid']})", "^([0-9a-f-]{36}):[0-9]+$", 1), [one.lower() for one in servers])
            number = _group(parts["gtid"], "^[^:]+:([0-9]+)$", 1)
            return _read_first(generation, parts, [rank, digits(number), *_within(within, parts)])
        case Lsn():
            position = [digits(f"coalesce({parts['commit_lsn']}, '0')"), digits(parts["lsn"])]
            return _read_first(generation, parts, position)
        case Columns(columns):
            if not columns:
                raise ValueError("no column is named")
            return joined([generation, *(of_type(parts[column.name], column.type) for column in columns)])
        case Given():
            return given(reference, parts["ref_key"])
        case KafkaOffset():
            return joined([generation, signed(parts["offset"]), digits(parts["within"])])


def _binlog(generation: str, logs: tuple[str, ...], parts: Mapping[str, str]) -> str:
    rank = _rank(_group(parts["file"], "^(.*)[.][0-9]+$", 1), logs)
    number = _group(parts["file"], "[.]([0-9]+)$", 1)
    snapshot = parts[SNAPSHOT]
    # A snapshot that knows its position is older than what is logged there, and has no row number.
    read = f"CASE WHEN {snapshot} THEN {_READ} ELSE {_CHANGED} END"
    row = f"CASE WHEN {snapshot} THEN '0' ELSE {parts['row']} END"
    at = joined([generation, _CHANGED, rank, digits(number), digits(parts["pos"]), read, digits(f"({row})")])
    first = joined([generation, _READ])
    return f"CASE WHEN {snapshot} AND NOT {parts['snapshot_has_position']} THEN {first} ELSE {at} END"


def _read_first(generation: str, parts: Mapping[str, str], position: list[str]) -> str:
    # What a snapshot read is older than every change that comes after it in the stream, whatever number that has.
    at = joined([generation, _CHANGED, *position])
    return f"CASE WHEN {parts[SNAPSHOT]} THEN {joined([generation, _READ])} ELSE {at} END"


def _within(within: str, parts: Mapping[str, str]) -> list[str]:
    return [digits(parts[part]) for part in (("pos", "row") if within == "position" else ("total_order",))]


def _rank(value: str, known: tuple[str, ...] | list[str]) -> str:
    if not known or len(set(known)) != len(known):
        raise ValueError("name each log or server once, in the order in which they wrote")
    found = f"array_position(array({', '.join(map(text, known))}), {value})"
    return digits(f"CAST(nullif({found}, 0) AS STRING)", 4)


def _group(value: str, pattern: str, group: int) -> str:
    return f"nullif(regexp_extract({value}, {text(pattern)}, {group}), '')"


def column_parts(prefix: str, columns: tuple[Column, ...]) -> dict[str, str]:
    """Return the parts of ``Columns`` for columns that stand behind a prefix."""
    return {column.name: f"{prefix}{name(column.name)}" for column in columns}
