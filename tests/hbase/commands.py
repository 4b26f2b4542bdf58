"""``freshet`` as a user types it, in the test's own Spark or in a process that may be killed; and HBase as it then stands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from framework.cli.main import main
from framework.plan.shares import client_settings
from tests.hbase.lake import HBaseLake
from tests.integration.lake import Lake, Row, rows

ROOT = Path(__file__).resolve().parents[2]


def freshet(lake: Lake, *words: str, code: int = 0) -> dict[str, Any]:
    """Run a command in this process, which shares the tests' Spark.

    Args:
        lake: The lake whose project it is for.
        words: What is typed behind ``freshet``.
        code: The exit code that it must end with.

    Returns:
        What it prints as JSON.
    """
    done = CliRunner().invoke(main, [*words, "--output", "json", "-C", str(lake.project_root)])
    assert done.exit_code == code, f"{words} ended with {done.exit_code}: {done.output}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(lake: Lake, *words: str, code: int = 5) -> dict[str, Any]:
    """Run a command that must be refused; returns its error. A run's is in its list of runs."""
    found = freshet(lake, *words, code=code)
    error: dict[str, Any] = found["error"] if "error" in found else found["runs"][0]["error"]
    return error


def start(lake: Lake, *words: str, settings: Iterable[str] = ()) -> subprocess.Popen[str]:
    """Start a command in a process of its own, which is the head of its process group."""
    more = [word for one in settings for word in ("--set", one)]
    return subprocess.Popen(
        [sys.executable, "-m", "framework", *words, "--output", "json", "-C", str(lake.project_root), *more],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> dict[str, Any]:
    """Wait for a process; returns what it printed as JSON."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err[-3000:]
    found: dict[str, Any] = json.loads(out)
    return found


def kill_when(happened: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120) -> None:
    """Kill a process and all that it started, Spark's JVM too, as soon as something has happened."""
    deadline = time.monotonic() + seconds
    try:
        while not happened():
            assert process.poll() is None, process.communicate()[1][-3000:]
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.002)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def many(count: int, ts: int = 1, day: str = "2026-01-05", head: str = "k") -> list[Row]:
    """Return so many event rows, keyed by numbers."""
    return rows(*((f"{head}{number:06d}", ts, "1") for number in range(count)), day=day)


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
        return (found.getCompressionType().toString(), found.getDataBlockEncoding().toString(), int(found.getMaxVersions()),
                found.getBloomFilterType().toString())

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
