"""Reading the project's files: only those inside the project, only ordinary text of an ordinary size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from freshet.problems import Problems, did_you_mean

MAX_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Place:
    """Where a file is named: what a problem with that name points to."""

    file: str
    line: int


@dataclass(frozen=True)
class ProjectFiles:
    """The files below one folder.

    Args:
        root: The project's folder, resolved.
        instead: Texts that are read instead of those of the files, by the files' names.
    """

    root: Path
    instead: Mapping[str, str] = field(default_factory=dict)

    def read(self, name: str, place: Place, what: str, problems: Problems) -> str | None:
        """Read a text file of the project.

        Args:
            name: Path relative to the project, with forward slashes.
            place: Where the name stands; a missing or foreign file is reported there.
            what: What the file is, for the message: ``DDL file``, ``transformer``.
            problems: Receives PATH_OUTSIDE_PROJECT, NOT_A_FILE, MISSING_FILE, FILE_TOO_LARGE or NOT_TEXT.

        Returns:
            The text with ``\\n`` line ends and without a byte order mark, or None.
        """
        path = self._inside(name)
        if path is None:
            problems.add(
                place.file,
                place.line,
                "PATH_OUTSIDE_PROJECT",
                f"The {what} '{_shown(name)}' is not inside the project.",
                "Name a file below the project's folder, without '..' and not by a link that leads out.",
            )
            return None
        if name in self.instead:
            return self.instead[name]
        try:
            if path.exists() and not path.is_file():
                # A pipe would be waited for, a folder holds no text.
                problems.add(
                    place.file,
                    place.line,
                    "NOT_A_FILE",
                    f"The {what} '{_shown(name)}' is not an ordinary file.",
                    "Put a text file in its place.",
                )
                return None
            if not path.is_file():
                problems.add(
                    place.file,
                    place.line,
                    "MISSING_FILE",
                    f"The {what} '{_shown(name)}' does not exist.",
                    did_you_mean(name, self._siblings(name)),
                )
                return None
            with path.open("rb") as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            problems.add(
                place.file,
                place.line,
                "UNREADABLE_FILE",
                f"The {what} '{_shown(name)}' cannot be read: {error.strerror}.",
                "Check the file's permissions.",
            )
            return None
        return decode(data, name, problems)

    def names(self, folder: str, *endings: str) -> list[str]:
        """List the files of one folder by ending, sorted, as paths relative to the project."""
        try:
            found = [p.name for p in (self.root / folder).iterdir() if p.suffix in endings and not p.name.startswith(".")]
        except OSError:
            return []
        return [f"{folder}/{name}" for name in sorted(found)]

    def _inside(self, name: str) -> Path | None:
        pure = PurePosixPath(name)
        if not name or pure.is_absolute() or ".." in pure.parts or "\\" in name or "\0" in name or ":" in name:
            return None
        try:
            path = (self.root / pure).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return path if path.is_relative_to(self.root) else None

    def _siblings(self, name: str) -> list[str]:
        pure = PurePosixPath(name)
        folder = "" if str(pure.parent) == "." else str(pure.parent)
        near = self.names(folder or ".", ".sql", ".py", ".yml", ".yaml")
        return [n.removeprefix("./") for n in near]


def decode(data: bytes, name: str, problems: Problems) -> str | None:
    """Turn a file's bytes into text.

    Args:
        data: The bytes, at most one more than MAX_FILE_BYTES.
        name: The file's name in problems.
        problems: Receives FILE_TOO_LARGE or NOT_TEXT.

    Returns:
        The text with ``\\n`` line ends and without a byte order mark, or None.
    """
    if len(data) > MAX_FILE_BYTES:
        problems.add(name, 0, "FILE_TOO_LARGE", f"The file is larger than {MAX_FILE_BYTES} bytes.", "Split it.")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problems.add(name, line, "NOT_TEXT", "The file is not UTF-8 text.", "Save it as UTF-8.")
        return None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        problems.add(name, line, "NOT_TEXT", "The file holds a NUL byte.", "Save it as plain text.")
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _shown(name: str) -> str:
    text = name.encode("unicode_escape").decode("ascii")
    return text if len(text) <= 120 else text[:117] + "..."
