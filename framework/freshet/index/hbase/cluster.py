"""The HBase cluster that holds a pipeline's index, as the driver sees it; what is wrong with it is said in words."""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from freshet.errors import RetryableError, StateError
from freshet.hudi.shares import client_settings
from freshet.index.classes import load_classes
from freshet.project.model.pipeline import HBaseSpec

_CONNECT_SECONDS = 3.0
# Entries repeat their times and file groups: 16 million took 2.3 GB without compression and 0.5 with it, and a fifth
# longer to make; of what a region server cannot keep in memory it reads that much less: 20,000 rows of 64 million took 1.27
# times as long as of one million, and take 1.12 times. All region servers have gz.
COMPRESSION, ENCODING = "GZ", "FAST_DIFF"
State = Literal["ready", "building"]


@dataclass(frozen=True, kw_only=True)
class IndexTable:
    """An index table as it stands.

    Args:
        dataset: Base path of the Hudi table that it belongs to; empty where freshet has not noted it.
        generation: Which making of the index it is; empty where freshet has not noted it.
        state: ``building`` while a bootstrap or a rebuild fills it.
        versions: Versions kept of an entry; 0 where Hudi's column family is missing.
        enabled: False where it was disabled by hand.
    """

    dataset: str
    generation: str
    state: State
    versions: int
    enabled: bool


@dataclass(frozen=True)
class HBase:
    """A connection to a cluster.

    Args:
        spec: The cluster and the pipeline's table on it.
        java: The connected ``freshet.index.Cluster``.
        classes: freshet's Java classes.
    """

    spec: HBaseSpec
    java: Any
    classes: Any

    @property
    def settings(self) -> dict[str, str]:
        """Return the client's settings."""
        return client_settings(self.spec)

    def servers(self) -> int:
        """Return the number of region servers alive."""
        return int(self._call(self.java.servers))

    def describe(self) -> IndexTable | None:
        """Return the pipeline's index table, None where there is none."""
        found = self._call(self.java.describe, self.spec.table)
        if found is None:
            return None
        known: dict[str, str] = dict(found)
        return IndexTable(
            dataset=known.get("dataset", ""),
            generation=known.get("generation", ""),
            state="ready" if known.get("state") == "ready" else "building",
            versions=int(known["versions"]),
            enabled=known["enabled"] == "true",
        )

    def create(
        self,
        splits: Sequence[bytes],
        marks: Mapping[str, str],
        compression: str = COMPRESSION,
        encoding: str = ENCODING,
    ) -> None:
        """Make the index table; it counts as being made until its state is set.

        Args:
            splits: First keys of its regions, the first region's excepted.
            marks: What is noted at it.
            compression: HBase's name of an algorithm.
            encoding: HBase's name of a data block encoding.

        Raises:
            StateError: HBASE_CODEC: the cluster cannot write blocks that are compressed so.
            RetryableError: HBASE_UNREACHABLE.
        """
        try:
            self.java.create(self.spec.table, list(splits), dict(marks), compression, encoding)
        except Py4JJavaError as error:
            why = _cause(error)
            # HBase tries a codec before it makes a table, and names it, by itself or by its library, in what it throws.
            if "DoNotRetryIOException" in why and re.search(rf"\b{compression}\b", why, re.IGNORECASE):
                raise StateError(
                    "HBASE_CODEC",
                    f"the HBase cluster {self.spec.cluster} cannot compress by {compression.lower()}: {why}.",
                    f"There is no index table {self.spec.table} now, and runs are refused until there is.",
                    "Run the same command with --compression gz, which every region server has.",
                    cluster=self.spec.cluster,
                ) from error
            raise unreachable(self.spec, why) from error

    def mark(self, marks: Mapping[str, str]) -> None:
        """Note things at the index table."""
        self._call(self.java.mark, self.spec.table, dict(marks))

    def set_state(self, state: State) -> None:
        """Say whether the index table, which freshet made, is whole."""
        self._call(self.java.setState, self.spec.table, state)

    def drop(self) -> None:
        """Delete the index table, where there is one."""
        self._call(self.java.drop, self.spec.table)

    def is_empty(self) -> bool:
        """Return True where the index table holds no entry."""
        return bool(self._call(self.java.isEmpty, self.spec.table))

    def requests(self) -> tuple[int, int]:
        """Return the reads and writes that the table's regions have served since they were opened."""
        reads, writes = self._call(self.java.requests, self.spec.table)
        return int(reads), int(writes)

    def load(self, folder: str) -> int:
        """Load a folder of HFiles into the table; returns how many."""
        return int(self._call(self.java.load, self.spec.table, folder))

    def _call(self, method: Any, *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Py4JJavaError as error:
            raise unreachable(self.spec, _cause(error)) from error


def new_generation() -> str:
    """Return a name for one making of an index that no other has."""
    return uuid.uuid4().hex[:16]


def unreachable(spec: HBaseSpec, why: str) -> RetryableError:
    """Return the error that says that a cluster does not answer."""
    return RetryableError(
        "HBASE_UNREACHABLE",
        f"the HBase cluster {spec.cluster}, which holds the index table {spec.table}, does not answer: {why}.",
        "Nothing was written, and the checkpoint stays.",
        "Start it, or correct hoodie.index.hbase.zkquorum, zkport and zknode.path; 'freshet dev hbase up' starts one here.",
        cluster=spec.cluster,
    )


@contextmanager
def connect(spark: SparkSession, spec: HBaseSpec) -> Iterator[HBase]:
    """Connect to a cluster until the block ends.

    Raises:
        RetryableError: HBASE_UNREACHABLE.
    """
    _knock(spec)
    classes = load_classes(spark)
    try:
        java = classes.Cluster(client_settings(spec))
    except Py4JJavaError as error:
        raise unreachable(spec, _cause(error)) from error
    try:
        yield HBase(spec, java, classes)
    finally:
        java.close()


def _knock(spec: HBaseSpec) -> None:
    # HBase's client takes half a minute to find out that nobody listens.
    failed = ""
    for host in spec.quorum.split(","):
        name, _, port = host.strip().partition(":")
        try:
            with socket.create_connection((name, int(port or spec.port)), _CONNECT_SECONDS) as asked:
                # ZooKeeper answers this even where it is not allowed to; one that hangs takes the connection, and no more.
                asked.sendall(b"srvr")
                asked.recv(1)
                return
        except OSError as error:
            failed = f"{name}:{port or spec.port}: {error.strerror or error}"
    raise unreachable(spec, f"ZooKeeper: {failed}")


def _cause(error: Py4JJavaError) -> str:
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    words = " ".join(str(cause.toString()).split())
    return words.removeprefix("org.apache.hudi.").rstrip(".")[:300]
