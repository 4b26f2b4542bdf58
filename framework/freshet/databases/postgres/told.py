"""What PostgreSQL's messages tell of the tables that are captured: transactions, changes of rows, shapes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from freshet.databases.model import Change, Emptied, End, Shape, Told, Transaction
from freshet.databases.postgres.pgoutput import UNCHANGED, Begin, Commit, Relation, Row, Truncate, Unchanged, Value, decode
from freshet.databases.postgres.values import as_json


def lsn(number: int) -> str:
    """Return a place in the log as PostgreSQL writes it."""
    return f"{number >> 32:X}/{number & 0xFFFFFFFF:X}"


def told_by(
    messages: Iterator[bytes], after: int, types: Mapping[int, str], wanted: Mapping[str, Collection[str]]
) -> Iterator[Told]:
    """Give what messages tell.

    Args:
        messages: The bytes of each.
        after: Transactions that end up to here are passed over.
        types: Names of types by OID, as ``values`` knows them.
        wanted: By table the columns of its key; others are passed over.
    """
    relations: dict[int, Relation] = {}
    within, old = 0, False
    for data in messages:
        match decode(data):
            case Begin(final, millis):
                # The commit's record ends behind its beginning: what ends up to ``after`` begins before it.
                within, old = 0, final < after
                if not old:
                    yield Transaction(number=final, millis=millis)
            case Commit(end) if not old:
                yield End(position=lsn(end), number=end)
            case Relation() as relation:
                relations[relation.id] = relation
                name = f"{relation.schema}.{relation.name}"
                if not old and name in wanted:
                    yield Shape(table=name, columns=tuple(column for column, _, _ in relation.columns))
            case Row() as row:
                within += 1
                relation = relations[row.relation]
                name = f"{relation.schema}.{relation.name}"
                if not old and name in wanted:
                    yield from _changes(name, relation, row, within, types, wanted[name])
            case Truncate(ids) if not old:
                names = (f"{relations[one].schema}.{relations[one].name}" for one in ids)
                yield from (Emptied(table=name) for name in names if name in wanted)
            case _:
                pass


def _changes(
    table: str, relation: Relation, row: Row, within: int, types: Mapping[int, str], key: Collection[str]
) -> Iterator[Change]:
    old = _values(relation, row.old, types) if row.old is not None else {}
    if row.new is None:
        yield Change(table=table, row={name: old.get(name) for name in key}, deleted=True, within=within)
        return
    new = _values(relation, row.new, types)
    if row.old is not None:
        # What was logged of the old row has what the new one leaves out.
        known = key if row.old_is_key else old
        new = {name: old[name] if value is UNCHANGED and name in known else value for name, value in new.items()}
    left_out = tuple(name for name, value in new.items() if value is UNCHANGED)
    there = {name: value for name, value in new.items() if value is not UNCHANGED}
    moved = bool(old) and any(old.get(name) != new[name] for name in key)
    if moved:
        yield Change(table=table, row={name: old.get(name) for name in key}, deleted=True, within=within)
    said = f"its key was changed, and the log leaves out {', '.join(left_out)} as unchanged" if moved and left_out else ""
    yield Change(table=table, row=there, within=within, left_out=left_out, error=said)


def _values(relation: Relation, values: tuple[Value, ...], types: Mapping[int, str]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, Unchanged) else as_json(types.get(kind, ""), value)
        for (name, kind, _), value in zip(relation.columns, values, strict=True)
    }
