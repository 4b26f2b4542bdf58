"""What freshet does with each of Hudi's own keys: one row for every key of the catalogue, and none for any other.

HONOURED keys have the effect that Hudi's documentation says. HARMLESS keys have it, too, and tune how something is done. A
key of a REFUSED row would break a guarantee, or have no effect at all; the values that change nothing (Hudi's default, or
those after the name) pass, so that a pasted line that only says what holds anyway is no error. What freshet itself sets
stands in ``options.RESERVED``. A test holds the table against the catalogue.

A name that ends in ``*`` stands for all keys that begin so; the longest name counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from freshet.hudi.keys.hudi_keys import HUDI_VERSION, KeyProblem, catalogue
from freshet.hudi.keys.options import RESERVED

Stance = Literal["honoured", "harmless", "refused", "owned"]


@dataclass(frozen=True, kw_only=True)
class KeyRow:
    """One row of the table.

    Args:
        name: A key, or the beginning of several before a ``*``.
        stance: What freshet does with it.
        reason: Of a refused or owned key: why, and what to write instead.
        passes: Values, in lower case, that a refused key may have; None: Hudi's default of the key.
    """

    name: str
    stance: Stance
    reason: str = ""
    passes: tuple[str, ...] | None = None


_HONOURED = """
    hoodie.archive.* hoodie.clean.* hoodie.keep.max.commits hoodie.keep.min.commits hoodie.commits.archival.batch
    hoodie.compact.* hoodie.compaction.* hoodie.clustering.* hoodie.layout.optimize.strategy
    hoodie.layout.optimize.curve.build.method hoodie.layout.optimize.build.curve.sample.size
    hoodie.copyonwrite.* hoodie.parquet.* hoodie.logfile.* hoodie.record.size.* hoodie.merge.small.file.group.candidates.limit
    hoodie.bulkinsert.shuffle.parallelism hoodie.bulkinsert.sort.* hoodie.combine.before.insert hoodie.combine.before.delete
    hoodie.datasource.hive_sync.* hoodie.datasource.meta.sync.* hoodie.datasource.meta_sync.* hoodie.meta.sync.*
    hoodie.datasource.write.hive_style_partitioning hoodie.datasource.write.partitionpath.urlencode
    hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled
    hoodie.datasource.write.operation hoodie.datasource.write.partitionpath.field hoodie.datasource.write.recordkey.field
    hoodie.datasource.write.precombine.field hoodie.datasource.write.table.type hoodie.datasource.write.payload.class
    hoodie.record.merge.mode hoodie.write.record.merge.mode hoodie.datasource.query.incremental.format
    hoodie.datasource.read.incr.fallback.fulltablescan.enable
    hoodie.index.type hoodie.bucket.index.hash.field hoodie.bucket.index.num.buckets hoodie.index.bucket.engine
    hoodie.index.hbase.* hoodie.hbase.index.update.partition.path hoodie.record.index.*
    hoodie.metadata.* hoodie.metrics.* hoodie.table.cdc.* hoodie.table.timeline.timezone
    hoodie.write.concurrency.* hoodie.write.lock.* hoodie.write.markers.type hoodie.write.commit.callback.*
    hoodie.client.heartbeat.* hoodie.time.generator.*
"""
_HARMLESS = """
    _hoodie.hfile.use.native.reader _hoodie.optimistic.consistency.guard.enable _hoodie.record.size.estimator.max.commits
    _hoodie.time.generator.reuse.enable hoodie.auto.adjust.lock.configs hoodie.avro.schema.validate
    hoodie.bloom.index.filter.* hoodie.index.bloom.* hoodie.common.* hoodie.consistency.check.*
    hoodie.delete.shuffle.parallelism     hoodie.embed.timeline.server hoodie.embed.timeline.server.*
    hoodie.fail.job.on.duplicate.data.file.detection
    hoodie.fail.on.timeline.archiving hoodie.file.listing.parallelism hoodie.filesystem.* hoodie.finalize.write.parallelism
    hoodie.fs.atomic_creation.support hoodie.global.index.reconcile.parallelism hoodie.hfile.* hoodie.insert.shuffle.parallelism
    hoodie.markers.* hoodie.memory.* hoodie.merge.allow.duplicate.on.inserts hoodie.merge.data.validation.enabled
    hoodie.merge.use.record.positions hoodie.metricscompaction.log.blocks.on hoodie.optimistic.consistency.guard.sleep_time_ms
    hoodie.optimized.log.blocks.scan.enable hoodie.partition.metafile.use.base.format hoodie.payload.event.time.field
    hoodie.datasource.write.row.writer.enable hoodie.release.resource.on.completion.enable hoodie.rollback.*
    hoodie.sensitive.config.keys hoodie.skip.default.partition.validation hoodie.table.services.incremental.enabled
    hoodie.timeline.compaction.batch.size hoodie.upsert.shuffle.parallelism hoodie.write.auto.upgrade hoodie.write.buffer.*
    hoodie.write.executor.* hoodie.write.record.positions hoodie.write.status.storage.level
    hoodie.write.tagged.record.storage.level
