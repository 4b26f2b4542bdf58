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
from functools import lru_cache, partial
from typing import Any

import fastavro

from framework.errors import RetryableError, StateError
from framework.spec.model import TableRef
from framework.state.failures import TableUnreadable, told
from framework.state.properties import COMPLETED, WAITS, read_properties
from framework.state.storage import Storage, local_path, storage_for
from framework.state.table import COMMIT_ACTIONS, CommitInfo, Instant, TableConfig, TableState

_TABLE_VERSION = "8"
_TAKE_BACK = (
    "Restore the file from a copy. Where a writer died while it completed this action, delete the file: the action is then "
    "unfinished, and the table's next write takes it back."
)
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
            StateError: TABLE_VERSION: the table is of a version whose timeline is laid out otherwise. TIMELINE_UNREADABLE: a
                file is there, and its content is not whole. What else storage raises: see ``failures``.
        """
        return told(ref, _table)(ref)


def _table(ref: TableRef) -> TableState | None:
    base = local_path(ref.path)
    storage = storage_for(base)
    properties = read_properties(storage, base)
    if properties is None:
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
    instants = tuple(
        Instant(completed, requested, action)
        for requested, completed, action in map(_parts, storage.names(timeline)) if action
    )
    return TableState(
        ref=ref, config=_config(properties), instants=instants,
        load=lru_cache(maxsize=None)(told(ref, partial(_load, storage, timeline))),
        load_archived=lru_cache(maxsize=2)(told(ref, partial(_load_archived, storage, f"{timeline}/history"))),
        retained_from=_retained_from(storage, timeline, instants),
    )


def _parts(name: str) -> tuple[str, str, str]:
    match = COMPLETED.match(name)
    return (match[1], match[2], match[3]) if match else ("", "", "")


def _config(properties: Mapping[str, str]) -> TableConfig:
    def listed(key: str) -> tuple[str, ...]:
        # Hudi 1.0 may write "column:simple" for a partition field of a custom key generator.
        return tuple(part.split(":")[0] for part in properties.get(key, "").split(",") if part)

    return TableConfig(
        table_type=properties.get("hoodie.table.type", "COPY_ON_WRITE"),
        record_key=listed("hoodie.table.recordkey.fields"),
        partition_by=listed("hoodie.table.partition.fields"),
        ordering_field=properties.get("hoodie.table.precombine.field", ""),
        records_changes=properties.get("hoodie.table.cdc.enabled") == "true",
        whole_files=all(properties.get(key, value).upper() == value for key, value in _WHOLE_FILES.items())
        and properties.get("hoodie.table.keygenerator.type", "") in _PLAIN_KEYS,
        hive_style=properties.get("hoodie.datasource.write.hive_style_partitioning") == "true",
    )


def _record(data: bytes) -> dict[str, Any] | None:
    try:
        found = next(iter(fastavro.reader(io.BytesIO(data))), None) if data else None
    except Exception:  # of bytes that are no Avro the reader raises whatever it stumbles over
        return None
    return found if isinstance(found, dict) else None


def _read_action(storage: Storage, path: str) -> dict[str, Any]:
    for wait in (*WAITS, 0):
        data = storage.read(path)
        record = _record(data)
        if record is not None:
            return record
        time.sleep(wait)
    # Of an empty one, too: its rows stand in the table, and what it did is unknown.
    raise TableUnreadable(path, f"is no whole Avro file ({len(data):,} bytes)", _TAKE_BACK)


def _load(storage: Storage, timeline: str, instant: Instant) -> CommitInfo:
    name = f"{timeline}/{instant.requested}_{instant.completed}.{instant.action}"
    try:
        return _commit_info(_read_action(storage, name), name)
    except FileNotFoundError:
        # The archiver moved it between the listing and this look; the archive has it.
        for archived, info in _load_archived(storage, f"{timeline}/history"):
            if archived.requested == instant.requested:
                return info
    raise RetryableError(
        "TIMELINE_CHANGED", f"{name} was there a moment ago, and is not in the archive.", "Nothing was read or written.",
        "Run the same command again.", file=name,
    )


def _commit_info(raw: Mapping[str, Any], path: str) -> CommitInfo:
    try:
        return _parsed_info(raw)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TableUnreadable(path, f"holds no commit's metadata ({type(error).__name__})", _TAKE_BACK) from error


def _parsed_info(raw: Mapping[str, Any]) -> CommitInfo:
    if "partitionToWriteStats" not in raw:
        raise KeyError("partitionToWriteStats")
    stats = [stat for group in (raw.get("partitionToWriteStats") or {}).values() for stat in group]

    # Of logs the size is that of a file that grew.
    base = [stat for stat in stats if str(stat.get("path") or "").endswith(".parquet")]

    def total(name: str, stats: Sequence[Mapping[str, Any]] = stats) -> int:
        return sum(stat.get(name) or 0 for stat in stats)

    return CommitInfo(
        operation=raw.get("operationType") or "UNKNOWN",
        inserts=total("numInserts"), updates=total("numUpdateWrites"), deletes=total("numDeletes"),
        file_ids=tuple(sorted({stat["fileId"] for stat in stats})),
        partitions=tuple(sorted({*(raw.get("partitionToWriteStats") or {}), *(raw.get("partitionToReplaceFileIds") or {})})),
        base_files=len(base), base_bytes=total("fileSizeInBytes", base), extra=raw.get("extraMetadata") or {},
    )


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
        deleted = max([deleted, *_deleted_versions(raw)])
    return f"{deleted}+" if deleted else ""


def _deleted_versions(clean: Mapping[str, Any]) -> list[str]:
    return [
        found[1]
        for partition in (clean.get("partitionMetadata") or {}).values()
        for name in partition.get("successDeleteFiles") or ()
        if (found := re.search(r"_(\d{14,17})\.", name))
    ]


def _load_archived(storage: Storage, history: str, completed_after: str = "") -> tuple[tuple[Instant, CommitInfo], ...]:
    names = set(storage.names(history))
    if "_version_" not in names:
        return ()
    try:
        return _archived(storage, history, completed_after)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"is no whole archive ({type(error).__name__}: {error})"
        raise TableUnreadable(history, what, "Restore the archive's files from a copy.") from error


def _archived(storage: Storage, history: str, completed_after: str) -> tuple[tuple[Instant, CommitInfo], ...]:
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
                raw = _record(row["metadata"])
                if raw is None:
                    raise TableUnreadable(f"{history}/{file['fileName']}", f"says nothing of {instant.requested}", _TAKE_BACK)
                found.append((instant, _commit_info(raw, f"{history}/{file['fileName']}")))
    return tuple(found)
