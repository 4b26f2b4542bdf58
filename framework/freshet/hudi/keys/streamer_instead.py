"""HoodieStreamer's keys that freshet does not honour, and what to write instead."""

from __future__ import annotations

from freshet.hudi.keys import options

_LAND_FIRST = f"Land the data in a Hudi table and name that in '{options.SOURCE_PATH}'."
_DDL = "Remove it: the DDL file owns the schema."
_REGISTRY = "Remove it, and write 'source: {format: avro, schema: {registry: <address>}}'."
_TRANSFORM = "Remove it and list the SQL and Python files under 'transform:'."
_OWN_COLUMNS = "Remove it: the source table's own format and columns are read."
_VECTOR = "Remove it: one checkpoint holds the positions of all sources and is published by the commit."
_MULTI_TABLE = "Remove it: each table has its own pipelines/<name>.yml, and 'freshet run --all' runs them in order."
_RECORD_SIZE = "Remove it and set 'hoodie.copyonwrite.record.size.estimate' (bytes)."
_NAMES = "Remove it and name the columns in the SQL ('select `a-b` as a_b')."

# What to write instead, then the names it answers for, without the prefix. A name that ends in "." stands for all
# names that start with it.
INSTEAD: tuple[tuple[str, str], ...] = (
    (f"Write '{options.MISSING_CHECKPOINT}: READ_LATEST'.", "source.hoodieincr.read_latest_on_missing_ckpt"),
    (
        _OWN_COLUMNS,
        """source.hoodieincr.file.format source.hoodieincr.partition.fields
        source.hoodieincr.partition.extractor.class""",
    ),
    ("Remove it: only the DDL's columns are written.", "source.hoodieincr.drop.all.meta.fields.from.source"),
    (_TRANSFORM, "transformer.class transformer.sql transformer.sql.file"),
    ("Remove it: a backfill leaves the checkpoint alone by itself.", "checkpoint.force.skip"),
    ("Remove it and run 'freshet checkpoint set'.", "checkpoint.provider.path"),
    (_VECTOR, "multiwriter.source.checkpoint.id"),
    (_MULTI_TABLE, "ingestion.tablesToBeIngested ingestion.targetBasePath ingestion."),
    (_RECORD_SIZE, "sample.writes.enabled sample.writes.size"),
    (_NAMES, "source.sanitize.invalid.schema.field.names source.sanitize.invalid.char.mask"),
    ("Remove it: errors always name the SQL's file, line and column.", "row.throw.explicit.exceptions"),
    ("Remove it; a column that may be null has no NOT NULL in the DDL.", "schema.make.columns.nullable"),
    (
        _REGISTRY,
        """schemaprovider.registry.url schemaprovider.registry.schemaconverter schemaprovider.registry.baseUrl
        schemaprovider.registry.urlSuffix schemaprovider.registry.sourceUrlSuffix""",
    ),
    (
        _DDL,
        """schemaprovider.class schemaprovider.registry.targetUrl schemaprovider.registry.targetUrlSuffix
        schemaprovider.target.schema.file
        schemaprovider.source.schema.hive.database schemaprovider.source.schema.hive.table
        schemaprovider.target.schema.hive.database schemaprovider.target.schema.hive.table
        schemaprovider.source.schema.jdbc.connection.url schemaprovider.source.schema.jdbc.driver.type
        schemaprovider.source.schema.jdbc.username schemaprovider.source.schema.jdbc.password
        schemaprovider.source.schema.jdbc.dbtable schemaprovider.source.schema.jdbc.timeout
        schemaprovider.source.schema.jdbc.nullable
        schemaprovider.proto.class.name schemaprovider.proto.flatten.wrappers schemaprovider.proto.timestamps.as.records
        schemaprovider.proto.max.recursion.depth schemaprovider.spark_avro_post_processor.enable
        schemaprovider.schema_post_processor schemaprovider.schema_post_processor.delete.columns
        schemaprovider.schema_post_processor.add.column.name schemaprovider.schema_post_processor.add.column.type
        schemaprovider.schema_post_processor.add.column.nullable
        schemaprovider.schema_post_processor.add.column.default schemaprovider.schema_post_processor.add.column.doc""",
    ),
    (
        "Remove it, put the query into a file under 'transform:' and what it reads under 'inputs:'.",
        "source.sql.sql.query source.sql.file source.sql.checkpoint.emit",
    ),
    (
        "Remove it: <SRC> has the topic, partition, offset, time and key of each record in _kafka.",
        "source.kafka.append.offsets",
    ),
    ("Remove it: 'freshet checkpoint set' takes offsets and times.", "source.kafka.checkpoint.type"),
    (
        "Write 'source: {format: avro}', json, json_schema, text or bytes; Protobuf is not decoded.",
        """source.kafka.value.deserializer.class source.kafka.value.deserializer.schema
        source.kafka.proto.value.deserializer.class""",
    ),
    ("Remove it: each question to the cluster is bounded in time.", "source.kafka.fetch_partition.time.out"),
    ("Remove it: only what is Kafka's own is handed to its client.", "source.kafka.ignore.prefix.config.list"),
    (
        "Remove it: take the record apart in the SQL.",
        """source.json.kafka.processor.class source.json.kafka.post.processor.maxwell.database.regex
        source.json.kafka.post.processor.maxwell.table.regex
        source.json.kafka.post.processor.maxwell.precombine.field.type
        source.json.kafka.post.processor.maxwell.precombine.field.format""",
    ),
    (
        "Remove it: all files below the root are listed; 'source: {files: {pattern: ...}}' chooses among them.",
        """source.input.selector source.dfs.datepartitioned.date.format
        source.dfs.datepartitioned.selector.depth source.dfs.datepartitioned.selector.lookback.days
        source.dfs.datepartitioned.selector.currentdate source.dfs.datepartitioned.selector.parallelism""",
    ),
    ("Remove it: each file is read by its own schema.", "source.parquet.dfs.merge_schema.enable"),
    (
        "Remove it: values become those of the columns, and what does not fit is told.",
        """csv.enforceSchema csv.inferSchema csv.samplingRatio csv.nanValue csv.positiveInf csv.negativeInf csv.mode
        csv.columnNameOfCorruptRecord""",
    ),
    (
        _LAND_FIRST,
        """source.pulsar.topic source.pulsar.maxRecords source.pulsar.endpoint.service.url
        source.pulsar.endpoint.admin.url source.pulsar.offset.autoResetStrategy
        source.incrpull.root
        source.cloud.meta.batch.size source.cloud.meta.ack source.cloud.meta.max.num.messages.per.sync
        source.cloud.meta.max.fetch.time.per.sync.secs source.cloud.data.check.file.exists
        source.cloud.data.select.relpath.prefix source.cloud.data.select.relative.path.regex
        source.cloud.data.ignore.relpath.prefix source.cloud.data.ignore.relpath.substring
        source.cloud.data.datasource.options source.cloud.data.select.file.extension
        source.cloud.data.datafile.format source.cloud.data.partition.fields.from.path
        source.cloud.data.reader.comma.separated.path.format source.cloud.data.partition.max.size
        source.cloud.data.reader.coalesce.aliases
        source.s3incr.check.file.exists source.s3incr.key.prefix source.s3incr.fs.prefix
        source.s3incr.ignore.key.prefix source.s3incr.ignore.key.substring source.s3incr.spark.datasource.options
        s3.source.queue.url s3.source.queue.region s3.source.queue.fs s3.source.queue.long.poll.wait
        s3.source.queue.max.messages.per.batch s3.source.queue.max.messages.per.request
        s3.source.queue.visibility.timeout source.gcs.project.id source.gcs.subscription.id
        jdbc.url jdbc.user jdbc.password jdbc.password.file jdbc.driver.class jdbc.table.name
        jdbc.table.incr.column.name jdbc.incr.pull jdbc.extra.options. jdbc.storage.level
        jdbc.incr.fallback.to.full.fetch""",
    ),
)
