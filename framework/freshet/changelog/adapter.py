"""What an adapter is: texts of Spark SQL by which messages become the table's columns, ``_event``, and a reason to go aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freshet.changelog.conform import value_reasons
from freshet.changelog.fields import FIELDS
from freshet.changelog.layout import Layout
from freshet.changelog.reference import Columns, Reference, expression, needed
from freshet.changelog.sql import any_of, first_reason, name, struct, text
from freshet.changelog.values import PLAIN, Coding, converted, raw_type
from freshet.types.columns import Column

#: Columns between the steps: where a message comes from, it and its key as read, and one change of it.
FROM, MESSAGE, KEY, CHANGE = "__freshet_from", "__freshet_message", "__freshet_key", "__freshet_change"
#: And what the source tells of the order of changes.
PARTS = "__freshet_parts"
#: What a message's origin has, in the names of Spark's Kafka source.
ORIGIN = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
SKIPPED = "skipped"
_CORRUPT = "_freshet_corrupt"


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """How messages of one form become events of one table.

    Args:
        reads: Columns made of ``FROM``, by name.
        refused: Over those: why the message holds no change, or null. ``SKIPPED`` where it is meant to hold none.
        changes: Over those: an array of the message's changes, each of which becomes ``CHANGE``.
        columns: Over all of these: the table's columns, by name.
        parts: Over all of these but the columns: ``PARTS``.
        event: Over the columns and all of these: the struct ``_event``.
        reason: Over the same: why a change goes aside though its message was read, or null.
    """

    reads: Mapping[str, str]
    refused: str
    changes: str
    columns: Mapping[str, str]
    parts: str
    event: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """What every adapter is told.

    Args:
        layout: The table.
        reference: Where the order of changes comes from.
        coding: How values are written, where ``codings`` does not say it.
        codings: How values of a column are written, by its name.
        data_center: Where the source is; empty where it is not said.
        strict: True where a message has to name every column of the table. Otherwise one that it lacks is null.
    """

    layout: Layout
    reference: Reference
    coding: Coding = PLAIN
    codings: Mapping[str, Coding] | None = None
    data_center: str = ""
    strict: bool = False

    def coding_of(self, column: Column) -> Coding:
        """Return how a column's values are written."""
        return (self.codings or {}).get(column.name, self.coding)

    def raw_fields(self, columns: Sequence[Column] | None = None) -> str:
        """Return the columns, by default all, as fields for Spark's JSON reader."""
        chosen = self.layout.columns if columns is None else columns
        return ", ".join(f"{name(c.name)}: {raw_type(c, self.coding_of(c))}" for c in chosen)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        """The key's columns."""
        return tuple(c for c in self.layout.columns if c.name in self.layout.key)


def read_json(value: str, fields: str) -> str:
    """Return what Spark reads of a JSON text: ``object_of`` is its one object, and ``is_malformed`` says whether it is one.

    Alone, Spark would take the first object of several that stand behind each other, the first element of an array, and no
    notice of what follows. So the text is the one element of an array, with something behind it that has to be read, too.

    Args:
        value: The text, as bytes.
        fields: The fields with their types.
    """
    kind = text(f"STRUCT<v: ARRAY<STRUCT<{fields}>>, `end`: INT, {_CORRUPT}: STRING>")
    options = f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{_CORRUPT}')"
    return f"""from_json(concat('{{"v":[', CAST({value} AS STRING), '],"end":1}}'), {kind}, {options})"""


def object_of(read: str) -> str:
    """Return the object of a text that was read."""
    return f"get({read}.v, 0)"


def is_malformed(value: str, read: str) -> str:
    """Return whether bytes are no JSON object of the form that was read; Java would replace bytes that are no UTF-8."""
    whole = f"{read}.{_CORRUPT} IS NULL AND {read}.`end` = 1 AND size({read}.v) = 1 AND {object_of(read)} IS NOT NULL"
    return f"NOT coalesce({whole}, false) OR encode(decode({value}, 'UTF-8'), 'UTF-8') <> {value}"


def lacks_columns(source: Source, value: str, path: str) -> str:
    """Return whether a message's row, a JSON object at a path, lacks a column of the table."""
    wanted = f"array({', '.join(text(c.name) for c in source.layout.columns)})"
    found = f"json_object_keys(get_json_object(CAST({value} AS STRING), {text(path)}))"
    return f"size(array_except({wanted}, {found})) > 0"


def change(is_deleted: str, row: str, within: str = "0") -> str:
    """Return one change of a message; ``within`` is its place there."""
    return struct([("is_deleted", is_deleted), ("row", row), ("within", within)])


def words(literals: Sequence[str]) -> str:
    """Return texts as a list of literals."""
    return ", ".join(map(text, literals))


