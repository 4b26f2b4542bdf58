"""How long a run may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunLimits:
    """How long a run may take.

    Args:
        timeout_seconds: After so long it is ended; None for no limit.
        stalled_seconds: After so long without a sign of life its threads are logged; where it does nothing at all, it is ended.
    """

    timeout_seconds: int | None = None
    stalled_seconds: int = 1800


DEFAULT_LIMITS = RunLimits()
