"""Collecting problems, and the nearest known name for a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from freshet.errors import Problem


@dataclass
class Problems:
    """Everything found wrong so far; checks add to it and go on, so that a user sees all of it at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, file: str, line: int, code: str, message: str, hint: str = "") -> None:
        """Note one problem.

        Args:
            file: Path relative to the project, or ``--set``.
            line: 1-based line, 0 for the whole file.
            code: Stable name.
            message: What is wrong.
            hint: What to write instead.
        """
        self.found.append(Problem(file=file, line=line, code=code, message=message, hint=hint))

    def __len__(self) -> int:
        return len(self.found)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name most like ``name`` (case does not count), or None where none comes near.

    Args:
        name: What the user wrote.
        known: Names that would have been right.
        cutoff: How like it must be, from 0 to 1, as ``difflib`` measures it.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[matches[0]] if matches else None


def is_misspelt(path: Sequence[str], unknown: Iterable[Sequence[str]]) -> bool:
    """Say whether a missing key is there under a name that is nearly its own, which is one mistake and not two.

    Args:
        path: Of the missing key.
        unknown: Paths of keys that nobody knows.
    """
    return any(tuple(other[:-1]) == tuple(path[:-1]) and nearest(other[-1], path[-1:]) for other in unknown)


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None, cutoff: float = 0.6) -> str:
    """Return ``Did you mean 'x'?`` with the known name nearest to ``name``.

    Args:
        name: What the user wrote.
        known: Names that would have been right.
        otherwise: What is returned where nothing comes near; by default the known names, empty where there are none.
        cutoff: See ``nearest``.
    """
    names = sorted(set(known))
    match = nearest(name, names, cutoff)
    if match:
        return f"Did you mean '{match}'?"
    if otherwise is not None or not names:
        return otherwise or ""
    shown = ", ".join(f"'{n}'" for n in names[:12])
    return f"Known: {shown}" + (", ..." if len(names) > 12 else ".")
