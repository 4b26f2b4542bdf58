"""Read a Hudi table's timeline from its files: no JVM, no Spark, a few milliseconds a table.

Layout of table version 8 (Hudi 1.0): completed actions are ``.hoodie/timeline/<requested>_<completed>.<action>``, Avro
inside; the archive is ``.hoodie/timeline/history``: Parquet files named by a manifest, whose number stands in
``_version_``. Avro is read with fastavro: hudi-rs 0.5 shows neither completion times, cleans nor the archive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from freshet.errors import StateError
from freshet.hudi.actions import list_archived, load_archived, load_commit
from freshet.hudi.cleans import cleaned_files, files_to_clean, overtaken, retained_from, taken_back
from freshet.hudi.properties import COMPLETED, read_properties
from freshet.hudi.table import Instant, TableConfig, TableState
from freshet.project.model.pipeline import TableRef
from freshet.storage.failures import told
from freshet.storage.files import Storage, local_path, storage_for

# A compaction and a clustering have names of their own until they complete.
_BEGUN = re.compile(r"^(\d{14,17})\.(?:(?:commit|deltacommit|replacecommit)\.)?(?:requested|inflight)$")
_CLEAN_BEGUN = re.compile(r"^(\d{14,17})\.clean\.(?:requested|inflight)$")
_COMPACTION_BEGUN = re.compile(r"^(\d{14,17})\.compaction\.(?:requested|inflight)$")
_ROLLBACK_BEGUN = re.compile(r"^(\d{14,17})\.rollback\.requested$")
_TABLE_VERSION = "8"
# Settings under which a file holds all that Hudi shows of its rows, with the value that a table has that lacks them.
_WHOLE_FILES = {
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.populate.meta.fields": "TRUE",
    "hoodie.datasource.write.drop.partition.columns": "FALSE",
    "hoodie.bootstrap.base.path": "",
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
            "TABLE_VERSION",
            f"{ref.name} ({ref.path}) is a Hudi table of version {version}; freshet reads 8 (Hudi 1.0).",
            "Nothing was read or written.",
            "hudi-cli brings a table to it: upgrade table --toVersion 8, or downgrade table --toVersion 8",
            table=ref.path,
            version=version,
        )
    timeline = f"{base}/.hoodie/{properties.get('hoodie.timeline.path', 'timeline')}"
    names = storage.names(timeline)
    instants = tuple(Instant(found[2], found[1], found[3]) for name in names if (found := COMPLETED.match(name)))
    done = {i.requested for i in instants}
    open_ = [name for name in names if name.endswith((".requested", ".inflight"))]

    def begun(pattern: re.Pattern[str]) -> tuple[str, ...]:
        return tuple(sorted({found[1] for name in open_ if (found := pattern.match(name))} - done))

    return TableState(
        ref=ref,
        config=_config(properties),
        instants=instants,
        load=lru_cache(maxsize=None)(told(ref, partial(load_commit, storage, timeline))),
        load_archived=lru_cache(maxsize=2)(told(ref, partial(load_archived, storage, f"{timeline}/history"))),
        retained_from=retained_from(storage, timeline, instants),
        pending=begun(_BEGUN),
        compacting=begun(_COMPACTION_BEGUN),
        load_cleaned=lru_cache(maxsize=1)(told(ref, partial(cleaned_files, storage, timeline, instants))),
        load_cleaning=lru_cache(maxsize=1)(told(ref, partial(files_to_clean, storage, timeline, begun(_CLEAN_BEGUN)))),
        load_overtaken=lru_cache(maxsize=1)(told(ref, partial(overtaken, storage, timeline, begun(_ROLLBACK_BEGUN), done))),
        load_taken_back=lru_cache(maxsize=None)(told(ref, partial(taken_back, storage, timeline))),
        list_archived=lru_cache(maxsize=4)(told(ref, partial(list_archived, storage, f"{timeline}/history"))),
        has_schema_history=lru_cache(maxsize=1)(told(ref, partial(_has_schema_history, storage, base))),
    )


def _has_schema_history(storage: Storage, base: str) -> bool:
    # Where Hudi keeps them; each schema's file is there before the commit that brings it.
    return bool(storage.names(f"{base}/.hoodie/.schema"))


def _config(properties: Mapping[str, str]) -> TableConfig:
    def listed(key: str) -> tuple[str, ...]:
        # Hudi 1.0 may write "column:simple" for a partition field of a custom key generator.
        return tuple(part.split(":")[0] for part in properties.get(key, "").split(",") if part)

    def is_on(key: str, default: str = "false") -> bool:
        # As Java's Boolean.parseBoolean, by which Hudi reads them.
        return properties.get(key, default).lower() == "true"

    plain_paths = properties.get("hoodie.table.keygenerator.type", "") in _PLAIN_KEYS
    whole = plain_paths and all(properties.get(key, value).upper() == value for key, value in _WHOLE_FILES.items())
    own_merge = properties.get("hoodie.record.merge.mode", "CUSTOM") == "CUSTOM"
    table_type = properties.get("hoodie.table.type", "COPY_ON_WRITE")
    return TableConfig(
        table_type=table_type,
        record_key=listed("hoodie.table.recordkey.fields"),
        partition_by=listed("hoodie.table.partition.fields"),
        ordering_field=properties.get("hoodie.table.precombine.field", ""),
        records_changes=is_on("hoodie.table.cdc.enabled"),
        whole_files=whole and table_type == "COPY_ON_WRITE",
        whole_logs=whole and table_type == "MERGE_ON_READ" and not own_merge,
        plain_paths=plain_paths,
        hive_style=is_on("hoodie.datasource.write.hive_style_partitioning"),
        url_encoded=is_on("hoodie.datasource.write.partitionpath.urlencode"),
        meta_fields=is_on("hoodie.populate.meta.fields", "true"),
        own_merge=own_merge,
        properties=properties,
    )
