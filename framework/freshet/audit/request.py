"""What an audit is asked for, and the words that ask for it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from freshet.hudi.instants import instant_of

#: Of an audit that is told nothing.
DEFAULT_SHARE = 0.01
_SHARE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(%?)")
_AGO = re.compile(r"(\d{1,6})(min|h|d|w)")
_UNITS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """What is audited, and whether it is mended.

    Args:
        share: Share of the pieces that is drawn.
        keys: About how many rows are drawn, instead of a share; 0 for a share.
        everything: True where nothing is drawn, and all rows are compared.
        since: Only rows that the target got since this time, as Hudi names instants; empty for all.
        seed: What the sample is drawn by: the same one draws the same pieces.
        repair: True where what differs is mended.
    """

    share: float = DEFAULT_SHARE
    keys: int = 0
    everything: bool = False
    since: str = ""
    seed: str = ""
    repair: bool = False


def share_of(text: str) -> float | None:
    """Return a share such as ``1%``, ``0.5 %`` or ``0.01``; None where the text is none, or beyond all there is."""
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        return None
    share = float(match[1]) / (100 if match[2] else 1)
    return share if 0 < share <= 1 else None


def since_of(text: str, now: datetime | None = None) -> str:
    """Return a time, or one so long ago (``90min``, ``6h``, ``3d``, ``2w``), as Hudi names instants; empty where it is none.

    Args:
        text: What the command line says.
        now: The present time, UTC.
    """
    ago = _AGO.fullmatch(text.strip())
    if ago is None:
        return instant_of(text)
    try:
        return ((now or datetime.now(timezone.utc)) - int(ago[1]) * _UNITS[ago[2]]).strftime("%Y%m%d%H%M%S%f")[:17]
    except OverflowError:
        return ""
