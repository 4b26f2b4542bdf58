"""Pipelines over topics of a real broker: each record once, whatever happens in between; and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from freshet.dev.kafka.look import Kafka
from freshet.hudi.checkpoint import EVENTS_KEY, STREAMER_V2_KEY
from tests.kit.commands import SLOW_STEP, freshet, kill_when, refused, start
from tests.kit.kafka import Topics
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS

DDL = """\
CREATE TABLE derived.orders (
  id STRING NOT NULL,
  amount DECIMAL(10,2),
  at BIGINT NOT NULL{columns}
) USING hudi
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'at', type = '{type}')
"""
SQL = "SELECT id, amount, _kafka.offset AS at{more} FROM <SRC>\n"
YML = """\
ddl: ddl/orders.sql
transform: transformers/orders.sql
source:
  columns: {{id: string, amount: 'decimal(10,2)'}}
{source}{top}hoodie:
  bootstrap.servers: {servers}
  hoodie.streamer.source.kafka.topic: {topic}
  auto.offset.reset: earliest
{hoodie}"""


class TopicLake(Lake):
    """A lake whose one pipeline, ``orders``, reads a topic of one test."""

    def __init__(self, spark: SparkSession, root: Path, topics: Topics) -> None:
        super().__init__(spark, root)
        self.topics = topics

    def orders(
        self,
        topic: str,
        hoodie: str = "",
        source: str = "",
        top: str = "",
        more: str = "",
        columns: str = "",
        kind: str = "mor",
    ) -> None:
        text = YML.format(servers=self.topics.servers, topic=topic, hoodie=hoodie, source=source, top=top)
        self.write_file("pipelines/orders.yml", text + ACCEPTS)
        self.write_file("ddl/orders.sql", DDL.format(type=kind, columns=columns))
        self.write_file("transformers/orders.sql", SQL.format(more=more))

    def ran(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = freshet(self, "run", "orders", *words)["runs"][0]
        return found

    def rows(self, columns: str = "id, cast(amount as string)") -> list[tuple[Any, ...]]:
        table = self.spark.read.format("hudi").load(self.path("derived.orders"))
        return sorted(tuple(row) for row in table.selectExpr(*columns.split(", ")).collect())


@pytest.fixture
def klake(spark: SparkSession, tmp_path: Path, topics: Topics) -> TopicLake:
    return TopicLake(spark, tmp_path, topics)


def a_while_ago() -> datetime:
    """Return a whole hour of yesterday: a broker takes no record of tomorrow, and keeps those of a week."""
    return datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0) - timedelta(days=1)


def in_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def orders(ids: Iterable[str], amount: str = "1.00") -> list[dict[str, Any]]:
    return [{"id": one, "amount": float(amount)} for one in ids]


def test_runs_go_on_record_by_record_and_hoodiestreamer_could(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders", 2)
    klake.orders(topic, "  group.id: earnings\n  hoodie.streamer.kafka.source.maxEvents: 3\n")
    topics.send(topic, orders("abc"))
    topics.send(topic, orders("xy"), partition=1)
    first = klake.ran()
    assert (first["outcome"], first["waiting_rows"]) == ("committed", 2)
    drained = klake.ran("--drain")
    assert (len(drained["commits"]), drained["waiting_rows"]) == (1, 0)
    assert [row[0] for row in klake.rows()] == ["a", "b", "c", "x", "y"]
    assert klake.ran()["outcome"] == "idle"
    topics.send(topic, orders("c", "7.25"))
    assert klake.ran()["checkpoint"] == f"{topic},0:4,1:2"
    assert klake.rows()[2] == ("c", "7.25")
    state = klake.state("derived.orders")
    assert state.latest_extra(STREAMER_V2_KEY) == f"{topic},0:4,1:2"
    told = freshet(klake, "status")["pipelines"][0]
    assert (told["state"], told["checkpoint"], told["rows_behind"]) == ("up_to_date", f"{topic},0:4,1:2", 0)


def test_records_of_transactions_that_were_aborted_or_are_open_are_never_rows(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    topics.send(topic, orders("a"))
    with topics.transaction(topic, orders("b")):
        pass
    with topics.transaction(topic, orders("c"), commit=False):
        pass
    with topics.transaction(topic, orders("d")):
        klake.ran()
        assert [row[0] for row in klake.rows()] == ["a", "b"]
        assert klake.ran()["outcome"] == "idle"
    klake.ran()
    assert [row[0] for row in klake.rows()] == ["a", "b", "d"]
    with topics.transaction(topic, orders("e"), commit=False):
        pass
    # Nothing but what was aborted, and marks: the checkpoint goes on over them.
    assert klake.ran()["outcome"] == "committed"
    assert klake.ran()["outcome"] == "idle"
    assert [row[0] for row in klake.rows()] == ["a", "b", "d"]


@pytest.mark.waits
def test_a_run_that_is_killed_before_its_commit_is_repeated_and_each_record_is_there_once(
    klake: TopicLake, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create("orders")
    # Rows are counted by their offsets: two of one record would be two rows.
    klake.orders(topic, more=", cast(_kafka.offset as string) AS place", columns=",\n  place STRING")
    topics.send(topic, orders("ab"))
    klake.ran()
    topics.send(topic, orders("cd"))
    flag = tmp_path / "writing"
    klake.write_file("transformers/slow.py", SLOW_STEP.format(flag=str(flag), milliseconds=60_000))
    file = klake.project_root / "pipelines/orders.yml"
    plain = file.read_text("utf-8")
    file.write_text(plain.replace("transformers/orders.sql", "[transformers/orders.sql, transformers/slow.py]"), "utf-8")
    kill_when(flag.exists, start(klake, "run", "orders"))
    assert [row[0] for row in klake.rows()] == ["a", "b"]
    file.write_text(plain, "utf-8")
    topics.send(topic, orders("e"))
    klake.ran()
    assert klake.rows("id, place") == [("a", "0"), ("b", "1"), ("c", "2"), ("d", "3"), ("e", "4")]
    assert klake.ran()["outcome"] == "idle"


def test_a_new_partition_and_a_topic_that_is_made_anew(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    topics.send(topic, orders("a"))
    klake.ran()
    topics.grow(topic, 2)
    topics.send(topic, orders("b"), partition=1)
    assert klake.ran()["checkpoint"] == f"{topic},0:1,1:1"
    topics.delete(topic)
    assert refused(klake, "run", "orders")["code"] == "SOURCE_MISSING"
    topics.create("orders", 2)
    topics.send(topic, orders("cd"))
    topics.send(topic, orders("e"), partition=1)
    assert refused(klake, "run", "orders")["code"] == "TOPIC_REPLACED"
    assert [row[0] for row in klake.rows()] == ["a", "b"]
    freshet(klake, "checkpoint", "set", "orders", "earliest")
    klake.ran()
    assert [row[0] for row in klake.rows()] == ["a", "b", "c", "d", "e"]


def test_retention_that_has_passed_the_checkpoint(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    topics.send(topic, orders("ab"))
    klake.ran()
    topics.send(topic, orders("cdef"))
    topics.trim(topic, 0, 5)
    error = refused(klake, "run", "orders")
    assert (error["code"], error["details"]["lost"]) == ("OFFSETS_LOST", 3)
    assert freshet(klake, "status")["pipelines"][0]["state"] == "OFFSETS_LOST"
    klake.orders(topic, "  hoodie.streamer.source.kafka.enable.failOnDataLoss: false\n")
    klake.ran()
    assert [row[0] for row in klake.rows()] == ["a", "b", "f"]


def test_tombstones_delete_the_rows_of_their_keys(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders", cleanup_policy="compact")
    klake.orders(topic, source="  tombstones: delete\n", columns=",\n  _hoodie_is_deleted BOOLEAN")
    klake.write_file(
        "transformers/orders.sql",
        "SELECT coalesce(id, cast(_kafka.key as string)) AS id, amount, _kafka.offset AS at, _hoodie_is_deleted FROM <SRC>\n",
    )
    for one in orders("ab"):
        topics.send(topic, [one], key=one["id"])
    klake.ran()
    topics.send(topic, [None], key="a")
    klake.ran()
    assert [row[0] for row in klake.rows()] == ["b"]
    topics.send(topic, [{"id": "a", "amount": 3}], key="a")
    klake.ran()
    assert klake.rows() == [("a", "3.00"), ("b", "1.00")]


def test_a_record_that_cannot_be_decoded_fails_the_run_or_goes_to_the_quarantine(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    topics.send(topic, [{"id": "a", "amount": 1}, b"{nonsense", b"\xff\x00", {"id": "b", "amount": 2}])
    error = refused(klake, "run", "orders", code=6)
    assert error["code"] == "RECORD_UNREADABLE"
    klake.orders(topic, top="checks: [{name: decoded, malformed: true, severity: drop}]\n")
    done = klake.ran()
    assert done["quarantined"] == 2
    assert [row[0] for row in klake.rows()] == ["a", "b"]
    spec = klake.project("orders").pipelines[0]
    held = klake.spark.read.format("hudi").load(spec.quarantine.path).collect()
    found = sorted((json.loads(row["_quarantine_row"]) for row in held), key=lambda one: int(one["offset"]))
    assert [(one["topic"], one["offset"], one.get("value"), one.get("value_base64")) for one in found] == [
        (topic, 1, "{nonsense", None),
        (topic, 2, None, "/wA="),
    ]
    assert klake.ran()["outcome"] == "idle"


def test_a_checkpoint_is_set_by_a_time(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    first = a_while_ago()
    for number, one in enumerate("abc"):
        topics.send(topic, orders(one), timestamp=in_ms(first) + number * 60_000)
    wanted = f"{first + timedelta(minutes=1):%Y-%m-%dT%H:%M}:00Z"
    freshet(klake, "checkpoint", "set", "orders", wanted, "--create")
    klake.ran()
    assert [row[0] for row in klake.rows()] == ["b", "c"]


def test_an_idle_tick_starts_no_jvm(klake: TopicLake, topics: Topics, kafka: Kafka) -> None:
    topic = topics.create("orders")
    klake.orders(topic)
    topics.send(topic, orders("a"))
    klake.ran()
    program = (
        "import sys\nfrom freshet.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n    print('spark' if 'pyspark' in sys.modules else 'no spark')\n"
    )
    for words in (("run", "orders"), ("plan", "orders"), ("status",)):
        done = subprocess.run(
            [sys.executable, "-c", program, *words, "-C", str(klake.project_root)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no spark"), done.stderr


def test_a_backfill_reads_records_of_its_time_again(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("orders")
    klake.orders(
        topic,
        "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n",
        top="backfill: {event_time: _kafka.timestamp}\n",
    )
    first = a_while_ago()
    for number, one in enumerate("ab"):
        topics.send(topic, orders(one), timestamp=in_ms(first) + number * 3_600_000)
    klake.ran()
    start, end = first + timedelta(minutes=30), first + timedelta(minutes=90)
    klake.write_file("transformers/orders.sql", SQL.format(more="").replace("amount,", "amount * 10 AS amount,"))
    freshet(
        klake, "backfill", "orders", "--start", f"{start:%Y-%m-%dT%H:%M}", "--end", f"{end:%Y-%m-%dT%H:%M}", "--chunk", "1h"
    )
    assert klake.rows() == [("a", "1.00"), ("b", "10.00")]
    assert klake.ran()["outcome"] == "idle"


CHANGES = """\
ddl: ddl/orders.sql
source: {{format: changelog, changelog: {{adapter: debezium, reference_key: {{kind: lsn}}}}}}
checks: [{{name: conforms, severity: drop, malformed: true}}]
hoodie:
  bootstrap.servers: {servers}
  hoodie.streamer.source.kafka.topic: {topic}
  auto.offset.reset: earliest
