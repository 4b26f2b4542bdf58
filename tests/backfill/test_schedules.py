"""Schedules drawn at random: feeds, runs, backfills, kills and table services, and what must hold whatever their order.

FRESHET_EXAMPLES=50 draws more of them than the few that the test run has time for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.errors import FreshetError
from freshet.hudi.timeline import TimelineState
from freshet.run import executor
from freshet.run.service import Service, run_services
from freshet.run.several import run_project
from tests.kit.backfills import BY_DAY, NBCC, OCC, backfill
from tests.kit.lake import RECORD_INDEX, Lake, Row, rows

EXAMPLES = int(os.environ.get("FRESHET_EXAMPLES", "1"))
DAYS = ("2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08")
SHORT_HISTORY = {
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.clean.commits.retained": 1,
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.metadata.compact.max.delta.commits": 1,
    "hoodie.streamer.source.hoodieincr.num_instants": 2,
}


@dataclass(frozen=True)
class Kind:
    """A kind of target, with the table services that Hudi has for it."""

    name: str
    table_type: str
    hoodie: dict[str, str]
    services: tuple[Service, ...]
    writes: tuple[str, ...]


KINDS = (
    Kind("buckets", "cow", OCC, ("clean", "archive"), ("upsert", "insert_overwrite")),
    Kind("record index", "cow", {**OCC, **RECORD_INDEX}, ("cluster", "clean", "archive"), ("upsert",)),
    Kind("non-blocking", "mor", {**NBCC, "hoodie.compact.inline": "false"}, ("compact", "clean", "archive"), ("upsert",)),
)


class Killed(BaseException):
    """Ends a run where a signal would; no handler of the product's own catches it."""


@dataclass(frozen=True)
class Feed:
    """Rows of new keys, updates, older rows that come late, or the last batch once more."""

    what: str
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """A run, or a backfill of a range of days; killed at a place, or not at all."""

    days: tuple[int, int] | None
    killed: str


@dataclass(frozen=True)
class Serve:
    """One table service, by its place among those of the table."""

    which: int


Step = Feed | Work | Serve
FEEDS = st.builds(
    Feed,
    st.sampled_from(["insert", "update", "late", "repeat"]),
    st.lists(st.integers(0, 11), min_size=1, max_size=4, unique=True).map(tuple),
)
RANGES = st.tuples(st.integers(0, 3), st.integers(1, 2)).map(lambda drawn: (drawn[0], min(drawn[0] + drawn[1], 4)))
KILLS = st.sampled_from(["", "", "", "before", "within", "after"])
SERVICES = st.builds(Serve, st.integers(0, 2))
STEPS = st.lists(
    st.one_of(FEEDS, st.builds(Work, st.none(), KILLS), st.builds(Work, RANGES, KILLS), SERVICES), min_size=5, max_size=8
)


class World:
    """A lake with the raw table, its copy, and what the copy should hold in the end."""

    def __init__(self, spark: SparkSession, folder: Path, kind: Kind, write: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lake, self.kind, self.patch = Lake(spark, folder), kind, monkeypatch
        self.rows: dict[str, Row] = {}
        self.clock, self.position = 0, ""
        self.last: list[Row] = []
        self.lake.pipeline(
            sql="SELECT id, ts, cast(amount * 10 AS decimal(10,2)) AS amount, day FROM <SRC>",
            table_type=kind.table_type,
            top=BY_DAY % write,
            hoodie={**kind.hoodie, **SHORT_HISTORY},
        )
        self.feed(Feed("insert", (0, 5, 10)))
        self.lake.run_ok()

    def step(self, one: Step) -> None:
        match one:
            case Feed():
                self.feed(one)
            case Work():
                with self.killed(one.killed):
                    self.work(one.days)
            case Serve():
                wanted = self.kind.services[one.which % len(self.kind.services)]
                run_services(self.lake.spec(), TimelineState(), (wanted,), self.lake.events.append)

    def feed(self, one: Feed) -> None:
        self.clock += 10
        if one.what != "repeat":
            self.last = []
            for key in one.keys:
                # An insert of a key that is there already is an update, and the other way about.
                ts = self.clock if one.what in ("insert", "update") else self.clock - 25
                self.last += rows((f"k{key}", ts, f"{self.clock}.{key:02d}"), day=DAYS[key % len(DAYS)])
        for row in self.last:
            if row[0] not in self.rows or row[1] >= self.rows[row[0]][1]:
                self.rows[row[0]] = row
        self.lake.land(self.last)

    def work(self, days: tuple[int, int] | None) -> None:
        if days is None:
            (result,) = run_project(self.lake.project("copy"), TimelineState(), self.lake.events.append)
            error = result.error
        else:
            ends = (*DAYS, "2026-01-09")
            error = backfill(self.lake, DAYS[days[0]], ends[days[1]], reprocess="all").error
        if error is not None and "was killed" not in str(error):
            raise error

    @contextmanager
    def killed(self, where: str) -> Iterator[None]:
        write: Callable[..., None] = executor.write_commit

        def dying(batch: Any, *others: Any, **named: Any) -> None:
            if where == "before":
                raise Killed
            if where == "within":
                # Fails once Hudi has begun, so that an instant stays behind.
                batch = batch.where(F.expr("assert_true(ts IS NULL, 'was killed') IS NULL"))
            write(batch, *others, **named)
            if where == "after":
                raise Killed

        with self.patch.context() as patch:
            if where:
                patch.setattr(executor, "write_commit", dying)
            with suppress(Killed):
                yield

    def check(self) -> None:
        """Hold the invariants: no key twice, no row that was never so, and a checkpoint that never goes back."""
        found = self.lake.rows("derived.copy", "id", "ts")
        assert len({key for key, _ in found}) == len(found), "a key stands twice"
        assert {key for key, _ in found} <= set(self.rows)
        assert all(ts <= self.rows[key][1] for key, ts in found)
        position = self.lake.position()
        assert position >= self.position, "the checkpoint went back"
        self.position = position

    def settle(self) -> None:
        """Run what is left, and compare with a recompute."""
        self.lake.run_ok(drain=True)
        self.check()
        recomputed = sorted((key, ts, amount * 10, day) for key, ts, amount, day in self.rows.values())
        assert self.lake.rows() == recomputed
        assert self.position == self.lake.state("raw.events").commits[-1].completed
        assert self.lake.run_ok().outcome == "idle"


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_any_schedule(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, kind: Kind) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(steps=STEPS, write=st.sampled_from(kind.writes))
    def schedule(steps: list[Step], write: str) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            world = World(spark, tmp_path_factory.mktemp("schedule"), kind, write, monkeypatch)
            for number, step in enumerate(steps):
                try:
                    world.step(step)
                    world.check()
                except (AssertionError, FreshetError) as error:
                    error.add_note(f"at step {number} of {steps}")
                    raise
            world.settle()

    schedule()
