"""How much the process does at a time, and how long it waits for what it does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much the process does at a time.

    Args:
        parallel: How many pipelines run at a time.
        grace_seconds: So long runs may go on once the process is told to stop.
    """

    parallel: int = 2
    grace_seconds: float = 120.0
