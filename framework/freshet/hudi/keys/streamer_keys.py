"""HoodieStreamer's own keys: those that freshet honours, and for every other one what to write instead.

They are not in the Spark bundle. Source: the ``*Config`` classes of ``org.apache.hudi.utilities.config`` in Hudi 1.0's
``hudi-utilities``. ``hoodie.deltastreamer.`` is the older form of the prefix, accepted everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from freshet.hudi.keys import hudi_keys
from freshet.hudi.keys.hudi_keys import NEAR, KeyProblem, KeyType, check_value
from freshet.problems import did_you_mean, nearest

PREFIX = "hoodie.streamer."
OLD_PREFIX = "hoodie.deltastreamer."
SOURCE_PATH = f"{PREFIX}source.hoodieincr.path"
NUM_INSTANTS = f"{PREFIX}source.hoodieincr.num_instants"
MISSING_CHECKPOINT_STRATEGY = f"{PREFIX}source.hoodieincr.missing.checkpoint.strategy"


@dataclass(frozen=True, kw_only=True)
class StreamerKey:
    """A key of HoodieStreamer that freshet honours.

    Args:
        name: The key.
        effect: What it does here, one sentence.
        type: Type of its values.
        default: Text of the default; None where leaving it out means something of its own, said in ``effect``.
        valid_values: The only values it takes; empty where any of the type will do.
    """

    name: str
    effect: str
    type: KeyType
    default: str | None
    valid_values: tuple[str, ...] = ()


HONOURED: Mapping[str, StreamerKey] = MappingProxyType(
    {
        key.name: key
        for key in (
            StreamerKey(
                name=SOURCE_PATH,
                effect="Base path of the Hudi table that <SRC> reads incrementally; required.",
                type="string",
                default=None,
            ),
            StreamerKey(
                name=NUM_INSTANTS,
                effect="At most this many data commits of the source are read by one run.",
                type="int",
                default="5",
            ),
            StreamerKey(
                name=MISSING_CHECKPOINT_STRATEGY,
                effect="What a run without a checkpoint reads: READ_UPTO_LATEST_COMMIT the whole table, READ_LATEST only what "
                "comes after the last commit; left out, such a run is an error.",
                type="string",
                default=None,
                valid_values=("READ_UPTO_LATEST_COMMIT", "READ_LATEST"),
            ),
        )
    }
)

_LAND_FIRST = f"Land the data in a Hudi table and name that in '{SOURCE_PATH}'."
_DDL = "Remove it: the DDL file owns the schema."
_TRANSFORM = "Remove it and list the SQL and Python files under 'transform:'."
_OWN_COLUMNS = "Remove it: the source table's own format and columns are read."
_VECTOR = "Remove it: one checkpoint holds the positions of all sources and is published by the commit."
_MULTI_TABLE = "Remove it: each table has its own pipelines/<name>.yml, and 'freshet run --all' runs them in order."
_RECORD_SIZE = "Remove it and set 'hoodie.copyonwrite.record.size.estimate' (bytes)."
_NAMES = "Remove it and name the columns in the SQL ('select `a-b` as a_b')."

# What to write instead, then the names it answers for, without the prefix. A name that ends in "." stands for all
# names that start with it.
_INSTEAD: tuple[tuple[str, str], ...] = (
    (f"Write '{MISSING_CHECKPOINT_STRATEGY}: READ_LATEST'.", "source.hoodieincr.read_latest_on_missing_ckpt"),
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
        _DDL,
        """schemaprovider.class schemaprovider.registry.url schemaprovider.registry.targetUrl
        schemaprovider.registry.schemaconverter schemaprovider.registry.baseUrl schemaprovider.registry.urlSuffix
        schemaprovider.registry.sourceUrlSuffix schemaprovider.registry.targetUrlSuffix
        schemaprovider.source.schema.file schemaprovider.target.schema.file
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
        _LAND_FIRST,
        """source.kafka.topic source.kafka.append.offsets source.kafka.checkpoint.type
        source.kafka.value.deserializer.class source.kafka.value.deserializer.schema
        source.kafka.proto.value.deserializer.class source.kafka.fetch_partition.time.out
        source.kafka.enable.commit.offset source.kafka.enable.failOnDataLoss source.kafka.minPartitions
        source.kafka.ignore.prefix.config.list kafka.source.maxEvents
        source.json.kafka.processor.class source.json.kafka.post.processor.maxwell.database.regex
        source.json.kafka.post.processor.maxwell.table.regex
        source.json.kafka.post.processor.maxwell.precombine.field.type
        source.json.kafka.post.processor.maxwell.precombine.field.format
        source.pulsar.topic source.pulsar.maxRecords source.pulsar.endpoint.service.url
        source.pulsar.endpoint.admin.url source.pulsar.offset.autoResetStrategy
        source.dfs.root source.input.selector source.dfs.datepartitioned.date.format
        source.dfs.datepartitioned.selector.depth source.dfs.datepartitioned.selector.lookback.days
        source.dfs.datepartitioned.selector.currentdate source.dfs.datepartitioned.selector.parallelism
        source.parquet.dfs.merge_schema.enable source.incrpull.root csv.
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

# Keys whose advice is for one who has switched them on.
_SWITCHES = ("source.hoodieincr.read_latest_on_missing_ckpt", "checkpoint.force.skip", "sample.writes.enabled")


def is_streamer_key(key: str) -> bool:
    """Say whether a key is HoodieStreamer's own; ``hoodie.deltastreamer.keygen.*`` are old names of Hudi's keys."""
    if not key.startswith((PREFIX, OLD_PREFIX)):
        return False
    return hudi_keys.canonical(key).startswith((PREFIX, OLD_PREFIX))


def canonical(key: str) -> str:
    """Return a key with HoodieStreamer's current prefix, or Hudi's current name of one of Hudi's own keys."""
    if not is_streamer_key(key):
        return hudi_keys.canonical(key)
    return PREFIX + key.removeprefix(OLD_PREFIX) if key.startswith(OLD_PREFIX) else key


