"""Delete a table of a migration: the old one when the new one is in its place, or the new one when it is given up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from freshet.errors import StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener
from freshet.events.kinds import Phase
from freshet.hudi.table import StateReader
from freshet.plan.migrated import Note, is_run, note_of, refuse_unmigrated, shown_before, waits_for
from freshet.project.model.paths import next_place, places_before, quarantine_of, same_place
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quarantine.identity import foreign_words
from freshet.run.delete import delete_table
from freshet.run.write_session import WriteSession, write_session
from freshet.sources.hudi.reads import counted
from freshet.storage.files import storage_for

_KEPT = "Nothing was deleted."


def drop_old(
    spec: PipelineSpec,
    pipelines: Sequence[PipelineSpec],
    root: str,
    state: StateReader,
    listen: Listener,
    sure: bool,
) -> tuple[str, ...]:
    """Delete the tables whose places the target has taken, each with its quarantine.

    Args:
        spec: The pipeline.
        pipelines: Those of the project.
        root: The project's folder.
        state: Reader of the tables.
        listen: Told what happens.
        sure: Delete it though it was written after the new table was loaded, or rows wait in its quarantine.

    Returns:
        The paths deleted, as they may be shown; none where there is nothing left.

    Raises:
        StateError: NOT_MIGRATED, MIGRATION_NOT_DONE, OLD_TABLE_READ, OLD_TABLE_WRITTEN or QUARANTINE_NOT_EMPTY.
        RetryableError: ALREADY_RUNNING.
    """
    target = state.table(spec.target.ref)
    note = note_of(target)
    if note is None or note.is_of(spec.target.ref.path):
        raise StateError(
            "NOT_MIGRATED",
            f"{spec.name}: no migration has made {spec.target.ref.path}, which {spec.target.file} names.",
            _KEPT,
            f"See what stands: freshet migrate {spec.name} --dry-run",
        )
    refuse_unmigrated(spec, state, target)
    line = _line(spec, note, state)
    for old, made in line:
        used = sorted(
            {pipeline.name for pipeline in pipelines for path in _paths(pipeline) if same_place(path) == same_place(old.path)}
        )
        if used:
            raise StateError(
                "OLD_TABLE_READ",
                f"{spec.name}: {', '.join(used)} still reads or writes {shown_before(spec, made)}.",
                _KEPT,
                f"Point it to {spec.target.ref.path}, then run the same command.",
                pipelines=used,
            )
    done: list[str] = []
    # The oldest first: it is found by the one that took its place.
    for old, made in reversed(line):
        shown = shown_before(spec, made)
        with _held(spec, old, listen) as session:
            stands = state.table(old)
            later = [i.completed for i in stands.commits_between(made.commit)] if stands is not None else []
            if later and not sure:
                raise StateError(
                    "OLD_TABLE_WRITTEN",
                    f"{spec.name}: {shown} was written after its successor was loaded, last at "
                    f"{later[-1]}: another checkout of the project may still use it.",
                    f"Deleted: {', '.join(done)}." if done else _KEPT,
                    f"Where it does not: freshet migrate {spec.name} --drop-old --yes",
                    commits=later,
                )
            if made.copied and not sure:
                _refuse_waiting(spec, old, shown, root, state, done)
            session.confirm()
            done += _deleted(spec, old, shown, state, listen)
    return tuple(done)


def _refuse_waiting(spec: PipelineSpec, old: TableRef, shown: str, root: str, state: StateReader, done: Sequence[str]) -> None:
    place = quarantine_of(spec.name, old)
    if state.table(place) is None:
        return
    # PySpark costs a second to import, and hardly any deletion needs it.
    from freshet.migration.load import rows_waiting

    rows = rows_waiting(spec, old, root, state)
    if rows:
        raise StateError(
            "QUARANTINE_NOT_EMPTY",
            f"{spec.name}: {counted(rows, 'row')} wait in {_beside(place, shown)}, and the copy of {shown} has none of them.",
            f"Deleted: {', '.join(done)}." if done else _KEPT,
            f"Publish them by the files that {shown} was made by; or give them up: freshet migrate {spec.name} --drop-old "
            "--yes",
            rows=rows,
        )


def _line(spec: PipelineSpec, note: Note | None, state: StateReader) -> list[tuple[TableRef, Note]]:
    """Return the tables whose places were taken, one after the other, each with what its successor says of it."""
    path = spec.target.ref.path
    found, seen = [], {same_place(path)}
    while note is not None:
        path = next(filter(note.is_of, places_before(path)), "") if note.digest else note.before
        if not path:
            raise StateError(
                "NOT_MIGRATED",
                f"{spec.name}: where the table lies that {spec.target.ref.path} has taken the place of is not "
                f"known any more: {note.before} held another secret then.",
                _KEPT,
                "Delete it by hand.",
            )
        if same_place(path) in seen:
            break
        old = TableRef(spec.target.ref.name, path)
        seen.add(same_place(path))
        found.append((old, note))
        note = note_of(state.table(old))
    return found


def abandon(spec: PipelineSpec, state: StateReader, listen: Listener) -> tuple[str, ...]:
    """Delete what a migration has made that is not in the old table's place yet.

    Args:
        spec: The pipeline; its files name the old table, or the new one that was not compared yet.
        state: Reader of the tables.
        listen: Told what happens.

    Returns:
        The paths deleted; none where there is nothing.

    Raises:
        StateError: NEW_PLACE_TAKEN or NEW_TABLE_IN_USE.
        RetryableError: ALREADY_RUNNING.
    """
    new, old = places = _unsettled(spec, state)
    with _held(spec, new, listen) as session:
        there = state.table(new)
        if _unsettled(spec, state) != places:
            raise _in_use(spec, new, "another command has put it in the old table's place.")
        if there is None and storage_for(new.path).names(new.path):
            raise StateError(
                "NEW_PLACE_TAKEN",
                f"{spec.name}: {new.path} is no table, so that no migration has made it.",
                _KEPT,
                "Look whose it is.",
                path=new.path,
            )
        if there is not None and there.commits:
            note = note_of(there)
            if note is None or not note.is_of(old.path):
                raise StateError(
                    "NEW_PLACE_TAKEN",
                    f"{spec.name}: a table stands at {new.path} that no migration of {old.path} has made.",
                    _KEPT,
                    "Look whose it is.",
                    path=new.path,
                )
            if any(is_run(info) for _, info in there.newest_first()):
                raise _in_use(spec, new, "it has commits of runs: another checkout of the project has switched to it.")
        session.confirm()
        return _deleted(spec, new, new.path, state, listen)


def _unsettled(spec: PipelineSpec, state: StateReader) -> tuple[TableRef, TableRef]:
    """Return the new and the old table: the files may name the new one before it was compared, as where they were deployed."""
    ref = spec.target.ref
    waits = waits_for(ref, state, state.table(ref))
    return (TableRef(ref.name, next_place(ref.path)), ref) if waits is None else (ref, waits.ref)


def _in_use(spec: PipelineSpec, new: TableRef, why: str) -> StateError:
    return StateError(
        "NEW_TABLE_IN_USE",
        f"{spec.name}: {new.path}: {why}",
        _KEPT,
        f"Take its files: LOCATION in {spec.target.file}",
        path=new.path,
    )


def _paths(spec: PipelineSpec) -> tuple[str, ...]:
    return (spec.target.ref.path, spec.source.table.path, *(item.table.path for item in spec.inputs))


def _held(spec: PipelineSpec, table: TableRef, listen: Listener) -> AbstractContextManager[WriteSession]:
    return write_session(spec, listen, new_run_id(), wait_seconds=0, table=table, what="migration", clears_lock=False)


def _beside(quarantine: TableRef, shown: str) -> str:
    """Return what may be shown of the path of a quarantine, by what is shown of its table's."""
    return f"{shown.rstrip('/').rpartition('/')[0]}/{quarantine.path.rpartition('/')[2]}"


def _deleted(spec: PipelineSpec, table: TableRef, shown: str, state: StateReader, listen: Listener) -> tuple[str, ...]:
    quarantine = quarantine_of(spec.name, table)
    done = []
    for one in (table, quarantine):
        # At its path another one's table may stand.
        if one == quarantine and ((found := state.table(one)) is None or foreign_words(spec.name, one, found)):
            continue
        # It may lie where a secret of before stands in the path, which nobody knows any more.
        told = shown if one == table else _beside(one, shown)
        listen(Phase(pipeline=spec.name, message=f"deleting {told}"))
        if delete_table(one.path, spec.spark_conf):
            done.append(told)
    return tuple(done)
