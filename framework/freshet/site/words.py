"""Numbers, lengths of time and moments in words: what templates write."""

from __future__ import annotations

import shlex
from datetime import datetime, timezone
from urllib.parse import quote

from markupsafe import Markup

from freshet.hudi.instants import UTC_ZONE, readable, timestamp_of

_UNITS = ((1, 0.001, "ms"), (90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h"), (float("inf"), 86_400, "days"))
_SIZES = ((1e6, 1e3, "kB"), (1e9, 1e6, "MB"), (float("inf"), 1e9, "GB"))
#: A project has one of these, which commands take where none is named.
_DEFAULT_ENVS = ("base", "local")
STATES = {
    "new": "never ran",
    "waiting": "waits for another pipeline",
    "up_to_date": "up to date",
    "behind": "behind",
    "invalid": "files are wrong",
}


def state_in_words(state: str) -> str:
    """Return a state as people read it; the code of what forbids the next run stays as it is."""
    return STATES.get(state, state)


def duration(seconds: float | None) -> str:
    """Return a length of time, such as ``4.2 s`` or ``12 min``; a dash for none."""
    if seconds is None:
        return "-"
    size, unit = next((size, unit) for below, size, unit in _UNITS if seconds < below)
    count = seconds / size
    return f"{count:.1f} {unit}" if count < 10 and unit != "ms" and count != int(count) else f"{count:.0f} {unit}"


def size(count: int) -> str:
    """Return a number of bytes as people say it."""
    unit, name = next((unit, name) for below, unit, name in _SIZES if count < below)
    return f"{count / unit:,.1f} {name}" if count < 10 * unit else f"{count / unit:,.0f} {name}"


def number(count: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{count:,}"


def share(part: int, of: int) -> int:
    """Return a share in whole per cent; all of nothing is all of it."""
    return round(100 * part / of) if of else 100


def moment(seconds: float) -> str:
    """Return seconds since 1970 as a time of day and date."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%SZ}"


def when(instant: str, made: float, zone: str = UTC_ZONE) -> Markup:
    """Return an instant as HTML: its time, and its age as of when the page was made.

    Args:
        instant: As Hudi names it; empty for none. What is no instant is shown as it is.
        made: When the page was made, in seconds since 1970.
        zone: In which the instant is named.
    """
    if not instant:
        return Markup("-")
    seconds = timestamp_of(instant, zone)
    if seconds is None:
        return Markup("{}").format(readable(instant, zone))
    iso = f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    age = Markup('<span class="age">{} ago</span>').format(duration(max(0.0, float(round(made - seconds)))))
    return Markup('<time datetime="{}">{}</time> {}').format(iso, readable(instant, zone), age)


def typed(words: str, env: str) -> str:
    """Return a command as it is typed.

    Args:
        words: What stands behind ``freshet``.
        env: The environment, which is named where a command would take another one by itself.
    """
    return f"freshet {words}" if env in _DEFAULT_ENVS else f"freshet {words} --env {env}"


def ahead(seconds: float) -> str:
    """Return how far ahead a moment is."""
    return f"in {duration(float(round(seconds)))}" if seconds >= 0.5 else "now"


def call(address: str, what: str, pipeline: str) -> str:
    """Return the command that asks a process that serves for something.

    Args:
        address: Where it listens.
        what: ``trigger``, ``pause`` or ``resume``.
        pipeline: The pipeline's name.
    """
    place = shlex.quote(f"{address}/api/{what}/{quote(pipeline, safe='')}")
    return f'curl -X POST -H "Authorization: Bearer $FRESHET_SERVE_TOKEN" {place}'
