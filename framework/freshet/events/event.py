"""What happens during a run, as events: whoever listens prints, counts or stores them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened.

    Args:
        name: Stable name: ``waiting``, ``phase``, ``notice``, ``conflict``, ``chunk``, ``committed``, ``idle``, ``failed``,
            ``skipped``.
        pipeline: The pipeline it happened to.
        message: The same in words.
        fields: Parameters for machines, JSON-serialisable.
    """

    name: str
    pipeline: str
    message: str
    fields: Mapping[str, object] = field(default_factory=dict)


Listener = Callable[[Event], None]
