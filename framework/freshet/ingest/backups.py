"""Tables that are loaded from a backup instead of being copied: where the log begins for them, and what they wait for."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.databases.model import Base, DbTable
from freshet.databases.source import DatabaseSource
from freshet.errors import StateError
from freshet.ingest.landing import Standing
from freshet.project.model.pipeline import PipelineSpec


def place_of(pipeline: PipelineSpec) -> Base | None:
    """Return the place in the log that a pipeline's backup names; None where there is none, or it names none yet."""
    place = pipeline.source.bootstrap.place if pipeline.source.bootstrap is not None else None
    return Base(position=place.text, number=place.number) if place is not None else None


def begin(source: DatabaseSource, tables: Mapping[str, DbTable], named: Mapping[str, Base]) -> tuple[Base, dict[str, Base]]:
    """Let the log be kept, for the first time: from the earliest place that a backup names, or from here on.

    Args:
        source: The database.
        tables: All that are captured.
        named: The place that the backup of each names, where it names one.

    Returns:
        From where the log is read, and from where on it has the changes of each table.

    Raises:
        StateError: BACKUP_TOO_OLD or BACKUP_NOT_OF_LOG.
    """
    if not named:
        base = source.begin(tables.values(), again=True)
        return base, dict.fromkeys(tables, base)
    first = min(named.values(), key=lambda place: place.number)
    source.begin_from(first, [tables[name] for name in named])
    others = [table for name, table in tables.items() if name not in named]
    base = source.add(others) if others else first
    return first, {name: first if name in named else base for name in tables}


def blocked_by_backup(table: str, pipeline: PipelineSpec, standing: Standing, captured: int) -> StateError | None:
    """Say why a pipeline may not read the changes of its table yet, as far as that is for its backup.

    Args:
        table: ``schema.table``.
        pipeline: The one that reads it.
        standing: How far the table was captured.
        captured: Up to where the log was.
    """
    backup, begins = pipeline.source.bootstrap, standing.backup
    effect = f"The pipeline {pipeline.name} was not run: its changes wait in their files. The other tables go on."
    if (backup is not None) != bool(begins):
        was = f"is not copied, as it is loaded from a backup as of {begins} or later" if begins else "was copied"
        now = "names no backup" if begins else "names a backup to load first"
        return StateError(
            "BACKUP_CHANGED",
            f"{table} {was}, and the pipeline {pipeline.name} {now}.",
            effect,
            f"Write 'source: {{bootstrap: ...}}' back into {pipeline.file}."
            if begins
            else f"Take 'source: {{bootstrap: ...}}' out of {pipeline.file}; or begin anew in another folder: "
            "docs/guides/databases.md, 'Copy a table anew'.",
            table=table,
        )
    if backup is None:
        return None
    if backup.place is None:
        return StateError(
            "BACKUP_AWAITED",
            f"{table} waits for its backup: the log is kept from {begins} on.",
            effect,
            f"Make the backup now, and write 'position: {begins}', or the place that the backup itself names, under "
            f"source.bootstrap of {pipeline.file}; then run the same command again.",
            table=table,
            position=begins,
        )
    if backup.place.number < standing.base:
        return StateError(
            "BACKUP_TOO_OLD",
            f"the backup of {table} is as of {backup.place.text}, and the log has its changes from {begins} on: those in "
            "between are lost.",
            effect,
            f"Make a new backup now, and write 'position: {begins}', or the place that the backup itself names, under "
            f"source.bootstrap of {pipeline.file}; then run the same command again.",
            table=table,
            position=begins,
        )
    if backup.place.number > captured:
        return StateError(
            "BACKUP_NOT_OF_LOG",
            f"the backup of {table} is as of {backup.place.text}, and the log ends before that.",
            effect,
            f"Correct 'position:' under source.bootstrap of {pipeline.file}: it is of another server, or of another time.",
            table=table,
        )
    return None
