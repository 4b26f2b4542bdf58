"""A small lake whose pipelines keep their index on the HBase of the tests, in an index table of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from freshet.dev.hbase.look import HBase
from freshet.hudi.shares import client_settings
from freshet.hudi.timeline import TimelineState
from freshet.index.hbase import cluster as index_hbase
from freshet.index.hbase.building import Layout
from freshet.index.hbase.entries import hbase_entries
from freshet.index.ops.check import Verified, verify_index
from freshet.index.ops.make import IndexResult, rebuild_index
from freshet.project.model.pipeline import HBaseSpec
from tests.kit.lake import Lake

#: With this DDL, and this SQL over a source that has the column, a row is deleted by the column.
DELETES = ",\n  _hoodie_is_deleted BOOLEAN"


class HBaseLake(Lake):
    """The lake of one test; ``pipeline`` gives a pipeline an HBASE index unless ``hoodie`` names another.

    Args:
        spark: The session, which was started with ``spark.freshet.hbase``.
        root: The test's folder.
        hbase: The HBase of the tests.
    """

    def __init__(self, spark: SparkSession, root: Path, hbase: HBase) -> None:
        super().__init__(spark, root)
        self.hbase, self._own = hbase, uuid.uuid4().hex[:10]

    def index_table(self, name: str = "copy") -> str:
        """Return the name of a pipeline's index table, which no other test has."""
        return f"{name}_{self._own}"

    def pipeline(self, name: str = "copy", *args: object, hoodie: Mapping[str, object] | None = None, **kwargs: object) -> None:
        """Write a pipeline's files as ``Lake.pipeline`` does."""
        own = {**self.hbase.hoodie, "hoodie.index.type": "HBASE", "hoodie.index.hbase.table": self.index_table(name)}
        asked = dict(hoodie or {})
        if asked.get("hoodie.index.type", "HBASE") == "HBASE":
            asked = {**own, **asked}
        super().pipeline(name, *args, hoodie=asked, **kwargs)  # type: ignore[arg-type]

    def hbase_spec(self, name: str = "copy") -> HBaseSpec:
        """Return where a pipeline's index lies."""
        found = self.spec(name).index.hbase
        assert found is not None
        return found

    @contextmanager
    def cluster(self, name: str = "copy") -> Iterator[index_hbase.HBase]:
        """Give the cluster, looking at a pipeline's index table."""
        with index_hbase.connect(self.spark, self.hbase_spec(name)) as found:
            yield found

    def entries(self, name: str = "copy") -> dict[str, tuple[str, str]]:
        """Return what a pipeline's index holds: partition and file id by key."""
        with self.cluster(name) as cluster:
            return {row.key: (row.partition, row.file) for row in hbase_entries(self.spark, cluster).collect()}

    def places(self, table: str = "derived.copy") -> dict[str, tuple[str, str]]:
        """Return where a table's rows lie: partition and file id by key; fails where a key stands twice."""
        frame = self.spark.read.format("hudi").load(self.path(table))
        found = frame.select("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name").collect()
        places = {key: (partition, file.split("_")[0]) for key, partition, file in found}
        assert len(places) == len(found), f"a key stands twice: {sorted(row[0] for row in found)}"
        return places

    def verify(self, name: str = "copy", *, sample: float = 1.0, repair: bool = False) -> Verified:
        """Do what ``freshet index verify`` does."""
        project = self.project(name)
        return verify_index(project, project.pipelines[0], TimelineState(), self.events.append, sample, repair)

    def rebuild(self, name: str = "copy", layout: Layout | None = None) -> IndexResult:
        """Do what ``freshet index rebuild`` does."""
        project = self.project(name)
        return rebuild_index(project, project.pipelines[0], TimelineState(), self.events.append, layout or Layout())

    def agree(self, name: str = "copy") -> None:
        """Hold a pipeline's index against its table: each row has its entry, and no entry is without its row."""
        entries, places = self.entries(name), self.places(f"derived.{name}")
        assert entries == places, (entries, places)