"""


def test_changes_of_a_database_are_merged_by_where_they_stand_in_its_log(klake: TopicLake, topics: Topics) -> None:
    topic = topics.create("changes")
    klake.write_file("pipelines/orders.yml", CHANGES.format(servers=topics.servers, topic=topic) + ACCEPTS)
    ddl = "CREATE TABLE derived.orders (id STRING NOT NULL, amount DECIMAL(10,2)) USING hudi TBLPROPERTIES (primaryKey = 'id')"
    klake.write_file("ddl/orders.sql", ddl)

    def changed(op: str, lsn: int, amount: str | None = None) -> dict[str, Any]:
        source = {"connector": "postgresql", "ts_ms": lsn, "snapshot": "false", "lsn": lsn, "sequence": f'["{lsn}","{lsn}"]'}
        return {"op": op, "before": None, "after": {"id": "a", "amount": amount} if amount else None, "source": source}

    topics.send(topic, [changed("u", 20, "2.50"), changed("c", 10, "1.50"), "{"], key=b'{"id": "a"}')
    assert klake.ran()["quarantined"] == 1
    shown = "id, cast(amount as string), _event_deleted"
    assert klake.rows(shown) == [("a", "2.50", False)]
    topics.send(topic, [changed("d", 30), None, changed("u", 25, "3.50")], key=b'{"id": "a"}')
    klake.ran()
    assert klake.rows(shown) == [("a", None, True)]
    told = json.loads(klake.state("derived.orders").latest_extra(EVENTS_KEY) or "{}")
    assert (told["in"], told["published"], told["older"], told["skipped"]) == (3, 1, 1, 1)
