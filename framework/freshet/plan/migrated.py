"""What a table that a migration made says of itself, and which one it is to be compared with before it is written. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from freshet.credentials import bare_path, without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import COMPARED_KEY, MIGRATION_KEY, ORIGIN_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from freshet.hudi.table import CommitInfo, Instant, StateReader, TableState
from freshet.project.model.hidden import beside, digest_of, without_paths
from freshet.project.model.paths import place_before, places_before, same_place
from freshet.project.model.pipeline import PipelineSpec, TableRef

#: 2 may hold a digest of a path; without one a note is written as version 1.
VERSION = 2
_UNTOUCHED = "Nothing was read or written."
_SERVICES = ("CLUSTER", "COMPACT", "LOG_COMPACT")
# What they wrote the successor reads, too, because it goes on from an earlier position.
_GOES_ON = ("increment", "driven", "index")
# What they wrote a successor that was computed from the source holds, too.
_COMPUTED = ("whole_table", "backfill")


@dataclass(frozen=True, kw_only=True)
class Note:
    """What the first commit of a migrated table says of its making.

    Args:
        before: Base path of the table that it takes the place of, or what may be shown of it.
        commit: Completion time of that table's last commit then.
        copied: True where its rows were copied, False where they were computed from the source.
        digest: Of the path, where it holds a secret: see ``project.model.hidden``.
    """

    before: str
    commit: str
    copied: bool
    digest: str = ""

    def encode(self) -> str:
        """Return the note as a commit carries it."""
        return _encoded({key: value for key, value in vars(self).items() if key != "digest" or value})

    def is_of(self, path: str) -> bool:
        """Say whether the table that it takes the place of is the one at a path."""
        if self.digest:
            return self.digest == digest_of(path, self.before)
        return same_place(self.before) == same_place(path)


@dataclass(frozen=True)
class Verdict:
    """What a commit of a migrated table says of its comparison with the one before it: from then on it is written.

    Args:
        words: What was found.
        differs: True where the two differ, and that was accepted.
    """

    words: str
    differs: bool

    def encode(self) -> str:
        """Return the verdict as a commit carries it."""
        return _encoded(vars(self))


_T = TypeVar("_T", Note, Verdict)


def a_note(spec: PipelineSpec, before: str, commit: str, copied: bool) -> Note:
    """Return a note without a secret.

    Args:
        spec: The pipeline, with the new table as its target.
        before, commit, copied: See ``Note``.
    """
    shown = spec.hidden.get(before)
    return (
        Note(before=shown, commit=commit, copied=copied, digest=digest_of(before, shown))
        if shown
        else Note(before=before, commit=commit, copied=copied)
    )


def shown_before(spec: PipelineSpec, note: Note) -> str:
    """Return what may be shown of the path that a note names: one that was kept in clear may hold an older secret."""
    path = spec.target.ref.path
    ours = spec.hidden.get(path)
    if note.digest or note.before in spec.hidden:
        return note.before
    if ours is None:
        return bare_path(note.before)
    # The successor's name differs by its number alone.
    name = note.before.rpartition("/")[2]
    if name in {before.rpartition("/")[2] for before in places_before(path)}:
        ours = f"{ours.rpartition('/')[0]}/{name}"
    return beside(note.before, ours)


def note_of(table: TableState | None) -> Note | None:
    """Return what a table says of its making; None where it was not made by a migration.

    Raises:
        StateError: MIGRATION_UNREADABLE.
    """
    return _decoded(Note, table.latest_extra(MIGRATION_KEY) if table is not None else None)


def verdict_of(table: TableState | None) -> Verdict | None:
    """Return what a table says of its comparison; None where no commit tells of one.

    Raises:
        StateError: MIGRATION_UNREADABLE.
    """
    found = _decoded(Verdict, table.latest_extra(COMPARED_KEY) if table is not None else None)
    return replace(found, words=without_credentials(found.words)) if found is not None else None


def waits_for(ref: TableRef, state: StateReader, target: TableState | None) -> TableState | None:
    """Return the table that stands whose place another one has not taken yet: that is not loaded, or not compared with it.

    Args:
        ref: The table that the files name.
        state: Read-only view of the tables.
        target: Its state; None where it is not there.
    """
    place = place_before(ref.path)
    if not place:
        return None
    for _, info in target.newest_first() if target is not None else ():
        if MIGRATION_KEY in info.extra:
            break
        # One that runs write was compared: they are refused before, and tables of earlier versions hold no verdict.
        if COMPARED_KEY in info.extra or is_run(info):
            return None
    else:
        if target is not None and target.commits:
            return None
    while place:
        found = state.table(TableRef(ref.name, place))
        if found is not None and found.commits:
            return found
        # An environment may come to two migrations at once.
        place = place_before(place)
    return None


def is_run(info: CommitInfo) -> bool:
    """Say whether a commit of a migrated table is one of a run, and neither its load nor work on its index or its files."""
    return MIGRATION_KEY not in info.extra and info.extra.get(ORIGIN_KEY, "index") != "index"


def refuse_unmigrated(spec: PipelineSpec, state: StateReader, target: TableState | None) -> None:
    """Refuse to write a table whose predecessor stands here and that it was not compared with.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        target: Its target's state; None before the first run.

    Raises:
        StateError: MIGRATION_NOT_DONE.
    """
    before = waits_for(spec.target.ref, state, target)
    if before is not None:
        lacks = "loaded and not compared yet" if target is not None and target.commits else "not loaded yet"
        raise StateError(
            "MIGRATION_NOT_DONE",
            f"{spec.name}: {spec.target.file} names {spec.target.ref.path}, which is {lacks}, and "
            f"the table that it takes the place of stands at {before.ref.path}.",
            _UNTOUCHED,
            f"freshet migrate {spec.name} --dry-run",
            before=before.ref.path,
        )


def unseen_writes(old: TableState, note: Note) -> tuple[str, ...]:
    """Return the commits of a table, by their completion times, that its successor neither holds nor reads from the source.

    Args:
        old: The table.
        note: What its successor says of its making.
    """
    return tuple(i.completed for i, info in _since(old, note.commit) if not _is_seen(info, note.copied))


def _since(table: TableState, commit: str) -> Iterator[tuple[Instant, CommitInfo]]:
    if table.commits and table.commits[0].completed > commit:
        yield from sorted(
            (
                (i, info)
                for i, info in table.load_archived(commit, frozenset(i.requested for i in table.commits))
                if info.operation not in _SERVICES
            ),
            key=lambda pair: pair[0],
        )
    yield from ((i, table.info(i)) for i in table.commits_between(begin_exclusive=commit))


def _is_seen(info: CommitInfo, copied: bool) -> bool:
    origin = info.extra.get(ORIGIN_KEY)
    if origin is None:
        # HoodieStreamer's run, or a writer that nobody knows.
        return STREAMER_V1_KEY in info.extra or STREAMER_V2_KEY in info.extra
    if origin != "override" and not (info.rows or info.file_ids or info.log_ids or info.replaced_ids):
        return True
    return origin in _GOES_ON or (origin in _COMPUTED and not copied)


def _encoded(fields: dict[str, object]) -> str:
    return json.dumps({"version": VERSION if "digest" in fields else 1, **fields}, sort_keys=True)


def _decoded(kind: type[_T], text: str | None) -> _T | None:
    if text is None:
        return None
    try:
        raw = json.loads(text)
        if raw.pop("version") not in (1, VERSION):
            raise ValueError
        return kind(**raw)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        shown = without_paths(text)[:200]
        raise StateError(
            "MIGRATION_UNREADABLE",
            f"a commit's note of its migration is not one: {shown!r}.",
            _UNTOUCHED,
            "Upgrade freshet to the version that wrote it.",
            text=shown,
        ) from error
