"""Debezium on a real Kafka Connect, by the commands that a person types: in the end each table is equal row by row.

A database that changes, a schema that changes, a Connect that is stopped and one that is killed while it writes.
"""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from pyspark.sql import SparkSession

from freshet.connect.rest import Connect
from freshet.dev.connect import server as connect
from freshet.dev.connect.look import Worker, look
from freshet.dev.kafka import server as kafka
from tests.databases.shops import Shop
from tests.databases.test_ingest import freshet, lake_rows

pytestmark = pytest.mark.waits
SECONDS = 180.0
PASSWORD = "geheim-17"
COLUMNS = {
    "postgresql": "amount numeric(10,2), at timestamp, third timestamp(3), zoned timestamptz, day date, clock time, n bigint, "
    "note text",
    "mariadb": "amount decimal(10,2), at datetime(6), third datetime(3), zoned timestamp(6) null, day date, clock time, "
    "n bigint unsigned, note longtext",
}
TEXTS = {
    "postgresql": "id, status, amount::text, to_char(at, 'YYYY-MM-DD HH24:MI:SS.US'), "
    "to_char(third, 'YYYY-MM-DD HH24:MI:SS.US'), to_char(zoned at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), day::text, "
    "(extract(epoch from clock) * 1000000)::bigint, n::text, note",
    "mariadb": "id, status, cast(amount as char), date_format(at, '%Y-%m-%d %H:%i:%s.%f'), "
    "date_format(third, '%Y-%m-%d %H:%i:%s.%f'), date_format(zoned, '%Y-%m-%d %H:%i:%s.%f'), cast(day as char), "
    "time_to_sec(clock) * 1000000, cast(n as char), note",
}
_TIME = "date_format({}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
IN_LAKE = (
    *("id", "status", "cast(amount as string)", _TIME.format("at"), _TIME.format("third"), _TIME.format("zoned")),
    *("cast(day as string)", "clock", "cast(n as string)", "note"),
)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """Start a Kafka and a Connect of this module's own, and stop both whatever happens."""
    folder = tmp_path_factory.mktemp("connect")
    os.environ["SHOP_PASSWORD"] = PASSWORD
    try:
        broker = kafka.start(folder / "kafka", wait_seconds=SECONDS)
        yield connect.start(folder / "connect", servers=broker.servers, wait_seconds=SECONDS)
    finally:
        del os.environ["SHOP_PASSWORD"]
        connect.stop(folder / "connect", purge=True)
        kafka.stop(folder / "kafka", purge=True)


class Captured:
    """A connector, the topics that it writes, and the pipelines that read them.

    Args:
        shop: The database.
        worker: Where the connector runs.
        folder: The project.
        spark: Reads what the pipelines wrote.
    """

    def __init__(self, shop: Shop, worker: Worker, folder: Path, spark: SparkSession) -> None:
        self.shop, self.worker, self.folder, self.spark = shop, worker, folder, spark
        self._admin: Any = AdminClient({"bootstrap.servers": worker.servers, "log_level": 0})
        self._marks = 0

    def put(self, config: dict[str, str]) -> None:
        """Let Connect have the connector."""
        address, sent = f"{self.worker.url}/connectors/{self.shop.name}/config", json.dumps(config).encode()
        request = urllib.request.Request(address, sent, {"Content-Type": "application/json"}, method="PUT")
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            assert answer.status in (200, 201)

    def running(self) -> None:
        """Wait until the connector runs."""
        deadline = time.monotonic() + SECONDS
        asked = Connect(self.worker.url, 60)
        while True:
            found = [one for one in asked.connectors() if one.name == self.shop.name]
            if any(one.is_up for one in found):
                return
            assert time.monotonic() < deadline, found
            time.sleep(0.2)

    def settled(self) -> None:
        """Wait until all that was written so far is in the topics: a task writes changes in their order."""
        self._marks += 1
        self.shop.run(f"insert into marks values ({self._marks}, 'x')")
        deadline, before, since = time.monotonic() + SECONDS, self._ends(), time.monotonic()
        while True:
            assert time.monotonic() < deadline, before
            time.sleep(0.3)
            now = self._ends()
            if now != before:
                before, since = now, time.monotonic()
            elif now.get(f"{self.shop.name}.{self.shop.schema}.marks", 0) >= self._marks and time.monotonic() - since > 3:
                return

    def _ends(self) -> dict[str, int]:
        topics = [one for one in self._admin.list_topics(timeout=30).topics if one.startswith(f"{self.shop.name}.")]
        asked = self._admin.list_offsets({TopicPartition(one, 0): OffsetSpec.latest() for one in topics}) if topics else {}
        return {at.topic: int(told.result(30).offset) for at, told in asked.items()}

    def equal(self, more: str = "") -> None:
        """Run the pipelines, and hold their tables against the database's."""
        self.settled()
        freshet(self.folder, "run", "--all")
        found = [tuple(row) for row in self.shop.rows(f"select {TEXTS[self.shop.kind]}{more} from orders")]
        lake = lake_rows(self.spark, self.folder, f"{self.shop.name}_orders", *IN_LAKE, *filter(None, [more.strip(", ")]))
        assert sorted(lake, key=lambda row: row[0]) == sorted(found, key=lambda row: row[0])
        items = self.shop.rows("select order_id, line, what from items")
        lake = lake_rows(self.spark, self.folder, f"{self.shop.name}_items", "order_id", "line", "what")
        assert lake == sorted(map(tuple, items))


