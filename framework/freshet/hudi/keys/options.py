"""Names of the Hudi and HoodieStreamer options that freshet itself reads or sets, with the reasons.

Source: Hudi 1.0.2's config classes and HoodieStreamer's (``HoodieIncrSourceConfig``).
"""

from __future__ import annotations

from collections.abc import Mapping

RECORD_KEY = "hoodie.datasource.write.recordkey.field"
ORDERING_FIELD = "hoodie.datasource.write.precombine.field"
PARTITION_BY = "hoodie.datasource.write.partitionpath.field"
OPERATION = "hoodie.datasource.write.operation"
TABLE_TYPE = "hoodie.datasource.write.table.type"
CONSISTENT_TIMES = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"

INDEX_TYPE = "hoodie.index.type"
BUCKET_COUNT = "hoodie.bucket.index.num.buckets"
BUCKET_FIELD = "hoodie.bucket.index.hash.field"
BUCKET_ENGINE = "hoodie.index.bucket.engine"
RECORD_INDEX_ENABLE = "hoodie.metadata.record.index.enable"
RECORD_INDEX_MOVES = "hoodie.record.index.update.partition.path"
METADATA_ENABLE = "hoodie.metadata.enable"

#: A setting of the Spark session: one of its pipelines has an HBASE index, so that its JVMs need HBase's client settings.
HBASE_IN_SESSION = "spark.freshet.hbase"
#: And this: one of them reads Kafka, so that Spark needs the jars of that source.
KAFKA_IN_SESSION = "spark.freshet.kafka"
#: And this: the records of one of them are Avro, so that Spark needs the jar of its decoder.
AVRO_IN_SESSION = "spark.freshet.avro"
HBASE_QUORUM = "hoodie.index.hbase.zkquorum"
HBASE_PORT = "hoodie.index.hbase.zkport"
HBASE_ZNODE = "hoodie.index.hbase.zknode.path"
HBASE_TABLE = "hoodie.index.hbase.table"
HBASE_MOVES = "hoodie.hbase.index.update.partition.path"
HBASE_ROLLBACK = "hoodie.index.hbase.rollback.sync"
HBASE_SHARE = "hoodie.index.hbase.qps.fraction"
HBASE_SERVER_RATE = "hoodie.index.hbase.max.qps.per.region.server"

STREAMER_PREFIX = "hoodie.streamer."
SOURCE_PATH = "hoodie.streamer.source.hoodieincr.path"
MAX_COMMITS = "hoodie.streamer.source.hoodieincr.num_instants"
MISSING_CHECKPOINT = "hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy"
FULL_SCAN = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
INCREMENTAL_FORMAT = "hoodie.datasource.query.incremental.format"
# Of a table: it keeps change data, by which its deletes are seen.
RECORDS_CHANGES = "hoodie.table.cdc.enabled"

KAFKA_TOPIC = "hoodie.streamer.source.kafka.topic"
KAFKA_MAX_EVENTS = "hoodie.streamer.kafka.source.maxEvents"
KAFKA_FAIL_ON_LOSS = "hoodie.streamer.source.kafka.enable.failOnDataLoss"
KAFKA_MIN_PARTITIONS = "hoodie.streamer.source.kafka.minPartitions"
KAFKA_COMMIT_OFFSETS = "hoodie.streamer.source.kafka.enable.commit.offset"
KAFKA_SCHEMA_FILE = "hoodie.streamer.schemaprovider.source.schema.file"
KAFKA_KEYS = (
    *(KAFKA_TOPIC, KAFKA_MAX_EVENTS, KAFKA_FAIL_ON_LOSS, KAFKA_MIN_PARTITIONS, KAFKA_COMMIT_OFFSETS),
    KAFKA_SCHEMA_FILE,
)

