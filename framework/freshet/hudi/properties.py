"""A table's ``hoodie.properties``: whole, or being rewritten, or broken, or not there."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Mapping

from freshet.hudi.never_began import is_cut_off, never_began
from freshet.storage.failures import TableUnreadable
from freshet.storage.files import Storage

#: Names of completed actions: request time, completion time, action.
COMPLETED = re.compile(r"^(\d{14,17})_(\d{14,17})\.([a-z]+)$")
# As tables of older versions name them.
_OLD_COMPLETED = re.compile(r"^\d{14,17}\.(commit|deltacommit|replacecommit)$")
# Java writes properties in ASCII; what a person adds by hand may be UTF-8.
_NO_TEXT = re.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f\\ufffd]")
# Hudi writes a file of the timeline in place on a local disk: a reader may see it empty or cut off for some milliseconds.
# Seconds.
WAITS = (0.01, 0.04, 0.15, 0.3)


def read_properties(storage: Storage, base: str) -> dict[str, str] | None:
    """Read a table's settings, in however short a moment they are rewritten.

    Args:
        storage: Where the table lies.
        base: Its base path.

    Returns:
        The properties; None where there is no table, or what is left of one that never began.

    Raises:
        TableUnreadable: The file is missing beside commits, holds no setting of Hudi's, or is damaged.
    """
    path, found, damage = f"{base}/.hoodie/hoodie.properties", None, ""
    for wait in (*WAITS, 0):
        # While Hudi rewrites the file, the backup beside it holds the properties.
        for candidate in (path, f"{path}.backup"):
            try:
                text = storage.read(candidate).decode("utf-8", "replace")
            except (FileNotFoundError, NotADirectoryError):
                continue
            found = _parse_properties(text)
            damage = "is no text" if _NO_TEXT.search(text) else _damage(found)
            # The first part of a file may look whole.
            if "hoodie.table.version" in found and not damage and not (is_cut_off(text) and never_began(base)):
                return found
        if found is None and not _has_commits(storage, base):
            return None
        time.sleep(wait)
    if never_began(base):
        return None
    if not damage and found and any(key.startswith("hoodie.") for key in found):
        # Of a table that is older than the setting.
        return found
    what = "is missing, and its timeline has commits" if found is None else damage or "holds no setting of Hudi's"
    raise TableUnreadable(
        path, what, "Restore the file; where the table was only being made, and holds nothing, delete its folder."
    )


def _damage(properties: Mapping[str, str]) -> str:
    """Return what is wrong with properties that Hudi made: beside its checksum stand a name and a version."""
    checksum = properties.get("hoodie.table.checksum")
    if checksum is None:
        return ""
    for key in ("hoodie.table.name", "hoodie.table.version"):
        if key not in properties:
            return f"holds no {key}"
    named = f"{properties.get('hoodie.database.name', '')}.{properties['hoodie.table.name']}"
    # Of other names Java's escapes would have to be undone as Java does it.
    plain = named.isascii() and "\\" not in named
    return "does not fit its hoodie.table.checksum" if plain and checksum != str(zlib.crc32(named.encode())) else ""


def _has_commits(storage: Storage, base: str) -> bool:
    folders = (f"{base}/.hoodie/timeline", f"{base}/.hoodie")
    return any(COMPLETED.match(name) or _OLD_COMPLETED.match(name) for folder in folders for name in storage.names(folder))


def _parse_properties(text: str) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))

    # Java escapes ':' and '=' in property values, and writes what is not ASCII as \uXXXX.
    def plain(value: str) -> str:
        value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
        return re.sub(r"\\([:=#! ])", r"\1", value)

    return {key.strip(): plain(value.strip()) for key, value in pairs}
