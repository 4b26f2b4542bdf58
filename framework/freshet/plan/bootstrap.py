"""The first load of a changelog's table, from a backup: what it reads, and what its commits say of it. Pure.

A backup's rows become events whose reference key is that of the place in the log that it names. So they are older than every
change after that place, and newer than every change before it, and what the log has of both is merged like any other event.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from freshet.changelog.log_place import LogPlace, reference_key
from freshet.errors import StateError
from freshet.hudi.checkpoint import BOOTSTRAP_KEY, MAIN, Checkpoint
from freshet.hudi.options import bulk_insert_options
from freshet.hudi.table import StateReader, TableState
from freshet.plan.stages import Commit, Plan
from freshet.project.model.backup import BackupSpec
from freshet.project.model.checks import MalformedRule
from freshet.project.model.files import FilesSpec
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.sources.files.look.listing import list_files
from freshet.sources.files.look.ready import ready_of
from freshet.sources.files.look.seen import in_order
from freshet.sources.files.reads import ReadFiles
from freshet.sources.hudi.reads import ReadIncrement, Window, counted
from freshet.sources.registry import find_source, position_by_hand
from freshet.types.columns import Column

_UNTOUCHED = "Nothing was read or written."
_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class ReadBackup(ReadIncrement):
    """Read a backup of the main source's table as events, each of a whole row, as the view ``SRC``.

    Args:
        backup: Where it is.
        place: The place in the log that it names, whose reference key its rows get.
        files: What of a folder is read; None of a table.
        key, columns: Of the rows.
        data_center: Where the source is.
        rule: The check that what cannot be read breaks, so that it goes to the quarantine; empty where it fails the run.
    """

    backup: BackupSpec
    place: LogPlace
    files: ReadFiles | None
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    data_center: str = ""
    rule: str = ""

    @property
    def reference_key(self) -> str:
        """Return the reference key of its rows."""
        return reference_key(self.place.number, 0)


@dataclass(frozen=True, kw_only=True)
class FirstLoad:
    """How a table is loaded from its backup.

    Args:
        spec: The pipeline as it reads and writes for the load.
        read: What is read.
        after: The checkpoint of the load: nothing of the log was read yet.
    """

    spec: PipelineSpec
    read: ReadBackup
    after: Checkpoint

    def planned(self, plan: Plan) -> Plan:
        """Return the plan of the load.

        Args:
            plan: That of a first run, which reads something else.
        """
        *between, commit = plan.stages[1:]
        assert isinstance(commit, Commit)
        note = json.dumps({"version": _VERSION, "kind": self.read.backup.kind, "position": self.read.place.text})
        bulk = commit.operation == "bulk_insert"
        options = bulk_insert_options(self.spec, commit.options) if bulk else commit.options
        return replace(plan, stages=(self.read, *between, noted(replace(commit, options=options), note)))


def first_load(spec: PipelineSpec, state: StateReader) -> FirstLoad:
    """Look at the backup of a pipeline whose table is to be loaded.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.

    Raises:
        StateError: BACKUP_AWAITED or BACKUP_MISSING.
    """
    backup, log = spec.source.bootstrap, spec.source.changelog
    assert backup is not None
    assert log is not None
    place = backup.place
    if place is None:
        raise StateError(
            "BACKUP_AWAITED",
            f"{spec.name}: its table is loaded from {backup.words} first, and nothing says which place in the log that names.",
            _UNTOUCHED,
            "Let `freshet ingest` keep the log, make the backup, and write its position: source: {bootstrap: {position: ...}}",
        )
    malformed = next((one for one in spec.checks if isinstance(one.rule, MalformedRule)), None)
    rule = malformed.name if malformed is not None and malformed.severity == "drop" else ""
    files = _files(spec, backup, rule) if backup.kind == "files" else None
    table = TableRef(backup.path, backup.path)
    if backup.kind == "hudi" and not ((found := state.table(table)) is not None and found.commits):
        raise _missing(spec, backup, "there is no commit")
    source = find_source(spec, state)
    waiting = source.lag(None).commits if source is not None else 0
    size = f"{counted(len(files.files), 'file')} of " if files is not None else ""
    window = Window(
        kind="whole_table",
        waiting_commits=waiting,
        reason=f"the first load: {size}{backup.words}, as of {place.text}; then the log from there",
    )
    read = ReadBackup(
        table=table,
        window=window,
        with_deletes=False,
        backup=backup,
        place=place,
        files=files,
        key=log.layout.key,
        columns=log.layout.columns,
        data_center=log.source.data_center,
        rule=rule,
    )
    # A global index is made by the load itself, as any first run makes it; `freshet index bootstrap` makes it afterwards.
    bulk = spec.operation == "upsert" and not spec.index.is_global
    loading = replace(
        spec,
        operation="bulk_insert" if bulk else spec.operation,
        source=replace(spec.source, changelog=replace(log, is_typed=True)),
    )
    return FirstLoad(spec=loading, read=read, after=Checkpoint({MAIN: position_by_hand(spec, state, "earliest")}))


def note_of(target: TableState | None) -> str | None:
    """Return what a table's commits say of the backup that it was loaded from; None where it was loaded otherwise."""
    return target.latest_extra(BOOTSTRAP_KEY) if target is not None else None


