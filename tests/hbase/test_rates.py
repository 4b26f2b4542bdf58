"""How fast a run may ask: HBase counts no more than its share of the cluster allows, whatever else the machine does.

That it is hardly less either depends on the machine; what each task is given is held by tests/unit/plan/test_shares.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from freshet.dev.hbase.server import start as start_hbase
from freshet.dev.hbase.server import stop as stop_hbase
from tests.kit.commands import ended, freshet, many, start
from tests.kit.hbase import Admin, HBaseLake

pytestmark = pytest.mark.waits
RATE = 500
DAYS = ("2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08")


@dataclass
class Watch:
    """What the regions of an index table have counted, every few milliseconds: seconds, reads, writes."""

    samples: list[tuple[float, int, int]] = field(default_factory=list)

    def moves(self, which: int) -> list[tuple[float, int]]:
        """Return when a counter was seen higher than before, and what it then said.

        Not by one alone: that is the look at whether the index is whole, seconds before the first key is asked for.
        """
        return [(now[0], now[which]) for before, now in pairwise(self.samples) if now[which] > before[which] + 1]

    def counted(self, which: int) -> tuple[int, float]:
        """Return the requests that are counted after the first move, and the longest time that they may have taken, in seconds:
        however seldom the machine lets this look, the rate is not taken for higher than it is.
        """
        before = [number for number, (one, next_one) in enumerate(pairwise(self.samples)) if next_one[which] > one[which] + 1]
        begun, first, last = self.samples[before[0]], self.samples[before[0] + 1], self.samples[before[-1] + 1]
        return last[which] - first[which], last[0] - begun[0]

    def total(self, which: int) -> int:
        """Return the requests that were counted at all."""
        return self.samples[-1][which] - self.samples[0][which]


READS, WRITES = 1, 2


@contextmanager
def watched(lake: HBaseLake, *names: str) -> Iterator[dict[str, Watch]]:
    """Watch index tables while a block runs."""
    watches, over = {name: Watch() for name in names}, threading.Event()
    admins = {name: Admin(lake, name) for name in names}

    def look() -> None:
        while not over.is_set():
            for name, admin in admins.items():
                watches[name].samples.append((time.monotonic(), *admin.requests()))
            over.wait(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield watches
    finally:
        over.set()
        thread.join()
        for name, admin in admins.items():
            watches[name].samples.append((time.monotonic(), *admin.requests()))
            admin.close()


def rate_of(requests: int, **more: object) -> dict[str, object]:
    return {"hoodie.index.hbase.max.qps.per.region.server": requests, **more}


def land(lake: HBaseLake, count: int, head: str, days: int, source: str = "raw.events") -> None:
    rows = [row for n, day in enumerate(DAYS[:days]) for row in many(count // days, 1, day, f"{head}{n}")]
    lake.land(rows, "bulk_insert", source)


def within(watch: Watch, allowed: float) -> None:
    """Look-ups and puts are made at most as often as allowed."""
    # Puts are sent by those of a second, and the first of a task is counted late: it opens the connection.
    for what, which, late in (("look-ups", READS, 0), ("puts", WRITES, allowed)):
        requests, seconds = watch.counted(which)
        assert requests <= 1.03 * allowed * seconds + late, f"{requests} {what} in {seconds:.1f} s, of {allowed:.0f} a second"


# New rows in one file group are put by one task; in four, by more than run at a time.
@pytest.mark.parametrize("days", [1, 4])
def test_the_share_is_what_hbase_counts(hlake: HBaseLake, days: int) -> None:
    hlake.pipeline(hoodie=rate_of(RATE))
    land(hlake, 4, "first", days)
    hlake.run_ok()
    land(hlake, 3_000, "k", days)
    with watched(hlake, "copy") as watches:
        hlake.run_ok()
    found = watches["copy"]
    # And one look at whether the index is whole.
    assert (found.total(READS), found.total(WRITES)) == (3_001, 3_000)
    within(found, RATE)
    hlake.agree()


def test_twice_the_region_servers_allow_and_make_twice_the_requests(
    hlake: HBaseLake,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    directory = tmp_path_factory.mktemp("two") / "server"
    try:
        two = start_hbase(directory, region_servers=2, wait_seconds=120)
        hlake.pipeline(hoodie=rate_of(RATE // 2, **two.hoodie))
        land(hlake, 4, "first", 4)
        hlake.run_ok()
        land(hlake, 3_000, "k", 4)
        with watched(hlake, "copy") as watches:
            hlake.run_ok()
        within(watches["copy"], RATE)
    finally:
        stop_hbase(directory, purge=True)


def test_two_jobs_at_once_keep_to_their_shares(hlake: HBaseLake) -> None:
    shares = {"copy": 0.3, "other": 0.6}
    for name, share in shares.items():
        hlake.pipeline(name, source=f"raw.{name}", hoodie=rate_of(RATE, **{"hoodie.index.hbase.qps.fraction": share}))
        land(hlake, 4, "first", 4, f"raw.{name}")
        hlake.run_ok(name)
        land(hlake, round(3_500 * share / 4) * 4, "k", 4, f"raw.{name}")
    with watched(hlake, *shares) as watches:
        there = start(hlake, "run", "other")
        while not watches["other"].samples or not watches["other"].moves(READS):
            assert there.poll() is None
            time.sleep(0.02)
        hlake.run_ok("copy")
        assert ended(there)["runs"][0]["outcome"] == "committed"
    spans = []
    for name, share in shares.items():
        within(watches[name], share * RATE)
        spans.append((watches[name].moves(READS)[0][0], watches[name].moves(WRITES)[-1][0]))
    assert max(begin for begin, _ in spans) < min(end for _, end in spans), "they asked at the same time"


def test_the_benchmark_says_what_a_region_server_holds_and_leaves_nothing(hlake: HBaseLake) -> None:
    hlake.pipeline()
    found = freshet(hlake, "index", "benchmark", "copy", "--seconds", "1")
    assert found["servers"] == 1
    assert 1_000 < found["server_rate"] == int(min(found["puts_per_second"], found["lookups_per_second"])) < 1_000_000
    with Admin(hlake) as admin:
        assert not [name for name in admin.tables() if "benchmark" in name]
