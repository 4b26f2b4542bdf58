"""The story of the topics: trips come as a database's changes, in Avro, through a real broker, and land in the raw table."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Producer

from freshet.dev.kafka import server as broker
from freshet.dev.registry import server as registry
from tests.demo.changes import Changes
from tests.demo.place import DemoFailed, Place
from tests.demo.processes import idle_tick
from tests.demo.rides import EARNINGS, PAYOUT
from tests.feeds.landing import RawTable
from tests.feeds.rides import RideFeed
from tests.kit.kafka import SECONDS, Topics

_RAW = "raw.trips"
_ALL = ("--tag", "rides")
_DAYS = 3
_ROW = """\
struct<trip_id:string,driver_id:string,rider_id:string,city_id:int,status:string,requested_at:bigint,distance_m:int,\
duration_s:int,fare_amount:decimal(10,2),toll_amount:decimal(10,2),updated_at:bigint,datestr:string>"""
_FILES = {
    "configs/base.yml": """\
warehouse: {{raw: "{raw}"}}
spark: {{spark.master: "local[2]", spark.sql.session.timeZone: UTC}}
""",
    "ddl/trips.sql": """\
CREATE TABLE raw.trips (
  trip_id      STRING NOT NULL,
  driver_id    STRING,
  rider_id     STRING,
  city_id      INT,
  status       STRING,
  requested_at TIMESTAMP,
  distance_m   INT,
  duration_s   INT,
  fare_amount  DECIMAL(10,2),
  toll_amount  DECIMAL(10,2),
  updated_at   TIMESTAMP NOT NULL COMMENT 'of a delete, when that was',
  _hoodie_is_deleted BOOLEAN,
  datestr      STRING NOT NULL
)
USING hudi
PARTITIONED BY (datestr)
TBLPROPERTIES (type = 'mor', primaryKey = 'trip_id', preCombineField = 'updated_at', 'hoodie.table.cdc.enabled' = 'true')
""",
    "transformers/trips.sql": """\
-- Of a delete the row as it was tells the partition, and the log when it was; the message behind it is for Kafka alone.
SELECT _key.trip_id, trip.driver_id, trip.rider_id, trip.city_id, trip.status,
       timestamp_micros(trip.requested_at) AS requested_at, trip.distance_m, trip.duration_s,
       trip.fare_amount, trip.toll_amount,
       timestamp_micros(CASE WHEN is_deleted THEN logged_at ELSE trip.updated_at END) AS updated_at,
       is_deleted AS _hoodie_is_deleted, trip.datestr
FROM (
  SELECT _key, coalesce(after, before) AS trip, source.ts_us AS logged_at, op = 'd' AS is_deleted
  FROM <SRC> WHERE NOT _kafka.tombstone
)
""",
    "pipelines/trips.yml": """\
ddl: ddl/trips.sql
owner: rides
description: The changes of the database's trips, by Debezium
transform: transformers/trips.sql
partition_is_stable: true
source:
  format: avro
  tombstones: row
  columns:
    op: string
    before: {row}
    after: {row}
    source: struct<ts_us:bigint>
  schema: {{registry: "{registry}", compatibility: check}}
  key: {{format: avro, columns: {{trip_id: string}}}}
checks:
  - {{name: decoded, malformed: true, severity: drop}}
accepts:
  - {{code: OLDER_ROW_STAYS, why: an older trip is better than none while somebody mends the record}}
hoodie:
  bootstrap.servers: {servers}
  hoodie.streamer.source.kafka.topic: {topic}
  auto.offset.reset: earliest
  group.id: lake
  hoodie.datasource.write.operation: upsert
  hoodie.bucket.index.num.buckets: 1
