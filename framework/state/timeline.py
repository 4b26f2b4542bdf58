"""Read a Hudi table's timeline from its files: no JVM, no Spark, a few milliseconds a table.

Layout of table version 8 (Hudi 1.0): completed actions are ``.hoodie/timeline/<requested>_<completed>.<action>``, Avro
inside; the archive is ``.hoodie/timeline/history``: Parquet files named by a manifest, whose number stands in
``_version_``. Avro is read with fastavro: hudi-rs 0.5 shows neither completion times, cleans nor the archive.
"""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, cast

import fastavro

from framework.errors import StateError, foreign_text
from framework.spec.model import TableRef
from framework.state.storage import Storage, local_path, storage_for
from framework.state.table import COMMIT_ACTIONS, CommitInfo, Instant, TableConfig, TableState

_COMPLETED = re.compile(r"^(\d{14,17})_(\d{14,17})\.([a-z]+)$")
# A compaction and a clustering have names of their own until they complete.
_BEGUN = re.compile(r"^(\d{14,17})\.(?:(?:commit|deltacommit|replacecommit)\.)?(?:requested|inflight)$")
_TABLE_VERSION = "8"
# Hudi writes a file of the timeline in place on a local disk: a reader may see it empty or cut off for some milliseconds.
_WAITS = (0.01, 0.04, 0.15, 0.3)
# Settings under which a base file holds all that Hudi shows of its rows, with the value that a table has that lacks them.
_WHOLE_FILES = {
    "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.base.file.format": "PARQUET", "hoodie.populate.meta.fields": "TRUE",
    "hoodie.datasource.write.drop.partition.columns": "FALSE", "hoodie.bootstrap.base.path": "",
}
# Generators of keys whose partition's path is the columns' own values.
_PLAIN_KEYS = ("SIMPLE", "COMPLEX", "NON_PARTITION")


class TimelineState:
    """The ``StateReader`` over real tables. Every call looks anew."""

    def table(self, ref: TableRef) -> TableState | None:
        """Return the table's state now, None where there is no table at that path.

        Raises:
            StateError: TABLE_VERSION: the table is of a version whose timeline is laid out otherwise; TABLE_UNREADABLE.
        """
        try:
            return self._table(ref)
        except OSError as error:
            raise StateError(
                "TABLE_UNREADABLE", f"{ref.name} ({ref.path}) cannot be looked at: {foreign_text(error)}",
                "Nothing was read or written.", "Check the path, and the rights and credentials that it needs.", table=ref.path,
            ) from error

    def _table(self, ref: TableRef) -> TableState | None:
        base = local_path(ref.path)
        storage = storage_for(base)
        try:
            properties = _properties(storage, f"{base}/.hoodie/hoodie.properties")
        except (FileNotFoundError, NotADirectoryError):
            return None
        version = properties.get("hoodie.table.version", "none")
        if version != _TABLE_VERSION:
            raise StateError(
                "TABLE_VERSION", f"{ref.name} ({ref.path}) is a Hudi table of version {version}; freshet reads 8 (Hudi 1.0).",
                "Nothing was read or written.",
                "hudi-cli brings a table to it: upgrade table --toVersion 8, or downgrade table --toVersion 8",
                table=ref.path, version=version,
            )
        timeline = f"{base}/.hoodie/{properties.get('hoodie.timeline.path', 'timeline')}"
        names = storage.names(timeline)
        instants = tuple(
            Instant(completed, requested, action) for requested, completed, action in map(_parts, names) if action
        )
        begun = {found[1] for name in names if (found := _BEGUN.match(name))}
        return TableState(
            ref=ref, config=_config(properties), instants=instants,
            load=lru_cache(maxsize=None)(partial(_load, storage, timeline)),
            load_archived=lru_cache(maxsize=2)(partial(_load_archived, storage, f"{timeline}/history")),
            retained_from=_retained_from(storage, timeline, instants),
            pending=tuple(sorted(begun - {i.requested for i in instants})),
            load_cleaned=lru_cache(maxsize=1)(partial(_cleaned_files, storage, timeline, instants)),
            load_taken_back=lru_cache(maxsize=None)(partial(_taken_back, storage, timeline)),
            # Where Hudi keeps them; each schema's file is there before the commit that brings it.
            has_schema_history=lru_cache(maxsize=1)(lambda: bool(storage.names(f"{base}/.hoodie/.schema"))),
        )


