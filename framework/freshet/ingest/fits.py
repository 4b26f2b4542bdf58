"""Whether pipelines read what is captured: the folder, the format, the key; and what of a database no pipeline has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshet.changelog.reference import Given
from freshet.databases.model import DbTable
from freshet.errors import FreshetError
from freshet.ingest.landing import folder_of
from freshet.ingest.spec import IngestSpec
from freshet.project.model.files import FilesSpec
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec

_UNTOUCHED = "Nothing was captured."
_EVERY_FILE = ("", "**", "*.json.gz")


def check_pipelines(spec: IngestSpec, pipelines: Mapping[str, PipelineSpec], tables: Mapping[str, DbTable]) -> None:
    """Refuse pipelines that would read something else than what is captured for them.

    Args:
        spec: The ingest.
        pipelines: By table.
        tables: What the database has, by ``schema.table``.

    Raises:
        FreshetError: INGEST_UNFIT, with all that is wrong.
    """
    wrong = [said for name, pipeline in pipelines.items() for said in _wrong(spec, name, pipeline, tables.get(name))]
    if wrong:
        raise FreshetError(
            "INGEST_UNFIT",
            f"{spec.file}: {'; '.join(wrong)}.",
            _UNTOUCHED,
            "Correct the files; `freshet init --from ADDRESS` writes new ones beside them, in another folder, to compare.",
            problems=wrong,
        )


def notice(spec: IngestSpec, tables: Mapping[str, DbTable]) -> dict[str, str]:
    """Return the tables that are looked at and not captured, each with why it cannot be, or nothing."""
    return {name: one.refused for name, one in tables.items() if spec.looks_at(name) and name not in spec.tables}


def unknown_columns(spec: IngestSpec, table: str, columns: Sequence[str], pipeline: PipelineSpec) -> list[str]:
    """Return columns that the database was seen to have, and that neither the DDL nor ``leave_out`` names."""
    known = {column.name.lower() for column in pipeline.target.columns} | {
        name.lower() for name in spec.leave_out.get(table, ())
    }
    return [name for name in columns if name.lower() not in known]


def _wrong(spec: IngestSpec, name: str, pipeline: PipelineSpec, table: DbTable | None) -> list[str]:
    if table is None:
        return [f"the database has no table {name}"]
    if table.refused:
        return [f"{name} cannot be captured: {table.refused}"]
    folder = f"{spec.into}/{folder_of(name)}"
    source = pipeline.source
    if not isinstance(source, FilesSpec) or same_place(source.table.path) != same_place(folder):
        return [f"the pipeline {pipeline.name} does not read the files of {folder}"]
    log = source.changelog
    if log is None or log.adapter != "freshet":
        return [f"the pipeline {pipeline.name} does not read them as 'format: changelog' with 'adapter: freshet'"]
    wrong = []
    if not isinstance(log.source.reference, Given) or log.source.reference.form != "text":
        wrong.append(f"the pipeline {pipeline.name} needs 'reference_key: {{kind: given, form: text}}'")
    if set(log.layout.key) != set(table.key):
        wrong.append(f"{pipeline.name} has the key {', '.join(log.layout.key)}, and {name} has {', '.join(table.key)}")
    if spec.transactional:
        wrong += _apart(pipeline, source)
    lost = [one for one in spec.leave_out.get(name, ()) if one in table.key]
    if lost:
        wrong.append(f"leave_out names {lost[0]}, which is of the key of {name}")
    place = source.bootstrap.place if source.bootstrap is not None else None
    if place is not None and place.kind != spec.address.kind:
        wrong.append(f"the backup of {pipeline.name} names {place.text}, which is no place in the log of {spec.address.kind}")
    names = {column.name for column in table.columns}
    near = {column.name.lower(): column.name for column in table.columns}
    wrong += [
        f"{pipeline.name} has the column {column.name}, and {name} writes it {near[column.name.lower()]}"
        for column in log.layout.columns
        if column.name not in names and column.name.lower() in near
    ]
    return wrong


def _apart(pipeline: PipelineSpec, source: FilesSpec) -> list[str]:
    """Return what of a pipeline would leave a part of a transaction unread, though all its files are there."""
    found = [f"drop rows, as its check {check.name} does" for check in pipeline.checks if check.severity == "drop"]
    if source.pattern not in _EVERY_FILE:
        found.append(f"read the files {source.pattern} alone")
    if source.quiet_seconds or source.marker:
        found.append("wait before it reads a file, as 'quiet:' and 'marker:' let it")
    if source.too_late == "warn":
        found.append("leave files unread, as 'too_late: warn' lets it")
    return [f"with transactional: true {pipeline.name} must not {one}" for one in found]
