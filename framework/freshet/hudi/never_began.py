"""What is left of a table that never began: its writer was ended while Hudi made it, before there was anything in it.

Hudi 1.0.2 makes the folders of ``.hoodie`` first, then writes ``hoodie.properties`` in place, without a file beside it that it
would rename (``HoodieTableConfig.create``; the backup is for later changes). A writer that is killed, or whose disk is full,
leaves the file empty, or cut off where a long schema takes it past the buffers. To Hudi a table is there as soon as
``.hoodie`` is, so that every later write fails.
"""

from __future__ import annotations

import os
from pathlib import Path

from freshet.storage.files import is_local, local_path

#: Of a table, and of Hadoop's checksum of it.
PROPERTIES = ("hoodie.properties", ".hoodie.properties.crc")
_CHECKSUM = "hoodie.table.checksum"


def is_cut_off(text: str) -> bool:
    """Say whether properties end before their end: Java ends each line, and Hudi adds a checksum."""
    return not text.endswith("\n") and _CHECKSUM not in text


def never_began(base: str) -> bool:
    """Say whether a folder is what is left of a table that never began.

    There is nothing in it but ``.hoodie``, and nothing in that but folders without files and properties that are empty or cut
    off: no instant, no backup, no lock, no heartbeat.

    Args:
        base: The table's base path. Of a remote one nothing is said: an object store has a file whole or not at all.
    """
    if not is_local(base):
        return False
    folder = Path(local_path(base)) / ".hoodie"
    try:
        # First what tells a table that has begun: a writer asks at each tick.
        if not is_cut_off(_text(folder / PROPERTIES[0])) or os.listdir(folder.parent) != [folder.name] or folder.is_symlink():
            return False
        for place, _, files in os.walk(folder, onerror=_raise):
            if files and (Path(place) != folder or not set(files) <= set(PROPERTIES)):
                return False
    except OSError:
        return False
    return True


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except FileNotFoundError:
        # A writer that was ended a moment earlier has left the folders alone.
        return ""


def _raise(error: OSError) -> None:
    # A folder that cannot be listed is not an empty one.
    raise error
