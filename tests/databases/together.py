"""Transactions over two tables that a reader can tell whole from half: each writes as many rows into one as into the other."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.databases.shops import Shop
from tests.databases.test_ingest import freshet

TABLES = ("orders", "items")


def made(shop: Shop) -> None:
    """Make the two tables: rows of a transaction carry its number, and its size."""
    for table in TABLES:
        shop.run(f"create table {table} (id int primary key, tx int, size int, word varchar(20))")


def transact(shop: Shop, connection: Any, number: int, size: int = 10) -> None:
    """Write a transaction: so many rows into each table; it changes and deletes rows of earlier ones, too."""
    with connection.cursor() as cursor:
        cursor.execute("begin")
        for table in TABLES:
            rows = ", ".join(f"({number * 100_000 + n}, {number}, {size}, 'new')" for n in range(size))
            cursor.execute(f"insert into {table} values {rows}")
            cursor.execute(f"update {table} set word = 'w{number}' where tx = {number - 3}")
            cursor.execute(f"delete from {table} where tx = {number - 5}")
            # Another key: a delete and an insert.
            cursor.execute(f"update {table} set id = id + 50000 where tx = {number - 4}")
        cursor.execute("commit")


@contextmanager
def writing(shop: Shop, first: int, seconds: float) -> Iterator[None]:
    """Write transactions all the while, every so many seconds; each tenth is large."""
    ended, failed = threading.Event(), list[BaseException]()

    def write() -> None:
        connection, number = shop.connect(), first
        try:
            while not ended.wait(seconds):
                transact(shop, connection, number, 400 if number % 10 == 0 else 10)
                number += 1
        except BaseException as error:
            failed.append(error)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert failed == []


def project_of(shop: Shop, folder: Path, max_bytes: str = "10GB") -> None:
    """Make the project of a database whose tables go on together."""
    freshet(folder, "init", str(folder), "--from", str(shop.address).replace("mariadb:", "mysql:"))
    for file in folder.glob(f"pipelines/{shop.name}_*.yml"):
        text = file.read_text()
        text = text[: text.index("checks:")] + text[text.index("hoodie:") :]
        file.write_text(text.replace("quiet: 0s", f"quiet: 0s, max_bytes: {max_bytes}"))
    own = folder / f"configs/ingest/{shop.name}.yml"
    own.write_text(f"{own.read_text()}transactional: true\n")


def in_lake(spark: SparkSession, folder: Path, name: str, as_of: str = "") -> list[tuple[Any, ...]]:
    """Return a table's rows, now or as they were."""
    options = {"as.of.instant": as_of} if as_of else {}
    found = spark.read.format("hudi").options(**options).load(str(folder / "warehouse/raw" / name))
    columns = ("id", "tx", "size", "word")
    return sorted(tuple(row) for row in found.where("not _event_deleted").select(*columns).collect())


def in_database(shop: Shop, table: str) -> list[tuple[Any, ...]]:
    """Return the same of the database."""
    return sorted(tuple(row) for row in shop.rows(f"select id, tx, size, word from {table}"))


def halves(rows: list[tuple[Any, ...]]) -> dict[int, tuple[int, int]]:
    """Return transactions that are there, or were changed, in part: how many rows are alike, and how many it wrote."""
    counts = Counter((tx, size, word) for _, tx, size, word in rows)
    return {tx: (count, size) for (tx, size, _), count in counts.items() if count != size}


def transactions(rows: list[tuple[Any, ...]]) -> set[tuple[int, int, str]]:
    """Return what rows tell of transactions, whichever table they are of."""
    return {(tx, size, word) for _, tx, size, word in rows}