def _parts(name: str) -> tuple[str, str, str]:
    match = _COMPLETED.match(name)
    return (match[1], match[2], match[3]) if match else ("", "", "")


def _properties(storage: Storage, path: str) -> dict[str, str]:
    # While Hudi rewrites the file, the backup beside it holds the properties.
    for candidate in (path, f"{path}.backup"):
        try:
            found = _parse_properties(storage.read(candidate).decode())
        except FileNotFoundError:
            continue
        if "hoodie.table.version" in found:
            return found
    return _parse_properties(storage.read(path).decode())


def _parse_properties(text: str) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    # Java escapes ':' and '=' in property values, and writes what is not ASCII as \uXXXX.
    def plain(value: str) -> str:
        value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
        return re.sub(r"\\([:=#! ])", r"\1", value)

    return {key.strip(): plain(value.strip()) for key, value in pairs}


def _config(properties: Mapping[str, str]) -> TableConfig:
    def listed(key: str) -> tuple[str, ...]:
        # Hudi 1.0 may write "column:simple" for a partition field of a custom key generator.
        return tuple(part.split(":")[0] for part in properties.get(key, "").split(",") if part)

    plain_paths = properties.get("hoodie.table.keygenerator.type", "") in _PLAIN_KEYS
    return TableConfig(
        table_type=properties.get("hoodie.table.type", "COPY_ON_WRITE"),
        record_key=listed("hoodie.table.recordkey.fields"),
        partition_by=listed("hoodie.table.partition.fields"),
        ordering_field=properties.get("hoodie.table.precombine.field", ""),
        records_changes=properties.get("hoodie.table.cdc.enabled") == "true",
        whole_files=all(properties.get(key, value).upper() == value for key, value in _WHOLE_FILES.items()) and plain_paths,
        plain_paths=plain_paths,
        hive_style=properties.get("hoodie.datasource.write.hive_style_partitioning") == "true",
        url_encoded=properties.get("hoodie.datasource.write.partitionpath.urlencode") == "true",
        meta_fields=properties.get("hoodie.populate.meta.fields", "true").lower() == "true",
        own_merge=properties.get("hoodie.record.merge.mode", "CUSTOM") == "CUSTOM",
        properties=properties,
    )


def _record(data: bytes) -> dict[str, Any] | None:
    try:
        return cast(dict[str, Any], next(iter(fastavro.reader(io.BytesIO(data))), None)) if data else None
    except (EOFError, ValueError, IndexError):
        return None


def _read_action(storage: Storage, path: str) -> dict[str, Any]:
    for wait in (*_WAITS, 0):
        data = storage.read(path)
        record = _record(data)
        if record is not None:
            return record
        time.sleep(wait)
    if not data:
        # A writer that died between making the file and filling it: Hudi takes it for a commit without metadata, too.
        return {}
    raise StateError(
        "TIMELINE_UNREADABLE", f"{path} is no whole Avro file ({len(data):,} bytes).",
        "What the commit did is unknown; nothing was read or written.",
        "a writer died while it completed this action: restore the file, or take the commit back with hudi-cli "
        "(commit rollback), then run the same command",
        file=path,
    )


def _load(storage: Storage, timeline: str, instant: Instant) -> CommitInfo:
    name = f"{timeline}/{instant.requested}_{instant.completed}.{instant.action}"
    try:
        return _commit_info(_read_action(storage, name))
    except FileNotFoundError:
        # The archiver moved it between the listing and this look; the archive has it.
        history = _load_archived(storage, f"{timeline}/history")
        return next((info for i, info in history if i.requested == instant.requested), CommitInfo(operation="ARCHIVED"))


