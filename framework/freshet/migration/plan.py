"""Plan a migration: a table anew beside the one that stands, because its files declare what that one cannot become. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import COMPARED_KEY, MAIN, MIGRATION_KEY
from freshet.hudi.kept_texts import NO_COLUMNS, columns_in
from freshet.hudi.options import IS_DELETED, bulk_insert_options
from freshet.hudi.table import StateReader, TableState
from freshet.plan.bootstrap import note_of, noted
from freshet.plan.checks import OF_NOW
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.foreign import refuse_foreign
from freshet.plan.migrated import Note, Verdict
from freshet.plan.parts import commit_stage
from freshet.plan.positions import checkpoint_of
from freshet.plan.refresh import refuse_recompute
from freshet.plan.row_parts import enforce_schema_stage
from freshet.plan.schema import evolved
from freshet.plan.stages import Commit, Plan, RunSql
from freshet.project.model.checks import SqlRule
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.statements import Statement
from freshet.sources.hudi.look.versions import version_at_end
from freshet.sources.hudi.reads import ReadSnapshot, Window
from freshet.types.columns import Column

_UNTOUCHED = "Nothing was read or written."


def compile_load(spec: PipelineSpec, state: StateReader, note: Note, upto: str) -> Plan:
    """Compile the first load of a migrated table from its whole source.

    Args:
        spec: The pipeline as it will be, with the new table as its target.
        state: Read-only view of the tables.
        note: What its commit says of the table's making.
        upto: Completion time in the source up to which the old table has read it; where that version is kept, it is read, so
            that both tables hold the same. Empty where nobody knows.

    Raises:
        StateError: What no recompute gives (see ``refuse_recompute``), or what a first run is refused for.
    """
    refuse_recompute(spec, f"Copy the rows that stand: freshet migrate {spec.name} --copy")
    bulk = is_bulk(spec)
    # What stands before is in another table, with which the new one is compared as a whole.
    spec = replace(
        spec,
        checks=tuple(
            check
            for check in spec.checks
            if not isinstance(check.rule, OF_NOW) and not (isinstance(check.rule, SqlRule) and check.rule.compare)
        ),
    )
    plan = compile_plan(
        replace(spec, operation="bulk_insert") if bulk else spec,
        state,
        RunRequest(full_refresh=True, upto=upto, migrates=True),
    )
    if not plan.stages:
        raise StateError(
            "SOURCE_EMPTY",
            f"{spec.name}: {plan.window.reason}: nothing can be loaded from it.",
            _UNTOUCHED,
            f"Copy the rows that stand: freshet migrate {spec.name} --copy",
        )
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    options = bulk_insert_options(spec, commit.options) if bulk and not commit.empty else commit.options
    return replace(plan, stages=(*plan.stages[:-1], _noted(replace(commit, options=options), note)))


def is_bulk(spec: PipelineSpec) -> bool:
    """Say whether a table is loaded by a bulk insert, whose index is made afterwards."""
    return spec.operation == "upsert" and spec.write.strategy == "rows"


def compile_copy(spec: PipelineSpec, old: TableState, note: Note, renames: Mapping[str, str]) -> Plan:
    """Compile the first load of a migrated table from the rows of the one that stands, with that one's checkpoint.

    Args:
        spec: The pipeline as it will be, with the new table as its target.
        old: The table that stands.
        note: What the commit says of the table's making.
        renames: New name of a column by its old one.

    Raises:
        StateError: NO_CHECKPOINT, TARGET_OF_ANOTHER_PIPELINE or UNKNOWN_COLUMN.
    """
    refuse_foreign(spec, old)
    checkpoint = checkpoint_of(spec, old)
    if checkpoint is None or checkpoint.main is None:
        raise StateError(
            "NO_CHECKPOINT",
            f"{spec.name}: no commit of {old.ref.path} says how far the source was read, from where the copy would go on.",
            _UNTOUCHED,
            f"Load it from the source: freshet migrate {spec.name}; or name a position: "
            f"freshet checkpoint set {spec.name} INSTANT, by the files that the table was made by",
        )
    taken = {old_name.lower() for old_name in renames}
    wide = evolved(spec, old)
    columns = tuple(c for c in wide.target.columns if c.name.lower() not in taken or c in spec.target.columns)
    spec = replace(
        spec,
        target=replace(spec.target, columns=columns),
        operation="bulk_insert",
        checks=(),
        evolution="nothing",
        write=replace(spec.write, strategy="rows", columns=tuple(c.name for c in columns)),
    )
    stands = {c.name.lower(): c.name for c in columns_in(old.ref, old.latest_extra("schema") or NO_COLUMNS)}
    check_renames(spec, stands, renames)
    origin = origins(columns, stands.values(), renames)
    empty = {c.name: f"CAST({'false' if c.name == IS_DELETED else 'NULL'} AS {c.type})" for c in columns}
    read = ", ".join(f"{f'`{origin[c.name]}`' if c.name in origin else empty[c.name]} AS `{c.name}`" for c in columns)
    window = Window(kind="whole_table", end_inclusive=checkpoint.main.text, reason=f"the rows of {old.ref.path}")
    commit = commit_stage(spec, window, checkpoint, creates=True)
    commit = _noted(replace(commit, options=bulk_insert_options(spec, commit.options)), note)
    commit = noted(commit, note_of(old) if spec.source.changelog is not None else None)
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        first_run=True,
        window=window,
        checkpoint_after=checkpoint,
        stages=(
            ReadSnapshot(view=MAIN, table=old.ref, as_of=version_at_end(old, old.commits[-1].completed)),
            RunSql(f"the copy of {old.ref.path}", (Statement(f"SELECT {read} FROM `{MAIN}`", 1),)),
            enforce_schema_stage(spec),
            commit,
        ),
    )


def compile_verdict(spec: PipelineSpec, target: TableState, verdict: Verdict) -> Plan:
    """Compile the commit without rows by which a migrated table says that it was compared.

    Args:
        spec: The pipeline, with the new table as its target.
        target: The new table.
        verdict: What was found.
    """
    # Rows as they are, as by the making of an index.
    window = Window(kind="index", reason="compared with the table before it")
    commit = commit_stage(evolved(spec, target), window, None, empty=True)
    commit = replace(commit, metadata=dict(sorted({**commit.metadata, COMPARED_KEY: verdict.encode()}.items())))
    before = checkpoint_of(spec, target)
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        window=window,
        checkpoint_before=before,
        stages=(commit,),
    )


def check_renames(spec: PipelineSpec, stands: Mapping[str, str], renames: Mapping[str, str]) -> None:
    """Refuse to rename a column that the old table has not, or to one that the new table has not: UNKNOWN_COLUMN."""
    declared = {c.name.lower() for c in spec.target.columns}
    wrong = [f"{old}={new}" for old, new in renames.items() if old.lower() not in stands or new.lower() not in declared]
    if wrong:
        raise StateError(
            "UNKNOWN_COLUMN",
            f"{spec.name}: --rename {', '.join(wrong)}: the old name is to be a column of the old table, "
            f"and the new one of {spec.target.file}.",
            _UNTOUCHED,
            f"Columns that stand: {', '.join(map(without_credentials, stands.values()))}; declared: "
            f"{', '.join(c.name for c in spec.target.columns)}.",
        )


def origins(columns: Sequence[Column], stands: Collection[str], renames: Mapping[str, str]) -> dict[str, str]:
    """Return of each column of a new table that the old one has, too, its name there.

    Args:
        columns: The new table's columns.
        stands: The old one's names.
        renames: New name of a column by its old one. What has another name now is no column of the old name any more.
    """
    known = {name.lower(): name for name in stands}
    renamed = {new.lower(): known[old.lower()] for old, new in renames.items() if old.lower() in known}
    same = {name: as_is for name, as_is in known.items() if name not in {old.lower() for old in renames}}
    return {c.name: found for c in columns if (found := renamed.get(c.name.lower()) or same.get(c.name.lower()))}


def _noted(commit: Commit, note: Note) -> Commit:
    return replace(commit, metadata=dict(sorted({**commit.metadata, MIGRATION_KEY: note.encode()}.items())))
