"""Several pipelines in one session, and backfills, through HBASE indexes."""

from __future__ import annotations

import pytest

from freshet.dev.hbase.look import HBase
from tests.kit.commands import freshet
from tests.kit.hbase import HBaseLake
from tests.kit.lake import rows

DAYS = ("2026-01-05", "2026-01-06", "2026-01-07")
OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
BY_DAY = "backfill: {event_time: day, partition: day, write: upsert}\n"
TENFOLD = "SELECT id, ts, CAST(amount * 10 AS DECIMAL(10,2)) AS amount, day FROM <SRC>"


def test_pipelines_of_one_session_keep_to_their_own_index(hlake: HBaseLake) -> None:
    # Two on the same cluster, one behind the other, and one with a bucket index between them.
    hlake.pipeline("first")
    hlake.pipeline("plain", hoodie={"hoodie.index.type": "BUCKET"})
    hlake.pipeline("second", table_type="mor", hoodie={"hoodie.index.hbase.qps.fraction": "0.3"})
    hlake.pipeline("third", sql=TENFOLD, source="derived.first")
    names = ("first", "plain", "second", "third")

    hlake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    done = hlake.run_all()
    assert {name: (done[name].outcome, done[name].inserts) for name in names} == dict.fromkeys(names, ("committed", 2))
    hlake.land(rows(("a", 2, "2"), ("c", 2, "2")) + rows(("b", 2, "2"), day=DAYS[1]))
    done = hlake.run_all()
    assert {done[name].error for name in names} == {None}
    for name in ("first", "second"):
        assert hlake.rows(f"derived.{name}") == rows(("a", 2, "2")) + rows(("b", 2, "2"), day=DAYS[1]) + rows(("c", 2, "2"))
        hlake.agree(name)
    # The key that moved reached the one behind it, there too as one row.
    assert hlake.rows("derived.third") == rows(("a", 2, "20")) + rows(("b", 2, "20"), day=DAYS[1]) + rows(("c", 2, "20"))
    hlake.agree("third")
    assert len(hlake.rows("derived.plain")) == 4, "a bucket index looks into one partition alone"


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_backfill_and_the_live_run_after_it(hlake: HBaseLake, kind: str) -> None:
    days = [row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1"), (f"b{day[-1]}", 1, "2"), day=day)]
    hlake.pipeline(table_type=kind, top=BY_DAY, hoodie=OCC)
    hlake.land(days)
    hlake.run_ok()
    before = hlake.places()

    hlake.pipeline(table_type=kind, sql=TENFOLD, top=BY_DAY, hoodie=OCC)
    done = freshet(hlake, "backfill", "copy", "--start", DAYS[0], "--end", DAYS[2])
    assert (done["done"], done["failed"]) == (2, {})
    amounts = {key: int(amount) for key, amount in hlake.rows("derived.copy", "id", "amount")}
    assert amounts == {"a5": 10, "b5": 20, "a6": 10, "b6": 20, "a7": 1, "b7": 2}
    assert hlake.entries() == hlake.places() == before

    hlake.land(rows(("a5", 2, "3"), day=DAYS[0]) + rows(("a6", 2, "3"), ("c7", 2, "3"), day=DAYS[2]))
    live = hlake.run_ok()
    assert live.outcome == "committed"
    found = {key: (int(amount), day) for key, amount, day in hlake.rows("derived.copy", "id", "amount", "day")}
    assert found == {
        "a5": (30, DAYS[0]),
        "b5": (20, DAYS[0]),
        "b6": (20, DAYS[1]),
        "a6": (30, DAYS[2]),
        "a7": (1, DAYS[2]),
        "b7": (2, DAYS[2]),
        "c7": (30, DAYS[2]),
    }
    hlake.agree()


def test_two_clusters_in_one_session(hlake: HBaseLake, second: HBase) -> None:
    """Hudi keeps one connection for the whole JVM; each pipeline writes to its own cluster all the same."""
    hlake.pipeline("here")
    hlake.pipeline("there", hoodie=second.hoodie)
    for ts, day in enumerate(DAYS, start=1):
        hlake.land(rows(("moves", ts, "1"), (f"new{ts}", ts, "1"), day=day))
        assert {name: done.error for name, done in hlake.run_all().items()} == {"here": None, "there": None}
        for name in ("here", "there"):
            assert len(hlake.entries(name)) == ts + 1
            hlake.agree(name)
