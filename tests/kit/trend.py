"""Whether something that is measured again and again grows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def growth(samples: Sequence[float]) -> float:
    """Return by which share the last third of some samples lies above the middle one, by medians; below 0 where it shrinks.

    The first third is what a process takes to warm up, and a median leaves single peaks out.

    Args:
        samples: At least three, in the order of time, at about the same distance.
    """
    third = len(samples) // 3
    return median(samples[-third:]) / median(samples[third:-third]) - 1
