"""A migration's work on Spark: load the new table, and compare it with the old one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from freshet.errors import CheckError, FreshetError, StateError
from freshet.events.event import Listener
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader, TableState
from freshet.index.hbase.building import Layout
from freshet.index.ops.make import bootstrap_index
from freshet.migration.check import Compared, compare_rows
from freshet.migration.plan import is_bulk, origins
from freshet.migration.prepare import Migration
from freshet.plan.migrated import note_of
from freshet.plan.stages import Plan
from freshet.project.model.paths import quarantine_of
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quarantine.identity import foreign_words
from freshet.quarantine.table import hidden_runs
from freshet.quarantine.write import waiting_rows
from freshet.run.runner import leased
from freshet.run.spark import session_for
from freshet.sinks.failures import in_words
from freshet.sources.hudi.look.versions import is_kept, version_at
from freshet.sources.hudi.read.reader import load_table, load_version
from freshet.sources.hudi.reads import Version, counted


def load(migration: Migration, state: StateReader, listen: Listener, planned: Callable[[], Plan]) -> None:
    """Load the new table, and make its index where that is not made with the rows.

    Args:
        migration: The migration.
        state: Reader of the tables.
        listen: Told what happens.
        planned: Makes the plan.

    Raises:
        FreshetError: The load failed.
    """
    if migration.copy:
        _refuse_waiting(migration, state)
    if migration.copy or is_bulk(migration.after):
        bootstrap_index(migration.project, migration.after, state, listen, Layout(), planned)
        return
    result = leased(migration.project, migration.after, state, listen, planned, "migrate")
    if result.error is not None:
        raise result.error


def _refuse_waiting(migration: Migration, state: StateReader) -> None:
    rows = 0 if migration.loaded else rows_waiting(migration.spec, migration.old.ref, migration.project.root, state)
    if rows:
        name, place = migration.spec.name, quarantine_of(migration.spec.name, migration.old.ref).path
        raise StateError(
            "QUARANTINE_NOT_EMPTY",
            f"{name}: {counted(rows, 'row')} wait in {place}, which stays with the old table: a copy would not hold them.",
            "Nothing was written.",
            f"Publish or drop them by the files that the table was made by: freshet quarantine show {name}",
            rows=rows,
        )


def rows_waiting(spec: PipelineSpec, table: TableRef, root: str, state: StateReader) -> int:
    """Return how many rows wait in a table's quarantine.

    Args:
        spec: The pipeline, whatever table its files name.
        table: The table.
        root: The project's folder.
        state: Reader of the tables.
    """
    spec = replace(spec, target=replace(spec.target, ref=table), quarantine=quarantine_of(spec.name, table))
    found = state.table(spec.quarantine)
    if found is None or foreign_words(spec.name, spec.quarantine, found):
        return 0
    return waiting_rows(session_for(spec, root, lambda words: None), spec, hidden_runs(spec, state)).count()


def compare(migration: Migration, state: StateReader, phase: Callable[[str], None], accept: bool) -> Compared:
    """Compare the new table with the old one as it stood when the load was planned.

    Args:
        migration: The migration.
        state: Reader of the tables.
        phase: Told what goes on.
        accept: Say what differs, and refuse nothing.

    Raises:
        CheckError: MIGRATION_DIFFERS.
    """
    spark = session_for(migration.after, migration.project.root, phase)
    old, new = state.table(migration.old.ref), state.table(migration.after.target.ref)
    assert old is not None
    assert new is not None
    note = note_of(new)
    assert note is not None
    version, moved = _version(old, note.commit)
    try:
        before, after = load_version(spark, old.ref.path, version), load_table(spark, new.ref.path)
        columns = [c for c in migration.after.target.columns if c.name != IS_DELETED]
        both = origins(columns, before.columns, migration.renames)
        keys = [(both[name], name) for name in migration.after.target.record_key if name in both]
        same = {was for was, _ in keys} == set(old.config.record_key)
        others = [(was, name) for name, was in both.items() if name not in migration.after.target.record_key]
        found = compare_rows(before, after, keys if same else [], others)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(new.ref, str(error), (old.ref,), reading=True) from error
    if not found.agrees and not accept:
        raise _differs(migration, found, moved, old, new)
    return found


def _version(old: TableState, commit: str) -> tuple[Version, bool]:
    """Return the version of the old table to compare with, and whether it has moved on from there for good."""
    if old.commits[-1].completed <= commit:
        return Version(""), False
    found = version_at(old, commit)
    return (found, False) if is_kept(old, found) else (Version(""), True)


def _differs(migration: Migration, found: Compared, moved: bool, old: TableState, new: TableState) -> FreshetError:
    why = []
    before, after = (state.latest_checkpoint((), migration.spec.name) for state in (old, new))
    if before and after and before.main and after.main and before.main.text != after.main.text:
        why.append(f"the old table has read the source up to {before.main.text}, and the new one to {after.main.text}")
    if moved:
        why.append("the old table was written meanwhile")
    if found.only_old and not migration.copy:
        why.append("rows are missing that the source may no longer have: --copy takes those that stand")
    said = f" ({'; '.join(why)})" if why else ""
    name = migration.spec.name
    return CheckError(
        "MIGRATION_DIFFERS",
        f"{name}: {new.ref.path} differs from {old.ref.path}: {found.in_words()}{said}.",
        migration.stays,
        f"Where that is right: freshet migrate {name} --accept-differences; else: freshet migrate {name} --abandon",
        **vars(found),
    )
