"""A table is loaded from a backup of a real database and its log is read from the place that the backup names.

Which pipelines wait for what, tests/unit/ingest/test_backups.py has without a database; what becomes of the rows,
tests/integration/test_backups.py.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from pyspark.sql import SparkSession

from freshet.changelog.log_place import read_place
from freshet.databases.model import Base
from freshet.errors import StateError
from freshet.ingest.begun import Wanted
from freshet.ingest.capture import Captured, capture
from freshet.ingest.landing import Landing
from tests.databases.shops import PostgresShop, Shop
from tests.databases.test_capture import SMALL, expected, filled
from tests.databases.test_ingest import freshet, lake_rows
from tests.kit.databases import events_of, replayed

COLUMNS = ("id", "status", "note")
Rows = dict[str, tuple[Any, ...]]


def captured(shop: Shop, root: Path, place: str) -> Captured:
    """Capture a table that is loaded from a backup; without a place one that is still to be made."""
    source, landing = shop.source(), Landing(root)
    at = Base(position=place, number=number_of(place)) if place else None
    try:
        tables = [one for one in source.tables() if one.name == "orders"]
        wanted = [Wanted(table=one, groups={}, has_backup=True, place=at) for one in tables]
        with landing.held():
            return capture(source, landing, wanted, lambda words: None, SMALL)
    finally:
        source.close()


def with_log(shop: Shop, root: Path, backup: Rows, place: int) -> Rows:
    """Return what a backup and the log are together, as the changelog format says."""
    events = events_of(root, f"{shop.schema}.orders")
    read = f"{place:020d}.{0:020d}"
    whole = [{**dict(zip(COLUMNS, row, strict=True)), "_event": an_event(key, read)} for key, row in backup.items()]
    return {key: tuple(row[name] for name in COLUMNS) for key, row in replayed([*whole, *events]).items()}


def an_event(key: str, reference: str) -> dict[str, Any]:
    return {"row_key": key, "ref_key": reference, "is_deleted": False, "changelog_columns": None, "error_exception": None}


def change(shop: Shop, round_: int) -> None:
    shop.run(
        f"update orders set status = 'round {round_}' where id % 3 = {round_ % 3}",
        f"delete from orders where id = {round_}",
        f"insert into orders values ({100 + round_}, 'new', 'x')",
        f"update orders set id = {200 + round_} where id = {20 + round_}",
    )


@pytest.fixture
def exported(shop: Shop) -> Iterator[tuple[str, Rows]]:
    """Return the place that a backup names which was made before anybody captured, and its rows."""
    filled(shop)
    change(shop, 1)
    with made(shop) as found:
        yield found


@contextmanager
def made(shop: Shop) -> Iterator[tuple[str, Rows]]:
    if isinstance(shop, PostgresShop):
        shop.run(f"create publication {shop.name} for table orders")
        at = shop.address
        asked = psycopg2.connect(
            host=at.host, port=at.port, user=at.user, dbname=at.database, connection_factory=_replication()
        )
        with asked.cursor() as cursor:
            cursor.execute(f"CREATE_REPLICATION_SLOT {shop.name} LOGICAL pgoutput EXPORT_SNAPSHOT")
            _, place, snapshot, _ = cursor.fetchone()
            change(shop, 2)
            reader = shop.connect()
            with reader.cursor() as rows:
                rows.execute("begin isolation level repeatable read")
                rows.execute(f"set transaction snapshot '{snapshot}'")
                rows.execute(f"select {', '.join(COLUMNS)} from orders")
                found = {str(row[0]): tuple(row) for row in rows.fetchall()}
            reader.close()
        asked.close()
        yield place, found
        return
    reader = shop.connect()
    with reader.cursor() as cursor:
        cursor.execute("start transaction with consistent snapshot")
        cursor.execute("show status like 'binlog_snapshot%'")
        told = {name.lower(): value for name, value in cursor.fetchall()}
        cursor.execute("select binlog_gtid_pos(%s, %s)", (told["binlog_snapshot_file"], told["binlog_snapshot_position"]))
        ((place,),) = cursor.fetchall()
        change(shop, 2)
        cursor.execute(f"select {', '.join(COLUMNS)} from orders")
        found = {str(row[0]): tuple(row) for row in cursor.fetchall()}
    reader.close()
    yield place, found


def _replication() -> Any:
    from psycopg2.extras import LogicalReplicationConnection

    return LogicalReplicationConnection


def number_of(place: str) -> int:
    return read_place(place).number


def test_the_log_goes_on_from_the_place_of_a_backup_that_was_there_first(
    shop: Shop, exported: tuple[str, Rows], tmp_path: Path
) -> None:
    place, backup = exported
    change(shop, 3)
    found = captured(shop, tmp_path, place)
    assert (found.copied, bool(found.changed)) == ({}, True)
    assert with_log(shop, tmp_path, backup, number_of(place)) == expected(shop, "orders", *COLUMNS)
    change(shop, 4)
    captured(shop, tmp_path, place)
    assert with_log(shop, tmp_path, backup, number_of(place)) == expected(shop, "orders", *COLUMNS)


def test_a_backup_that_is_read_piece_by_piece_beside_writers_is_no_worse(shop: Shop, tmp_path: Path) -> None:
    """What is read late holds changes that the log has, too: those win, or say the same."""
    filled(shop, 60)
    place = captured(shop, tmp_path, "").standings[f"{shop.schema}.orders"].backup
    stop = threading.Event()

    def write() -> None:
        other = shop.again()
        number = 0
        # At a pace: each round takes longer than the one before, and the log may be read more slowly than it grows.
        while not stop.wait(0.02):
            number += 1
            other.run(
                f"update orders set status = '{number}' where id % 7 = {number % 7}",
                f"delete from orders where id = {number % 60}",
                f"insert into orders values ({1000 + number}, 'new', 'x')",
            )

    writer = threading.Thread(target=write)
    writer.start()
    try:
        backup: Rows = {}
        for begin in range(0, 2000, 10):
            rows = shop.rows(f"select {', '.join(COLUMNS)} from orders where id >= {begin} and id < {begin + 10}")
            backup |= {str(row[0]): tuple(row) for row in rows}
            if begin % 500 == 0:
                captured(shop, tmp_path, place)
            time.sleep(0.001)
    finally:
        stop.set()
        writer.join()
    captured(shop, tmp_path, place)
    assert with_log(shop, tmp_path, backup, number_of(place)) == expected(shop, "orders", *COLUMNS)


def refused(shop: Shop, root: Path, place: str) -> str:
    with pytest.raises(StateError) as error:
        captured(shop, root, place)
    assert not (root / ".freshet-ingest.json").exists()
    return error.value.code


def test_a_log_that_does_not_reach_back_is_refused(shop: Shop, exported: tuple[str, Rows], tmp_path: Path) -> None:
    place, _ = exported
    if isinstance(shop, PostgresShop):
        high, low = place.split("/")
        assert refused(shop, tmp_path, f"{high}/{int(low, 16) - 1:X}") == "BACKUP_TOO_OLD", "the slot begins later"
        assert refused(shop, tmp_path, "FF/0") == "BACKUP_NOT_OF_LOG"
        shop.run("create table later (id int primary key)", f"alter publication {shop.name} add table later")
        source = shop.source()
        try:
            tables = [one for one in source.tables() if one.name == "later"]
            with pytest.raises(StateError) as error:
                source.begin_from(Base(position=place, number=number_of(place)), tables)
        finally:
            source.close()
        assert (error.value.code, "later" in error.value.message) == ("BACKUP_TOO_OLD", True)
        shop.run(f"select pg_drop_replication_slot('{shop.name}')")
        assert refused(shop, tmp_path, place) == "BACKUP_TOO_OLD", "there is no slot"
        return
    domain, server, number = place.split("-")
    assert refused(shop, tmp_path, f"{domain}-{server}-{int(number) + 10**6}") == "BACKUP_NOT_OF_LOG"
    assert refused(shop, tmp_path, f"7-{server}-{number}") == "BACKUP_NOT_OF_LOG"
    change(shop, 3)
    shop.run("flush binary logs")
    last = shop.rows("show binary logs")[-1][0]
    shop.run("insert into orders values (999, 'behind', 'x')", f"purge binary logs to '{last}'")
    assert refused(shop, tmp_path, place) == "BACKUP_TOO_OLD"


def dumped(shop: Shop, folder: Path) -> None:
    """Make a dump, restore it into a database beside this one, and write its table as files, as the guide has it."""
    at, scratch, dump = shop.address, f"{shop.name}_scratch", folder.parent / "orders.sql"
    folder.mkdir(parents=True)
    if isinstance(shop, PostgresShop):
        there = ("--host", at.host, "--port", str(at.port), "--username", at.user)
        run("pg_dump", *there, "--table", "public.orders", "--file", str(dump), at.database)
        run("createdb", *there, scratch)
        run("psql", *there, "--quiet", "--file", str(dump), scratch)
        copy = "COPY public.orders TO STDOUT WITH (FORMAT csv, HEADER)"
        (folder / "orders.csv").write_text(run("psql", *there, "--command", "set timezone = 'UTC'", "-qc", copy, scratch))
        run("dropdb", *there, scratch)
        return
    there = (f"--host={at.host}", f"--port={at.port}", f"--user={at.user}", "--protocol=tcp")
    dump.write_text(run("mariadb-dump", *there, "--single-transaction", "--master-data=2", "--gtid", at.database, "orders"))
    run("mariadb", *there, "--execute", f"create database {scratch}")
    run("mariadb", *there, scratch, text=dump.read_text())
    sql = "SELECT JSON_OBJECT('id', id, 'status', status, 'amount', amount, 'at', at, 'note', note) FROM orders"
    words = ("--batch", "--raw", "--skip-column-names", "--default-character-set=utf8mb4")
    (folder / "orders.json").write_text(
        run("mariadb", *there, *words, "--init-command", "SET time_zone = '+00:00'", scratch, "--execute", sql)
    )
    run("mariadb", *there, "--execute", f"drop database {scratch}")


def run(*words: str, text: str | None = None) -> str:
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def place_in(dump: Path) -> str:
    (line,) = [one for one in dump.read_text().splitlines() if "gtid_slave_pos" in one]
    return line.split("'")[1]


def name_backup(folder: Path, pipeline: str, kind: str, position: str) -> None:
    file = folder / f"pipelines/{pipeline}.yml"
    text = "\n".join(line for line in file.read_text().splitlines() if "bootstrap:" not in line) + "\n"
    csv = ", csv: {header: true, escape: '\"', multiLine: true}" if kind == "csv" else ""
    at = f", position: {position}" if position else ""
    said = f"source:\n  bootstrap: {{from: files, path: backup/orders, format: {kind}{csv}{at}}}\n"
    file.write_text(text.replace("source:\n", said))


def test_a_dump_is_restored_and_its_table_is_in_the_lake(shop: Shop, spark: SparkSession, tmp_path: Path) -> None:
    """The guide's recipes, from the first command to a table that is equal row by row; nothing is copied."""
    needed = ("pg_dump", "psql") if isinstance(shop, PostgresShop) else ("mariadb", "mariadb-dump")
    if not all(map(shutil.which, needed)):
        pytest.skip(f"{' and '.join(needed)} are not installed")
    moment = "timestamp" if shop.kind == "postgresql" else "datetime(6)"
    shop.run(
        f"create table orders (id int primary key, status varchar(20), amount numeric(10,2), at {moment}, note {shop.big})",
        "create table items (id int primary key, what varchar(20))",
        *(f"insert into orders values ({n}, 'new', {n}.50, '2026-02-03 04:05:{n:02d}.123456', 'ä {n}')" for n in range(20)),
        "insert into orders values (20, '', null, null, 'a \"quoted\"\n\ttext, \\\\ and more')",
        "insert into items values (1, 'x')",
    )
    folder = tmp_path / "project"
    freshet(folder, "init", str(folder), "--from", str(shop.address).replace("mariadb:", "mysql:"))
    name, kind = shop.name, "csv" if isinstance(shop, PostgresShop) else "json"
    pipeline = f"{name}_orders"
    columns = ("id", "status", "cast(amount as string)", "date_format(at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "note")

    def equal() -> None:
        text = "id, status, cast(amount as char(9)), cast(at as char(26)), note"
        found = [
            tuple(one.strip() if number in (2, 3) and one is not None else one for number, one in enumerate(row))
            for row in shop.rows(f"select {text} from orders")
        ]
        assert lake_rows(spark, folder, pipeline, *columns) == sorted(found)

    position = ""
    if isinstance(shop, PostgresShop):
        name_backup(folder, pipeline, kind, "")
        waits = freshet(folder, "ingest", name, code=5)
        assert (waits["blocked"][pipeline]["code"], waits["copied"]) == ("BACKUP_AWAITED", {"public.items": 1})
        position = waits["blocked"][pipeline]["details"]["position"]
    change_all(shop, 1)
    dumped(shop, folder / "backup/orders")
    position = position or place_in(folder / "backup/orders.sql")
    name_backup(folder, pipeline, kind, position)
    change_all(shop, 2)
    done = freshet(folder, "ingest", name)
    assert {run["pipeline"]: run["outcome"] for run in done["runs"]}[pipeline] == "committed"
    assert f"{shop.schema}.orders" not in done["copied"]
    equal()
    change_all(shop, 3)
    freshet(folder, "ingest", name)
    equal()
    assert {run["outcome"] for run in freshet(folder, "ingest", name)["runs"]} == {"idle"}
    error = freshet(folder, "run", pipeline, "--full-refresh", code=5)
    assert error["runs"][0]["error"]["code"] == "NOT_RECOMPUTABLE"


def change_all(shop: Shop, round_: int) -> None:
    shop.run(
        f"update orders set status = 'round {round_}', amount = {round_}.25 where id % 5 = {round_}",
        f"delete from orders where id = {10 + round_}",
        f"insert into orders (id, note) values ({100 + round_}, 'came in round {round_}')",
    )


def test_a_user_who_may_replicate_and_select_may_begin_from_a_backup(
    shop: Shop, exported: tuple[str, Rows], tmp_path: Path
) -> None:
    place, backup = exported
    user = f"u_{shop.name}"
    if isinstance(shop, PostgresShop):
        shop.run(f"create role {user} login replication", f"grant select on orders to {user}")
    else:
        shop.run(f"create user {user}", f"grant replication slave on *.* to {user}", f"grant select on {shop.name}.* to {user}")
    owner, shop.address = shop.address, replace(shop.address, user=user)
    try:
        captured(shop, tmp_path, place)
        assert with_log(shop, tmp_path, backup, number_of(place)) == expected(shop, "orders", *COLUMNS)
    finally:
        shop.address = owner
        gone = ("drop owned by", "drop role") if isinstance(shop, PostgresShop) else ("drop user",)
        shop.run(*(f"{words} {user}" for words in gone))
