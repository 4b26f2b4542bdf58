"""Remember parsed DDL files by their text, in ``$FRESHET_CACHE`` or ``~/.cache/freshet``; losing it costs 0.2 s."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from freshet.project.syntax.ddl import DdlTable, Setting
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
    try:
        stored = json.loads(_path(text).read_text("utf-8"))
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
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError):
        return None


def store(text: str, table: DdlTable) -> None:
    """Remember a table that was parsed without any problem; a folder that cannot be written is no error."""
    if REDACTOR.origin(text):
        # No secret lies in a file of ours.
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
    try:
        path = _path(text)
        own = path.with_suffix(f".{os.getpid()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(json.dumps(content), "utf-8")
        own.replace(path)
    except (OSError, RuntimeError):
        return


def _path(text: str) -> Path:
    cache = os.environ.get("FRESHET_CACHE")
    folder = Path(cache).expanduser() if cache else Path.home() / ".cache" / "freshet"
    digest = hashlib.sha256(f"{_VERSION}\0{text}".encode()).hexdigest()
    return folder / "ddl" / f"{digest[:32]}.json"


def _pair(setting: Setting | None) -> tuple[str, int] | None:
    return None if setting is None else (setting.value, setting.line)


def _setting(pair: Any, file: str) -> Setting | None:
    return None if pair is None else Setting(value=str(pair[0]), file=file, line=int(pair[1]))