def _commit_info(raw: Mapping[str, Any]) -> CommitInfo:
    stats = [stat for group in (raw.get("partitionToWriteStats") or {}).values() for stat in group]

    # Of logs the size is that of a file that grew.
    base = [stat for stat in stats if str(stat.get("path") or "").endswith(".parquet")]

    def total(name: str, stats: Sequence[Mapping[str, Any]] = stats) -> int:
        return sum(stat.get(name) or 0 for stat in stats)

    return CommitInfo(
        operation=raw.get("operationType") or "UNKNOWN",
        inserts=total("numInserts"), updates=total("numUpdateWrites"), deletes=total("numDeletes"),
        file_ids=tuple(sorted({stat["fileId"] for stat in stats})),
        replaced_ids=tuple(sorted({i for ids in (raw.get("partitionToReplaceFileIds") or {}).values() for i in ids})),
        partitions=tuple(sorted({*(raw.get("partitionToWriteStats") or {}), *(raw.get("partitionToReplaceFileIds") or {})})),
        base_files=len(base), base_bytes=total("fileSizeInBytes", base),
        errors=total("totalWriteErrors"), extra=raw.get("extraMetadata") or {},
    )


def _taken_back(storage: Storage, timeline: str, rollback: Instant) -> tuple[str, ...]:
    try:
        raw = _read_action(storage, f"{timeline}/{rollback.requested}_{rollback.completed}.{rollback.action}")
    except FileNotFoundError:
        return ()
    return tuple(raw.get("commitsRollback") or ())


def _retained_from(storage: Storage, timeline: str, instants: tuple[Instant, ...]) -> str:
    deleted = ""
    for clean in sorted((i for i in instants if i.action == "clean"), reverse=True):
        try:
            raw = _read_action(storage, f"{timeline}/{clean.requested}_{clean.completed}.clean")
        except FileNotFoundError:
            continue
        if raw.get("earliestCommitToRetain"):
            # The older cleans retained no less, so they need no look.
            return max(str(raw["earliestCommitToRetain"]), f"{deleted}+" if deleted else "")
        # KEEP_LATEST_FILE_VERSIONS names no commit: what follows the newest file that any clean deleted is still whole.
        deleted = max([deleted, *(instant for _, instant in _deleted_files(raw))])
    return f"{deleted}+" if deleted else ""


def _cleaned_files(storage: Storage, timeline: str, instants: tuple[Instant, ...]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for clean in (i for i in instants if i.action == "clean"):
        with suppress(FileNotFoundError):
            found += _deleted_files(_read_action(storage, f"{timeline}/{clean.requested}_{clean.completed}.clean"))
    return tuple(found)


def _deleted_files(clean: Mapping[str, Any]) -> list[tuple[str, str]]:
    # <file id>_<write token>_<request time>.parquet, or .<file id>_<request time>.log.<...>
    return [
        (found[1], found[2])
        for partition in (clean.get("partitionMetadata") or {}).values()
        for name in partition.get("successDeleteFiles") or ()
        if (found := re.search(r"([^/_]+?)(?:_[^/_]+)?_(\d{14,17})\.", name.rpartition("/")[2].removeprefix(".")))
    ]


def _load_archived(storage: Storage, history: str, completed_after: str = "") -> tuple[tuple[Instant, CommitInfo], ...]:
    names = set(storage.names(history))
    if "_version_" not in names:
        return ()
    version = storage.read(f"{history}/_version_").decode().strip()
    manifest = json.loads(storage.read(f"{history}/manifest_{version}"))
    # An idle tick must not pay for this import (0.2 s).
    from pyarrow import BufferReader, compute, parquet

    found: list[tuple[Instant, CommitInfo]] = []
    for file in manifest.get("files", ()):
        # The history of years may hold gigabytes of metadata; what completed earlier is left undecoded.
        table = parquet.read_table(
            BufferReader(storage.read(f"{history}/{file['fileName']}")),
            columns=["instantTime", "completionTime", "action", "metadata"],
            filters=compute.field("completionTime") > completed_after,
        )
        for row in table.to_pylist():
            if row["action"] in COMMIT_ACTIONS:
                instant = Instant(row["completionTime"], row["instantTime"], row["action"])
                found.append((instant, _commit_info(_record(row["metadata"]) or {})))
    return tuple(found)
