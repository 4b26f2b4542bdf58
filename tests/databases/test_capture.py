"""A database captured into files: replayed, they are its tables, whatever happens to it and to who captures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest

from freshet.databases.address import read_address
from freshet.databases.source import open_source
from freshet.dev.databases.mariadb import MariaDb
from freshet.dev.databases.postgres import Postgres
from freshet.errors import FreshetError, RetryableError, StateError
from freshet.ingest.begun import Wanted
from freshet.ingest.capture import Bounds, Captured, capture
from freshet.ingest.landing import Landing
from tests.databases.shops import MariaDbShop, PostgresShop, Shop
from tests.kit.databases import events_of, replayed, started

SERVERS: dict[str, tuple[type[Postgres | MariaDb], type[Shop]]] = {
    "postgres": (Postgres, PostgresShop),
    "mariadb": (MariaDb, MariaDbShop),
}
ROOT = Path(__file__).resolve().parents[2]
SMALL = Bounds(rows=7, messages=20)


def captured(
    shop: Shop, root: Path, bounds: Bounds = SMALL, only: str = "", groups: Mapping[str, tuple[str, ...]] | None = None
) -> Captured:
    source, landing = shop.source(), Landing(root)
    try:
        wanted = [
            Wanted(table=table, groups=groups or {})
            for table in source.tables()
            if not table.refused and table.schema == shop.schema and (not only or table.name == only)
        ]
        with landing.held():
            return capture(source, landing, wanted, lambda words: None, bounds)
    finally:
        source.close()


def rows_of(shop: Shop, root: Path, table: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    found = replayed(events_of(root, f"{shop.schema}.{table}"))
    return {key: tuple(row[name] for name in columns) for key, row in found.items()}


def expected(shop: Shop, table: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    return {str(row[0]): tuple(row) for row in shop.rows(f"select {', '.join(columns)} from {table}")}


def filled(shop: Shop, count: int = 30) -> None:
    shop.run(
        f"create table orders (id int primary key, status varchar(20), note {shop.big})",
        *(f"insert into orders values ({one}, 'new', 'note {one}')" for one in range(count)),
    )


def test_a_copy_and_the_log_make_the_table(shop: Shop, tmp_path: Path) -> None:
    filled(shop)
    first = captured(shop, tmp_path)
    assert first.copied == {f"{shop.schema}.orders": 30}
    columns = ("id", "status", "note")
    assert rows_of(shop, tmp_path, "orders", *columns) == expected(shop, "orders", *columns)
    shop.run(
        "update orders set status = 'paid' where id < 10",
        "delete from orders where id in (3, 4)",
        "insert into orders values (100, null, 'ä ''quoted'' \"text\"\n\t€ 😀')",
        "update orders set id = 200 where id = 5",
        "insert into orders values (3, 'again', 'it came back')",
    )
    other = shop.connect()
    with other.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("delete from orders where id > 20 and id < 100")
        cursor.execute("rollback")
        cursor.execute("begin")
        cursor.execute("update orders set status = 'sent' where id > 20")
        cursor.execute("delete from orders where id = 29")
        cursor.execute("commit")
    other.close()
    second = captured(shop, tmp_path)
    assert second.copied == {}
    assert rows_of(shop, tmp_path, "orders", *columns) == expected(shop, "orders", *columns)
    before = sorted(tmp_path.rglob("*.json.gz"))
    assert captured(shop, tmp_path).changed == {}
    assert sorted(tmp_path.rglob("*.json.gz")) == before, "nothing is new, and nothing is written"


def test_columns_come_and_go(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 3)
    captured(shop, tmp_path)
    shop.run(
        "alter table orders add column city varchar(20)",
        "update orders set city = 'Oslo' where id = 1",
        "insert into orders (id, city) values (10, 'Rom')",
        "alter table orders drop column note",
        "update orders set status = 'x' where id = 2",
    )
    if isinstance(shop, PostgresShop):
        shop.run("alter table orders alter column id type bigint", "alter table orders rename column status to state")
    else:
        shop.run("alter table orders modify id bigint", "alter table orders change column status state varchar(30)")
    shop.run("insert into orders (id, state, city) values (5000000000, 'wide', 'Bern')")
    seen = captured(shop, tmp_path).columns[f"{shop.schema}.orders"]
    assert seen == ["city", "id", "note", "state", "status"]
    found = replayed(events_of(tmp_path, f"{shop.schema}.orders"))
    assert (found["1"]["city"], found["10"]["city"]) == ("Oslo", "Rom")
    assert found["5000000000"]["state"] == "wide"
    assert found["2"]["status"] == "x"


def test_a_truncated_table_stops_alone(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 3)
    shop.run("create table other (id int primary key)")
    captured(shop, tmp_path)
    shop.run("truncate table orders", "insert into orders values (1, 'a', 'b')", "insert into other values (1)")
    found = captured(shop, tmp_path)
    assert list(found.stopped) == [f"{shop.schema}.orders"]
    assert found.changed == {f"{shop.schema}.other": 1}
    assert list(captured(shop, tmp_path).stopped) == [f"{shop.schema}.orders"], "it is known from then on"


def test_a_table_that_comes_later_is_copied_and_one_that_was_left_out_is_stopped(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 10)
    captured(shop, tmp_path, only="orders")
    shop.run("create table later (id int primary key, a int)", "insert into later values (1, 1)")
    assert captured(shop, tmp_path).copied == {f"{shop.schema}.later": 1}
    shop.run("update later set a = 2")
    captured(shop, tmp_path)
    assert rows_of(shop, tmp_path, "later", "id", "a") == {"1": (1, 2)}
    captured(shop, tmp_path, only="orders")
    assert "left out" in captured(shop, tmp_path).stopped[f"{shop.schema}.later"]


@pytest.mark.waits
def test_a_copy_under_writes_with_kills(shop: Shop, tmp_path: Path) -> None:
    """A writer goes on while who captures is killed again and again; in the end files and table are equal.

    Half of the rows nobody touches: they are in the copy alone.
    """
    filled(shop, 200)
    ended, failed = threading.Event(), list[Exception]()

    def write() -> None:
        try:
            transactions()
        except Exception as error:
            failed.append(error)

    def transactions() -> None:
        connection = shop.connect()
        number = 0
        while not ended.is_set():
            number += 1
            with connection.cursor() as cursor:
                cursor.execute("begin")
                cursor.execute(f"insert into orders values ({1_000_000 + number}, 'w{number}', 'x')")
                cursor.execute(f"update orders set status = 'u{number}' where id % 7 = {number % 7} and id < 100")
                cursor.execute(f"delete from orders where id = {number % 100}")
                cursor.execute(f"update orders set id = {500_000 + number} where id = {(number * 3) % 100}")
                cursor.execute("commit")
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for kill_after in (0, 1, 2, 3, 5, 8, 13, 21):
            _captured_and_killed(shop, tmp_path, kill_after)
    finally:
        ended.set()
        writer.join()
    assert failed == []
    captured(shop, tmp_path)
    columns = ("id", "status", "note")
    assert rows_of(shop, tmp_path, "orders", *columns) == expected(shop, "orders", *columns)
    events = [event["_event"] for event in events_of(tmp_path, f"{shop.schema}.orders")]
    keys = [(one["row_key"], one["ref_key"], one["is_deleted"]) for one in events if not one["ref_key"].endswith("0" * 20)]
    assert len(set(keys)) == len(keys), "a change is in the files once"


def _captured_and_killed(shop: Shop, root: Path, steps: int) -> None:
    """Capture in a process that kills itself at so many-th durable step."""
    program = f"""
