"""A small lake on disk: one raw table, a project with pipelines over it, and runs of it in the test's own process.

The raw table ``events`` has ``id string, ts bigint, amount decimal(10,2), day string``; a row is written as a tuple.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from freshet.events.event import Event
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.index.ops.check import verify_index
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef
from freshet.run.result import RunResult
from freshet.run.runner import set_checkpoint
from freshet.run.several import run_project
from tests.kit.frames import frame
from tests.kit.project import ACCEPTS
from tests.kit.spared import NO_CODEGEN, spared

Row = tuple[Any, ...]
SCHEMA = "id string, ts bigint, amount decimal(10,2), day string"
RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.record.index.min.filegroup.count": "1",
    "hoodie.metadata.record.index.max.filegroup.count": "1",
}
UPTO_LATEST = "READ_UPTO_LATEST_COMMIT"

#: As Hudi's defaults write a table: with column statistics in its metadata table. So lands what is not spared.
PLAIN = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
BASE = """\
vars: {root: %s}
warehouse: {raw: "{{ var.root }}/raw", derived: "{{ var.root }}/derived"}
hoodie:
  hoodie.index.type: BUCKET
  hoodie.bucket.index.num.buckets: 2
  hoodie.embed.timeline.server: false
%sspark:
  spark.master: "local[2]"
  spark.sql.shuffle.partitions: 2
%s  # For the processes that tests start: they end before the optimising compiler earns back what it takes.
  spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m
"""
DDL = """\
CREATE TABLE derived.{name} (
  id STRING NOT NULL,
  ts BIGINT NOT NULL,
  amount DECIMAL(10,2),
  day STRING NOT NULL{columns}
) USING hudi PARTITIONED BY (day)
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{type}'{properties})
"""
PIPELINE = """\
ddl: ddl/{name}.sql
transform: {transform}
partition_is_stable: true
{top}hoodie:
  hoodie.streamer.source.hoodieincr.path: "{source}"
