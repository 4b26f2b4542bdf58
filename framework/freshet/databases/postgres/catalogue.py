"""What PostgreSQL's catalogue says of tables: columns, types, keys, and what of an old row its log will have."""

from __future__ import annotations

from freshet.databases.model import DbColumn, DbTable
from freshet.databases.postgres.connection import Connection
from freshet.databases.postgres.values import lake_type
from freshet.types.columns import Atomic

_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relreplident, c.relkind, c.relpersistence,
  (SELECT array_agg(a.attname ORDER BY k.place)
   FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, place), pg_attribute a
   WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate AND a.attrelid = c.oid AND a.attnum = k.number
     AND k.place <= i.indnkeyatts)::text[],
  (SELECT array_agg(a.attname) FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, place), pg_attribute a
   WHERE i.indrelid = c.oid AND i.indisreplident AND a.attrelid = c.oid AND a.attnum = k.number
     AND k.place <= i.indnkeyatts)::text[],
  EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), b.typname, b.typtype,
  CASE WHEN t.typtype = 'd' AND a.atttypmod = -1 THEN t.typtypmod ELSE a.atttypmod END,
  a.attnotnull, a.attstorage IN ('x', 'e'), a.attgenerated <> '', pg_type_is_visible(t.oid), t.typtype = 'd'
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY(%s)
ORDER BY a.attrelid, a.attnum
"""
_TYPES = """
SELECT t.oid, b.typname, b.typtype FROM pg_type t
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
"""
#: Types by which a copy of a table may be cut into pieces, each beginning behind the last key of the one before.
_KEYS = ("smallint", "int", "bigint", "string", "date", "timestamp")


def tables_of(connection: Connection) -> tuple[DbTable, ...]:
    """Return every table of the database that is nobody's partition and not PostgreSQL's own, in order."""
    found = connection.rows(_TABLES)
    columns: dict[int, list[DbColumn]] = {row[0]: [] for row in found}
    computed: set[tuple[int, str]] = set()
    unsorted: set[tuple[int, str]] = set()
    for oid, name, declared, base, kind, modifier, not_null, large, generated, seen, domain in connection.rows(
        _COLUMNS, (list(columns),)
    ):
        type_, note = lake_type(base if kind == "b" else "", modifier)
        columns[oid].append(
            DbColumn(
                name=name,
                declared=declared,
                type=type_,
                note=note,
                nullable=not not_null,
                large=large,
                base={"b": base, "e": "enum"}.get(kind, ""),
                # Of a domain others may tell another number.
                digits=-1 if base != "timestamp" or domain else 6 if modifier < 0 else modifier,
            )
        )
        if generated:
            computed.add((oid, name))
        if base == "citext" and not seen:
            unsorted.add((oid, name))
    return tuple(
        DbTable(
            schema=schema,
            name=name,
            # The log leaves out what the database computes itself.
            columns=tuple(one for one in columns[oid] if (oid, one.name) not in computed),
            key=tuple(key or ()),
            number=oid,
            computed=tuple(one.name for one in columns[oid] if (oid, one.name) in computed),
            whole_rows=identity == "f",
            refused=_refused(relkind, persistence, identity, key, of_identity, columns[oid])
            or _odd(
                f"{schema}{name}",
                is_parent,
                [one for one in key or () if (oid, one) in computed],
                [one for one in key or () if (oid, one) in unsorted],
            ),
        )
        for oid, schema, name, identity, relkind, persistence, key, of_identity, is_parent in found
    )


def type_names(connection: Connection) -> dict[int, str]:
    """Return by OID the names of types as ``values`` knows them, of domains those of the types below; empty for any other."""
    return {oid: name if kind == "b" else "" for oid, name, kind in connection.rows(_TYPES)}


def _refused(
    relkind: str, persistence: str, identity: str, key: list[str] | None, of_identity: list[str] | None, columns: list[DbColumn]
) -> str:
    if relkind == "p":
        return "it is partitioned, of which only single tables are captured"
    if persistence != "p":
        return "it is temporary or unlogged: the log does not have its changes"
    if not key:
        return "it has no primary key that is checked at once, by which a change would find its row"
    if identity == "n" or (identity == "i" and set(of_identity or ()) != set(key)):
        return "its replica identity does not have the primary key: ALTER TABLE ... REPLICA IDENTITY DEFAULT, or FULL"
    types = {one.name: one.type for one in columns}
    bad = [name for name in key if not isinstance(types[name], Atomic) or str(types[name]) not in _KEYS]
    return f"its key has {bad[0]}, of type {types[bad[0]]}, by which a copy cannot be cut into pieces" if bad else ""


def _odd(names: str, is_parent: bool, computed: list[str], unsorted: list[str]) -> str:
    if is_parent:
        return "other tables inherit from it: a query gives their rows as its own, and its log does not have them"
    if "." in names:
        return "its name or its schema's has a point, which parts them here"
    if computed:
        return f"its key has {computed[0]}, which the database computes, and which the log leaves out"
    if unsorted:
        return f"its key has {unsorted[0]}, of a type citext that is not on the search_path: there is no order by which to copy"
    return ""
