"""When a pipeline's ``schedule`` has its next time: cron text with five fields, UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d{1,4}))?")
# 29 February comes once in eight years where a century passes without it.
_MOST_DAYS = 366 * 8 + 2


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The times of a cron text.

    Args:
        minutes, hours, days, months, weekdays: The numbers that match; Sunday is 0.
        any_day: True where a day need match only one of ``days`` and ``weekdays``: both are given.
    """

    minutes: Sequence[int]
    hours: Sequence[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment; None where there is none, as for 30 February."""
        first = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        for number in range(_MOST_DAYS):
            day = (first + timedelta(days=number)).replace(hour=0, minute=0) if number else first
            if not self._has_day(day):
                continue
            for hour in self.hours:
                for minute in self.minutes:
                    if number or (hour, minute) >= (first.hour, first.minute):
                        return day.replace(hour=hour, minute=minute)
        return None

    def _has_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        by_number, by_name = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_number or by_name if self.any_day else by_number and by_name


def schedule_of(text: str) -> Schedule | None:
    """Return the schedule of a cron text; None where it is none, or one of another dialect, such as Jenkins' H.

    Args:
        text: Minute, hour, day of the month, month, day of the week; names, ranges, lists and steps as Vixie cron takes them.
    """
    fields = text.lower().split()
    if len(fields) != 5:
        return None
    months = {name: number for number, name in enumerate(_MONTHS, 1)}
    weekdays = {name: number for number, name in enumerate(_DAYS)}
    found = (
        _numbers(fields[0], 0, 59, {}),
        _numbers(fields[1], 0, 23, {}),
        _numbers(fields[2], 1, 31, {}),
        _numbers(fields[3], 1, 12, months),
        _numbers(fields[4], 0, 7, weekdays),
    )
    if not all(found):
        return None
    minutes, hours, days, of_year, of_week = found
    return Schedule(
        minutes=sorted(minutes),
        hours=sorted(hours),
        days=days,
        months=of_year,
        weekdays=frozenset(day % 7 for day in of_week),
        any_day=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )


def _numbers(field: str, least: int, most: int, names: Mapping[str, int]) -> frozenset[int]:
    """Return the numbers of a field; none where it cannot be understood."""
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        step = int(match[4] or 1) if match else 0
        if match is None or step == 0:
            return frozenset()
        if match[1]:
            first, last = least, most
        else:
            numbers = [_number(word, names) for word in (match[2], match[3]) if word is not None]
            if None in numbers:
                return frozenset()
            # A number with a step and no end goes to the end.
            first, last = numbers[0] or 0, numbers[-1] or 0
            last = most if match[4] and match[3] is None else last
        if not least <= first <= last <= most:
            return frozenset()
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(word: str, names: Mapping[str, int]) -> int | None:
    return int(word) if word.isdecimal() else names.get(word)
