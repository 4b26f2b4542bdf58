"""The table of a changelog: the columns and settings that freshet adds to its DDL, and what it cannot have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshet.changelog.declared import Changelog
from freshet.changelog.layout import DAY, DELETED, ORDER, Keeps, reserved_columns, reserved_names, stored_key
from freshet.hudi.keys import options
from freshet.problems import Problems
from freshet.project.syntax.ddl import DdlTable, Setting
from freshet.types.columns import Atomic, Column

_IS_DELETED = "_hoodie_is_deleted"


def with_reserved(ddl: DdlTable, log: Changelog | None, keeps: Keeps) -> DdlTable:
    """Return the target with the columns that freshet keeps in a table of changelogs.

    Args:
        ddl: What the DDL says.
        log: The changelog; for None, which is reported, the columns have their names alone, so that none is found missing.
        keeps: What of the changelog the target keeps.
    """
    own = {column.name.lower() for column in ddl.columns}
    kept = (
        reserved_columns(log.layout)
        if log is not None
        else tuple(Column(name=one, type=Atomic("string")) for one in reserved_names(keeps) if one not in own)
    )
    return replace(ddl, columns=(*ddl.columns, *kept))


def kept_settings(ddl: DdlTable, values: Mapping[str, Setting], log: Changelog | None) -> dict[str, Setting]:
    """Return the settings of a table of changelogs, of which some name columns that freshet keeps.

    Args:
        ddl: The target.
        values: One agreed value per Hudi key, as the user says them.
        log: The changelog; None where it is reported.
    """
    kept = {**values, options.ORDERING_FIELD: Setting(value=ORDER, file=ddl.file, line=ddl.line)}
    key = values.get(options.RECORD_KEY)
    if log is not None and key is not None and stored_key(log.layout) != log.layout.key:
        kept[options.RECORD_KEY] = replace(key, value=",".join(stored_key(log.layout)))
        if log.layout.keeps == "history" and options.BUCKET_FIELD not in values:
            # A change closes the interval before it: by the row's key alone both lie in one file group.
            kept[options.BUCKET_FIELD] = replace(key, value=",".join(log.layout.key))
    return kept


def named_columns(setting: Setting | None, ddl: DdlTable) -> tuple[str, ...]:
    """Return columns of the DDL by the names that a setting gives; none where one is not there."""
    known, names = {column.name.lower(): column.name for column in ddl.columns}, _names_in(setting)
    return tuple(known[name] for name in names) if set(names) <= known.keys() else ()


def check_table(ddl: DdlTable, values: Mapping[str, Setting], key: tuple[str, ...], keeps: Keeps, problems: Problems) -> None:
    """Report what makes of a table none that changelogs are merged into.

    Args:
        ddl: The target, without the columns that freshet keeps.
        values: One agreed value per Hudi key.
        key: The key of a row in its source.
        keeps: What of the changelog the target keeps.
        problems: Receives RESERVED_COLUMN, CONFLICTING_SETTING and NOT_SUPPORTED.
    """
    reserved = reserved_names(keeps)
    for column in ddl.columns:
        line = ddl.column_lines.get(column.name, ddl.line)
        if column.name.lower() in reserved:
            hint = "Remove it from the DDL: freshet adds the column itself."
            problems.add(ddl.file, line, "RESERVED_COLUMN", f"freshet keeps the column '{column.name}' itself.", hint)
        elif column.name.lower() == _IS_DELETED:
            said = f"'{_IS_DELETED}' would delete rows that a changelog only marks, and a late change is held against them."
            hint = f"Remove it from the DDL: freshet marks deleted rows by {DELETED}."
            problems.add(ddl.file, line, "RESERVED_COLUMN", said, hint)
        elif key and not column.nullable and column.name not in key:
            said = f"'{column.name}' is NOT NULL, and a deleted row, which stays as a mark, has no values beside its key."
            problems.add(ddl.file, line, "CONFLICTING_SETTING", said, "Remove NOT NULL.")
    ordering = values.get(options.ORDERING_FIELD)
    if ordering is not None and ordering.value.lower() != ORDER:
        said = f"The ordering field is '{ordering.value[:80]}', and rows of a changelog are ordered by their reference keys."
        hint = f"Remove it: freshet orders them for Hudi by {ORDER}, which it adds itself."
        problems.add(ordering.file, ordering.line, "CONFLICTING_SETTING", said, hint)
    partition = values.get(options.PARTITION_BY)
    located = {*map(str.lower, key), *([DAY] if keeps == "events" else ())}
    # One that is nowhere is reported as such.
    known = {*reserved, *(column.name.lower() for column in ddl.columns)}
    outside = [name for name in _names_in(partition) if name in known - located]
    if partition is not None and key and outside:
        said = f"An event tells the key of its row, and {', '.join(outside)}, which partitions the table, is none of it."
        hint = f"Partition by columns of the record key{f', or by {DAY}' * (keeps == 'events')}, or not at all."
        problems.add(partition.file, partition.line, "NOT_SUPPORTED", said, hint)


def _names_in(setting: Setting | None) -> list[str]:
    return [part.strip().lower() for part in (setting.value if setting is not None else "").split(",") if part.strip()]
