"""What a commit says of the logic that made its rows, and of the logic of all rows that stood before it. Pure.

The record goes on from commit to commit, so that nobody has to read a history of years to know what stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from freshet.project.model.steps import Granularity

VERSION = 1
#: Of rows whose commit does not tell, and of rows of several logics.
UNKNOWN, SEVERAL = "", "*"
# Of more partitions than this takes, only the newest commit's logic is known.
_MOST_CHARACTERS = 64 * 1024
_FORMS: Mapping[int, tuple[Granularity, str]] = {7: ("month", "%Y-%m"), 10: ("day", "%Y-%m-%d"), 13: ("hour", "%Y-%m-%d-%H")}
_DATED = re.compile(r"(.*?)(\d{4}-\d\d(?:-\d\d)?(?:-\d\d)?)")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """By which logic the rows of a table were made.

    Args:
        held: Digest by partition path: ``SEVERAL``, or ``UNKNOWN``; None where there are too many partitions to tell.
        whole: True where no other partition holds rows.
        digest: Of the last commit that tells its logic; empty where none does.
        at: That commit's completion time.
        before: Completion time of the last commit before by another logic; empty where there is none.
    """

    held: Mapping[str, str] | None = field(default_factory=dict)
    whole: bool = True
    digest: str = ""
    at: str = ""
    before: str = ""


@dataclass(frozen=True, kw_only=True)
class LogicRecord:
    """What one commit says.

    Args:
        digest: Of the logic that made its rows; empty where that is not known, or there are none.
        base: Completion time of the target's last commit when it was planned.
        standing: Of the target's rows up to there.
        parts: Digest of each part of the logic, by its name.
        whole: True where the commit computes each partition that it writes to whole.
        renews: Values of the partitions that it computes whole, whether it writes to them or not.
        ranged: True where it computes a range that follows no partition.
    """

    digest: str
    base: str
    standing: Standing
    parts: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    renews: tuple[str, ...] = ()
    ranged: bool = False


def encode_record(record: LogicRecord) -> str:
    """Return the text under which a commit carries a record."""
    standing = asdict(record.standing)
    if record.standing.held is not None:
        groups: dict[str, list[str]] = {}
        for path, digest in record.standing.held.items():
            groups.setdefault(digest, []).append(path)
        standing["held"] = {digest: list(_packed(paths)) for digest, paths in groups.items()}
    body = {**asdict(record), "version": VERSION, "renews": list(_packed(record.renews)), "standing": standing}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    if len(text) > _MOST_CHARACTERS:
        text = json.dumps({**body, "standing": {**standing, "held": None}}, sort_keys=True, separators=(",", ":"))
    return text


def decode_record(text: str) -> LogicRecord | None:
    """Return a commit's record; None where it is of a later version, or none at all."""
    try:
        raw: dict[str, Any] = json.loads(text)
        if raw.pop("version") != VERSION:
            return None
        standing = raw.pop("standing")
        groups = standing.pop("held")
        held = None if groups is None else {path: digest for digest, packed in groups.items() for path in _unpacked(packed)}
        return LogicRecord(standing=Standing(held=held, **standing), renews=tuple(_unpacked(raw.pop("renews"))), **raw)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def moment_of(value: str, granularity: Granularity) -> datetime | None:
    """Return when a partition begins; None where its value is not of that granularity."""
    kind, form = _FORMS.get(len(value), ("", ""))
    if kind != granularity:
        return None
    try:
        return datetime.strptime(value, form)
    except ValueError:
        return None


def after(moment: datetime, granularity: Granularity) -> datetime:
    """Return when the next partition begins."""
    if granularity == "month":
        return datetime(moment.year + moment.month // 12, moment.month % 12 + 1, 1)
    return moment + timedelta(hours=1 if granularity == "hour" else 24)


def _next(path: str) -> str:
    """Return what follows a path by its date; empty where it has none."""
    found = _DATED.fullmatch(path)
    kind, form = _FORMS[len(found[2])] if found else ("day", "")
    moment = moment_of(found[2], kind) if found else None
    return f"{found[1]}{after(moment, kind):{form}}" if found and moment and moment.year < 9999 else ""


def _packed(paths: Iterable[str]) -> Iterator[str | list[str]]:
    first = last = None
    for path in sorted(paths):
        if last is not None and _next(last) == path:
            last = path
            continue
        if first is not None and last is not None:
            yield first if first == last else [first, last]
        first = last = path
    if first is not None and last is not None:
        yield first if first == last else [first, last]


def _unpacked(packed: Iterable[str | list[str]]) -> Iterator[str]:
    for item in packed:
        first, last = (item, item) if isinstance(item, str) else item
        yield first
        while first != last:
            first = _next(first)
            if not first or first > last:
                raise ValueError("no range of partitions")
            yield first
