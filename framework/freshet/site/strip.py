"""The last runs of a pipeline as a strip of bars. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from freshet.hudi.instants import readable
from freshet.run.record_files import RUNS
from freshet.site.facts import Run
from freshet.site.tone import Tone, tone_of_outcome
from freshet.site.words import duration

_MOST, _WIDTH, _STEP, _HEIGHT = 24, 7, 10, 26
_IDLE, _LEAST = 4, 7


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One run: its bar's place and height, and what it says."""

    x: int
    y: int
    height: int
    tone: Tone
    title: str


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The last runs, the oldest first; ``label`` says the same in words."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    label: str
    bar_width: int = _WIDTH


def strip_of(runs: Sequence[Run]) -> Strip:
    """Return the strip of a pipeline's runs.

    Args:
        runs: Its runs, the newest first; backfills, services and the like are left out.
    """
    shown = [one for one in runs if one.what in RUNS][:_MOST][::-1]
    longest = max((one.seconds or 0.0 for one in shown), default=0.0)
    bars = []
    for number, one in enumerate(shown):
        tone = tone_of_outcome(one.outcome)
        # By its height alone a failure is told from a success, too: it is as high as the strip.
        height = _HEIGHT if tone == "bad" else _IDLE if tone == "idle" else _high(one.seconds, longest)
        bars.append(Bar(x=number * _STEP, y=_HEIGHT - height, height=height, tone=tone, title=_title(one)))
    return Strip(width=max(_STEP * _MOST, 1), height=_HEIGHT, bars=tuple(bars), label=_label(shown))


def _high(seconds: float | None, longest: float) -> int:
    return _LEAST + round((_HEIGHT - 4 - _LEAST) * sqrt((seconds or 0.0) / longest)) if longest else _LEAST


def _title(run: Run) -> str:
    count = f" x{run.count}" if run.count > 1 else ""
    took = f", {duration(run.seconds)}" if run.seconds is not None and run.outcome != "idle" else ""
    return f"{readable(run.last)}: {run.outcome}{count}{took}{f', {run.code}' if run.code else ''}"


def _label(shown: Sequence[Run]) -> str:
    if not shown:
        return "no run yet"
    counts = Counter[str]()
    for one in shown:
        counts[one.outcome] += one.count
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    return f"last runs: {words}; the newest {shown[-1].outcome}"