import os, signal
from pathlib import Path
from freshet.databases.address import Address
from freshet.databases.source import open_source
from freshet.ingest import landing as module
from freshet.ingest.begun import Wanted
from freshet.ingest.capture import Bounds, capture
left = {steps}
def counted(call):
    def step(*words):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*words)
    return step
os.replace = counted(os.replace)
module._sync = counted(module._sync)
source = open_source({shop.address!r}, {shop.name!r}, 30.0)
wanted = [Wanted(table=one, groups={{}}) for one in source.tables() if one.schema == {shop.schema!r}]
place = module.Landing(Path({str(root)!r}))
with place.held():
    capture(source, place, wanted, lambda words: None, Bounds(rows=7, messages=20))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr


def test_only_one_captures_at_a_time(tmp_path: Path) -> None:
    with Landing(tmp_path).held(), pytest.raises(RetryableError) as error, Landing(tmp_path).held():
        pass
    assert error.value.code == "INGEST_BUSY"


def _purged(shop: Shop) -> None:
    """Delete what MariaDB has of its log before the last file, once it sees that nobody reads it any more."""
    last = shop.rows("show master status")[0][0]
    while len(shop.rows("show binary logs")) > 1:
        for row in shop.rows("select id from information_schema.processlist where command = 'Binlog Dump'"):
            with suppress(pymysql.err.MySQLError):
                shop.run(f"kill {row[0]}")
        shop.run(f"purge binary logs to '{last}'")
        time.sleep(0.05)


