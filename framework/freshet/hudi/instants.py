"""An instant as people read it: with its zone, and its age where the zone is known. JSON holds instants as they are."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone

from freshet.hudi.checkpoint import RUN_ID_KEY
from freshet.hudi.table import Instant, TableState

#: Zones of a table's timeline, in Hudi's words (``hoodie.table.timeline.timezone``); freshet writes in UTC.
UTC_ZONE, LOCAL_ZONE = "UTC", "LOCAL"
_TIME = re.compile(
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]?([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2})(?:\.?([0-9]{3}))?)?)?)?Z?"
)
_AGO = re.compile(r"([0-9]{1,4}) ?(s|m|min|h|d|w)(?: ago)?")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNITS = ((90, 1, "s"), (5400, 60, "min"), (172800, 3600, "h"), (float("inf"), 86400, "days"))


def zone_of(table: TableState) -> str:
    """Return the zone by which a table's writers name instants."""
    zone = table.config.properties.get("hoodie.table.timeline.timezone", LOCAL_ZONE).upper()
    # Its writers' zone is not written anywhere; where this machine has none but UTC, it is taken for theirs.
    return UTC_ZONE if zone == UTC_ZONE or (time.timezone == 0 and not time.daylight) else LOCAL_ZONE


def is_named_in_utc(table: TableState) -> bool:
    """Say whether a table's commits are surely named in UTC, whatever the zone of this machine."""
    if table.config.properties.get("hoodie.table.timeline.timezone", LOCAL_ZONE).upper() == UTC_ZONE:
        return True
    return bool(table.data_commits) and all(_is_in_utc(i, table.info(i).extra.get(RUN_ID_KEY, "")) for i in table.data_commits)


def _is_in_utc(commit: Instant, run_id: str) -> bool:
    # freshet's commits hold the time at which their run began, in UTC. No zone is less than a quarter of an hour from it.
    try:
        began = datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S")
        return timedelta(seconds=-60) < datetime.strptime(commit.requested[:14], "%Y%m%d%H%M%S") - began < timedelta(minutes=14)
    except ValueError:
        return False


def instant_of(text: str) -> str:
    """Return a time as Hudi names instants; empty where it is none, or one that no calendar or clock has.

    Args:
        text: An instant, or a time such as ``2026-11-25 23:54:37``, in the zone by which the table's writers name instants.
    """
    found = _TIME.fullmatch(text.strip())
    digits = "".join(part or "" for part in found.groups()).ljust(17, "0") if found else ""
    return digits if is_instant(digits) else ""


def time_of(text: str, zone: str = UTC_ZONE, now: datetime | None = None) -> str:
    """Return a time as Hudi names instants; empty where it is none.

    Args:
        text: What ``instant_of`` takes, or how long ago it was, such as ``5m``, ``2h`` or ``3d``.
        zone: See ``zone_of``; where it is not UTC, it is taken for this machine's.
        now: The time from which is counted back; None for the clock's.
    """
    found = _AGO.fullmatch(text.strip())
    if not found:
        return instant_of(text)
    moment = (now or datetime.now(timezone.utc)) - timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
    local = moment if zone == UTC_ZONE else moment.astimezone()
    return f"{local:%Y%m%d%H%M%S}{local.microsecond // 1000:03}"


def is_instant(text: str) -> bool:
    """Say whether a text is a time as Hudi names instants, with all its digits or some of the milliseconds."""
    if not re.fullmatch(r"[0-9]{14,17}", text):
        return False
    try:
        datetime.strptime(text[:14], "%Y%m%d%H%M%S")
    except ValueError:
        return False
    return True


def readable(instant: str, zone: str = UTC_ZONE, now: datetime | None = None, to_the_millisecond: bool = False) -> str:
    """Return an instant such as ``2026-11-25 23:54:37Z (3 min ago)``.

    Args:
        instant: ``yyyyMMddHHmmss``, with or without milliseconds; anything else is returned as it is.
        zone: See ``zone_of``.
        now: The time from which its age counts; None for no age.
        to_the_millisecond: Whether two of one second must be told apart.
    """
    try:
        moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        # HoodieStreamer's beginning of all time is "000".
        return instant
    if len(instant) not in (14, 17):
        return instant
    text = f"{moment:%Y-%m-%d %H:%M:%S}" + (f".{instant[14:]}" if to_the_millisecond and len(instant) == 17 else "")
    if zone != UTC_ZONE:
        return f"{text} {zone}".rstrip()
    return f"{text}Z" + (f" ({_age((now - moment).total_seconds())})" if now is not None else "")


def seconds_since(instant: str, zone: str, now: float) -> float | None:
    """Return how many seconds ago an instant was; None where its zone is not known, or it is no time.

    Args:
        instant: As Hudi names it.
        zone: See ``zone_of``.
        now: Seconds since 1970.
    """
    moment = timestamp_of(instant, zone)
    # A writer's clock may be ahead.
    return None if moment is None else round(max(0.0, now - moment), 3)


def timestamp_of(instant: str, zone: str = UTC_ZONE) -> float | None:
    """Return an instant in seconds since 1970; None where its zone is not known, or it is no time.

    Args:
        instant: As Hudi names it.
        zone: See ``zone_of``.
    """
    # Of a table that is named in the zone of its writers nobody here knows which zone that is.
    if zone != UTC_ZONE or not is_instant(instant):
        return None
    moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc).timestamp()
    return moment + int(instant[14:].ljust(3, "0")) / 1000


def _age(seconds: float) -> str:
    size = abs(seconds)
    unit, name = next((unit, name) for below, unit, name in _UNITS if size < below)
    # By what is on the clock: a commit of this second has no age.
    return f"in {size / unit:.0f} {name}" if seconds < -1 else f"{max(seconds, 0) / unit:.0f} {name} ago"
