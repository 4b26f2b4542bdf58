"""Debezium's messages as JSON: envelopes with and without a schema around them, and unwrapped rows (ExtractNewRecordState).

An envelope's ``d`` is the delete; the tombstone after it makes Kafka forget the key, and says nothing more. A new key comes as
``d`` of the old one and ``c`` of the new one. Under PostgreSQL's default replica identity ``before`` has made-up values beside
the key, so that a delete takes its key from the message's key.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

from freshet.changelog.adapter import (
    CHANGE,
    FROM,
    KEY,
    MESSAGE,
    SKIPPED,
    Adapter,
    Source,
    build,
    change,
    is_malformed,
    key_row,
    lacks_columns,
    moved,
    object_of,
    raw_row,
    read_json,
)
from freshet.changelog.reference import SNAPSHOT
from freshet.changelog.sql import any_of, first_reason, name, text
from freshet.types.columns import Array, Atomic

_SOURCE = ("connector", "ts_ms", "snapshot", "file", "pos", "row", "gtid", "lsn", "sequence")
#: Written in place of a large value that an update did not change (PostgreSQL's TOAST).
UNAVAILABLE = "__debezium_unavailable_value"
_READS = ("c", "u", "r")


@dataclass(frozen=True, kw_only=True)
class Debezium:
    """How a connector is set.

    Args:
        unwrapped: True for ExtractNewRecordState with ``delete.tombstone.handling.mode=rewrite`` and ``add.fields`` of ``op``
            and, each as ``source.NAME``, what the reference key and the time need: ``source.ts_ms``, ``source.snapshot`` ...
        with_schema: True where the converter writes ``{"schema": ..., "payload": ...}``, in keys too.
        identity: What a delete has: ``key`` where only the key counts, from the message's key; ``full`` where the whole row was
            logged (``REPLICA IDENTITY FULL``, ``binlog_row_image=FULL``), and the key is taken from it.
        tombstones: What a message without a value is: skipped after a delete's message; a delete, where the topic is
            compacted and may have lost that message; or none that is understood, which goes aside.
        unavailable: The connector's ``unavailable.value.placeholder``; empty where it writes none.
    """

    unwrapped: bool = False
    with_schema: bool = False
    identity: Literal["key", "full"] = "key"
    tombstones: Literal["skip", "delete", "aside"] = "skip"
    unavailable: str = UNAVAILABLE


def debezium(source: Source, how: Debezium) -> Adapter:
    """Return the adapter of Debezium's messages.

    Args:
        source: The table, the order of changes, and how values are written.
        how: How the connector is set.

    Raises:
        ValueError: When the table or the order needs what the messages do not tell.
    """
    inside, of_key = (f"{object_of(read)}.payload" if how.with_schema else object_of(read) for read in (MESSAGE, KEY))
    fields = _flat(source) if how.unwrapped else _envelope(source)
    reads = {MESSAGE: read_json(f"{FROM}.value", _nested(how, fields))}
    needs_key = how.identity == "key" or how.tombstones == "delete"
    if needs_key:
        reads[KEY] = read_json(f"{FROM}.key", _nested(how, source.raw_fields(source.key_columns)))
    only_key = key_row(source, of_key)
    meta = {one: f"{inside}.`__source_{one}`" if how.unwrapped else f"{inside}.source.{one}" for one in _SOURCE}
    if how.unwrapped:
        row, before, op = inside, "", f"{inside}.`__op`"
        is_delete = f"coalesce({inside}.`__deleted` = 'true', false)"
    else:
        row, before, op = f"{inside}.after", f"{inside}.before", f"{inside}.op"
        is_delete = f"coalesce({op} = 'd', false)"
    gone = only_key if how.identity == "key" else raw_row(source, before or row)
    changes = f"array({change('false', raw_row(source, row))})"
    is_moved = ""
    if how.identity == "full" and not how.unwrapped:
        # A connector with keys of its own (message.key.columns) may leave such an update whole.
        both = f"array({change('true', raw_row(source, before))}, {change('false', raw_row(source, row))})"
        is_moved = f"coalesce({before} IS NOT NULL AND ({moved(source, before, row)}), false)"
        changes = f"CASE WHEN {is_moved} THEN {both} ELSE {changes} END"
    is_tombstone = f"{FROM}.value IS NULL"
    gone = f"CASE WHEN {is_tombstone} THEN {only_key} ELSE {gone} END" if how.tombstones == "delete" else gone
    deletes = f"{is_delete} OR {is_tombstone}" if how.tombstones == "delete" else is_delete
    changes = f"CASE WHEN {deletes} THEN array({change('true', gone)}) ELSE {changes} END"
    refused = [
        *_tombstone(how, is_tombstone),
        ("'malformed'", f"{FROM}.value IS NOT NULL AND ({is_malformed(f'{FROM}.value', MESSAGE)})"),
        (text(SKIPPED), f"{op} = 'm'"),
        ("'truncated'", f"{op} = 't'"),
        ("'no_change'", f"{FROM}.value IS NOT NULL AND {_is_no_change(how, op, is_delete, row, before)}"),
    ]
    if needs_key:
        unread = f"({deletes}) AND {FROM}.key IS NOT NULL AND ({is_malformed(f'{FROM}.key', KEY)})"
        refused.append(("'unavailable_key'", f"{unread} OR ({deletes}) AND {FROM}.key IS NULL"))
    if source.strict:
        path = ("$.payload" if how.with_schema else "$") + ("" if how.unwrapped else ".after")
        lacks = lacks_columns(source, f"{FROM}.value", path)
        refused.append(("'missing'", f"NOT ({deletes}) AND ({lacks})"))
    left = _unavailable(source, how, row)
    if left:
        is_new = f"{op} <> 'u'" + (f" OR {is_moved}" if is_moved else "")
        refused.append(("'unavailable_value'", f"NOT ({deletes}) AND ({is_new}) AND ({any_of(left.values())})"))
    is_read = f"coalesce({meta['snapshot']}, 'false') NOT IN ('false', 'incremental')"
    # A JSON text with two texts in it, and cheaper to read as what it looks like.
    sequence = f"translate({meta['sequence']}, '[]\" ', '')"
    created = f"try_cast({meta['ts_ms']} AS BIGINT)"
    return build(
        source,
        reads=reads,
        refused=first_reason(refused),
        changes=changes,
        fields={
            "source": meta["connector"],
            "timestamp": f"CASE WHEN {is_tombstone} THEN unix_millis({FROM}.timestamp) ELSE {created} END",
        },
        parts={
            **{one: meta[one] for one in ("file", "pos", "row", "gtid")},
            "total_order": f"{inside}.`__transaction_total_order`" if how.unwrapped else f"{inside}.transaction.total_order",
            # Of the first transaction after a snapshot the first of the two is null.
            "commit_lsn": f"nullif(substring_index({sequence}, ',', 1), 'null')",
            "lsn": f"substring_index({sequence}, ',', -1)",
            SNAPSHOT: f"({is_read})",
            "snapshot_has_position": "true",
        },
        unavailable=_unavailable(source, how, f"{CHANGE}.row"),
    )


def _nested(how: Debezium, fields: str) -> str:
    return f"payload: STRUCT<{fields}>" if how.with_schema else fields


def _envelope(source: Source) -> str:
    row = source.raw_fields()
    meta = ", ".join(f"{name(one)}: STRING" for one in _SOURCE)
    rows = f"before: STRUCT<{row}>, after: STRUCT<{row}>"
    return f"{rows}, source: STRUCT<{meta}>, op: STRING, transaction: STRUCT<total_order: STRING>"


def _flat(source: Source) -> str:
    meta = [f"`__source_{one}`" for one in _SOURCE]
    own = ", ".join(f"{one}: STRING" for one in (*meta, "`__op`", "`__deleted`", "`__transaction_total_order`"))
    return f"{source.raw_fields()}, {own}"


def _tombstone(how: Debezium, is_tombstone: str) -> list[tuple[str, str]]:
    reason = {"skip": text(SKIPPED), "aside": "'no_change'"}.get(how.tombstones)
    return [(reason, is_tombstone)] if reason else []


def _is_no_change(how: Debezium, op: str, is_delete: str, row: str, before: str) -> str:
    known = f"coalesce({op} IN ({', '.join(map(text, (*_READS, 'd')))}), false)"
    if how.unwrapped:
        return f"NOT {known}"
    lacks_before = f" OR {is_delete} AND {before} IS NULL" if how.identity == "full" else ""
    return f"(NOT {known} OR NOT {is_delete} AND {row} IS NULL{lacks_before})"


def _unavailable(source: Source, how: Debezium, row: str) -> dict[str, str]:
    """Return for each column that can be large the condition that the message left it out."""
    if not how.unavailable:
        return {}
    found = {}
    for column in source.layout.columns:
        raw = f"{row}.{name(column.name)}"
        if column.name in source.layout.key:
            continue
        match column.type:
            case Atomic("string"):
                marks = [f"{raw} = {text(how.unavailable)}"]
            case Atomic("binary"):
                plain = how.unavailable.encode()
                coded = base64.b64encode(plain) if source.coding_of(column).binary == "base64" else plain.hex().encode()
                marks = [f"{raw} = {text(coded.decode())}"]
            case Array(Atomic("string")):
                marks = [f"{raw} = array({text(how.unavailable)})"]
            case _:
                continue
        found[column.name] = f"coalesce({any_of(marks)}, false)"
    return found
