"""The story of the global index: a first load without a look-up, a day in another partition, and a cluster that is lost."""

from __future__ import annotations

from freshet.dev.hbase.look import HBase
from freshet.dev.hbase.server import start, stop
from freshet.index.hbase.cluster import connect
from freshet.project.model.pipeline import HBaseSpec
from tests.demo.place import DemoFailed, Place
from tests.demo.rides import EARNINGS
from tests.feeds.rides import RideFeed

_NAME = "trip_earnings"
_DAYS = 3


def global_index(place: Place, trips: int) -> None:
    """Tell the whole story, on a real HBase that lives as long as it.

    Args:
        place: Where it plays.
        trips: Trips of the first load; the increments are a tenth of it.

    Raises:
        DemoFailed: Something is not as it should be.
    """
    folder = place.folder / "hbase"
    try:
        place.say(f"$ freshet dev hbase up --dir {folder}")
        _Story(place, start(folder, wait_seconds=120, tell=place.say)).tell(trips)
    finally:
        stop(folder, purge=True)


class _Story:
    def __init__(self, place: Place, hbase: HBase) -> None:
        self.place = place
        self.feed = RideFeed(place.spark, place.raw, place.dim)
        settings = {
            "hoodie.index.type": "HBASE",
            **hbase.hoodie,
            "hoodie.index.hbase.table": "index_of_trip_earnings",
            "hoodie.index.hbase.max.qps.per.region.server": 20_000,
        }
        self.index = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

    def tell(self, trips: int) -> None:
        place = self.place
        place.step("1. First load: a bulk insert, then the index from the table's rows")
        self.feed.land_dimensions()
        self.feed.land(trips, _DAYS)
        place.freshet("index", "bootstrap", _NAME, *self.index)
        place.step("2. An increment: each key is looked up in HBase")
        self.feed.land_increment(max(trips // 10, 10), max(trips // 50, 5))
        place.freshet("run", _NAME, *self.index)
        place.freshet("index", "verify", _NAME, *self.index)
        place.step("3. The index is lost")
        self._lose()
        self.feed.land_increment(max(trips // 10, 10), max(trips // 50, 5))
        try:
            place.freshet("run", _NAME, *self.index)
        except DemoFailed:
            place.say("Refused: without its index the run would have doubled every row that it updates.")
        else:
            raise DemoFailed("a run without its index was not refused.")
        place.step("4. And made anew")
        place.freshet("index", "rebuild", _NAME, *self.index)
        place.freshet("run", _NAME, *self.index)
        place.step("5. The proof: recompute everything from nothing, with a bucket index, and compare")
        place.recompute(_NAME)
        place.prove_equal(EARNINGS)

    def _lose(self) -> None:
        settings = dict(word.split("=", 1) for word in self.index if "=" in word)
        spec = HBaseSpec(
            quorum=settings["hoodie.index.hbase.zkquorum"],
            port=int(settings["hoodie.index.hbase.zkport"]),
            znode=settings["hoodie.index.hbase.zknode.path"],
            table=settings["hoodie.index.hbase.table"],
            server_rate=1,
            shares={},
            client={},
        )
        self.place.say(f"hbase> disable '{spec.table}'; drop '{spec.table}'")
        with connect(self.place.spark, spec) as cluster:
            cluster.drop()