class Admin:
    """HBase's own client, as an administrator uses it, on a pipeline's index table.

    Args:
        lake: The lake.
        name: The pipeline.
    """

    def __init__(self, lake: HBaseLake, name: str = "copy") -> None:
        self._lake, spec = lake, lake.hbase_spec(name)
        jvm: Any = lake.spark._jvm
        self._hbase = jvm.org.apache.hudi.org.apache.hadoop.hbase
        self._table = self._hbase.TableName.valueOf(spec.table)
        conf = self._hbase.HBaseConfiguration.create()
        for key, value in client_settings(spec).items():
            conf.set(key, value)
        self._connection = self._hbase.client.ConnectionFactory.createConnection(conf)
        self._admin = self._connection.getAdmin()

    def __enter__(self) -> Admin:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def exists(self) -> bool:
        """Return whether there is such a table."""
        return bool(self._admin.tableExists(self._table))

    def tables(self) -> list[str]:
        """Return the names of all tables of the cluster."""
        return [name.getNameAsString() for name in self._admin.listTableNames()]

    def drop(self) -> None:
        """Delete the table, as an accident would."""
        self._admin.disableTable(self._table)
        self._admin.deleteTable(self._table)

    def create_by_hand(self) -> None:
        """Make the table as Hudi's documentation asks for, without what freshet notes at it."""
        client = self._hbase.client
        family = client.ColumnFamilyDescriptorBuilder.newBuilder(b"_s").setMaxVersions(3).build()
        self._admin.createTable(client.TableDescriptorBuilder.newBuilder(self._table).setColumnFamily(family).build())

    def family(self) -> tuple[str, str, int, str]:
        """Return how Hudi's column family is kept: compression, encoding, versions, Bloom filter."""
        found = self._admin.getDescriptor(self._table).getColumnFamily(b"_s")
        return (
            found.getCompressionType().toString(),
            found.getDataBlockEncoding().toString(),
            int(found.getMaxVersions()),
            found.getBloomFilterType().toString(),
        )

    def regions(self) -> list[tuple[bytes, int]]:
        """Return the first key of each region and the HFiles that it holds."""
        firsts = {bytes(region.getRegionName()): bytes(region.getStartKey()) for region in self._admin.getRegions(self._table)}
        found = [
            (firsts[bytes(region.getRegionName())], int(region.getStoreFileCount()))
            for server in self._admin.getClusterMetrics().getLiveServerMetrics().keySet()
            for region in self._admin.getRegionMetrics(server, self._table)
        ]
        return sorted(found)

    def hfiles(self) -> int:
        """Return how many HFiles the regions of the table hold."""
        return sum(
            int(region.getStoreFileCount())
            for server in self._admin.getClusterMetrics().getLiveServerMetrics().keySet()
            for region in self._admin.getRegionMetrics(server, self._table)
        )

    def requests(self) -> tuple[int, int]:
        """Return the reads and the writes that the regions of the table have counted."""
        reads = writes = 0
        for server in self._admin.getClusterMetrics().getLiveServerMetrics().keySet():
            for region in self._admin.getRegionMetrics(server, self._table):
                reads, writes = reads + int(region.getReadRequestCount()), writes + int(region.getWriteRequestCount())
        return reads, writes

    def put(self, key: str, *, partition: str, file: str) -> None:
        """Write an entry behind freshet's back."""
        put = self._hbase.client.Put(key.encode())
        for column, value in (("partition_path", partition), ("file_name", file), ("commit_ts", "20260101000000000")):
            put.addColumn(b"_s", column.encode(), value.encode())
        self._connection.getTable(self._table).put(put)

    def delete(self, key: str) -> None:
        """Delete an entry behind freshet's back."""
        self._connection.getTable(self._table).delete(self._hbase.client.Delete(key.encode()))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
