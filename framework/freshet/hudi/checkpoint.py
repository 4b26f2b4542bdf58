"""The vector checkpoint: where a pipeline stands in each of its incremental sources, and its one encoding.

It travels in the ``extraMetadata`` of the commit that publishes the rows it speaks of. Hudi copies every write option
whose key starts with ``hoodie.datasource.write.commitmeta.key.prefix`` into that map; since HoodieStreamer's own key
must be among them, all keys here share its prefix ``streamer.``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.project.model.hidden import without_paths
from freshet.sources.encodings import ENCODINGS
from freshet.sources.position import Position

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
EVENTS_KEY = "streamer.freshet.events"  # of a changelog: what became of each event
TIMES_KEY = "streamer.freshet.event_times"  # how late the events are, and how many are of each window
LOGIC_KEY = "streamer.freshet.logic"
BOOTSTRAP_KEY = "streamer.freshet.bootstrap"  # of a changelog: the backup that the table was loaded from, and its place
MIGRATION_KEY = "streamer.freshet.migration"  # what a table that a migration made takes the place of
COMPARED_KEY = "streamer.freshet.migration.compared"  # and what its comparison with that one found
# HoodieStreamer's own keys: V2 holds a completion time (table version 8), V1 a request time (version 6).
STREAMER_V2_KEY = "streamer.checkpoint.key.v2"
STREAMER_V1_KEY = "deltastreamer.checkpoint.key"

MAIN = "SRC"
#: 2 may hold digests of paths; without one a checkpoint is written as version 1, which earlier versions of freshet read.
VERSION = 2


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

    def furthest(self, place: str) -> Position | None:
        """Return how far the main source was read at most; None where it was another one, or nobody knows."""
        found: Position | None = None
        for position in (self.main, self.seen):
            known = position is not None and position.place == place and position.is_exact
            if position is not None and known and (found is None or position.is_beyond(found)):
                found = position
        return found

    def as_json(self) -> dict[str, object]:
        """Return the vector as a JSON-serialisable mapping, versioned, without the commits that its positions know."""
        return _vector_json(self, lambda position: position.as_json())


def seen_after(before: Checkpoint | None, position: Position) -> Position | None:
    """Return how far the main source had been read where that is further than a new position; None where it is not."""
    furthest = before.furthest(position.place) if before else None
    return furthest if furthest and furthest.is_beyond(position) else None


def _vector_json(checkpoint: Checkpoint, as_json: Callable[[Position], Mapping[str, object]]) -> dict[str, object]:
    positions = {name: _position_json(p, as_json) for name, p in sorted(checkpoint.positions.items())}
    all_of = [p for p in (*checkpoint.positions.values(), checkpoint.seen) if p is not None]
    version = max((p.vector_version for p in all_of), default=1)
    seen = {"seen": _position_json(checkpoint.seen, as_json)} if checkpoint.seen else {}
    return {"version": version, "positions": positions, **seen}


def _position_json(position: Position, as_json: Callable[[Position], Mapping[str, object]]) -> dict[str, object]:
    version = {"version": position.version} if position.version != 1 else {}
    return {"kind": position.kind, **version, **as_json(position)}


def encode(checkpoint: Checkpoint) -> dict[str, str]:
    """Return the commit metadata entries that carry ``checkpoint``, HoodieStreamer's V2 key included.

    Args:
        checkpoint: The vector to publish.

    Returns:
        Metadata key to text.
    """
    vector = _vector_json(checkpoint, lambda position: position.encoded())
    entries = {CHECKPOINT_KEY: json.dumps(vector, sort_keys=True, separators=(",", ":"))}
    form = checkpoint.main.streamer_form() if checkpoint.main is not None else None
    if form is not None:
        entries[STREAMER_V2_KEY] = form
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
        return Checkpoint({MAIN: _decode_streamer(metadata[STREAMER_V2_KEY], False, of, name)})
    if metadata.get(STREAMER_V1_KEY):
        return Checkpoint({MAIN: _decode_streamer(metadata[STREAMER_V1_KEY], True, of, name)})
    return None


def _decode_streamer(text: str, is_v1: bool, of: str, name: str) -> Position:
    found = next(filter(None, (encoding.from_streamer(text, is_v1) for encoding in ENCODINGS.values())), None)
    if found is None:
        # Of another kind of source, such as files.
        shown = without_credentials(text[:2000])[:200]
        raise StateError(
            "CHECKPOINT_UNREADABLE",
            f"{of}HoodieStreamer's checkpoint {shown!r} is none of a Hudi table, a topic or files.",
            "Nothing was read or written.",
            f"Set one of the new source: freshet checkpoint set {name} INSTANT",
            text=shown,
        )
    return found


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
    if kind not in ENCODINGS:
        raise StateError(
            "CHECKPOINT_KIND_UNKNOWN",
            f"the table's checkpoint holds for {name} a position in a source of kind {kind[:40]!r}, "
            f"and this freshet knows {', '.join(map(repr, ENCODINGS))}.",
            "Nothing was read or written.",
            "Upgrade freshet to the version that wrote it.",
            kind=kind[:40],
            position=name,
        )
    return ENCODINGS[kind].decode(raw)
