"""Moments as ISO 8601 writes them, read alike by every Python.

Before 3.11 ``datetime.fromisoformat`` takes no ``Z``, no fraction of other than three or six digits and no hour alone,
https://docs.python.org/3/whatsnew/3.11.html#datetime.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d)(:\d\d)?(:\d\d)?(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?")


def moment_of(text: str) -> datetime:
    """Return the moment that a text is, with its zone where it names one.

    Args:
        text: Such as ``2026-01-05``, ``2026-01-05T13:00`` or ``2026-01-05 13:00:00.25Z``.

    Raises:
        ValueError: It is none.
    """
    return datetime.fromisoformat(text if sys.version_info >= (3, 11) else _longhand(text))


def _longhand(text: str) -> str:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return text
    day, hour, minute, second, fraction, zone = found.groups(default="")
    if zone and zone != "Z" and ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:] or '00'}"
    part = f".{fraction[:6]:0<6}" if fraction else ""
    return f"{day}T{hour}{minute or ':00'}{second or ':00'}{part}{'+00:00' if zone == 'Z' else zone}"
