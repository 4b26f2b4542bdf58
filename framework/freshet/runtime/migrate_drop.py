"""Delete a table of a migration: the old one when the new one is in its place, or the new one when it is given up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from freshet.errors import StateError
from freshet.metrics.events import Event, Listener
from freshet.plan.migration import Note, note_of
from freshet.runtime.lease import Lease, hold_lease
from freshet.runtime.runner import new_run_id
from freshet.spec.model import PipelineSpec, TableRef
from freshet.spec.paths import migration_suffix, next_place, same_place
from freshet.state.checkpoint import MIGRATION_KEY, ORIGIN_KEY
from freshet.state.storage import is_local, local_path, storage_for
from freshet.state.table import StateReader, TableState

_KEPT = "Nothing was deleted."


def drop_old(
    spec: PipelineSpec, pipelines: Sequence[PipelineSpec], state: StateReader, listen: Listener, sure: bool,
) -> tuple[str, ...]:
    """Delete the tables whose places the target has taken, each with its quarantine.

    Args:
        spec: The pipeline.
        pipelines: Those of the project.
        state: Reader of the tables.
        listen: Told what happens.
        sure: Delete it though it was written after the new table was loaded.

    Returns:
        The paths deleted; none where there is nothing left.

    Raises:
        StateError: NOT_MIGRATED, OLD_TABLE_READ or OLD_TABLE_WRITTEN.
        RetryableError: ALREADY_RUNNING.
    """
    target = state.table(spec.target.ref)
    note = note_of(target)
    if note is None or same_place(note.before) == same_place(spec.target.ref.path):
        raise StateError(
            "NOT_MIGRATED", f"{spec.name}: no migration has made {spec.target.ref.path}, which {spec.target.file} names.",
            _KEPT, f"See what stands: freshet migrate {spec.name} --dry-run",
        )
    line = _line(spec, note, state)
    for old, _ in line:
        used = sorted({one.name for one in pipelines for path in _paths(one) if same_place(path) == same_place(old.path)})
        if used:
            raise StateError(
                "OLD_TABLE_READ", f"{spec.name}: {', '.join(used)} still reads or writes {old.path}.", _KEPT,
                f"Point it to {spec.target.ref.path}, then run the same command.", pipelines=used,
            )
    done: list[str] = []
    # The oldest first: it is found by the one that took its place.
    for old, made in reversed(line):
        with _held(old, listen, spec.name):
            stands = state.table(old)
            later = [i.completed for i in stands.commits_between(made.commit)] if stands is not None else []
            if later and not sure:
                raise StateError(
                    "OLD_TABLE_WRITTEN", f"{spec.name}: {old.path} was written after its successor was loaded, last at "
                    f"{later[-1]}: another checkout of the project may still use it.",
                    f"Deleted: {', '.join(done)}." if done else _KEPT,
                    f"Where it does not: freshet migrate {spec.name} --drop-old --yes", commits=later,
                )
            done += _deleted(spec, old.path, state, listen)
    return tuple(done)


def _line(spec: PipelineSpec, note: Note | None, state: StateReader) -> list[tuple[TableRef, Note]]:
    """Return the tables whose places were taken, one after the other, each with what its successor says of it."""
    found, seen = [], {same_place(spec.target.ref.path)}
    while note is not None and same_place(note.before) not in seen:
        old = TableRef(spec.target.ref.name, note.before)
        seen.add(same_place(old.path))
        found.append((old, note))
        note = note_of(state.table(old))
    return found


def abandon(spec: PipelineSpec, state: StateReader, listen: Listener) -> tuple[str, ...]:
    """Delete what a migration that has not switched has made.

    Args:
        spec: The pipeline, whose files name the old table.
        state: Reader of the tables.
        listen: Told what happens.

    Returns:
        The paths deleted; none where there is nothing.

    Raises:
        StateError: NEW_PLACE_TAKEN or NEW_TABLE_IN_USE.
        RetryableError: ALREADY_RUNNING.
    """
    new = TableRef(spec.target.ref.name, next_place(spec.target.ref.path))
    with _held(new, listen, spec.name):
        there = state.table(new)
        if there is None and storage_for(new.path).names(new.path):
            raise StateError("NEW_PLACE_TAKEN", f"{spec.name}: {new.path} is no table, so that no migration has made it.",
                             _KEPT, "Look whose it is.", path=new.path)
        if there is not None and there.commits:
            note = note_of(there)
            if note is None or same_place(note.before) != same_place(spec.target.ref.path):
                raise StateError("NEW_PLACE_TAKEN", f"{spec.name}: a table stands at {new.path} that no migration of "
                                 f"{spec.target.ref.path} has made.", _KEPT, "Look whose it is.", path=new.path)
            if _runs_since(there):
                raise StateError("NEW_TABLE_IN_USE", f"{spec.name}: {new.path} has commits of runs: another checkout of the "
                                 "project has switched to it.", _KEPT, f"Take its files: LOCATION in {spec.target.file}",
                                 path=new.path)
        return _deleted(spec, new.path, state, listen)


def _runs_since(table: TableState) -> bool:
    return any(MIGRATION_KEY not in info.extra and info.extra.get(ORIGIN_KEY, "index") != "index"
               for _, info in table.newest_first())


def _paths(spec: PipelineSpec) -> tuple[str, ...]:
    return (spec.target.ref.path, spec.source.table.path, *(one.table.path for one in spec.inputs))


def _held(table: TableRef, listen: Listener, name: str) -> AbstractContextManager[Lease]:
    return hold_lease(table, new_run_id(), 0, lambda words: listen(Event("waiting", name, words)), what="migration")


def _deleted(spec: PipelineSpec, path: str, state: StateReader, listen: Listener) -> tuple[str, ...]:
    folder = spec.quarantine.path.rpartition("/")[0]
    quarantine = f"{folder}/{spec.name}_quarantine{migration_suffix(path)}"
    done = []
    for one in (path, quarantine):
        if one == quarantine and state.table(TableRef(spec.quarantine.name, one)) is None:
            continue
        listen(Event("phase", spec.name, f"deleting {one}"))
        if _delete(one, spec):
            done.append(one)
    return tuple(done)


def _delete(path: str, spec: PipelineSpec) -> bool:
    """Delete a table's folder; of a local one what is left after a kill is no table, and is deleted by the same command."""
    if is_local(path):
        place = Path(local_path(path))
        aside = place.with_name(f".{place.name}.dropped")
        there = aside.exists() or place.exists()
        shutil.rmtree(aside, ignore_errors=True)
        if place.exists():
            os.rename(place, aside)
            shutil.rmtree(aside)
        return there
    if not storage_for(path).names(path):
        return False
    # Of a remote store whatever Hadoop can write to.
    from freshet.runtime.session import start_session

    spark = start_session(spec.spark_conf)
    jvm = spark._jvm
    assert jvm is not None
    place_ = jvm.org.apache.hadoop.fs.Path(path)
    return bool(place_.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).delete(place_, True))
