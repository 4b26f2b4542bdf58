"""A topic of Debezium's changes in Avro into an upserted table: freshet, and Structured Streaming with foreachBatch by hand.

And decoding alone, in MiB/s, and a tick that finds nothing new. HoodieStreamer is not among them: the bundle of its
utilities was not to be had where this was made.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from freshet.dev.kafka import server as broker
from freshet.dev.registry import server as registry
from freshet.hudi.keys.options import AVRO_IN_SESSION, KAFKA_IN_SESSION
from freshet.jvm.conf import source_jars
from freshet.jvm.jars import resolve_jars
from freshet.jvm.session import session_conf, start_session
from freshet.project.load.project import load_project
from tests.benchmarks import configuration
from tests.benchmarks.timing import freshet, show, spread, timed
from tests.benchmarks.topic_records import SCHEMA, records
from tests.kit.kafka import Topics
from tests.kit.project import ACCEPTS
from tests.kit.registry import register

AT_MOST = 1.0
IDLE_SECONDS = 0.5
PARTITIONS = 4
_SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "4",
    KAFKA_IN_SESSION: "true",
    AVRO_IN_SESSION: "true",
}
_FILES = {
    "configs/base.yml": """\
warehouse: {{derived: "{folder}/derived"}}
spark: {{spark.master: "local[2]", spark.driver.memory: 4g, spark.sql.shuffle.partitions: 4}}
""",
    "ddl/orders.sql": """\
CREATE TABLE derived.orders (
  id BIGINT NOT NULL, city INT, status STRING, amount DECIMAL(10,2), changed_at BIGINT, lsn BIGINT NOT NULL
)
USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'lsn')
""",
    "transformers/orders.sql": """\
SELECT after.id, after.city, after.status, after.amount, after.changed_at, source.lsn AS lsn FROM <SRC>
""",
    "pipelines/orders.yml": """\
ddl: ddl/orders.sql
transform: transformers/orders.sql
source:
  format: avro
  columns:
    after: struct<id:bigint,city:int,status:string,amount:decimal(10,2),changed_at:bigint>
    source: struct<lsn:bigint>
  schema: {{registry: "{registry}"}}
hoodie:
  bootstrap.servers: {servers}
  hoodie.streamer.source.kafka.topic: {topic}
  hoodie.streamer.kafka.source.maxEvents: {events}
  auto.offset.reset: earliest
  hoodie.datasource.write.operation: upsert
  hoodie.index.type: BUCKET
  hoodie.bucket.index.num.buckets: 4
  hoodie.parquet.compression.codec: zstd
  hoodie.metadata.enable: false
""",
}


def measure(events: int, repetitions: int) -> dict[str, object]:
    """Read the same topic both ways into a table each, and print what it took.

    Args:
        events: Records of the topic; three quarters of them change a row that stands.
        repetitions: Idle ticks that are timed.

    Returns:
        The figures.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    kafka, schemas = folder / "kafka", folder / "registry"
    try:
        servers = broker.start(kafka, wait_seconds=120, heap_mib=512).servers
        return _measure(folder, events, repetitions, servers, registry.start(schemas).url)
    finally:
        broker.stop(kafka, purge=True)
        registry.stop(schemas, purge=True)
        shutil.rmtree(folder)