""",
}


def topics(place: Place, trips: int) -> None:
    """Tell the whole story, on a real broker and the stub of a schema registry, which live as long as it.

    Args:
        place: Where it plays.
        trips: Trips of the first load; the increments are a tenth of it.

    Raises:
        DemoFailed: Something is not as it should be.
    """
    kafka, schemas = place.folder / "kafka", place.folder / "registry"
    try:
        place.say(f"$ freshet dev kafka up --dir {kafka}\n$ freshet dev registry up --dir {schemas}")
        found = broker.start(kafka, wait_seconds=120, tell=place.say)
        _Story(place, found.servers, registry.start(schemas, tell=place.say).url).tell(trips)
    finally:
        broker.stop(kafka, purge=True)
        registry.stop(schemas, purge=True)


class _Story:
    def __init__(self, place: Place, servers: str, url: str) -> None:
        self.place = place
        made = Topics(servers)
        self.topic = made.create("rides.public.trips", partitions=3)
        self.feed = RideFeed(place.spark, place.raw, place.dim)
        # What the database holds; the raw table is made of what it tells.
        self.feed.trips = RawTable(str(place.folder / "database" / "trips"), ("trip_id",), "updated_at", "datestr")
        self.changes = Changes(url, self.topic)
        self.producer: Any = Producer({"bootstrap.servers": servers, "log_level": 0})
        self.lake = place.folder / "lake"
        given = {"raw": place.raw, "row": _ROW, "registry": url, "servers": servers, "topic": self.topic}
        for name, text in _FILES.items():
            file = self.lake / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(**given), encoding="utf-8")

    def tell(self, trips: int) -> None:
        place, few = self.place, max(trips // 10, 10)
        place.say(f"a database -> {self.topic} -> {_RAW} -> trip_earnings -> payout_lines. The first pipeline: {self.lake}")
        place.step("1. First load: the database's rows, as changes")
        self.feed.land_dimensions()
        self.feed.land(trips, _DAYS)
        self._flow()
        place.step("2. An increment: new trips, and adjusted fares")
        self.feed.land_increment(few, few // 5)
        self._flow()
        place.step("3. The table of the database gets a column, which the lake's has not; and a late tip comes")
        self.changes.add_column("promotion")
        self.feed.late_tip()
        self._flow()
        place.step("4. Trips are deleted, and a record comes that nobody can decode")
        gone = self.feed.delete(3)
        self.producer.produce(self.topic, value=b"{not avro", key=b"?")
        self._flow()
        if place.rows(_RAW).where(f"trip_id IN ({', '.join(map(repr, gone))})").count():
            raise DemoFailed("a trip that the database deleted is still in the lake.")
        place.step("5. A tick that finds nothing new")
        commits = place.state(_RAW).commits
        seconds = idle_tick(place, self._command("run"))
        if place.state(_RAW).commits != commits:
            raise DemoFailed("the idle tick committed.")
        place.say(f"{seconds:.2f} s, the start of Python included. No JVM was started and nothing was committed.")
        place.step("6. The proof: the raw table is what the database holds, and the rest is its recompute")
        self._prove()
        place.recompute(*_ALL)
        place.prove_equal(EARNINGS, PAYOUT)
        place.step("Done")
        place.call(self._command("status"))

    def _flow(self) -> None:
        """Let the database tell what has changed, and run the pipelines."""
        records = list(self.changes.since(self.feed.trips.read(self.place.spark).collect(), self.feed.now))
        for key, value in records:
            self.producer.produce(self.topic, value=value, key=key)
            self.producer.poll(0)
        if self.producer.flush(SECONDS):
            raise DemoFailed("the broker did not take all records.")
        self.place.say(f"{len(records):,} records were written to {self.topic}.")
        self.place.call(self._command("run"))
        self.place.freshet("run", *_ALL)

    def _command(self, word: str) -> list[str]:
        return [word, "--project", str(self.lake), "trips"]

    def _prove(self) -> None:
        theirs = self.feed.trips.read(self.place.spark)
        ours = self.place.rows(_RAW).select(*theirs.columns)
        counts = (ours.exceptAll(theirs).count(), theirs.exceptAll(ours).count())
        if any(counts):
            raise DemoFailed(f"{_RAW} is NOT what the database holds: {counts[0]} rows more, {counts[1]} rows fewer.")
        self.place.say(f"{_RAW}: {ours.count():,} rows, the same as the database's, row by row.")
