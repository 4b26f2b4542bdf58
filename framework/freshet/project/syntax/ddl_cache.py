"""Remember parsed DDL files by their text, in the cache; losing it costs 0.2 s."""

from __future__ import annotations

from typing import Any

from freshet.project.syntax.ddl import DdlTable, Setting
from freshet.remembered import recall, remember
from freshet.secrets import REDACTOR
from freshet.types.columns import Column
from freshet.types.from_json import type_from_spark, type_to_spark

# Counts up whenever the same text is read differently than before.
_VERSION = 3


def load(text: str, file: str) -> DdlTable | None:
    """Return the table that this text was parsed to before, or None.

    Args:
        text: The DDL file's text.
        file: Its name now.
    """
    stored = recall("ddl", _key(text))
    try:
        return DdlTable(
            name=stored["name"],
            file=file,
            line=stored["line"],
            columns=tuple(
                Column(name=name, type=type_from_spark(kind), nullable=nullable, comment=comment)
                for name, kind, nullable, comment in stored["columns"]
            ),
            column_lines=stored["column_lines"],
            partition_by=_setting(stored["partition_by"], file),
            location=_setting(stored["location"], file),
            settings={key: Setting(value=value, file=file, line=line) for key, (value, line) in stored["settings"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def store(text: str, table: DdlTable) -> None:
    """Remember a table that was parsed without any problem."""
    if REDACTOR.origin(text):
        # What a secret became in the table may be another text.
        return
    content = {
        "name": table.name,
        "line": table.line,
        "columns": [(c.name, type_to_spark(c.type), c.nullable, c.comment) for c in table.columns],
        "column_lines": dict(table.column_lines),
        "partition_by": _pair(table.partition_by),
        "location": _pair(table.location),
        "settings": {key: _pair(setting) for key, setting in table.settings.items()},
    }
    remember("ddl", _key(text), content)


def _key(text: str) -> str:
    return f"{_VERSION}\0{text}"


def _pair(setting: Setting | None) -> tuple[str, int] | None:
    return None if setting is None else (setting.value, setting.line)


def _setting(pair: Any, file: str) -> Setting | None:
    return None if pair is None else Setting(value=str(pair[0]), file=file, line=int(pair[1]))
