"""How a state is to be taken, and the word and sign that say so beside its colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

#: ``bad`` needs somebody, ``warn`` soon will, ``work`` is at work, ``idle`` has not begun.
Tone = Literal["ok", "warn", "bad", "work", "idle"]
#: Worst first, as lists are sorted.
TONES: tuple[Tone, ...] = ("bad", "warn", "work", "ok", "idle")
#: Nobody has to tell colours apart.
SIGNS: Mapping[Tone, str] = {"ok": "✓", "warn": "!", "bad": "✕", "work": "▶", "idle": "○"}
_OF_OUTCOMES: Mapping[str, Tone] = {
    "committed": "ok",
    "done": "ok",
    "equal": "ok",
    "repaired": "ok",
    "idle": "idle",
    "skipped": "warn",
    "differs": "bad",
    "failed": "bad",
    "killed": "bad",
}
_OF_CHECKS: Mapping[str, Tone] = {"passed": "ok", "skipped": "idle", "warned": "warn", "dropped": "warn", "failed": "bad"}
_OF_PROMISES: Mapping[str, Tone] = {"kept": "ok", "at_risk": "warn", "broken": "bad"}


def worst(tones: Iterable[Tone]) -> Tone:
    """Return the worst of some tones; ``ok`` for none."""
    return min(tones, key=TONES.index, default="ok")


def tone_of_outcome(outcome: str) -> Tone:
    """Return how a run's outcome is to be taken."""
    return _OF_OUTCOMES.get(outcome, "warn")


def tone_of_check(status: str) -> Tone:
    """Return how what a check found is to be taken."""
    return _OF_CHECKS.get(status, "warn")


def tone_of_promise(result: str) -> Tone:
    """Return how what has become of a promise is to be taken."""
    return _OF_PROMISES.get(result, "warn")