"""

_NOT_READ = "freshet chooses how a table is read, and hands no key of reading on."
_OTHER_INDEX = "It is a key of an index that freshet does not write (it writes BUCKET, RECORD_INDEX and HBASE)."
_CLASS = "A class of one's own could leave rows out, and is in no jar that freshet loads."
_STREAM = "It is a key of Spark's streams, and freshet writes batches."
_SQL = "It is a key of Spark SQL's own INSERT and MERGE, which freshet does not use."
_TABLE = "Hudi keeps it with the table; nobody sets it."
_QUARANTINE = "Rows that a check drops go to the quarantine: write 'checks: [{name: ..., where: ..., severity: drop}]'."
_KEYS = "The key generator follows from the record key and PARTITIONED BY; make the value in the SQL."
_LOCK = "Only a lock that other processes see holds them off."
_SERVICES = "freshet plans by the services that its runs and 'freshet service' carry out."
_INDEX_BY_SQL = "Such an index is made by Spark SQL's CREATE INDEX, not by a write."
_FORMAT = "freshet writes Parquet."

# Reason, then names; after "=" the values that pass, separated by "|", where Hudi's default is not the one.
_REFUSED: tuple[tuple[str, str], ...] = (
    (
        "It drops updates, and with freshet's other options new rows too, while the checkpoint moves on. The ordering field "
        "decides which row stays.",
        "hoodie.datasource.write.insert.drop.duplicates",
    ),
    ("A run without new rows has to commit its checkpoint.", "hoodie.allow.empty.commit"),
    (
        "Rows that a payload takes for deleted are not seen by the plan. Add `_hoodie_is_deleted BOOLEAN` to the DDL and "
        "select true for the rows to delete.",
        "hoodie.payload.delete.field hoodie.payload.delete.marker",
    ),
    ("Hudi would drop partitions by age, and a recompute would have their rows. Delete by the SQL.", "hoodie.partition.ttl.*"),
    ("It replaces the whole table by the batch.", "hoodie.datasource.overwrite.mode=dynamic"),
    (
        "The batch says what is overwritten.",
        "hoodie.static.overwrite.partition.paths hoodie.datasource.write.partitions.to.delete",
    ),
    (
        "The schema changes with the DDL file only.",
        """hoodie.datasource.write.schema.allow.auto.evolution.column.drop
        hoodie.avro.schema.external.transformation hoodie.internal.* hoodie.bulkinsert.schema.ddl
        hoodie.write.partial.update.schema hoodie.allow.operation.metadata.field""",
    ),
    ("A failure of a table service must be seen.", "hoodie.fail.writes.on.inline.table.service.exception"),
    (
        "Files of failed writes would stay, and the timeline could never be archived.",
        "hoodie.clean.failed.writes.policy=eager|lazy",
    ),
    ("Folders that it names would be left out of the table.", "hoodie.metadata.dir.filter.regex"),
    (
        "freshet repeats a run that lost a conflict by a new plan; Hudi would write the old one.",
        "hoodie.write.num.retries.on.conflict.failures",
    ),
    ("The commit is made once, after the checks.", "hoodie.auto.commit _.hoodie.allow.multi.write.on.same.instant"),
    (
        f"{_LOCK} Write FileSystemBasedLockProvider, ZookeeperBasedLockProvider or HiveMetastoreBasedLockProvider by its full "
        "name.",
        """hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.filesystembasedlockprovider|"""
        """org.apache.hudi.client.transaction.lock.zookeeperbasedlockprovider|"""
        """org.apache.hudi.client.transaction.lock.zookeeperbasedimplicitbasepathlockprovider|"""
        """org.apache.hudi.hive.transaction.lock.hivemetastorebasedlockprovider""",
    ),
    ("Its lock needs a bundle that freshet does not load.", "hoodie.write.lock.storage.*"),
    (
        "It works beside a stream's writes only. Write 'hoodie.compact.inline', or run 'freshet service'.",
        "hoodie.datasource.compaction.async.enable=false",
    ),
    (
        "It works beside a stream's writes only. Write 'hoodie.clustering.inline', or run 'freshet service'.",
        "hoodie.clustering.async.enabled hoodie.clustering.async.max.commits",
    ),
    (
        f"{_SERVICES} Set the services one by one: 'hoodie.compact.inline', 'hoodie.clean.automatic', ...",
        "hoodie.table.services.enabled hoodie.table.service.manager.*",
    ),
    ("Readers of a commit would have to tell it from one with rows. Write 'hoodie.compact.inline'.", "hoodie.log.compaction.*"),
    (
        "It is no setting of a write: clustering sorts by 'hoodie.clustering.plan.strategy.sort.columns'.",
        "hoodie.layout.optimize.enable hoodie.layout.optimize.data.skipping.enable",
    ),
    (
        "The timeline is read in the table's own folders.",
        """hoodie.metaserver.* hoodie.archivelog.folder
        hoodie.timeline.layout.version hoodie.instant_state.*""",
    ),
    ("A Hudi table is read and written as it is; none is made over another's files.", "hoodie.bootstrap.*"),
    (
        _NOT_READ,
        """hoodie.datasource.read.* hoodie.datasource.merge.type hoodie.read.* hoodie.enable.data.skipping
        hoodie.fileIndex.* hoodie.file.index.* hoodie.file.group.reader.enabled hoodie.bucket.index.query.pruning
        hoodie.cdc.file.group.iterator.memory.spill.bytes _hoodie.metadata.ignore.spurious.deletes""",
    ),
    (_STREAM, "hoodie.datasource.streaming.* hoodie.datasource.write.streaming.*"),
    (_SQL, "hoodie.spark.sql.* hoodie.sql.*"),
    (_QUARANTINE, "hoodie.errortable.*"),
    (_KEYS, "hoodie.keygen.*"),
    (
        _OTHER_INDEX,
        """hoodie.bloom.index.* hoodie.simple.index.* hoodie.global.simple.index.parallelism
        hoodie.bucket.index.max.num.buckets hoodie.bucket.index.min.num.buckets hoodie.bucket.index.merge.threshold
        hoodie.bucket.index.split.threshold""",
    ),
    (
        _INDEX_BY_SQL,
        """hoodie.index.name hoodie.expression.index.* hoodie.metadata.index.expression.*
        hoodie.metadata.index.secondary.* hoodie.datasource.write.secondarykey.column hoodie.metadata.index.drop""",
    ),
    ("An index that is made beside the writes is not there when they need it.", "hoodie.metadata.index.async"),
    (_FORMAT, "hoodie.base.file.format hoodie.table.multiple.base.file.formats.enable hoodie.orc.*"),
    (
        _TABLE,
        """hoodie.table.checksum hoodie.table.create.schema hoodie.table.index.defs.path hoodie.table.initial.version
        hoodie.table.log.file.format hoodie.table.metadata.partitions hoodie.table.metadata.partitions.inflight
        hoodie.table.secondary.indexes.metadata""",
    ),
    (
        _CLASS,
        """hoodie.avro.write.support.class hoodie.bulkinsert.user.defined.* hoodie.bulkinsert.overwrite.operation.type
        hoodie.client.init.callback.classes hoodie.fileid.prefix.provider.class hoodie.io.factory.class
        hoodie.parquet.spark.row.write.support.class hoodie.storage.class hoodie.storage.layout.* hoodie.writestatus.class
        hoodie.write.commit.callback.class hoodie.record.size.estimator.class""",
    ),
    ("It is in a bundle that freshet does not load.", """hoodie.metrics.cloudwatch.* hoodie.meta_sync.*"""),
    ("Sources are read by Hudi's tables.", "hoodie.streamer.*"),
)


@cache
def rows() -> Mapping[str, KeyRow]:
    """Return the table's rows by name."""
    found = [KeyRow(name=name, stance="honoured") for name in _HONOURED.split()]
    found += [KeyRow(name=name, stance="harmless") for name in _HARMLESS.split()]
    for reason, names in _REFUSED:
        for text in names.split():
            name, equals, values = text.partition("=")
            found.append(
                KeyRow(name=name, stance="refused", reason=reason, passes=tuple(values.split("|")) if equals else None)
            )
    found += [KeyRow(name=name, stance="owned", reason=reason) for name, reason in RESERVED.items()]
    return {row.name: row for row in found}


