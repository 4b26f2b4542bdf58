"""The vector checkpoint: where a pipeline stands in each of its incremental sources, and its one encoding.

It travels in the ``extraMetadata`` of the commit that publishes the rows it speaks of. Hudi copies every write option
whose key starts with ``hoodie.datasource.write.commitmeta.key.prefix`` into that map; since HoodieStreamer's own key
must be among them, all keys here share its prefix ``streamer.``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from freshet.errors import StateError
from freshet.project.model.hidden import without_paths

METADATA_PREFIX = "streamer."
CHECKPOINT_KEY = "streamer.freshet.checkpoint"
PIPELINE_KEY = "streamer.freshet.pipeline"
RUN_ID_KEY = "streamer.freshet.run_id"
FINGERPRINT_KEY = "streamer.freshet.fingerprint"
INDEX_KEY = "streamer.freshet.index"
# Which generation of the HBase index knows the commit's rows, and how many rows stood there before it.
GENERATION_KEY = "streamer.freshet.index.generation"
INDEX_ROWS_KEY = "streamer.freshet.index.rows"
COLUMNS_KEY = "streamer.freshet.columns"  # those whose types are narrower than what a table's schema can say, and the types
ORIGIN_KEY = "streamer.freshet.origin"
BACKFILL_KEY, BACKFILL_LOGIC_KEY = "streamer.freshet.backfill", "streamer.freshet.backfill.logic"
CHECKS_KEY = "streamer.freshet.checks"
LOGIC_KEY = "streamer.freshet.logic"
MIGRATION_KEY = "streamer.freshet.migration"  # what a table that a migration made takes the place of
COMPARED_KEY = "streamer.freshet.migration.compared"  # and what its comparison with that one found
# HoodieStreamer's own keys: V2 holds a completion time (table version 8), V1 a request time (version 6).
STREAMER_V2_KEY = "streamer.checkpoint.key.v2"
STREAMER_V1_KEY = "deltastreamer.checkpoint.key"

MAIN = "SRC"
#: 2 may hold digests of paths; without one a checkpoint is written as version 1, which earlier versions of freshet read.
VERSION = 2
#: The kind of source that a position belongs to: a Hudi table, whose position is an instant.
HUDI = "hudi"

# HoodieStreamer writes a short one, "000", for the beginning of all time. Digits of other scripts are no time.
_INSTANT = re.compile(r"[0-9]{1,17}")
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
class Position:
    """How far one Hudi table has been read.

    Args:
        instant: Time of the last commit read, ``yyyyMMddHHmmssSSS`` in the source table's time zone.
        table: Base path of the table it belongs to; empty where HoodieStreamer wrote it, which does not say.
        basis: ``completed``: a completion time; ``requested``: the request time that HoodieStreamer's V1 key holds.
        known: The commits up to there; none where HoodieStreamer set it.
        digest: Of the path, where ``table`` is only what may be shown of it: see ``project.model.hidden``.
    """

    instant: str
    table: str = ""
    basis: Basis = "completed"
    known: Known = field(default=NONE_KNOWN, compare=False)
    digest: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """One position per incremental input, by the name the SQL uses; the main source is ``SRC``.

    An empty vector is a checkpoint too: it says that the pipeline was reset.

    Args:
        positions: By the input's name.
        seen: How far the main source had been read before, where its position has been set back from there by hand: the target
            holds rows of these commits.
    """

    positions: Mapping[str, Position] = field(default_factory=dict)
    seen: Position | None = None

    @property
    def main(self) -> Position | None:
        """Return the main source's position, None where there is none."""
        return self.positions.get(MAIN)

    def with_main(self, position: Position) -> Checkpoint:
        """Return a copy with the main source moved to ``position``."""
        return Checkpoint({**self.positions, MAIN: position}, self.seen)

    def furthest(self, table: str) -> Position | None:
        """Return how far the main source was read at most; None where it was another table, or nobody knows."""
        known = [p for p in (self.main, self.seen) if p is not None and p.table == table and p.basis == "completed"]
        return max(known, key=lambda p: p.instant, default=None)

    def as_json(self) -> dict[str, object]:
        """Return the vector as a JSON-serialisable mapping, versioned, without the commits that its positions know."""
        return _vector_json(self, _position_json)


def seen_after(before: Checkpoint | None, position: Position) -> Position | None:
    """Return how far the main source had been read where that is further than a new position; None where it is not."""
    furthest = before.furthest(position.table) if before else None
    return furthest if furthest and furthest.instant > position.instant else None


def _vector_json(checkpoint: Checkpoint, as_json: Callable[[Position], Mapping[str, object]]) -> dict[str, object]:
    positions = {name: as_json(p) for name, p in sorted(checkpoint.positions.items())}
    version = VERSION if any(p.digest for p in (*checkpoint.positions.values(), checkpoint.seen) if p) else 1
    return {"version": version, "positions": positions, **({"seen": as_json(checkpoint.seen)} if checkpoint.seen else {})}


def _position_json(position: Position) -> dict[str, object]:
    return {"kind": HUDI, "table": position.table, "instant": position.instant, "basis": position.basis}


def _whole_position_json(position: Position) -> dict[str, object]:
    known = {"since": position.known.since, "commits": ["_".join(pair) for pair in position.known.commits]}
    return {
        **_position_json(position),
        **({"digest": position.digest} if position.digest else {}),
        **({"known": known} if position.known != NONE_KNOWN else {}),
    }


