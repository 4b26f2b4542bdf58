"""One ingest: look at the database, capture what is new, and say of each table whether its pipeline may read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from freshet.databases.model import DbTable
from freshet.databases.source import DatabaseSource, open_source
from freshet.errors import FreshetError, StateError
from freshet.ingest.backups import blocked_by_backup, place_of
from freshet.ingest.begun import Tell, Wanted
from freshet.ingest.capture import Captured, capture
from freshet.ingest.fits import check_pipelines, notice, unknown_columns
from freshet.ingest.landing import Landing
from freshet.ingest.spec import IngestSpec
from freshet.ingest.together import begin
from freshet.project.model.pipeline import PipelineSpec, Project

Open = Callable[[IngestSpec], DatabaseSource]


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What was captured, and what may be read of it.

    Args:
        captured: What was captured.
        pipelines: All of the ingest, by table.
        may_run: The project with the pipelines that may read.
        blocked: By pipeline why it may not.
        noticed: Tables that are looked at and not captured, each with why it cannot be, or nothing.
    """

    captured: Captured
    pipelines: Mapping[str, PipelineSpec]
    may_run: Project
    blocked: Mapping[str, FreshetError] = field(default_factory=dict)
    noticed: Mapping[str, str] = field(default_factory=dict)


def opened(spec: IngestSpec) -> DatabaseSource:
    """Open the database of an ingest."""
    return open_source(spec.address, spec.slot, spec.wait_seconds)


def capture_new(spec: IngestSpec, project: Project, tell: Tell, open_: Open = opened) -> Ingested:
    """Capture what is new.

    Args:
        spec: The ingest.
        project: With the pipelines of its tables.
        tell: Told in words what takes time.
        open_: Opens the database.

    Raises:
        FreshetError: Why nothing was captured.
    """
    by_name = {one.name: one for one in project.pipelines}
    pipelines = {table: by_name[name] for table, name in spec.tables.items()}
    landing = Landing(Path(spec.into))
    with landing.held(), closing(open_(spec)) as source:
        tables = {table.full_name: table for table in source.tables()}
        record = landing.record()
        # One that was captured and is gone stops alone. A catalogue without numbers may hide what is there from the user.
        known = {name for name, standing in record.tables.items() if standing.table} if record else set()
        there = {name: pipeline for name, pipeline in pipelines.items() if name in tables or name not in known}
        check_pipelines(spec, there, tables)
        begin(landing, spec.transactional)
        wanted = [_wanted(spec, tables[name], pipeline) for name, pipeline in there.items()]
        captured = capture(source, landing, wanted, tell)
    blocked = {
        pipeline.name: error
        for table, pipeline in pipelines.items()
        if (error := _blocked(spec, table, pipeline, captured)) is not None
    }
    may_run = replace(project, pipelines=tuple(one for one in project.pipelines if one.name not in blocked))
    return Ingested(captured=captured, pipelines=pipelines, may_run=may_run, blocked=blocked, noticed=notice(spec, tables))


def _wanted(spec: IngestSpec, table: DbTable, pipeline: PipelineSpec) -> Wanted:
    log = pipeline.source.changelog
    away = set(spec.leave_out.get(table.full_name, ()))
    groups: Mapping[str, Sequence[str]] = (
        {name: [column.name for column in columns] for name, columns in log.layout.all_groups.items()} if log else {}
    )
    kept = tuple(column for column in table.columns if column.name not in away)
    return Wanted(
        table=replace(table, columns=kept),
        groups=groups,
        leave_out=frozenset(away),
        has_backup=pipeline.source.bootstrap is not None,
        place=place_of(pipeline),
    )


def _blocked(spec: IngestSpec, table: str, pipeline: PipelineSpec, captured: Captured) -> FreshetError | None:
    if table in captured.stopped:
        return StateError(
            "TABLE_STOPPED",
            f"{table} is not captured any further: {captured.stopped[table]}.",
            f"The pipeline {pipeline.name} was not run; its table stays as it is. The other tables go on.",
            "Copy it anew: docs/guides/databases.md, 'Copy a table anew'.",
            table=table,
        )
    unknown = unknown_columns(spec, table, captured.columns.get(table, ()), pipeline)
    if unknown:
        return StateError(
            "COLUMNS_NOT_IN_DDL",
            f"{table} has {', '.join(unknown)}, which the DDL of {pipeline.name} does not have.",
            f"The pipeline {pipeline.name} was not run: its changes wait in their files. The other tables go on.",
            f"Add them to the DDL, or name them under 'leave_out:' of {spec.file}; then run the same command again. Where rows "
            "that stand have values in them, by a default or a rename, copy the table anew: docs/guides/databases.md.",
            table=table,
            columns=unknown,
        )
    return blocked_by_backup(table, pipeline, captured.standings[table], captured.number)
