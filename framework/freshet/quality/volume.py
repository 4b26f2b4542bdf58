"""How new and how many the rows of a batch are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from freshet.project.model.checks import CheckSpec, FreshnessRule, VolumeRule
from freshet.quality.outcome import Outcome, outcome

_FEWEST = 3


def freshness(check: CheckSpec, newest: str | None, age: int | None, at: int | None = None) -> Outcome:
    """Judge the age of the newest row.

    Args:
        check: A check of freshness.
        newest: The newest value of its column, as text; None where no row has one.
        age: Its age in seconds, by Spark's clock.
        at: Itself, in seconds since 1970.
    """
    assert isinstance(check.rule, FreshnessRule)
    expected = f"a {check.rule.column} of the last {_in_words(check.rule.within_seconds)}"
    if newest is None or age is None:
        return Outcome(check.name, "freshness", check.severity, "skipped", expected=expected, seen="no row with a time")
    seen = f"the newest is {newest}, {_in_words(max(age, 0))} old"
    return replace(outcome(check, age > check.rule.within_seconds, expected=expected, seen=seen), newest=at)


def volume(check: CheckSpec, rows: int, history: Sequence[int]) -> Outcome:
    """Judge the number of rows.

    Args:
        check: A check of volume.
        rows: Rows of the batch.
        history: Rows of the pipeline's last commits, newest first.
    """
    rule = check.rule
    assert isinstance(rule, VolumeRule)
    past = list(history[: rule.last])
    if len(past) < _FEWEST:
        seen = f"{rows:,} rows, and {len(past)} commits to compare with, fewer than {_FEWEST}"
        return Outcome(check.name, "volume", check.severity, "skipped", seen=seen)
    usual = median(past)
    bounds = [
        f"{word} {100 * share:g}%"
        for word, share in (("at least", rule.at_least), ("at most", rule.at_most))
        if share is not None
    ]
    expected = f"{' and '.join(bounds)} of {usual:,g} rows, the median of {len(past)} commits"
    low = rule.at_least is not None and rows < rule.at_least * usual
    high = rule.at_most is not None and rows > rule.at_most * usual
    return outcome(check, low or high, expected=expected, seen=f"{rows:,} rows")


def _in_words(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