def row_of(key: str) -> KeyRow | None:
    """Return the row of a key by its current name; None where the table has none."""
    table = rows()
    if key in table:
        return table[key]
    ends = [end for end, letter in enumerate(key, start=1) if letter in "._"]
    return next((table[name] for end in reversed(ends) if (name := f"{key[:end]}*") in table), None)


def takes_values(key: str) -> bool:
    """Say whether there is a choice about a key: it is not owned, and of a refused one more than Hudi's default passes."""
    row = row_of(key)
    return row is not None and (row.stance in ("honoured", "harmless") or row.passes is not None)


def check_stance(key: str, value: str) -> KeyProblem | None:
    """Refuse a key that would break a guarantee, or have no effect.

    Args:
        key: A key of the catalogue, by its current name.
        value: Its value's text.

    Returns:
        ``NOT_SUPPORTED`` with the reason, or None.
    """
    row = row_of(key)
    if row is None:
        said = f"'{key}' of Hudi {HUDI_VERSION} is in no row of what freshet honours."
        return KeyProblem("NOT_SUPPORTED", said, "Remove it.")
    if row.stance != "refused":
        return None
    default = catalogue()[key].default
    passes = row.passes if row.passes is not None else () if default is None else (default.lower(),)
    if value.strip().lower() in passes:
        return None
    instead = f" Remove it, or write '{default}'." if row.passes is None and default else " Remove it."
    return KeyProblem("NOT_SUPPORTED", f"freshet does not take '{key}: {value}'.", row.reason + instead)