FILES_ROOT = "hoodie.streamer.source.dfs.root"
#: Of HoodieStreamer's options of CSV those that are Spark's reader's, by their names there; the casts are freshet's.
CSV_OPTIONS = (
    *("sep", "encoding", "quote", "escape", "charToEscapeQuoteEscaping", "comment", "header", "multiLine"),
    *("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue", "emptyValue", "maxColumns", "maxCharsPerColumn"),
    *("dateFormat", "timestampFormat"),
)
CSV_PREFIX = "hoodie.streamer.csv."
FILES_KEYS = (FILES_ROOT, *(f"{CSV_PREFIX}{name}" for name in CSV_OPTIONS))

CONCURRENCY = "hoodie.write.concurrency.mode"
MERGE_MODE = "hoodie.record.merge.mode"
PAYLOAD_CLASS = "hoodie.datasource.write.payload.class"
#: Every key of the merge mode and of the payload class.
MERGE_MODES = (MERGE_MODE, "hoodie.write.record.merge.mode")
PAYLOAD_CLASSES = (PAYLOAD_CLASS, "hoodie.compaction.payload.class")
#: The payload classes by which an older row never wins.
ORDERING_PAYLOADS = (
    "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "org.apache.hudi.common.model.EventTimeAvroPayload",
)
#: The payload classes that take a null for "not changed".
NULL_KEEPS = ("org.apache.hudi.common.model.PartialUpdateAvroPayload",)

#: HoodieStreamer's default of MAX_COMMITS.
DEFAULT_MAX_COMMITS = 5

#: Index types of Hudi that freshet does not write.
OTHER_INDEXES = ("BLOOM", "GLOBAL_BLOOM", "SIMPLE", "GLOBAL_SIMPLE", "INMEMORY", "FLINK_STATE")

#: Write operations of Hudi that freshet does not write, and what to do instead.
OTHER_OPERATIONS: Mapping[str, str] = {
    "bulk_insert": "Write 'insert': it is checked before it is published, bulk_insert is not.",
    "insert_overwrite_table": "Write 'upsert' to change rows; to make a table anew: freshet run NAME --full-refresh",
    "delete_partition": "Write 'delete' to delete the rows that the transformation returns.",
    "insert_prepped": "Write 'insert'.",
    "upsert_prepped": "Write 'upsert'.",
    "delete_prepped": "Write 'delete'.",
    "bulk_insert_prepped": "Write 'insert'.",
    "bootstrap": "Write 'upsert'.",
}

_SHARES = "Requests a second follow from hoodie.index.hbase.qps.fraction and hoodie.index.hbase.max.qps.per.region.server."
_UNREAD = f"Hudi 1.0's HBase index does not read it. {_SHARES}"
_MERGER = "Rows are merged by the ordering field, so that an older row never wins."
_TIMELINE = "freshet reads the commits of a table in Hudi's own folders."
_SCHEMA = "A batch is written with the columns of the DDL."
_KEY_GENERATOR = "The key generator follows from the record key and PARTITIONED BY."

