"""How far a Hudi table has been read: an instant, and the commits that were known up to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from freshet.credentials import bare_path
from freshet.errors import StateError
from freshet.project.model.hidden import NOT_SHOWN, beside, digest_of
from freshet.project.model.paths import same_place
from freshet.sources.position import Encoding, Position

#: The kind of source that a Hudi table is.
HUDI = "hudi"

# HoodieStreamer writes a short one, "000", for the beginning of all time. Digits of other scripts are no time.
_INSTANT = re.compile(r"[0-9]{1,17}")
_OF_FILES = 13
_COMMIT = re.compile(r"([0-9]{14,17})_([0-9]{14,17})")
Basis = Literal["completed", "requested"]


@dataclass(frozen=True)
class Known:
    """The commits of a table that a position was taken with: what is not among them came later, whatever its times say.

    Args:
        commits: Request and completion time of the newest ones, the oldest completion first.
        since: Completion time from which on these are all that there were, the archive included.
    """

    commits: tuple[tuple[str, str], ...] = ()
    since: str = ""


NONE_KNOWN = Known()


@dataclass(frozen=True, kw_only=True)
class HudiPosition(Position):
    """How far one Hudi table has been read.

    Args:
        instant: Time of the last commit read, ``yyyyMMddHHmmssSSS`` in the source table's time zone.
        table: Base path of the table it belongs to; empty where HoodieStreamer wrote it, which does not say.
        basis: ``completed``: a completion time; ``requested``: the request time that HoodieStreamer's V1 key holds.
        known: The commits up to there; none where HoodieStreamer set it.
        digest: Of the path, where ``table`` is only what may be shown of it: see ``project.model.hidden``.
    """

    kind: ClassVar[str] = HUDI

    instant: str
    table: str = ""
    basis: Basis = "completed"
    known: Known = field(default=NONE_KNOWN, compare=False)
    digest: str = ""

    @property
    def place(self) -> str:
        """Return the table's path."""
        return self.table

    @property
    def text(self) -> str:
        """Return the instant."""
        return self.instant

    @property
    def is_exact(self) -> bool:
        """Return True for a completion time: only the table tells which commits a request time stands for."""
        return self.basis == "completed"

    @property
    def vector_version(self) -> int:
        """Return 2 where a digest stands for the path, which an earlier freshet would take for another table."""
        return 2 if self.digest else 1

    def as_json(self) -> dict[str, object]:
        """Return what is shown of it: all but the commits that it knows."""
        return {"table": self.table, "instant": self.instant, "basis": self.basis}

    def encoded(self) -> dict[str, object]:
        """Return what a commit keeps of it."""
        known = {"since": self.known.since, "commits": ["_".join(pair) for pair in self.known.commits]}
        return {
            **self.as_json(),
            **({"digest": self.digest} if self.digest else {}),
            **({"known": known} if self.known != NONE_KNOWN else {}),
        }

    def streamer_form(self) -> str | None:
        """Return the instant where it is a completion time, which HoodieStreamer's V2 key holds."""
        return self.instant if self.is_exact else None

    def is_beyond(self, other: Position) -> bool:
        """Say whether it is a later instant than another one of the same table."""
        return isinstance(other, HudiPosition) and self.instant > other.instant

    def is_at(self, place: str) -> bool:
        """Say whether it is one in the table at a path, however it was kept and however Hadoop calls the place."""
        if self.digest:
            return self.digest == digest_of(place, self.table)
        return same_place(self.table) == same_place(place)

    def in_clear(self, place: str, hidden: Mapping[str, str]) -> HudiPosition:
        """Return it with the table's path in clear where the pipeline reads that; else with what may be shown of it."""
        if self.digest:
            return replace(self, table=place, digest="") if place and self.is_at(place) else self
        if self.table in ("", place, *hidden):
            return self
        # Of an input that the pipeline has no more nobody can tell what its path held.
        doubtful = place in hidden if place else bool(hidden)
        shown = (beside(self.table, hidden[place]) if place else NOT_SHOWN) if doubtful else bare_path(self.table)
        return replace(self, table=shown, digest=digest_of(self.table, shown)) if shown != self.table else self

    def concealed(self, place: str, hidden: Mapping[str, str]) -> HudiPosition:
        """Return it with ``${env.NAME}`` in a secret's place, and a digest of the path."""
        # Of an input that the pipeline has no more nobody can tell whether its path held a secret.
        shown = (hidden.get(self.table) if place else NOT_SHOWN) if not self.digest else None
        return replace(self, table=shown, digest=digest_of(self.table, shown)) if shown else self


def in_hudi(name: str, position: Position | None) -> HudiPosition | None:
    """Return a position as one in a Hudi table; None for none.

    Args:
        name: The pipeline's name, and the input's, for messages.
        position: The position that a checkpoint holds.

    Raises:
        StateError: CHECKPOINT_OF_ANOTHER_KIND.
    """
    if position is None or isinstance(position, HudiPosition):
        return position
    pipeline = name.partition(":")[0]
    raise StateError(
        "CHECKPOINT_OF_ANOTHER_KIND",
        f"{name}: the checkpoint is a position in a source of kind {position.kind!r}, and a Hudi table is read.",
        "Nothing was read or written.",
        f"To read the table from its beginning: freshet checkpoint reset {pipeline}; where another source took its place: "
        f"freshet run {pipeline} --full-refresh",
        kind=position.kind,
    )


def _read(raw: Mapping[str, Any]) -> HudiPosition:
    position = HudiPosition(
        instant=raw["instant"],
        table=raw["table"],
        basis=raw["basis"],
        known=_known(raw.get("known")),
        digest=raw.get("digest", ""),
    )
    texts = (position.instant, position.table, position.digest)
    if not all(isinstance(text, str) for text in texts) or position.basis not in get_args(Basis):
        raise ValueError("a position is an instant, a table and a basis")
    if not _INSTANT.fullmatch(position.instant):
        raise ValueError("an instant is up to 17 digits")
    return position


def _known(raw: dict[str, Any] | None) -> Known:
    # One that was written before positions knew their commits has none.
    if raw is None:
        return NONE_KNOWN
    found = [_COMMIT.fullmatch(text) for text in raw["commits"]]
    if not all(found) or not _INSTANT.fullmatch(raw["since"]):
        raise ValueError("what a position knows are commits")
    return Known(tuple((commit[1], commit[2]) for commit in found if commit), raw["since"])


def _from_streamer(text: str, is_v1: bool) -> HudiPosition | None:
    # Of 13 digits are the times of its sources of files; an instant has 17, or 14 as of old.
    if not _INSTANT.fullmatch(text) or len(text) == _OF_FILES:
        return None
    return HudiPosition(instant=text, basis="requested" if is_v1 else "completed")


#: Versions 1 and 2 of the vector hold it without a version of its own, which is its version 1.
ENCODING = Encoding(kind=HUDI, version=1, read=_read, from_streamer=_from_streamer)
