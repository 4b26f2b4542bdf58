"""``transactional: true`` over real databases: nothing has a part of a transaction, and all tables are at one place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from tests.databases.shops import Shop
from tests.databases.test_capture import SMALL, _captured_and_killed, captured
from tests.databases.test_ingest import freshet
from tests.databases.together import (
    TABLES,
    halves,
    in_database,
    in_lake,
    made,
    project_of,
    transact,
    transactions,
    writing,
)
from tests.kit.databases import events_of_file


@pytest.mark.waits
def test_a_file_ends_where_a_transaction_does(shop: Shop, tmp_path: Path) -> None:
    """Of many bounds' size, while a writer goes on and who captures is killed: a transaction is in one file of each table."""
    made(shop)
    captured(shop, tmp_path)
    with writing(shop, 1, 0.03):
        for kill_after in (1, 3, 6, 10, 15, 30):
            _captured_and_killed(shop, tmp_path, kill_after)
    captured(shop, tmp_path, SMALL)
    for table in TABLES:
        found: Counter[tuple[str, str]] = Counter()
        files = sorted((tmp_path / f"{shop.schema}.{table}").glob("[!.]*.json.gz"))
        for file in files:
            for event in events_of_file(file):
                reference = event["_event"]["ref_key"]
                if not reference.endswith("0" * 20) and event.get("word") == "new":
                    found[file.name, reference[:20]] += 1
        assert len(files) > 1
        assert len({transaction for _, transaction in found}) == len(found), "no transaction is in two files"
        assert set(found.values()) <= {10, 400}, found


def test_tables_go_on_together(shop: Shop, spark: SparkSession, tmp_path: Path) -> None:
    made(shop)
    connection = shop.connect()
    transact(shop, connection, 1)
    folder, name = tmp_path / "project", shop.name
    project_of(shop, folder, max_bytes="1kB")
    first = freshet(folder, "ingest", name)
    assert first["together"]["whole"] is True
    # Several files of each table, one of them of a transaction that is larger than a run's bytes.
    for number in range(2, 6):
        transact(shop, connection, number, 3000 if number == 3 else 10)
        freshet(folder, "ingest", name, "--capture-only")
    done = freshet(folder, "ingest", name)
    assert {len(run["commits"]) >= 3 for run in done["runs"]} == {True}, "bounds cut a backlog into several commits"
    together = done["together"]
    assert set(together["tables"].values()) == {done["position"]}
    for table in TABLES:
        assert in_lake(spark, folder, f"{name}_{table}") == in_database(shop, table)
        target = TimelineState().table(TableRef("t", str(folder / f"warehouse/raw/{name}_{table}")))
        assert target is not None
        for commit in target.commits:
            rows = in_lake(spark, folder, f"{name}_{table}", commit.requested)
            assert halves(rows) == {}, (table, commit)
    # One of them cannot go on: the other waits for it, though it could.
    shop.run("alter table items add column colour varchar(20)", "insert into items values (1, 0, 1, 'x', 'red')")
    shop.run("insert into orders values (1, 0, 1, 'x')")
    held = freshet(folder, "ingest", name, code=5)["together"]
    assert (held["waits_for"], held["published"]) == ([f"{name}_items"], together["published"])
    seen = [in_lake(spark, folder, f"{name}_{table}", held["commits"][f"{name}_{table}"]) for table in TABLES]
    assert transactions(seen[0]) == transactions(seen[1])
    status = freshet(folder, "status", f"{name}_orders")["pipelines"][0]
    assert (status["captured"], status["state"]) == (together["published"], "up_to_date")
    ddl = folder / f"ddl/{name}_items.sql"
    ddl.write_text(ddl.read_text().replace("\n)\nUSING", ",\n  colour STRING\n)\nUSING"))
    done = freshet(folder, "ingest", name)
    assert done["together"]["whole"] is True
    for table in TABLES:
        assert in_lake(spark, folder, f"{name}_{table}") == in_database(shop, table)
    connection.close()
