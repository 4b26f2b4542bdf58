"""A stage of a plan as text for people and as JSON for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from typing_extensions import assert_never

from freshet.changelog.declared import as_json, kept_in_words, order_in_words
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.keys.kafka_keys import SECRET_KEYS
from freshet.hudi.keys.options import HBASE_PORT, HBASE_QUORUM, HBASE_TABLE
from freshet.hudi.options import NO_ENTRIES
from freshet.plan.bootstrap import ReadBackup
from freshet.plan.checks import CheckBatch, CheckTable
from freshet.plan.row_stages import AdaptEvents, EnforceSchema, MergeColumns, MergeEvents
from freshet.plan.stages import Commit, RunPython, RunSql, Stage
from freshet.sources.files.reads import ReadFiles
from freshet.sources.hudi.reads import (
    DriveRows,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadQuarantine,
    ReadRange,
    ReadSnapshot,
    counted,
)
from freshet.sources.kafka.reads import ReadTopics

_SHOWN_PARTITIONS = 20


def stage_json(stage: Stage) -> dict[str, Any]:
    """Return a stage as a JSON-serialisable mapping."""
    body: dict[str, Any] = {"stage": _name(stage), **asdict(stage)}
    if isinstance(stage, AdaptEvents | MergeEvents):
        body["changelog"] = as_json(stage.changelog)
    if isinstance(stage, EnforceSchema | MergeColumns | MergeEvents | CheckTable | ReadQuarantine):
        body["columns"] = [{"name": c.name, "type": str(c.type), "nullable": c.nullable} for c in stage.columns]
    if isinstance(stage, ReadBackup):
        body["files"] = [asdict(file) for file in stage.files.files] if stage.files is not None else None
        body["reference_key"] = stage.reference_key
    if isinstance(stage, ReadTopics | ReadFiles | ReadBackup):
        body["columns"] = [{"name": c.name, "type": str(c.type)} for c in stage.columns]
    if isinstance(stage, ReadTopics):
        body["client"] = {key: value for key, value in stage.client.items() if key not in SECRET_KEYS}
        body["registry"] = list(stage.registry.urls) if stage.registry else []
    if isinstance(stage, Commit):
        body["checkpoint"] = stage.checkpoint.as_json() if stage.checkpoint else None
    return body


def _name(stage: Stage) -> str:
    match stage:
        case ReadTopics():
            return "read_topics"
        case ReadFiles():
            return "read_files"
        case ReadBackup():
            return "read_backup"
        case ReadIncrement():
            return "read_increment"
        case ReadRange():
            return "read_range"
        case DriveRows():
            return "drive_rows"
        case ReadSnapshot():
            return "read_snapshot"
        case ReadLookback():
            return "read_lookback"
        case ReadPartitions():
            return "read_partitions"
        case RunSql():
            return "run_sql"
        case RunPython():
            return "run_python"
        case ReadQuarantine():
            return "read_quarantine"
        case CheckBatch():
            return "check_batch"
        case CheckTable():
            return "check_table"
        case EnforceSchema():
            return "conform"
        case MergeColumns():
            return "merge_columns"
        case AdaptEvents():
            return "adapt_events"
        case MergeEvents():
            return "merge_events"
        case Commit():
            return "commit"
        case _:
            assert_never(stage)


def _partitions(stage: ReadPartitions) -> str:
    columns = [column for column, _ in stage.on]
    if stage.known is None:
        needed = ", ".join(f"{column} = {' or '.join(texts)}" for column, texts in stage.on)
        return f"the partitions that the batch needs: {needed}"
    named = ["/".join(f"{c}={v}" for c, v in zip(columns, values, strict=True)) for values in stage.known]
    more = f" and {len(named) - _SHOWN_PARTITIONS} more" if len(named) > _SHOWN_PARTITIONS else ""
    return f"{counted(len(named), 'partition')}: {', '.join(named[:_SHOWN_PARTITIONS])}{more}"


def stage_text(stage: Stage) -> str:
    """Return what a stage does, in words."""
    match stage:
        case ReadTopics():
            undecoded = f"; records that cannot be decoded break {stage.rule}" if stage.rule else ""
            times = f", {stage.times.column} from {stage.times.start} to {stage.times.end}" if stage.times else ""
            schemas = f" by the schemas of {', '.join(stage.subjects)} at {stage.registry.urls[0]}" if stage.registry else ""
            key = stage.key_registry
            keys = f", keys as avro by those of {', '.join(stage.key_subjects)} at {key.urls[0]}" if key else ""
            what = f"the records of {stage.table.name.partition(':')[2]} as {stage.format}{schemas}{keys}"
            return f"read <SRC>: {what}{times}{undecoded}"
        case ReadFiles():
            unread = f"; files and rows that cannot be read break {stage.rule}" if stage.rule else ""
            times = f", {stage.times.column} from {stage.times.start} to {stage.times.end}" if stage.times else ""
            kind = "messages, one a line" if stage.as_messages else stage.format
            return f"read <SRC>: {counted(len(stage.files), 'file')} below {stage.table.name} as {kind}{times}{unread}"
        case ReadBackup():
            found = f"{counted(len(stage.files.files), 'file')} of " if stage.files is not None else ""
            unread = f"; what cannot be read breaks {stage.rule}" if stage.rule else ""
            return f"read <SRC>: {found}{stage.backup.words} as events of {stage.place.text}{unread}"
        case ReadIncrement():
            deletes = ", deletes included" if stage.with_deletes else ""
            return f"read <SRC> incrementally from {stage.table.name}{deletes}"
        case ReadSnapshot():
            if stage.empty:
                return f"read {stage.view}: nothing of {stage.table.name} yet"
            return f"read {stage.view}: all of {stage.table.name}" + (f" as of {stage.as_of}" if stage.as_of else "")
        case ReadRange():
            view = "<SRC>" if stage.view == MAIN else stage.view
            return f"read {view}: {stage.column} from {stage.start} to {stage.end} of {stage.table.name}" + (
                f" as of {stage.as_of}" if stage.as_of else ""
            )
        case DriveRows() if stage.every_row:
            return (
                f"add to <SRC> all of {stage.source.name}: {stage.changes.table.name} is read whole, and has cleaned the "
                "version before"
            )
        case DriveRows():
            keys = ", ".join(f"{column} = {theirs}" for theirs, column in stage.on)
            pruned = [column for _, column in stage.on if column in stage.partition_by]
            where = f"in the {', '.join(pruned)} that changed" if pruned else "in all of it"
            return f"add to <SRC> what {stage.changes.table.name} changed: rows of {stage.source.name} {where}, by {keys}"
        case ReadLookback():
            return f"read {stage.view}: what changed in {stage.table.name}: {stage.window.reason}"
        case ReadPartitions():
            version = f" as of {stage.as_of}" if stage.as_of else ""
            return f"read {stage.view}: of {stage.table.name}{version} {_partitions(stage)}"
        case RunSql():
            return f"run {stage.file} ({len(stage.statements)} statement{'s' * (len(stage.statements) != 1)})"
        case RunPython():
            return f"call transform() of {stage.file}"
        case EnforceSchema():
            return f"hold the batch against the DDL: {len(stage.columns)} columns, no null in {', '.join(stage.required)}"
        case ReadQuarantine():
            where = f" where {stage.where}" if stage.where else ""
            return f"read <SRC>: the rows that wait in {stage.table.name}{where}"
        case CheckBatch():
            names = ", ".join(f"{c.name} ({c.severity}{', deletes the older row' * c.deletes})" for c in stage.checks)
            keeps = stage.located and any(c.severity == "drop" and not c.deletes for c in stage.checks)
            older = "; the older row that stands under a dropped row's key stays published" if keeps else ""
            timed = f"; event times of {stage.event_times.column} are counted" if stage.event_times is not None else ""
            return f"check the batch in one pass: {names or 'its size'}{timed}{older}"
        case CheckTable():
            return "check what the commit makes: " + "; ".join(
                f"{one.check.name} ({one.check.severity}) " + (f"before it: {one.reason}" if one.reason else "within it")
                for one in stage.checks
            )
        case MergeColumns():
            others = ", and write its other rows again" if stage.keep_others else ""
            missing = "" if stage.keep_others or stage.insert_missing else "; rows whose key is not there are dropped"
            return f"join with {stage.table.name}: set only {', '.join(stage.owned)}{others}{missing}"
        case AdaptEvents():
            log, aside = stage.changelog, f"; what does not conform breaks {stage.rule}" if stage.rule else ""
            form = "rows with _event" if log.is_typed else "the format itself" if log.adapter == "freshet" else log.adapter
            return f"make events of <SRC>: {form}, ordered by {order_in_words(log.source.reference)}{aside}"
        case MergeEvents():
            return _merge_in_words(stage)
        case Commit():
            index = stage.options["hoodie.index.type"]
            if index == "HBASE":
                index += f" {stage.options[HBASE_TABLE]} on {stage.options[HBASE_QUORUM]}:{stage.options[HBASE_PORT]}"
            rows = "a checkpoint without rows" if stage.empty else stage.operation
            if index == NO_ENTRIES:
                index = "its index is made afterwards"
            return f"commit {rows} to {stage.table.name} ({stage.options['hoodie.datasource.write.table.type']}, {index})"
        case _:
            assert_never(stage)


def _merge_in_words(stage: MergeEvents) -> str:
    layout, table = stage.changelog.layout, stage.table.name
    if layout.keeps == "events":
        return f"add to {table} {kept_in_words(layout)}"
    verb = "merge into" if layout.keeps == "newest" else "cut the intervals of"
    within = f"in the {', '.join(stage.partition_by)} of its events" if stage.partition_by else "whole: it has no partitions"
    read = f"; it is read {within}" if stage.target_exists else ""
    return f"{verb} {table} by reference key: {kept_in_words(layout)}{read}"