def key_row(source: Source, prefix: str, otherwise: str = "") -> str:
    """Return a row of which only the key is known, in the types of all rows.

    Args:
        source: The table and how values are written.
        prefix: What has the key's columns.
        otherwise: What has those that are null there; empty where nothing has.
    """

    def part(column: Column) -> str:
        if column not in source.key_columns:
            return f"CAST(NULL AS {raw_type(column, source.coding_of(column))})"
        here = f"{prefix}.{name(column.name)}"
        return f"coalesce({here}, {otherwise}.{name(column.name)})" if otherwise else here

    return struct((c.name, part(c)) for c in source.layout.columns)


def raw_row(source: Source, prefix: str) -> str:
    """Return a row's raw columns.

    Args:
        source: The table.
        prefix: What has them.
    """
    return struct((c.name, f"{prefix}.{name(c.name)}") for c in source.layout.columns)


def moved(source: Source, before: str, after: str) -> str:
    """Return whether a change gives its row another key; ``before`` need not have what did not change."""
    return any_of(
        f"{before}.{name(key)} IS NOT NULL AND {before}.{name(key)} <> {after}.{name(key)}" for key in source.layout.key
    )


def build(
    source: Source,
    *,
    reads: Mapping[str, str],
    refused: str,
    changes: str,
    fields: Mapping[str, str],
    parts: Mapping[str, str],
    unavailable: Mapping[str, str] | None = None,
) -> Adapter:
    """Return an adapter.

    Args:
        source: What every adapter is told.
        reads, refused, changes: As ``Adapter`` has them; the rows of changes have the raw types of ``source``.
        fields: SQL of fields of ``_event``, by name; the key's text, the reference key and the mark of a delete are made here.
        parts: What the source tells of the order.
        unavailable: Columns that a message may leave as they are, each with the condition that it does.

    Raises:
        ValueError: As ``reference.expression`` and ``values.raw_type``.
    """
    layout = source.layout
    raws = {c.name: f"{CHANGE}.row.{name(c.name)}" for c in layout.columns}
    values = {c.name: converted(c, source.coding_of(c), raws[c.name]) for c in layout.columns}
    left = unavailable or {}
    lives = f"NOT {CHANGE}.is_deleted"
    columns = {
        n: value if n in layout.key else f"CASE WHEN {lives}{f' AND NOT ({left[n]})' if n in left else ''} THEN {value} END"
        for n, value in values.items()
    }
    checked = [
        (c, raws[c.name] if c.name in layout.key else f"({_guarded(c, raws, left)})", name(c.name)) for c in layout.columns
    ]
    parts = {"offset": f"{FROM}.offset", "within": f"CAST({CHANGE}.within AS STRING)", **parts}
    if isinstance(source.reference, Columns):
        parts = {**parts, **{c.name: values[c.name] for c in layout.columns}}
    keys = [name(key) for key in layout.key]
    event = {field.name: f"CAST(NULL AS {field.type})" for field in FIELDS} | {
        "row_key": f"CAST({keys[0]} AS STRING)" if len(keys) == 1 else f"to_json({struct(zip(layout.key, keys, strict=True))})",
        "ref_key": expression(source.reference, {part: f"{PARTS}.{name(part)}" for part in parts}),
        "is_deleted": f"{CHANGE}.is_deleted",
        "force_update": "false",
        "data_center": text(source.data_center) if source.data_center else "CAST(NULL AS STRING)",
        "changelog_columns": _changed_groups(source, left),
        **fields,
    }
    return Adapter(
        reads=reads,
        refused=refused,
        changes=changes,
        columns=columns,
        parts=struct((part, parts[part]) for part in needed(source.reference)),
        event=struct((field.name, event[field.name]) for field in FIELDS),
        reason=first_reason(value_reasons(checked)),
    )


def _guarded(column: Column, raws: Mapping[str, str], left: Mapping[str, str]) -> str:
    # Of a deleted row only the key counts: what else the message has may be made up.
    there = f"NOT {CHANGE}.is_deleted"
    if column.name in left:
        there += f" AND NOT ({left[column.name]})"
    return f"CASE WHEN {there} THEN {raws[column.name]} END"


def _changed_groups(source: Source, left: Mapping[str, str]) -> str:
    kind = next(str(field.type) for field in FIELDS if field.name == "changelog_columns")
    if not left:
        return f"CAST(NULL AS {kind})"
    entries = []
    for group, columns in source.layout.all_groups.items():
        stays = {c.name: left.get(c.name, "false") for c in columns}
        there = [f"CASE WHEN {condition} THEN NULL ELSE {text(word)} END" for word, condition in stays.items()]
        fields = f"array_compact(array({', '.join(there)}))"
        entry = struct([("name", text(group)), ("ref_key", "CAST(NULL AS STRING)"), ("changed_fields", fields)])
        touched = any_of(f"NOT ({condition})" for condition in stays.values())
        entries.append(f"CASE WHEN {touched} THEN {entry} END")
    changed = f"CAST(array_compact(array({', '.join(entries)})) AS {kind})"
    # None of a row's values is left out but of an update: another event has the whole row.
    return f"CASE WHEN NOT {CHANGE}.is_deleted AND ({any_of(left.values())}) THEN {changed} END"
