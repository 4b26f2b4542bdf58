"""One real HBase for the whole test run, its own Java client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from pyspark.sql import SparkSession

from freshet.dev.hbase.look import HBase
from freshet.dev.hbase.server import start, stop
from freshet.jvm.ivy import pyspark_jar_dir
from freshet.jvm.jars import HBASE_JARS, resolve_jars
from freshet.jvm.java import find_java_home, java_command
from tests.kit.hbase import HBaseLake

#: What `make test` tries on a real HBase: one way through each part. All of it is for `make nightly`.
SMOKE = (
    "test_the_hbase_of_these_tests_serves",
    "test_updates_go_where_the_index_says_and_new_keys_alone_write_to_it[cow]",
    "test_a_key_that_moves_and_comes_back_is_one_row[mor]",
    "test_a_delete_takes_the_entry_and_the_key_may_come_back[cow]",
    "test_a_first_load_and_what_comes_after_it[cow-HBASE]",
    "test_an_index_that_is_gone_or_replaced_is_refused_until_it_is_rebuilt",
)


# Before the queue leaves out what is marked.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to ``make nightly`` what is not of the smoke."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.name not in SMOKE and getattr(item, "originalname", "") not in SMOKE:
            item.add_marker("nightly")


@pytest.fixture(scope="session")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HBase]:
    """Start an HBase with a directory of the test run's own, and stop it whatever happens."""
    with _started(tmp_path_factory.mktemp("hbase")) as found:
        yield found


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HBase]:
    """Start another one."""
    with _started(tmp_path_factory.mktemp("second")) as found:
        yield found


@contextmanager
def _started(folder: Path) -> Iterator[HBase]:
    try:
        yield start(folder / "server", wait_seconds=120)
    finally:
        stop(folder / "server", purge=True)


@pytest.fixture
def hlake(spark: SparkSession, tmp_path: Path, hbase: HBase) -> HBaseLake:
    """Return a lake whose pipelines have an HBASE index, each in an index table of its own."""
    return HBaseLake(spark, tmp_path, hbase)


class Client:
    """HBase's Java client in a JVM of its own, which is not Spark's.

    Args:
        jvm: The JVM's view of py4j.
    """

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm

    def connection(self, port: int) -> Any:
        """Return an open ``Connection`` to the HBase whose ZooKeeper has this port; the caller closes it."""
        conf = self._jvm.org.apache.hadoop.hbase.HBaseConfiguration.create()
        for key, value in {
            "hbase.zookeeper.quorum": "127.0.0.1",
            "hbase.zookeeper.property.clientPort": str(port),
            "hbase.client.retries.number": "4",
            "hbase.client.pause": "100",
        }.items():
            conf.set(key, value)
        return self._jvm.org.apache.hadoop.hbase.client.ConnectionFactory.createConnection(conf)

    def create_table(self, connection: Any, name: str, family: str) -> None:
        """Create a table of one column family."""
        client = self._jvm.org.apache.hadoop.hbase.client
        table = client.TableDescriptorBuilder.newBuilder(self._name(name))
        connection.getAdmin().createTable(table.setColumnFamily(client.ColumnFamilyDescriptorBuilder.of(family)).build())

    def put(self, connection: Any, table: str, row: str, family: str, value: str) -> None:
        """Write one cell, its qualifier ``q``."""
        put = self._jvm.org.apache.hadoop.hbase.client.Put(row.encode())
        connection.getTable(self._name(table)).put(put.addColumn(family.encode(), b"q", value.encode()))

    def get(self, connection: Any, table: str, row: str, family: str) -> str | None:
        """Read one cell, or None."""
        get = self._jvm.org.apache.hadoop.hbase.client.Get(row.encode())
        value = connection.getTable(self._name(table)).get(get).getValue(family.encode(), b"q")
        return None if value is None else bytes(value).decode()

    def _name(self, table: str) -> Any:
        return self._jvm.org.apache.hadoop.hbase.TableName.valueOf(table)


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Start the JVM of the client; it ends with the test run, or when this process dies."""
    path = ":".join([*map(str, resolve_jars(HBASE_JARS)), f"{pyspark_jar_dir()}/*"])
    port, secret = launch_gateway(
        classpath=path,
        java_path=str(java_command(find_java_home())),
        die_on_exit=True,
        enable_auth=True,
        javaopts=["-Xmx256m", "-Djava.net.preferIPv4Stack=true"],
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret))
    try:
        yield Client(gateway.jvm)
    finally:
        gateway.shutdown()
