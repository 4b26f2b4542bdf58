"""What orders the changes of a row, as the YAML says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
from freshet.problems import Problems, did_you_mean
from freshet.project.shape.changelog import Changelog, ReferenceKey
from freshet.project.syntax.files import Place
from freshet.types.columns import Column

PlaceOf = Callable[..., Place]
#: Keys beside ``kind`` and ``generation`` that a kind may have, and the one that it must have.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "given": ("form",),
    "binlog": ("logs",),
    "mariadb_gtid": ("domain", "within"),
    "mysql_gtid": ("servers", "within"),
    "lsn": (),
    "columns": ("columns",),
    "offset": (),
}
_NEEDED = {"binlog": "logs", "mariadb_gtid": "domain", "mysql_gtid": "servers", "columns": "columns"}
_EXAMPLES = {
    "debezium": "{kind: lsn} for PostgreSQL, {kind: binlog, logs: mysql-bin} for MySQL",
    "maxwell": "{kind: binlog, logs: mysql-bin}",
    "canal": "{kind: columns, columns: [updated_at]} or {kind: offset}",
    "plain": "{kind: columns, columns: [updated_at]} or {kind: offset}",
}


def read_reference(said: Changelog, columns: Sequence[Column], place: PlaceOf, problems: Problems) -> Reference | None:
    """Return what orders the changes; None where it is not said as it has to be, which is reported.

    Args:
        said: What stands under ``source.changelog``.
        columns: The target's columns.
        place: Gives the place of a path of keys.
        problems: Receives MISSING_KEY, CONFLICTING_SETTING and UNKNOWN_COLUMN.
    """
    key = said.reference_key
    at = place("source", "changelog", "reference_key")
    if key is None:
        if said.adapter == "freshet":
            return Given()
        words = f"Nothing says which of two changes of a row is newer, and {said.adapter} has more than one way."
        hint = f"Write 'reference_key: {_EXAMPLES[said.adapter]}'; docs/concepts/changelog.md has what each needs."
        problems.add(at.file, at.line, "MISSING_KEY", words, hint)
        return None
    before = len(problems)
    for name in ReferenceKey.model_fields:
        if name in ("kind", "generation") or getattr(key, name) is None or name in _KEYS[key.kind]:
            continue
        at = place("source", "changelog", "reference_key", name)
        words = f"source.changelog.reference_key.{name} says nothing of the kind {key.kind}."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", words, "Remove it.")
    needed = _NEEDED.get(key.kind, "")
    if needed and getattr(key, needed) is None:
        words = f"A reference key of the kind {key.kind} needs '{needed}'."
        problems.add(at.file, at.line, "MISSING_KEY", words, f"Write '{{kind: {key.kind}, {needed}: ...}}'.")
    named = _columns(key.columns or (), columns, place, problems)
    return _made(key, named) if len(problems) == before else None


def _columns(names: Sequence[str], columns: Sequence[Column], place: PlaceOf, problems: Problems) -> tuple[Column, ...]:
    known = {column.name.lower(): column for column in columns}
    for name in names:
        if name.lower() not in known:
            at = place("source", "changelog", "reference_key", "columns")
            words = f"source.changelog.reference_key.columns: the target has no column '{name[:80]}'."
            hint = did_you_mean(name, [column.name for column in columns])
            problems.add(at.file, at.line, "UNKNOWN_COLUMN", words, hint)
    return tuple(known[name.lower()] for name in names if name.lower() in known)


def _made(key: ReferenceKey, columns: tuple[Column, ...]) -> Reference:
    within, generation = key.within or "position", key.generation
    match key.kind:
        case "given":
            return Given(key.form or "number", generation)
        case "binlog":
            return BinlogPosition(tuple(key.logs or ()), generation)
        case "mariadb_gtid":
            return MariaDbGtid(key.domain or 0, within, generation)
        case "mysql_gtid":
            return MySqlGtid(tuple(key.servers or ()), within, generation)
        case "lsn":
            return Lsn(generation)
        case "columns":
            return Columns(columns, generation)
        case _:
            return KafkaOffset(generation)