def check_streamer_key(key: str, value: str | None = None) -> KeyProblem | None:
    """Check a key of HoodieStreamer, under either prefix.

    Args:
        key: The key.
        value: The value's text; None checks the name alone.

    Returns:
        None for an honoured key with a fitting value; ``BAD_VALUE``; ``NOT_SUPPORTED`` with what to write instead for
        a key that HoodieStreamer has and freshet does not honour; ``UNKNOWN_KEY`` for any other.
    """
    name = canonical(key)
    if name in HONOURED:
        honoured = HONOURED[name]
        return None if value is None else _check_honoured(key, value, honoured)
    short = name.removeprefix(PREFIX)
    instead = _instead()
    family = next((known for known in instead if known.endswith(".") and short.startswith(known)), None)
    advice = instead.get(short) or (instead[family] if family else None)
    if advice and short in _SWITCHES and (value or "").strip().lower() == "false":
        advice = "Remove it: it is false without the line, too."
    if advice:
        return KeyProblem("NOT_SUPPORTED", f"'{key}' is a key of HoodieStreamer that freshet does not read.", advice)
    known_names = (*HONOURED, *(PREFIX + known for known in instead))
    return KeyProblem(
        "UNKNOWN_KEY", f"unknown key '{key}': HoodieStreamer has none of that name.", did_you_mean(name, known_names, "", NEAR)
    )


def check_hoodie_key(key: str, value: str) -> KeyProblem | None:
    """Check any ``hoodie.*`` key of a pipeline, HoodieStreamer's and Hudi's alike; see the two checks for the codes."""
    return check_streamer_key(key, value) if is_streamer_key(key) else hudi_keys.check_key(key, value)


@lru_cache(maxsize=4096)
def meant_by(key: str) -> str:
    """Return the key that an unknown one is taken for, which is the one that its problem suggests.

    Args:
        key: The key.

    Returns:
        Empty for a key that is known, and where none comes near.
    """
    problem = check_hoodie_key(key, "")
    if problem is None or problem.code != "UNKNOWN_KEY":
        return ""
    if is_streamer_key(key):
        return nearest(canonical(key), HONOURED, NEAR) or ""
    return nearest(key, hudi_keys.names(), NEAR) or ""


@cache
def _instead() -> Mapping[str, str]:
    return {name: advice for advice, names in _INSTEAD for name in names.split()}


def _check_honoured(key: str, value: str, honoured: StreamerKey) -> KeyProblem | None:
    problem = check_value(key, value, honoured.type, honoured.valid_values)
    if problem is None and honoured.name == NUM_INSTANTS and int(value) < 1:
        return KeyProblem("BAD_VALUE", f"'{key}' does not take '{value}'.", "It takes a whole number from 1 on.")
    if problem is None and honoured.name == SOURCE_PATH and not value.strip():
        return KeyProblem("BAD_VALUE", f"'{key}' is empty.", "Write the base path of the source table.")
    return problem
