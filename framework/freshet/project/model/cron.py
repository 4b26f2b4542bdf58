"""When a pipeline's ``schedule`` has its next time, in its own time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from functools import cache

#: The zone of a schedule that names none.
UTC = "UTC"


@dataclass(frozen=True)
class Schedule:
    """The times of a cron text, as Debian's cron has them.

    Where clocks are put forward a time that does not exist comes as they are; where they are put back a time that exists twice
    comes once, but for a text whose minute or hour begins with a star, which goes on by the hour.

    Args:
        text: Minute, hour, day of the month, month, day of the week.
        zone: Name of its time zone, such as ``Europe/Berlin``.
    """

    text: str
    zone: str = UTC

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment, UTC; None where none comes, or the text or the zone cannot be understood.

        Args:
            moment: With its zone.
        """
        # Only pipelines with a schedule pay for it.
        from cronsim import CronSim, CronSimError

        try:
            found = next(CronSim(self.text, moment.astimezone(_zone(self.zone))), None)
        except (CronSimError, ValueError, OSError, KeyError):
            return None
        return None if found is None else found.astimezone(timezone.utc)


@cache
def _zone(name: str) -> tzinfo:
    if name == UTC:
        # The library has a shorter way for this one object.
        return timezone.utc
    # Only pipelines with a zone of their own pay for it.
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def fault_of_schedule(text: str) -> str:
    """Return what is wrong with a cron text, in words; empty where nothing is.

    Args:
        text: The text.
    """
    from cronsim import CronSim, CronSimError

    if len(text.split()) != 5:
        return "a schedule has five fields: minute, hour, day, month, weekday."
    try:
        times = CronSim(text, datetime(2024, 1, 1, tzinfo=timezone.utc))
        return "" if next(times, None) is not None else "a schedule that never comes."
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        return f"the field '{field}' of the schedule cannot be understood, or never comes."
    except ValueError:
        # Of a number with thousands of digits.
        return "a field of the schedule cannot be understood."


def is_zone(name: str) -> bool:
    """Say whether this machine knows a time zone.

    Args:
        name: Its name, as in the IANA's time zone database.
    """
    try:
        _zone(name)
    except (ValueError, OSError, KeyError):
        return False
    return True
