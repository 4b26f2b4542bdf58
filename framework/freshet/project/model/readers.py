"""Who reads what a pipeline writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshet.project.model.pipeline import TableRef


@dataclass(frozen=True)
class Reader:
    """A pipeline of the project that reads another one's target incrementally.

    Args:
        name: Its name.
        target: The table that it writes, whose commits hold its checkpoint.
        co_writers: The pipelines that write that table with it.
    """

    name: str
    target: TableRef
    co_writers: tuple[str, ...]