def a_user(shop: Shop) -> str:
    """Make a user that has a password; returns the database's address for it."""
    user = f"cdc_{shop.name[-8:]}"
    if shop.kind == "postgresql":
        # A publication of tables is their owner's, or a superuser's.
        shop.run(f"create role {user} login superuser password '{PASSWORD}'")
        return str(shop.address).replace("postgres@", f"{user}@")
    shop.run(f"create user {user} identified by '{PASSWORD}'", f"grant all on *.* to {user}", "set time_zone = '+00:00'")
    return str(shop.address).replace("mariadb://root@", f"mysql://{user}@")


def order(n: int) -> str:
    return (
        f"({n}, 'ä {n}', {n}.50, '2026-02-03 04:05:06.{n:06d}', '2026-02-03 04:05:06.{n:03d}', '2026-02-03 04:05:06.{n:06d}', "
        f"'2026-02-0{n % 9 + 1}', '04:05:{n % 60:02d}', {n}, '{'long ' * 2000}')"
    )


def test_a_database_goes_through_kafka_into_the_lake(shop: Shop, worker: Worker, spark: SparkSession, tmp_path: Path) -> None:
    shop.run(
        f"create table orders (id int primary key, status varchar(20) default 'new', {COLUMNS[shop.kind]})",
        "create table items (order_id int, line int, what varchar(20), primary key (order_id, line))",
        "create table marks (id int primary key, what varchar(1))",
    )
    address = a_user(shop)
    if shop.kind == "postgresql":
        # So that an update has the large texts that it leaves as they are.
        shop.run("alter table orders replica identity full", "set timezone = 'UTC'")
    shop.run(
        *(f"insert into orders values {order(n)}" for n in range(20)),
        "insert into orders (id, status) values (90, null)",
        "insert into orders (id) values (91)",
        *(f"insert into items values ({n}, {line}, 'x')" for n in range(5) for line in range(3)),
    )
    if shop.kind == "mariadb":
        # Beyond 63 bits.
        shop.run("update orders set n = 18446744073709551615 where id = 19")
    folder = tmp_path / "project"
    how = ("--from", address, "--connector", worker.servers, "--password-env", "SHOP_PASSWORD")
    made = freshet(folder, "init", str(folder), *how)
    # Of texts that every update leaves out where they are large; orders have whole rows.
    assert all("orders" not in note for note in made["notes"])
    freshet(folder, "validate")
    file = folder / f"configs/connectors/{shop.name}.json"
    assert PASSWORD not in file.read_text()
    checked = freshet(folder, "connector", "check", str(file), "--connect", worker.url)
    assert checked["connect"] == worker.url
    config = json.loads(file.read_text())
    # Debezium itself asks the database.
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**config, "database.user": "nobody_at_all"}))
    refused = freshet(folder, "connector", "check", str(wrong), "--connect", worker.url, code=3)
    assert {one["code"] for one in refused["error"]["details"]["problems"]} == {"CONNECTOR_INVALID"}
    assert PASSWORD not in json.dumps(refused)

    captured = Captured(shop, worker, folder, spark)
    captured.put(config)
    captured.running()
    captured.equal()
    shop.run(
        "update orders set status = 'paid', amount = amount + 1 where id < 7",
        "delete from orders where id in (2, 3)",
        "update orders set id = 100 where id = 4",
        "insert into orders (id, status) values (3, null)",
        "update items set line = line + 10 where order_id = 1",
        "delete from items where order_id = 2",
    )
    captured.equal()
    # A column that comes: the DDL has it before the next run reads it.
    shop.run("alter table orders add column city varchar(20)", "update orders set city = 'Oslo' where id in (1, 5)")
    ddl = folder / f"ddl/{shop.name}_orders.sql"
    ddl.write_text(ddl.read_text().replace("\n)\nUSING", ",\n  city STRING\n)\nUSING"))
    captured.equal(", city")
    # Stopped in order: what is written meanwhile comes when it is back.
    connect.stop(worker.directory)
    shop.run("delete from orders where id = 6", "insert into items values (70, 1, 'stopped')")
    connect.start(worker.directory, wait_seconds=SECONDS)
    captured.running()
    # Killed while it writes: what it had written and not noted comes once more, and changes nothing.
    for n in range(200, 400):
        shop.run(f"insert into orders values {order(n)[:-1]}, 'Bern')", f"update orders set n = {n + 1} where id = {n}")
        if n == 300:
            os.kill(look(worker.directory).pid, signal.SIGKILL)
    again = connect.start(worker.directory, wait_seconds=SECONDS)
    assert (again.port, again.group) == (worker.port, worker.group)
    captured.running()
    shop.run("delete from orders where id between 250 and 260", "update orders set id = 500 where id = 270")
    captured.equal(", city")
    # A table that was emptied is told, and no merge of rows can do that.
    shop.run("truncate table items")
    captured.settled()
    stopped = freshet(folder, "run", f"{shop.name}_items", code=6)
    assert stopped["runs"][0]["error"]["code"] == "SOURCE_TRUNCATED"