def _measure(folder: Path, events: int, repetitions: int, servers: str, url: str) -> dict[str, object]:
    topic = Topics(servers).create("orders", PARTITIONS, retention_ms="-1")
    number = register(url, f"{topic}-value", SCHEMA)
    size = _produce(servers, topic, events, number)
    project = folder / "project"
    given = {"folder": folder, "registry": url, "servers": servers, "topic": topic, "events": events}
    for name, text in _FILES.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        more = ACCEPTS if name.startswith("pipelines/") else ""
        file.write_text(text.format(**given) + more, encoding="utf-8")
    where = ("-C", str(project))
    job = folder / "job.json"
    copy = folder / "by_hand"
    job.write_text(json.dumps(_job(project, copy, servers, topic, number)))
    seconds = {
        "freshet": timed(freshet("run", "orders", *where)).wall_seconds,
        "by_hand": timed([sys.executable, "-m", "tests.benchmarks.topic_by_hand", str(job)]).wall_seconds,
    }
    ticks = [timed(freshet("run", "orders", *where)).wall_seconds for _ in range(repetitions)]
    same = _equal(str(folder / "derived" / "orders"), str(copy))
    decoded = json.loads(timed([sys.executable, "-m", "tests.benchmarks.topic", str(project)]).output.splitlines()[-1])
    print(f"a topic of {events:,} changes by Debezium in Avro, {size / 2**20:,.0f} MiB; both tables equal: {same}")
    for name, found in seconds.items():
        show(f"{name}, whole process", spread([found]))
    kept = show("ratio, freshet to by hand", spread([seconds["freshet"] / seconds["by_hand"]]), AT_MOST, "x")
    show("decoding alone", spread([size / 2**20 / decoded]), unit="MiB/s")
    idle = show("idle tick", spread(ticks), IDLE_SECONDS)
    settings = {**configuration.of_pipelines(project, ["orders"]), **configuration.of_scripts([job])}
    return {
        "events": events,
        "bytes": size,
        "seconds": seconds,
        "decode_seconds": decoded,
        "idle_seconds": ticks,
        "equal": same,
        "kept": kept and idle and same,
        "configuration": settings,
    }


def _produce(servers: str, topic: str, events: int, number: int) -> int:
    """Write the topic; returns the bytes of its values."""
    producer: Any = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    size = 0
    for key, value in records(events, number):
        size += len(value)
        # The partition of a key is always the same, as a producer's own is.
        producer.produce(topic, value=value, partition=key % PARTITIONS)
        producer.poll(0)
        while len(producer) > 500_000:
            producer.poll(0.1)
    if producer.flush(300):
        raise RuntimeError("the broker did not take all records")
    return size


def _job(project: Path, target: Path, servers: str, topic: str, number: int) -> dict[str, object]:
    compiled = json.loads(timed(freshet("compile", "orders", "--output", "json", "-C", str(project))).output)["plans"][0]
    commit = next(stage for stage in compiled["stages"] if stage["stage"] == "commit")
    spec = load_project(project, None, (), names=("orders",), environ=os.environ).pipelines[0]
    return {
        "spark": session_conf(spec.spark_conf, (*resolve_jars(), *source_jars(spec.spark_conf))),
        "servers": servers,
        "topic": topic,
        "schema": json.dumps(SCHEMA),
        "schema_id": number,
        "options": {**commit["options"], "hoodie.datasource.write.operation": commit["operation"]},
        "target": str(target),
    }


def _equal(one: str, other: str) -> bool:
    spark = start_session(_SPARK)
    frames = [spark.read.format("hudi").load(path) for path in (one, other)]
    left, right = (f.select("id", "city", "status", "amount", "changed_at", "lsn") for f in frames)
    same = left.exceptAll(right).isEmpty() and right.exceptAll(left).isEmpty()
    spark.stop()
    return same


def _decode_here(project: Path) -> float:
    """Read the topic whole, decode it and write it nowhere; returns seconds without Spark's start."""
    from freshet.hudi.table import MemoryState
    from freshet.sources.kafka.read.reader import KafkaReader
    from freshet.sources.registry import source_of

    spec = load_project(project, None, (), names=("orders",), environ=os.environ).pipelines[0]
    source = source_of(spec, MemoryState({}))
    spark = start_session(_SPARK)
    rows, _ = KafkaReader().read(spark, source.read(source.look(None), None, False))
    rows.limit(1).collect()
    begin = time.perf_counter()
    rows.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin


if __name__ == "__main__":
    print(json.dumps(_decode_here(Path(sys.argv[1]))))
