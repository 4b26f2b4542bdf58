"""A small job in a JVM that keeps the classes which it loaded: what ``class_data`` makes its archive from."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from freshet.errors import FreshetError
from freshet.hudi.shares import client_settings
from freshet.hudi.timeline import TimelineState
from freshet.index.classes import load_classes
from freshet.jvm.class_data import CLASS_PATH
from freshet.jvm.session import start_session
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import HBaseSpec
from freshet.project.shape.strategies import Reason
from freshet.run.several import run_project

_ROUNDS = 2
# The tables and pipelines only have to go the ways that others go: both table types, both kinds of input, a first load
# and increments, deletes, a check, a compaction and a clean.
_BASE = """\
vars: {{root: {root}}}
warehouse: {{raw: "{{{{ var.root }}}}/raw", derived: "{{{{ var.root }}}}/derived"}}
hoodie:
  hoodie.index.type: BUCKET
  hoodie.bucket.index.num.buckets: 2
  hoodie.metadata.index.column.stats.enable: false
  hoodie.parquet.compression.codec: zstd
spark: {{spark.master: "local[2]", spark.sql.shuffle.partitions: 2, spark.driver.memory: 1g}}
"""
_DDL = """\
CREATE TABLE derived.{name} (
  id STRING NOT NULL,
  day STRING NOT NULL,
  amount DECIMAL(18,2),
  rank INT,
  at TIMESTAMP,
  ts BIGINT NOT NULL,
  _hoodie_is_deleted BOOLEAN
) USING hudi {partitioned}
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{type}')
"""
_SQL = """\
WITH totals AS (SELECT id, sum(amount) AS amount, max(at) AS at FROM days GROUP BY id),
ranked AS (SELECT *, row_number() OVER (PARTITION BY day ORDER BY ts DESC) AS rank FROM <SRC>)
SELECT r.id, r.day, cast(coalesce(t.amount, 0) AS decimal(18,2)) AS amount, r.rank,
       coalesce(t.at, to_timestamp('2026-01-01')) AS at, r.ts, r._hoodie_is_deleted
FROM ranked r LEFT JOIN totals t ON t.id = r.id
"""
# Which rows come out does not matter here.
_ACCEPTS = f"accepts: [{', '.join(f'{{code: {code}, why: training}}' for code in get_args(Reason))}]\n"
_PIPELINE = """\
ddl: ddl/{name}.sql
transform: transformers/{name}.sql
partition_is_stable: true
inputs:
  changed_days: {{table: raw.days, read: incremental, drives: {{id: id}}}}
  days: {{table: raw.days, read: snapshot}}
hoodie:
  hoodie.streamer.source.hoodieincr.path: "{{{{ var.root }}}}/raw/events"
  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT
"""
_COMPACTED = "  hoodie.compact.inline: true\n  hoodie.compact.inline.max.delta.commits: 2\n"


def train(java_options: str, class_path: str) -> None:
    """Run the job in this process's JVM and wait for its end.

    Args:
        java_options: What makes Java archive its classes when it ends.
        class_path: What the class path is to begin with.

    Raises:
        FreshetError: The job or one of its pipelines failed.
    """
    with tempfile.TemporaryDirectory(prefix="freshet-classes-") as folder:
        root = Path(folder)
        _write_project(root)
        project = load_project(root, None, (), names=(), tags=(), environ=os.environ)
        own = {"spark.driver.extraJavaOptions": f"{java_options} -XX:TieredStopAtLevel=1", CLASS_PATH: class_path}
        spark = start_session({**project.pipelines[0].spark_conf, **own})
        for number in range(_ROUNDS):
            for table in ("events", "days"):
                rows = spark.range(number, number + 50).selectExpr(
                    "cast(id AS string) AS id",
                    "concat('2026-01-0', 1 + id % 3) AS day",
                    "cast(id / 4 AS decimal(10,2)) AS amount",
                    "timestamp_millis(id) AS at",
                    f"{number}L AS ts",
                    f"id < {number} AS _hoodie_is_deleted",
                )
                rows.write.format("hudi").options(**_raw_options(table)).mode("append").save(str(root / "raw" / table))
            for result in run_project(project, TimelineState(), lambda event: None):
                if result.error is not None:
                    raise result.error
        _load_hbase(spark)
        gateway: Any = spark.sparkContext._gateway
        spark.stop()
        # It ends when its input does, and archives the classes as the last thing.
        gateway.proc.stdin.close()
        gateway.proc.wait()


def _load_hbase(spark: SparkSession) -> None:
    """Load HBase's client, which asks for a cluster where none is; freshet's own Java classes are compiled by the way."""
    classes = load_classes(spark)
    nowhere = HBaseSpec(quorum="127.0.0.1", port=1, znode="/hbase", table="none", server_rate=1, shares={}, client={})
    with suppress(Py4JJavaError):
        classes.Cluster({**client_settings(nowhere), "zookeeper.recovery.retry": "0"}).describe(nowhere.table)


def _write_project(root: Path) -> None:
    files = {"configs/base.yml": _BASE.format(root=root)}
    for name, type_, partitioned, more in (("cow", "cow", "PARTITIONED BY (day)", ""), ("mor", "mor", "", _COMPACTED)):
        files[f"ddl/{name}.sql"] = _DDL.format(name=name, type=type_, partitioned=partitioned)
        files[f"transformers/{name}.sql"] = _SQL
        files[f"pipelines/{name}.yml"] = _ACCEPTS + _PIPELINE.format(name=name) + more
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _raw_options(table: str) -> dict[str, str]:
    return {
        "hoodie.table.name": table,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "day",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if table == "days" else "COPY_ON_WRITE",
    }


if __name__ == "__main__":
    try:
        train(sys.argv[1], sys.argv[2])
    except FreshetError as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
