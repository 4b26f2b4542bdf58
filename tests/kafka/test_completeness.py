"""How complete and how late a table is that reads a topic: by a real broker's time index, and by the records' own times."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from pyspark.sql import SparkSession

from tests.kafka.test_runs import TopicLake, in_ms, orders
from tests.kit.commands import freshet
from tests.kit.kafka import Topics

DECLARED = "event_times: {column: made, lateness: 1h}\nslo: {completeness: 99.9%}\n"


def test_windows_of_a_topic_are_counted_by_its_time_index(spark: SparkSession, tmp_path: Path, topics: Topics) -> None:
    lake = TopicLake(spark, tmp_path, topics)
    hour = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0) - timedelta(hours=6)
    topic = topics.create("orders", partitions=2)
    lake.orders(topic, top=DECLARED, more=", _kafka.timestamp AS made", columns=",\n  made TIMESTAMP")
    for partition in (0, 1):
        topics.send(topic, orders("ab"), partition=partition, timestamp=in_ms(hour + timedelta(minutes=5)))
    topics.send(topic, orders("c"), partition=1, timestamp=in_ms(hour + timedelta(hours=1)))
    lake.ran()
    first, second = windows(lake)
    assert first == (f"{hour:%Y-%m-%dT%H:%M:%SZ}", 4, 4, 4, "complete")
    assert second[1:] == (1, 1, 1, "complete")
    # Two more of the first hour come late, and nobody has read them yet.
    topics.send(topic, orders("de"), timestamp=in_ms(hour + timedelta(minutes=59)))
    late = windows(lake)[0]
    assert late[1:] == (6, 4, 4, "short")
    (status,) = freshet(lake, "status")["pipelines"]
    assert (status["slo"][0]["result"], status["latency"]["events"]) == ("broken", 5)
    assert 4 * 3600 < status["latency"]["seconds"]["min"] < status["latency"]["seconds"]["max"] < 8 * 3600
    assert "lacks 2 of 6 records (2 records wait)" in status["slo"][0]["reason"]
    lake.ran()
    assert windows(lake)[0][1:] == (6, 6, 6, "complete")


def windows(lake: TopicLake) -> list[tuple[object, ...]]:
    (found,) = freshet(lake, "status", "orders", "--completeness")["pipelines"]
    assert found["error"] == ""
    return [(one["begin"], one["at_source"], one["taken"], one["published"], one["fill"]) for one in found["windows"]]
