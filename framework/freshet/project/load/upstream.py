"""What a pipeline says of the tables that it reads, where the project makes them itself: held against their DDL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshet.hudi.keys import options
from freshet.problems import Problems, did_you_mean
from freshet.project.load import layers
from freshet.project.load.draft import Draft, ddl_file
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.ddl import DdlTable, Setting, parse_ddl
from freshet.types.from_json import DELETE_MARK

_CDC = "hoodie.table.cdc.enabled"


def check_reads(pipelines: Iterable[PipelineSpec], drafts: Mapping[str, Draft], problems: Problems) -> None:
    """Report columns and partitions that a table of the project has not, and deletes of one that its reader cannot see.

    Args:
        pipelines: Those that were asked for.
        drafts: Every pipeline of the project.
        problems: Receives NOT_A_PARTITION, UNKNOWN_COLUMN, DELETES_NOT_RECORDED and CDC_NOT_RECORDED.
    """
    writers: dict[str, list[Draft]] = {}
    for draft in drafts.values():
        if draft.target is not None:
            writers.setdefault(same_place(draft.target.path), []).append(draft)
    for spec in pipelines:
        _check_inputs(spec, writers, problems)
        _check_deletes(spec, drafts[spec.name], writers.get(same_place(spec.source.table.path), []), problems)


def _check_inputs(spec: PipelineSpec, writers: Mapping[str, list[Draft]], problems: Problems) -> None:
    event_time = dict(spec.backfill.event_time) if spec.backfill else {}
    for item in spec.inputs:
        ddl = _declared(writers.get(same_place(item.table.path), []))
        if ddl is None:
            continue
        partition_by = _partition_by(ddl)
        for column, _ in item.on:
            if partition_by is not None and column not in partition_by:
                problems.add(
                    spec.file,
                    item.line,
                    "NOT_A_PARTITION",
                    f"inputs.{item.name}.on: {column[:80]} is no partition column of {item.table.name} ({ddl.file}).",
                    did_you_mean(column, partition_by),
                )
        wanted = [(f"inputs.{item.name}.drives", theirs) for theirs, _ in item.drives]
        if item.name in event_time:
            wanted.append((f"backfill.inputs.{item.name}", event_time[item.name]))
        names = [column.name for column in ddl.columns]
        for where, column in wanted:
            if column.lower() not in {name.lower() for name in names}:
                problems.add(
                    spec.file,
                    item.line,
                    "UNKNOWN_COLUMN",
                    f"{where}: {item.table.name} has no column '{column[:80]}' ({ddl.file}).",
                    did_you_mean(column, names),
                )


def _check_deletes(spec: PipelineSpec, reader: Draft, writers: list[Draft], problems: Problems) -> None:
    ddl = _declared(writers)
    if ddl is None or spec.source.incremental_format == "latest_state":
        return
    settings = {name: value for one in writers for name, value in layers.text_settings(one.tree, "hoodie").items()}
    settings |= ddl.settings
    if settings.get(_CDC, Setting(value="", file="", line=0)).value.strip().lower() == "true":
        return
    deletes = any(column.name == DELETE_MARK for column in ddl.columns)
    deletes |= options.OPERATION in settings and settings[options.OPERATION].value.strip().lower() == "delete"
    place = reader.place("hoodie", options.SOURCE_PATH)
    remedy = f"Add '{_CDC}' = 'true' to TBLPROPERTIES in {ddl.file} before its first run; or"
    if spec.source.incremental_format == "cdc":
        problems.add(
            place.file,
            place.line,
            "CDC_NOT_RECORDED",
            f"{spec.source.table.name} keeps no change data ({ddl.file}).",
            f"{remedy} remove {options.INCREMENTAL_FORMAT}.",
        )
    elif deletes:
        problems.add(
            place.file,
            place.line,
            "DELETES_NOT_RECORDED",
            f"{spec.source.table.name} deletes rows and keeps no change data "
            f"({ddl.file}), so that {spec.target.ref.name} would keep them.",
            f"{remedy} ignore its deletes by '{options.INCREMENTAL_FORMAT}: latest_state'.",
        )


def _declared(writers: list[Draft]) -> DdlTable | None:
    # What is wrong with a DDL is reported with the pipeline that writes the table.
    found = [parse_ddl(one.ddl_text, ddl_file(one.tree), Problems()) for one in writers if one.ddl_text is not None]
    return found[0] if found else None


def _partition_by(ddl: DdlTable) -> list[str] | None:
    named = ddl.partition_by or ddl.settings.get(options.PARTITION_BY)
    return [name.strip() for name in named.value.split(",") if name.strip()] if named is not None else []