def test_a_log_that_is_lost_is_no_silence(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 3)
    captured(shop, tmp_path)
    shop.run("insert into orders values (50, 'a', 'b')")
    if isinstance(shop, PostgresShop):
        shop.run(f"select pg_replication_slot_advance('{shop.name}', pg_current_wal_lsn())")
    else:
        shop.run("flush binary logs", "insert into orders values (51, 'a', 'b')", "flush binary logs")
        _purged(shop)
    with pytest.raises(StateError) as error:
        captured(shop, tmp_path)
    assert error.value.code == "LOG_LOST"


def test_a_server_that_is_gone_is_no_hang(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(FreshetError) as error:
        open_source(replace(shop.address, port=1), shop.name, 1.0)
    assert error.value.code == "DATABASE_UNREACHABLE"
    with pytest.raises(FreshetError) as error:
        open_source(replace(shop.address, database="nowhere"), shop.name, 1.0)
    assert error.value.code == "DATABASE_DENIED"


TYPES = {
    "postgresql": (
        "a smallint, b int, c bigint, d numeric(12,3), e numeric, f real, g double precision, h boolean, i text, "
        "j varchar(9), k char(4), l bytea, m date, n timestamp, o timestamptz, p time, q interval, r json, s jsonb, "
        "t uuid, u int[], v text[], w mood, x inet, y positive, z int4range",
        "-3, 2147483647, -9223372036854775808, 123456789.125, 1e30, 0.1, 0.1, true, 'ä', 'x', 'ab', '\\x00ff', '2026-02-03', "
        "'2026-02-03 04:05:06.789', '2026-02-03 04:05:06.789+02', '04:05:06.7', '1 day 2 hours', "
        "'{\"a\": [1]}', '{\"a\": [1]}', "
        "'6f9619ff-8b86-d011-b42d-00cf4fc964ff', '{1,null,3}', '{\"a,b\",\"c\"}', 'sad', '10.0.0.1', 5, '[1,5)'",
    ),
    "mariadb": (
        "a tinyint, b smallint unsigned, c mediumint, d int unsigned, e bigint, f bigint unsigned, g decimal(12,3), h float, "
        "i double, j bit(1), k bit(10), l char(4), m varchar(9), n longtext, o enum('x','y'), p set('p','q','r'), q binary(4), "
        "r varbinary(4), s blob, t date, u datetime(3), v timestamp(6) null, w time, x year, y json, "
        "z varchar(9) charset latin1",
        "-3, 65535, -8388608, 4294967295, -9223372036854775808, 18446744073709551615, 123456789.125, 0.1, 0.1, b'1', "
        "b'1000000001', "
        "'ab', 'ä€', '😀', 'y', 'r,p', x'ff00', x'00ff', x'0001', '2026-02-03', '2026-02-03 04:05:06.789', "
        "'2026-02-03 04:05:06.789123', '-14:05:06', 2026, '{\"a\": [1]}', 'ä'",
    ),
}


def test_the_copy_and_the_log_write_values_alike(shop: Shop, tmp_path: Path) -> None:
    columns, values = TYPES[shop.kind]
    if shop.kind == "postgresql":
        shop.run("create type mood as enum ('sad', 'ok')", "create domain positive as int check (value > 0)")
    shop.run(f"create table kinds (id int primary key, {columns})", f"insert into kinds values (1, {values})")
    shop.run("insert into kinds (id) values (3)")
    captured(shop, tmp_path)
    shop.run(f"insert into kinds values (2, {values})", "insert into kinds (id) values (4)")
    captured(shop, tmp_path)
    found = {row.pop("id"): row for row in replayed(events_of(tmp_path, f"{shop.schema}.kinds")).values()}
    assert found[1] == found[2]
    assert found[3] == found[4] == dict.fromkeys(found[1])
    assert all(value is not None for value in found[1].values()), found[1]


def test_large_values_that_stay_are_told_of(shop: Shop, tmp_path: Path) -> None:
    """PostgreSQL's log leaves them out: as columns that an event does not change, or with the whole old row as they are."""
    if shop.kind != "postgresql":
        pytest.skip("only PostgreSQL leaves values out")
    filled(shop, 2)
    shop.run("alter table orders alter column note set storage external", "update orders set note = repeat('x', 5000)")
    captured(shop, tmp_path)
    shop.run("update orders set status = 'paid'", "update orders set id = 10 where id = 0")
    groups = {"row": ("id", "status"), "notes": ("note",)}
    captured(shop, tmp_path, groups=groups)
    *_, one, two, gone, moved = (event["_event"] for event in events_of(tmp_path, "public.orders"))
    assert [part["name"] for part in one["changelog_columns"]] == [part["name"] for part in two["changelog_columns"]] == ["row"]
    assert (gone["is_deleted"], moved["error_exception"] is None) == (True, False)
    shop.run(
        "alter table orders replica identity full",
        "update orders set status = 'sent'",
        "update orders set id = 11 where id = 10",
    )
    captured(shop, tmp_path, groups=groups)
    found = [event for event in events_of(tmp_path, "public.orders") if not event["_event"]["error_exception"]]
    expected = {str(row[0]): row for row in shop.rows("select id, status, note from orders")}
    assert {key: (row["id"], row["status"], row["note"]) for key, row in replayed(found, groups).items()} == expected


def test_a_user_needs_no_more_rights_than_the_guide_says(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 5)
    user = f"u_{shop.name}"
    if shop.kind == "postgresql":
        shop.run(f"create role {user} login replication", f"grant select on orders to {user}")
        shop.run(f"create publication {shop.name} for table orders")
    else:
        shop.run(f"create user {user}", f"grant replication slave on *.* to {user}", f"grant select on {shop.name}.* to {user}")
    shop.address = replace(shop.address, user=user)
    try:
        captured(shop, tmp_path)
        shop.run("update orders set status = 'x' where id = 1")
        assert captured(shop, tmp_path).changed == {f"{shop.schema}.orders": 1}
        if shop.kind == "postgresql":
            shop.run(f"alter publication {shop.name} set (publish = 'insert')")
            with pytest.raises(FreshetError) as error:
                captured(shop, tmp_path)
            assert error.value.code == "DATABASE_UNFIT"
    finally:
        if shop.kind == "postgresql":
            shop.run(f"drop owned by {user}", f"drop role {user}")
        else:
            shop.run(f"drop user {user}")


@pytest.mark.waits
@pytest.mark.parametrize("kind", SERVERS)
def test_a_restart_and_a_kill_of_the_server(tmp_path: Path, kind: str) -> None:
    """The slot and the log outlive the server; who captures meanwhile says so, and goes on afterwards."""
    server_kind, shop_kind = SERVERS[kind]
    if server_kind(tmp_path).binary() is None:
        pytest.skip(f"{kind} is not installed")
    with started(server_kind) as (server, found):
        shop = shop_kind(read_address(found.url), "shop")
        filled(shop, 20)
        captured(shop, tmp_path)
        shop.run("update orders set status = 'a'")
        os.kill(found.pid, signal.SIGKILL)
        while server.look().state == "up":
            time.sleep(0.05)
        with pytest.raises(RetryableError) as error:
            captured(shop, tmp_path)
        assert error.value.code == "DATABASE_UNREACHABLE"
        for _ in range(2):
            server.up(None, 120, lambda words: None)
            again = shop.again()
            again.run("update orders set note = 'after' where id < 3", "delete from orders where id = 9")
            captured(again, tmp_path)
            assert rows_of(again, tmp_path, "orders", "id", "status", "note") == expected(
                again, "orders", "id", "status", "note"
            )
            again.run("insert into orders values (9, 'b', 'c')")
            server.down(False, lambda words: None)
