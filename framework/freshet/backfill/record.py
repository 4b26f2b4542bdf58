"""What a backfill's commit says of itself: which range, which chunk of it, and upon which version of the target."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import BACKFILL_KEY, BACKFILL_LOGIC_KEY, FINGERPRINT_KEY, PIPELINE_KEY
from freshet.hudi.table import CommitInfo, Instant, TableState

VERSION = 1
ChunkState = Literal["done", "failed"]


@dataclass(frozen=True, kw_only=True)
class ChunkRecord:
    """One chunk of a backfill, as its commit tells it.

    Args:
        backfill: Which backfill: its range and chunk length as text.
        start: Begin of the chunk, inclusive, ``yyyy-MM-ddTHH:mm:ss``.
        end: End of the chunk, exclusive.
        chunks: How many chunks the backfill has.
        state: ``done``, or ``failed``: the commit holds no rows, only the news.
        base: Completion time of the target's last commit when the chunk was planned; what came between is not in its rows.
        write: ``upsert`` or ``insert_overwrite``.
        error: Code of the error, of a failed chunk.
    """

    backfill: str
    start: str
    end: str
    chunks: int
    state: ChunkState
    base: str
    write: str
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ChunkCommit:
    """A chunk's record with the commit that carries it, and by what it was done: see ``plan.made_by``; empty where unknown."""

    record: ChunkRecord
    instant: Instant
    info: CommitInfo
    fingerprint: str
    made_by: str = ""


def encode_chunk(record: ChunkRecord) -> dict[str, str]:
    """Return the commit metadata entry that carries a chunk's record."""
    return {BACKFILL_KEY: json.dumps({"version": VERSION, **asdict(record)}, sort_keys=True)}


def chunk_commits(target: TableState, pipeline: str, archived: bool = True) -> list[ChunkCommit]:
    """Return the commits of a pipeline's backfills, newest first.

    Args:
        target: The table.
        pipeline: The pipeline's name.
        archived: Look into the table's archived timeline too.

    Raises:
        StateError: BACKFILL_UNREADABLE.
    """
    walk = target.newest_first() if archived else ((i, target.info(i)) for i in reversed(target.commits))
    return [
        ChunkCommit(
            record=_decode(info.extra[BACKFILL_KEY]),
            instant=instant,
            info=info,
            fingerprint=info.extra.get(FINGERPRINT_KEY, ""),
            made_by=info.extra.get(BACKFILL_LOGIC_KEY, ""),
        )
        for instant, info in walk
        if BACKFILL_KEY in info.extra and info.extra.get(PIPELINE_KEY) == pipeline
    ]


def touched_between(target: TableState, base: str, before: str, values: Sequence[str]) -> list[str]:
    """Return the completion times of the commits in ``(base, before)`` that wrote one of the partitions.

    Args:
        target: The table.
        base: Completion time, exclusive.
        before: Completion time, exclusive.
        values: Values of the partitions, of whichever of the table's partition columns; empty for all.
    """
    found = []
    for instant in target.commits_between(begin_exclusive=base):
        if instant.completed >= before:
            continue
        written = {part.rpartition("=")[2] for path in target.info(instant).partitions for part in path.split("/")}
        if written & set(values) if values else written:
            found.append(instant.completed)
    return found


def _decode(text: str) -> ChunkRecord:
    try:
        raw = json.loads(text)
        version = raw.pop("version")
        if version != VERSION:
            raise ValueError(f"version {version}")
        if not isinstance(raw["chunks"], int) or not all(isinstance(raw[name], str) for name in raw if name != "chunks"):
            raise ValueError("of another form")
        if raw["backfill"].count("/") != 2:
            raise ValueError("which backfill it is of is not told")
        return ChunkRecord(**raw)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        shown = without_credentials(text[:2000])[:200]
        raise StateError(
            "BACKFILL_UNREADABLE",
            f"a commit's record of its backfill is not one: {shown!r}.",
            "Nothing was read or written.",
            "Upgrade freshet to the version that wrote it.",
            text=shown,
        ) from error
