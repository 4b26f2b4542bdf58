"""``freshet test`` and ``validate --deep`` of a pipeline over topics: without a cluster, by the columns of a record."""

from __future__ import annotations

import json

from click.testing import CliRunner

from freshet.cli.main import main
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS

FILES = {
    "pipelines/orders.yml": """\
ddl: ddl/orders.sql
transform: transformers/orders.sql
source: {columns: {id: string, amount: 'decimal(10,2)'}, tombstones: delete}
hoodie:
  bootstrap.servers: nowhere:1
  hoodie.streamer.source.kafka.topic: orders
  auto.offset.reset: earliest
"""
    + ACCEPTS,
    "ddl/orders.sql": """\
CREATE TABLE derived.orders (id STRING NOT NULL, amount DECIMAL(10,2), at BIGINT NOT NULL, _hoodie_is_deleted BOOLEAN)
USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'at', type = 'mor')
""",
    "transformers/orders.sql": "SELECT id, amount, _kafka.offset AS at, _hoodie_is_deleted FROM <SRC>\n",
    "pipelines/tests/orders.yml": """\
cases:
  rows_of_records:
    given: {SRC: [{id: a, amount: 1.5, _kafka: {topic: orders, partition: 0, offset: 7}}]}
    expect: {rows: [{id: a, amount: 1.5, at: 7}]}
  a_target_afterwards:
    given:
      target: [{id: a, amount: 1, at: 7}, {id: b, amount: 1, at: 7}]
      SRC: [{id: a, amount: 2, _kafka: {offset: 8}}]
    expect: {target: [{id: a, amount: 2, at: 8}, {id: b, amount: 1, at: 7}]}
""",
}


def test_cases_need_no_cluster_and_the_sql_is_held_against_the_records(lake: Lake) -> None:
    for name, text in FILES.items():
        lake.write_file(name, text)
    where = ("-C", str(lake.project_root))
    tested = CliRunner().invoke(main, ["test", "orders", "--output", "json", *where])
    assert tested.exit_code == 0, tested.output
    found = json.loads(tested.stdout)["pipelines"][0]["cases"]
    assert [(case["name"], case["passed"], case["on_tables"]) for case in found] == [
        ("rows_of_records", True, False),
        ("a_target_afterwards", True, True),
    ], tested.output
    assert CliRunner().invoke(main, ["validate", "--deep", "orders", *where]).exit_code == 0
    lake.write_file("transformers/orders.sql", FILES["transformers/orders.sql"].replace("_kafka.offset", "_kafka.offsets"))
    deep = CliRunner().invoke(main, ["validate", "--deep", "orders", "--output", "json", *where])
    assert "offsets" in deep.stdout
    assert deep.exit_code == 3
