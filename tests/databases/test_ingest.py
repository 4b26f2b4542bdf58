"""A database into the lake, by the commands that a person types: in the end each table is equal row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from pyspark.sql import SparkSession

from freshet.cli.main import main
from tests.databases.shops import Shop


def freshet(folder: Path, *words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(main, [*words, "--output", "json", *(() if words[0] == "init" else ("-C", str(folder)))])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def lake_rows(spark: SparkSession, folder: Path, table: str, *columns: str) -> list[tuple[Any, ...]]:
    found = spark.read.format("hudi").load(str(folder / "warehouse/raw" / table)).where("not _event_deleted")
    return sorted(tuple(row) for row in found.selectExpr(*columns).collect())


def test_a_database_is_in_the_lake(shop: Shop, spark: SparkSession, tmp_path: Path) -> None:
    money, moment = "numeric(10,2)", "timestamp" if shop.kind == "postgresql" else "datetime(6)"
    shop.run(
        f"create table orders (id int primary key, status varchar(20), amount {money}, at {moment}, note {shop.big})",
        "create table items (order_id int, line int, what varchar(20), primary key (order_id, line))",
        *(f"insert into orders values ({n}, 'new', {n}.50, '2026-02-03 04:05:{n:02d}.123456', 'ä {n}')" for n in range(20)),
        *(f"insert into items values ({n}, {line}, 'x')" for n in range(5) for line in range(3)),
    )
    folder = tmp_path / "project"
    made = freshet(folder, "init", str(folder), "--from", str(shop.address).replace("mariadb:", "mysql:"))
    assert made["notes"] == [] or "REPLICA IDENTITY FULL" in made["notes"][0]
    name = shop.name
    freshet(folder, "validate")
    orders = ("id", "status", "cast(amount as string)", "date_format(at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "note")
    text = "id, status, cast(amount as char(9)), cast(at as char(26)), note"

    def equal() -> None:
        found = [
            tuple(one.strip() if isinstance(one, str) else one for one in row)
            for row in shop.rows(f"select {text} from orders")
        ]
        assert lake_rows(spark, folder, f"{name}_orders", *orders) == sorted(found)
        items = shop.rows("select order_id, line, what from items")
        assert lake_rows(spark, folder, f"{name}_items", "order_id", "line", "what") == sorted(map(tuple, items))

    first = freshet(folder, "ingest", name)
    assert [run["outcome"] for run in first["runs"]] == ["committed", "committed"]
    equal()
    shop.run(
        "update orders set status = 'paid', amount = amount + 1 where id < 7",
        "delete from orders where id in (2, 3)",
        "update orders set id = 100 where id = 4",
        "insert into orders (id) values (3)",
        "update items set line = line + 10 where order_id = 1",
        "delete from items where order_id = 2",
    )
    freshet(folder, "ingest", name)
    equal()
    assert {run["outcome"] for run in freshet(folder, "ingest", name)["runs"]} == {"idle"}
    # A column that comes holds back its table alone, until the DDL has it.
    shop.run("alter table orders add column city varchar(20)", "update orders set city = 'Oslo' where id = 1")
    shop.run("insert into items values (50, 1, 'new')")
    held = freshet(folder, "ingest", name, code=5)
    assert ([run["pipeline"] for run in held["runs"]], list(held["blocked"])) == ([f"{name}_items"], [f"{name}_orders"])
    ddl = folder / f"ddl/{name}_orders.sql"
    ddl.write_text(ddl.read_text().replace("\n)\nUSING", ",\n  city STRING\n)\nUSING"))
    freshet(folder, "ingest", name)
    equal()
    assert (1, "Oslo") in lake_rows(spark, folder, f"{name}_orders", "id", "city")
    # A table that was emptied is stopped, until all is copied anew into another folder.
    shop.run("truncate table orders", "insert into orders (id, city) values (1, 'Bern'), (77, 'Rom')")
    stopped = freshet(folder, "ingest", name, code=5)
    assert stopped["blocked"][f"{name}_orders"]["code"] == "TABLE_STOPPED"
    own = folder / f"configs/ingest/{name}.yml"
    for file in (own, *(folder / f"pipelines/{name}_{table}.yml" for table in ("orders", "items"))):
        file.write_text(file.read_text().replace(f"changes/{name}", f"changes/{name}_2"))
    own.write_text(f"{own.read_text()}slot: {name}_2\n")
    freshet(folder, "ingest", name, "--capture-only")
    freshet(folder, "run", f"{name}_orders", f"{name}_items", "--full-refresh")
    equal()
    shop.run("update orders set city = 'Wien' where id = 77")
    freshet(folder, "ingest", name)
    assert (77, "Wien") in lake_rows(spark, folder, f"{name}_orders", "id", "city")
