"""Collecting problems, and the nearest known name for a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like ``name`` (case does not count), or None where none comes near.

    Args:
        name: What the user wrote.
        known: Names that would have been right.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?`` or, where nothing comes near, the known names; empty where there are none."""
    names = sorted(set(known))
    match = nearest(name, names)
    if match:
        return f"Did you mean '{match}'?"
    if not names:
        return ""
    shown = ", ".join(f"'{n}'" for n in names[:12])
    return f"Known: {shown}" + (", ..." if len(names) > 12 else ".")
