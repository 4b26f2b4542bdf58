"""Tables whose timelines are written by hand: what Hudi 1.0 leaves on disk, without a JVM."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
from pyarrow import parquet

from freshet.hudi.checkpoint import ORIGIN_KEY, RUN_ID_KEY, encode
from freshet.project.model.pipeline import TableRef
from tests.kit.memory import a_checkpoint, at

PROPERTIES = """#Updated at 2026-08-01T10:15:00Z
#Sat Aug 01 10:15:00 UTC 2026
hoodie.table.version=8
hoodie.table.name=trips
hoodie.table.type=MERGE_ON_READ
hoodie.table.recordkey.fields=city,trip_id
hoodie.table.partition.fields=day\\:simple,hour\\:simple
hoodie.table.precombine.field=updated_at
hoodie.timeline.path=timeline
hoodie.table.cdc.enabled=true
"""
OF_A_PIPELINE = """\
hoodie.table.version=8
hoodie.table.type=COPY_ON_WRITE
hoodie.table.recordkey.fields=id
hoodie.table.precombine.field=updated_at
hoodie.timeline.path=timeline
hoodie.table.timeline.timezone=UTC
"""
#: And of the table for the rows that its checks drop.
OF_A_QUARANTINE = OF_A_PIPELINE.replace("fields=id", "fields=_quarantine_id")
# The fields of HoodieCommitMetadata, HoodieReplaceCommitMetadata and HoodieCleanMetadata that are read.
STAT = {
    "type": "record",
    "name": "HoodieWriteStat",
    "fields": [
        {"name": "fileId", "type": ["null", "string"]},
        {"name": "numInserts", "type": ["null", "long"]},
        {"name": "numUpdateWrites", "type": ["null", "long"]},
        {"name": "numDeletes", "type": ["null", "long"]},
        {"name": "path", "type": ["null", "string"]},
        {"name": "fileSizeInBytes", "type": ["null", "long"]},
    ],
}
COMMIT = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieCommitMetadata",
        "fields": [
            {"name": "partitionToWriteStats", "type": ["null", {"type": "map", "values": {"type": "array", "items": STAT}}]},
            {"name": "extraMetadata", "type": ["null", {"type": "map", "values": "string"}]},
            {"name": "operationType", "type": ["null", "string"]},
            {
                "name": "partitionToReplaceFileIds",
                "type": ["null", {"type": "map", "values": {"type": "array", "items": "string"}}],
            },
        ],
    }
)
CLEAN = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieCleanMetadata",
        "fields": [
            {"name": "earliestCommitToRetain", "type": "string"},
            {
                "name": "partitionMetadata",
                "type": {
                    "type": "map",
                    "values": {
                        "type": "record",
                        "name": "HoodieCleanPartitionMetadata",
                        "fields": [{"name": "successDeleteFiles", "type": {"type": "array", "items": "string"}}],
                    },
                },
            },
        ],
    }
)
CLEAN_PLAN = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieCleanerPlan",
        "fields": [
            {
                "name": "filePathsToBeDeletedPerPartition",
                "type": [
                    "null",
                    {
                        "type": "map",
                        "values": {
                            "type": "array",
                            "items": {
                                "type": "record",
                                "name": "HoodieCleanFileInfo",
                                "fields": [{"name": "filePath", "type": ["null", "string"]}],
                            },
                        },
                    },
                ],
            },
        ],
    }
)

ROLLBACK_PLAN = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieRollbackPlan",
        "fields": [
            {
                "name": "instantToRollback",
                "type": [
                    "null",
                    {
                        "type": "record",
                        "name": "HoodieInstantInfo",
                        "fields": [{"name": "commitTime", "type": "string"}, {"name": "action", "type": "string"}],
                    },
                ],
            },
        ],
    }
)


def avro(schema: Any, record: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, [record])
    return out.getvalue()


def commit(
    extra: dict[str, str] | None = None,
    operation: str = "UPSERT",
    partition: str = "2026-08-01",
    **stats: int | str,
) -> bytes:
    stat = {
        "fileId": "00000001-aa-0",
        **dict.fromkeys(("numInserts", "numUpdateWrites", "numDeletes", "path", "fileSizeInBytes")),
        **stats,
    }
    return avro(
        COMMIT,
        {
            "partitionToWriteStats": {partition: [stat]},
            "extraMetadata": extra or {},
            "operationType": operation,
            "partitionToReplaceFileIds": {"2026-07-31": ["x"]},
        },
    )


def clean(earliest: str, *deleted: str, partition: str = "2026-08-01") -> bytes:
    found = {partition: {"successDeleteFiles": list(deleted)}}
    return avro(CLEAN, {"earliestCommitToRetain": earliest, "partitionMetadata": found})


def clean_plan(*deleted: str, partition: str = "2026-08-01", base: str = "/lake") -> bytes:
    """Return what a clean is going to delete: Hudi names whole paths, as they stand."""
    found = {partition: [{"filePath": f"{base}/{partition}/{name}".replace("//", "/")} for name in deleted]}
    return avro(CLEAN_PLAN, {"filePathsToBeDeletedPerPartition": found})


def rollback_plan(commit_time: str, action: str = "deltacommit") -> bytes:
    """Return the plan of a rollback that has not been done."""
    return avro(ROLLBACK_PLAN, {"instantToRollback": {"commitTime": commit_time, "action": action}})


class HandMade:
    """A table's folder whose timeline is written file by file, as Hudi 1.0 lays it out."""

    def __init__(self, root: Path, properties: str = PROPERTIES) -> None:
        self.ref = TableRef("raw.trips", str(root))
        self.timeline = root / ".hoodie" / "timeline"
        self.timeline.mkdir(parents=True)
        (root / ".hoodie" / "hoodie.properties").write_text(properties)

    def put(self, name: str, data: bytes = b"") -> None:
        (self.timeline / name).write_bytes(data)

    def done(self, completed: int, data: bytes, action: str = "commit") -> None:
        self.put(f"{at(completed - 1)}_{at(completed)}.{action}", data)

    def archive(self, *rows: tuple[int, str, bytes]) -> None:
        history = self.timeline / "history"
        history.mkdir()
        table = pa.table(
            {
                "instantTime": [at(n - 1) for n, _, _ in rows],
                "completionTime": [at(n) for n, _, _ in rows],
                "action": [action for _, action, _ in rows],
                "metadata": [data for _, _, data in rows],
            }
        )
        parquet.write_table(table, history / "new.parquet")
        # What a merge left behind is no longer in the manifest, and must not be read.
        parquet.write_table(table, history / "old.parquet")
        (history / "manifest_2").write_text(json.dumps({"files": [{"fileName": "new.parquet", "fileLen": 1}]}))
        (history / "manifest_1").write_text(json.dumps({"files": [{"fileName": "old.parquet", "fileLen": 1}]}))
        (history / "_version_").write_text("2")


def a_table(root: Path, name: str, *commits: int) -> HandMade:
    """Make ``data/<name>`` a Hudi table of ten inserted rows per commit."""
    table = HandMade(root / "data" / name, OF_A_PIPELINE)
    for moment in commits:
        table.done(moment, commit(numInserts=10))
    return table


def a_target(
    root: Path,
    *checkpoints: tuple[int, int | None],
    name: str = "derived/payments",
    source: str = "raw/events",
) -> HandMade:
    """Make the target as freshet's own commits leave it: pairs of completion and the source's position."""
    table = HandMade(root / "data" / name, OF_A_PIPELINE)
    for moment, position in checkpoints:
        vector = encode(a_checkpoint(position, str(root / "data" / source)))
        table.done(moment, commit({**vector, ORIGIN_KEY: "increment", RUN_ID_KEY: f"run-{moment}"}, numInserts=3))
    return table