def encode(checkpoint: Checkpoint) -> dict[str, str]:
    """Return the commit metadata entries that carry ``checkpoint``, HoodieStreamer's V2 key included.

    Args:
        checkpoint: The vector to publish.

    Returns:
        Metadata key to text.
    """
    vector = _vector_json(checkpoint, _whole_position_json)
    entries = {CHECKPOINT_KEY: json.dumps(vector, sort_keys=True, separators=(",", ":"))}
    if checkpoint.main is not None and checkpoint.main.basis == "completed":
        entries[STREAMER_V2_KEY] = checkpoint.main.instant
    return entries


def decode(metadata: Mapping[str, str], table: str = "", pipeline: str = "") -> Checkpoint | None:
    """Read the checkpoint out of one commit's metadata.

    Args:
        metadata: The commit's ``extraMetadata``.
        table: The table that the commit is of, for an error.
        pipeline: The pipeline whose checkpoint is asked for, for an error.

    Returns:
        The vector, from freshet's own key, else from HoodieStreamer's V2 or V1 key; None where the commit carries none.

    Raises:
        StateError: CHECKPOINT_TOO_NEW, CHECKPOINT_KIND_UNKNOWN or CHECKPOINT_UNREADABLE.
    """
    of = f"{pipeline}: {table or 'the table'}: " if pipeline else f"{table}: " if table else ""
    name = pipeline or metadata.get(PIPELINE_KEY, "") or "<pipeline>"
    if CHECKPOINT_KEY in metadata:
        return _decode_own(metadata[CHECKPOINT_KEY], of, name)
    if metadata.get(STREAMER_V2_KEY):
        return Checkpoint({MAIN: _decode_streamer(metadata[STREAMER_V2_KEY], "completed", of, name)})
    if metadata.get(STREAMER_V1_KEY):
        return Checkpoint({MAIN: _decode_streamer(metadata[STREAMER_V1_KEY], "requested", of, name)})
    return None


def _decode_streamer(text: str, basis: Basis, of: str, name: str) -> Position:
    if not _INSTANT.fullmatch(text):
        # Of another kind of source, such as Kafka's topic,partition:offset.
        raise StateError(
            "CHECKPOINT_UNREADABLE",
            f"{of}HoodieStreamer's checkpoint {text[:200]!r} is not of a Hudi table.",
            "Nothing was read or written.",
            f"Set one of the new source: freshet checkpoint set {name} INSTANT",
            text=text[:200],
        )
    return Position(instant=text, basis=basis)


# One step per version that ever was: from its JSON to the next version's JSON.
_LADDER: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: lambda raw: raw}  # its paths are all in clear


def _decode_own(text: str, of: str, name: str) -> Checkpoint:
    try:
        raw = json.loads(text)
        version = raw["version"]
        if type(version) is not int:
            raise ValueError("a version is a whole number")
        if version > VERSION:
            raise StateError(
                "CHECKPOINT_TOO_NEW",
                f"{of}the checkpoint has version {version}, and this freshet knows versions up to {VERSION}.",
                "Nothing was read or written.",
                "Upgrade freshet to the version that wrote it.",
                version=version,
            )
        for step in range(version, VERSION):
            raw = _LADDER[step](raw)
        # Who does not know it leaves it out: then nobody knows how far the target has read before.
        seen = _decode_position("seen", raw["seen"]) if raw.get("seen") else None
        return Checkpoint({name: _decode_position(name, p) for name, p in raw["positions"].items()}, seen)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        shown = without_paths(text)[:200]
        raise StateError(
            "CHECKPOINT_UNREADABLE",
            f"{of}the checkpoint is not one: {shown!r}.",
            "Nothing was read or written.",
            f"Set a new one: freshet checkpoint set {name} INSTANT",
            text=shown,
        ) from error


def _decode_position(name: str, raw: dict[str, Any]) -> Position:
    kind = raw["kind"]
    if not isinstance(kind, str):
        raise ValueError("a position says of what kind it is")
    if kind != HUDI:
        raise StateError(
            "CHECKPOINT_KIND_UNKNOWN",
            f"the table's checkpoint holds for {name} a position in a source of kind {kind[:40]!r}, "
            f"and this freshet knows {HUDI!r}.",
            "Nothing was read or written.",
            "Upgrade freshet to the version that wrote it.",
            kind=kind[:40],
            position=name,
        )
    position = Position(
        instant=raw["instant"],
        table=raw["table"],
        basis=raw["basis"],
        known=_decode_known(raw.get("known")),
        digest=raw.get("digest", ""),
    )
    texts = (position.instant, position.table, position.digest)
    if not all(isinstance(text, str) for text in texts) or position.basis not in get_args(Basis):
        raise ValueError("a position is an instant, a table and a basis")
    if not _INSTANT.fullmatch(position.instant):
        raise ValueError("an instant is up to 17 digits")
    return position


def _decode_known(raw: dict[str, Any] | None) -> Known:
    # One that was written before positions knew their commits has none.
    if raw is None:
        return NONE_KNOWN
    found = [_COMMIT.fullmatch(text) for text in raw["commits"]]
    if not all(found) or not _INSTANT.fullmatch(raw["since"]):
        raise ValueError("what a position knows are commits")
    return Known(tuple((commit[1], commit[2]) for commit in found if commit), raw["since"])