def noted(commit: Commit, note: str | None) -> Commit:
    """Return a commit that says, as those before it, from which backup the table was loaded: the first one is far away soon."""
    return replace(commit, metadata=dict(sorted({**commit.metadata, BOOTSTRAP_KEY: note}.items()))) if note else commit


def refuse_other(spec: PipelineSpec, target: TableState) -> None:
    """Refuse a table that stands and was not loaded from the backup that its pipeline names.

    Args:
        spec: The pipeline.
        target: Its target's state, with commits.

    Raises:
        StateError: BACKUP_CHANGED.
    """
    backup, note = spec.source.bootstrap, note_of(target)
    assert backup is not None
    position = json.loads(note).get("position") if note is not None else None
    declared = backup.place.text if backup.place is not None else None
    if position is None or position != declared:
        how = f"was loaded from a backup as of {position}" if position else "was not loaded from a backup"
        at = f", as of {declared}" if declared else ""
        raise StateError(
            "BACKUP_CHANGED",
            f"{spec.name}: {spec.target.ref.path} {how}, and the pipeline names {backup.words}{at}.",
            _UNTOUCHED,
            "Take 'source: {bootstrap: ...}' back to what it was; or move the table away, and load it anew: "
            f"freshet run {spec.name} --drain",
            position=position or "",
        )


def refuse_refresh(spec: PipelineSpec, target: TableState | None) -> None:
    """Refuse to compute a table anew from its log alone, where a backup has the rows that stood before it.

    Raises:
        StateError: NOT_RECOMPUTABLE.
    """
    if spec.source.changelog is not None and note_of(target) is not None:
        raise StateError(
            "NOT_RECOMPUTABLE",
            f"{spec.name}: {spec.target.ref.path} was loaded from a backup, and its source holds only what changed since.",
            _UNTOUCHED,
            "Move the table away, and load it anew from the backup that 'source: {bootstrap: ...}' names: "
            f"freshet run {spec.name} --drain",
        )


def _files(spec: PipelineSpec, backup: BackupSpec, rule: str) -> ReadFiles:
    log = spec.source.changelog
    assert log is not None
    assert backup.format is not None
    root = TableRef(backup.path, backup.path)
    described = FilesSpec(
        table=root,
        max_commits=0,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
        format=backup.format,
        pattern=backup.pattern,
        quiet_seconds=0,
    )
    listing = list_files(root)
    found = in_order(ready_of(described, listing).files) if listing is not None else ()
    if not found:
        raise _missing(spec, backup, "there is no file" if listing is not None else "there is no such folder")
    return ReadFiles(
        table=root,
        window=Window(kind="whole_table"),
        with_deletes=False,
        files=found,
        format=backup.format,
        columns=log.layout.columns,
        csv=backup.csv,
        rule=rule,
    )


def _missing(spec: PipelineSpec, backup: BackupSpec, why: str) -> StateError:
    return StateError(
        "BACKUP_MISSING",
        f"{spec.name}: its table is loaded from {backup.words} first, and {why}.",
        _UNTOUCHED,
        "Put the backup there, or correct 'source: {bootstrap: ...}'.",
        path=backup.path,
    )