#: Options that freshet sets itself or relies on: a checkpoint, a window or the table's identity hangs on them.
_CHECKS = "Write 'checks: [{name: ..., sql: ..., expect: ...}]': Hudi's validators alone miss or break several paths."
RESERVED: Mapping[str, str] = {
    "hoodie.table.name": "The table's name comes from CREATE TABLE.",
    "hoodie.datasource.write.table.name": "The table's name comes from CREATE TABLE.",
    "hoodie.database.name": "The database comes from CREATE TABLE.",
    "hoodie.base.path": "The path comes from 'warehouse:' or the DDL's LOCATION.",
    "hoodie.table.base.file.format": "freshet writes Parquet.",
    "hoodie.table.type": "Write type = 'cow' or 'mor' in TBLPROPERTIES.",
    "hoodie.table.version": "The table's version is the pinned Hudi's.",
    "hoodie.write.table.version": "The table's version is the pinned Hudi's.",
    "hoodie.table.recordkey.fields": "Write primaryKey in TBLPROPERTIES.",
    "hoodie.table.precombine.field": "Write preCombineField in TBLPROPERTIES.",
    "hoodie.table.partition.fields": "Write PARTITIONED BY in the DDL.",
    "hoodie.datasource.write.commitmeta.key.prefix": "The checkpoint is stored under it.",
    "hoodie.datasource.insert.dup.policy": "An insert of a key that stands already is refused, by freshet: Hudi's own look "
    "takes every key of a bucket for one.",
    "hoodie.precommit.validators": _CHECKS,
    "hoodie.precommit.validators.single.value.sql.queries": _CHECKS,
    "hoodie.precommit.validators.equality.sql.queries": _CHECKS,
    "hoodie.precommit.validators.inequality.sql.queries": _CHECKS,
    "hoodie.datasource.query.type": "The main source is read incrementally, inputs as 'inputs:' says.",
    "hoodie.datasource.read.begin.instanttime": "The window follows from the checkpoint; see 'freshet checkpoint set'.",
    "hoodie.datasource.read.end.instanttime": "The window follows from the checkpoint and num_instants.",
    "hoodie.enable.data.skipping": "Tables are read without it: Hudi 1.0's look at column statistics can wait for ever for a "
    "batch that is kept, and the batch for it.",
    "as.of.instant": "Inputs are read as they are when the run starts.",
    "hoodie.write.set.null.for.missing.columns": "A batch holds every column of the DDL; select NULL where none is.",
    "hoodie.schema.on.read.enable": "The schema changes with the DDL file only.",
    "hoodie.datasource.write.reconcile.schema": "The schema changes with the DDL file only.",
    "hoodie.avro.schema": _SCHEMA,
    "hoodie.write.schema": _SCHEMA,
    "hoodie.record.merge.strategy.id": _MERGER,
    "hoodie.write.record.merge.strategy.id": _MERGER,
    "hoodie.write.record.merge.custom.implementation.classes": _MERGER,
    "hoodie.payload.ordering.field": "Write preCombineField in TBLPROPERTIES.",
    "hoodie.combine.before.upsert": "Rows of one key in a batch are combined first, or a key would stand twice.",
    "hoodie.populate.meta.fields": "Record keys and commit times are read from Hudi's meta fields.",
    "hoodie.datasource.write.drop.partition.columns": "A table's files hold every column of the DDL.",
    "hoodie.timeline.path": _TIMELINE,
    "hoodie.timeline.history.path": _TIMELINE,
    "hoodie.index.class": "Write hoodie.index.type.",
    "hoodie.index.hbase.put.batch.size": _SHARES,
    "hoodie.index.hbase.get.batch.size": _SHARES,
    "hoodie.index.hbase.put.batch.size.autocompute": _SHARES,
    "hoodie.index.hbase.qps.allocator.class": "Hudi's allocator divides by executors, not by parallel tasks, and exceeds the "
    f"share. {_SHARES}",
    "hoodie.index.hbase.dynamic_qps": _UNREAD,
    "hoodie.index.hbase.min.qps.fraction": _UNREAD,
    "hoodie.index.hbase.max.qps.fraction": _UNREAD,
    "hoodie.index.hbase.desired_puts_time_in_secs": _UNREAD,
    "hoodie.index.hbase.sleep.ms.for.get.batch": _UNREAD,
    "hoodie.index.hbase.sleep.ms.for.put.batch": _UNREAD,
    "hoodie.index.hbase.zkpath.qps_root": _UNREAD,
    "hoodie.index.hbase.zk.session_timeout_ms": _UNREAD,
    "hoodie.index.hbase.zk.connection_timeout_ms": _UNREAD,
    "hoodie.datasource.write.keygenerator.class": _KEY_GENERATOR,
    "hoodie.datasource.write.keygenerator.type": _KEY_GENERATOR,
    "hoodie.table.keygenerator.class": _KEY_GENERATOR,
    "hoodie.table.keygenerator.type": _KEY_GENERATOR,
}
