"""Files of Java's properties, as a server reads them when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """Write a file of properties, in a folder that is made where there is none.

    Args:
        path: The file.
        settings: Values by name; names need no escapes.
    """
    path.parent.mkdir(exist_ok=True)
    text = "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())
    # Java reads properties as Latin-1, and everything else by its escapes.
    path.write_bytes(text.encode("ascii"))


def _escaped(value: str) -> str:
    text = value.replace("\\", "\\\\")
    return "".join(letter if " " <= letter <= "~" else _unicode(letter) for letter in text)


def _unicode(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