"""


def rows(*items: tuple[str, int, str], day: str | None = "2026-01-05") -> list[Row]:
    """Return event rows from ``(id, ts, amount)``."""
    return [(key, ts, Decimal(amount), day) for key, ts, amount in items]


class Lake:
    """The lake of one test."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.project_root = root / "project"
        self.events: list[Event] = []
        self.land_options = {} if spared() else dict(PLAIN)
        compiled = "".join(f"  {key}: {value}\n" for key, value in NO_CODEGEN.items()) if spared() else ""
        no_metadata = "  hoodie.metadata.enable: false\n" if spared() else ""
        self.write_file("configs/base.yml", BASE % (root, no_metadata, compiled))

    # --- upstream -------------------------------------------------------------------------------------------------

    def land(
        self,
        batch: Iterable[Row],
        operation: str = "upsert",
        table: str = "raw.events",
        schema: str = SCHEMA,
        **options: str,
    ) -> str:
        """Write one commit to a table as another writer would; returns its completion time."""
        landing = frame(self.spark, batch, schema).coalesce(1)
        asked = {**self.land_options, **options}
        # In raw tables nobody needs it.
        bare = (spared() or table.startswith("raw.")) and not any(
            "RECORD_INDEX" in v or ".metadata." in k for k, v in asked.items()
        )
        settings = {
            "hoodie.metadata.enable": str(not bare).lower(),
            "hoodie.table.name": table.split(".")[1],
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": "day",
            "hoodie.datasource.write.operation": operation,
            "hoodie.index.type": "BUCKET",
            "hoodie.bucket.index.num.buckets": "2",
            "hoodie.metadata.index.column.stats.enable": "false",
            "hoodie.embed.timeline.server": "false",
            **({"hoodie.parquet.bloom.filter.enabled": "false"} if spared() else {}),
            **asked,
        }
        landing.write.format("hudi").options(**settings).mode("append").save(self.path(table))
        return self.state(table).commits[-1].completed

    # --- the project ----------------------------------------------------------------------------------------------

    def write_file(self, name: str, text: str) -> Path:
        path = self.project_root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def pipeline(
        self,
        name: str = "copy",
        sql: str = "SELECT id, ts, amount, day FROM <SRC>",
        *,
        source: str = "raw.events",
        columns: str = "",
        table_type: str = "cow",
        properties: str = "",
        top: str = "",
        transform: str = "",
        missing: str | None = UPTO_LATEST,
        hoodie: Mapping[str, object] | None = None,
    ) -> None:
        """Write a pipeline's files; writing it again changes it."""
        self.write_file(f"transformers/{name}.sql", sql)
        self.write_file(f"ddl/{name}.sql", DDL.format(name=name, columns=columns, type=table_type, properties=properties))
        body = PIPELINE.format(name=name, transform=transform or f"transformers/{name}.sql", top=top, source=self.path(source))
        if missing:
            body += f"  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: {missing}\n"
        asked = dict(hoodie or {})
        if spared() and asked.get("hoodie.index.type") == "RECORD_INDEX":
            # It lies in the metadata table.
            asked = {"hoodie.metadata.enable": "true", **asked}
        for key, value in asked.items():
            body += f"  {key}: {value}\n"
        self.write_file(f"pipelines/{name}.yml", body if "accepts:" in top else body + ACCEPTS)

    def project(self, *names: str) -> Project:
        return load_project(self.project_root, None, (), names=names, tags=(), environ=os.environ)

    def spec(self, name: str = "copy") -> PipelineSpec:
        return self.project(name).pipelines[0]

    # --- runs -----------------------------------------------------------------------------------------------------

    def run(self, name: str = "copy", *, drain: bool = False) -> RunResult:
        """Run one pipeline; a failure is a result, not an exception."""
        return run_project(self.project(name), TimelineState(), self.events.append, drain)[0]

    def run_ok(self, name: str = "copy", *, drain: bool = False) -> RunResult:
        result = self.run(name, drain=drain)
        assert result.error is None, result.error
        return result

    def run_all(self, parallel: int = 1) -> dict[str, RunResult]:
        results = run_project(self.project(), TimelineState(), self.events.append, parallel=parallel)
        return {r.pipeline: r for r in results}

    def plan(self, name: str = "copy") -> Plan:
        return compile_plan(self.spec(name), TimelineState(), RunRequest())

    def index_agrees(self, name: str = "copy") -> bool:
        """Return whether ``freshet index verify`` finds every row where the pipeline's index says."""
        project = self.project(name)
        return verify_index(project, project.pipelines[0], TimelineState(), self.events.append, 1.0, False).agrees

    def set_checkpoint(self, instant: str | None, name: str = "copy") -> RunResult:
        project = self.project(name)
        return set_checkpoint(project, project.pipelines[0], TimelineState(), self.events.append, instant)

    # --- what stands ----------------------------------------------------------------------------------------------

    def path(self, table: str) -> str:
        return str(self.root / table.replace(".", "/"))

    def state(self, table: str = "derived.copy") -> TableState:
        state = TimelineState().table(TableRef(table, self.path(table)))
        assert state is not None, f"no table {table}"
        return state

    def files(self, table: str = "derived.copy") -> dict[str, tuple[int, int]]:
        """Return what the table's completed commits have left on disk: size and time of change by path.

        Where this and the commits are as they were, no reader can find another row. A write that was refused half-way may
        leave files of its own behind, which are of no completed commit, until the next write rolls it back.
        """
        root = self.root / table.replace(".", "/")
        done = {commit.requested for commit in self.state(table).commits}
        found = {}
        for file in root.rglob("*"):
            place = file.relative_to(root)
            # <file>_<token>_<instant>.parquet, .<file>_<instant>.log.<n>_<token>
            named = re.search(r"_(\d{17})\.(?:parquet|log)", file.name)
            if place.parts[0] != ".hoodie" and named and named.group(1) in done:
                found[str(place)] = (file.stat().st_size, file.stat().st_mtime_ns)
        return found

    def rows(self, table: str = "derived.copy", *columns: str) -> list[Row]:
        """Return the table's rows, sorted, without Hudi's own columns."""
        frame = self.spark.read.format("hudi").load(self.path(table))
        names = columns or tuple(c for c in frame.columns if not c.startswith("_hoodie_"))
        return sorted((tuple(r) for r in frame.select(*names).collect()), key=str)

    def position(self, table: str = "derived.copy") -> str:
        """Return the main source's position in the target's newest checkpoint; empty where there is none."""
        checkpoint = self.state(table).latest_checkpoint()
        return checkpoint.main.instant if checkpoint and checkpoint.main else ""
