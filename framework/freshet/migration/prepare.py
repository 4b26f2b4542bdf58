"""Look at a table and its files before a migration: what is to be done, and what forbids it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freshet.errors import StateError
from freshet.hudi.checkpoint import FINGERPRINT_KEY
from freshet.hudi.kept_texts import NO_COLUMNS, columns_in
from freshet.hudi.table import StateReader, TableState
from freshet.migration.differences import Difference, differences, needs_migration
from freshet.migration.events import refuse_events
from freshet.migration.files import ddl_text, not_written, text_after
from freshet.migration.plan import check_renames, compile_copy, compile_load
from freshet.plan.migrated import Note, a_note, note_of, waits_for
from freshet.plan.positions import checkpoint_of
from freshet.plan.stages import Notice, Plan
from freshet.plan.target import made_otherwise
from freshet.project.model.paths import next_place, same_place
from freshet.project.model.pipeline import PipelineSpec, Project

#: Loads the pipeline with other texts than its files'.
Reload = Callable[[Mapping[str, str]], Project]
_UNTOUCHED = "Nothing was read or written."


@dataclass(frozen=True, kw_only=True)
class Migration:
    """A table, its successor, and what is to be done.

    Args:
        spec: The pipeline as its files declare it.
        project, after: The pipeline as it will be, alone in its project.
        old: The table that stands.
        differences: In what that differs from the files.
        copy: True where its rows are copied.
        renames: New name of a column by its old one.
        loaded: True where the new table is loaded already.
        texts: The DDL before and after; equal where it names the new table already.
        location: What it will say behind LOCATION.
    """

    spec: PipelineSpec
    project: Project
    after: PipelineSpec
    old: TableState
    differences: tuple[Difference, ...]
    copy: bool
    renames: Mapping[str, str]
    loaded: bool
    texts: tuple[str, str]
    location: str

    @property
    def stays(self) -> str:
        """Return what an error after the load leaves."""
        if self.texts[0] != self.texts[1]:
            return "The new table is loaded, and the files name the old one."
        return "The new table is loaded and the files name it; runs are refused until this is settled."

    def plan(self, state: StateReader) -> Plan:
        """Return the plan of the load.

        Raises:
            StateError: EVENTS_NOT_MIGRATED; or see ``compile_load`` and ``compile_copy``.
        """
        refuse_events(self.after, self.old, self.copy)
        note = a_note(self.after, self.old.ref.path, self.old.commits[-1].completed, self.copy)
        if self.copy:
            return compile_copy(self.after, self.old, note, self.renames)
        before = checkpoint_of(self.after, self.old)
        main = before.main if before else None
        same = main is not None and main.is_exact and main.is_at(self.after.source.place)
        return compile_load(self.after, state, note, main.text if main is not None and same else "")


def notices_of(migration: Migration, plan: Plan) -> tuple[Notice, ...]:
    """Return what a person should know before the load.

    Args:
        migration: The migration.
        plan: The plan of its load.
    """
    found = list(plan.notices)
    before = checkpoint_of(migration.after, migration.old)
    read = before.main.text if before and before.main else "nothing that is known"
    if not migration.copy and plan.window.end_inclusive != read:
        found.append(
            Notice(
                "OTHER_POSITION",
                f"the old table has read {read}, and the new one reads the source as of "
                f"{plan.window.end_inclusive}: rows that changed in between will differ",
            )
        )
    if migration.after.index.hbase is not None:
        found.append(
            Notice(
                "INDEX_TABLE",
                f"the index table {migration.after.index.hbase.table} must be no other table's, nor the "
                "old one's: hoodie.index.hbase.table names it",
            )
        )
    return tuple(found)


def prepare(
    project: Project,
    state: StateReader,
    reload: Reload,
    *,
    copy: bool = False,
    anyway: bool = False,
    renames: Mapping[str, str] | None = None,
) -> Migration | None:
    """Look at a table and its files.

    Args:
        project: The project with the pipeline alone.
        state: Reader of the tables.
        reload: Loads it with other texts.
        copy: Copy the rows that stand, and do not compute them.
        anyway: Make the table anew though nothing differs.
        renames: New name of a column by its old one.

    Returns:
        What is to be done; None where there is nothing.

    Raises:
        StateError: TARGET_MISSING, WRITTEN_BY_SEVERAL, LOCATION_NOT_WRITTEN, NEW_PLACE_TAKEN, MIGRATION_OF_OTHER_FILES or
            UNKNOWN_COLUMN.
    """
    spec = project.pipelines[0]
    ref, text = spec.target.ref, ddl_text(project.root, spec.target.file)
    # Files that were switched elsewhere came here with the project, and name the new table before it is made and compared.
    waits = waits_for(ref, state, state.table(ref))
    stands = waits or state.table(ref)
    after, location, changed = project, "", text
    if stands is None or not stands.commits:
        raise StateError(
            "TARGET_MISSING",
            f"{spec.name}: there is no row at {ref.path} yet.",
            _UNTOUCHED,
            f"Make the table: freshet run {spec.name}",
        )
    if spec.co_writers:
        raise StateError(
            "WRITTEN_BY_SEVERAL",
            f"{spec.name}: {', '.join(spec.co_writers)} writes {ref.path} too: a table that one of them "
            "loads would lack what the others own.",
            _UNTOUCHED,
            "Declare the new table in a DDL of its own, and move one pipeline after the other to it.",
            partners=list(spec.co_writers),
        )
    found = differences(spec, stands)
    if waits is None:
        if not (needs_migration(found) or anyway):
            return None
        changed, location = text_after(project.root, spec, text)
        after = reload({spec.target.file: changed.removeprefix("\ufeff").replace("\r\n", "\n")})
        if same_place(after.pipelines[0].target.ref.path) != same_place(next_place(ref.path)):
            raise not_written(spec, location)
    new = after.pipelines[0]
    names = {c.name.lower(): c.name for c in columns_in(stands.ref, stands.latest_extra("schema") or NO_COLUMNS)}
    check_renames(new, names, renames or {})
    made = _made(new, stands, state.table(new.target.ref), copy)
    return Migration(
        spec=spec,
        project=after,
        after=new,
        old=stands,
        differences=found,
        copy=made.copied if made is not None else copy,
        renames=renames or {},
        loaded=made is not None,
        texts=(text, changed),
        location=location,
    )


def _made(new: PipelineSpec, old: TableState, there: TableState | None, copy: bool) -> Note | None:
    """Return what the new table says of itself; None where it is not loaded yet."""
    if there is None:
        return None
    abandon = f"To begin anew: freshet migrate {new.name} --abandon"
    if not there.commits:
        if next(made_otherwise(new, there), None) is not None:
            raise StateError(
                "MIGRATION_OF_OTHER_FILES",
                f"{new.name}: {there.ref.path} was begun by other files than these.",
                _UNTOUCHED,
                abandon,
            )
        return None
    note = note_of(there)
    if note is None or not note.is_of(old.ref.path):
        raise StateError(
            "NEW_PLACE_TAKEN",
            f"{new.name}: a table stands at {there.ref.path} that no migration of {old.ref.path} has made.",
            _UNTOUCHED,
            f"Move it away; or name another place: LOCATION in {new.target.file}",
            path=there.ref.path,
        )
    if there.latest_extra(FINGERPRINT_KEY) != new.fingerprint or (copy and not note.copied):
        raise StateError(
            "MIGRATION_OF_OTHER_FILES",
            f"{new.name}: {there.ref.path} was loaded by other files, or in another way.",
            _UNTOUCHED,
            abandon,
        )
    return note
