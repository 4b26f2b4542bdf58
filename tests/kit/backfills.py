"""Backfills in the test's own process: three days, what is asked for, and what the table then says of its chunks."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import BackfillPlan, PlannedChunk, plan_backfill
from freshet.backfill.record import chunk_commits
from freshet.backfill.run import BackfillResult, run_backfill, window_of
from freshet.events.event import Event
from freshet.hudi.options import SEVERAL_WRITERS, WRITERS_FIRST
from freshet.hudi.timeline import TimelineState
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import Project
from tests.kit.lake import RECORD_INDEX, Lake

DAYS = ("2026-01-05", "2026-01-06", "2026-01-07")
OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
NBCC = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
BY_DAY = "backfill: {event_time: day, partition: day, write: %s}\n"
TENFOLD = "SELECT id, ts, cast(amount * 10 AS decimal(10,2)) AS amount, day FROM <SRC>"


def loading(lake: Lake, name: str = "copy") -> Callable[[tuple[str, str] | None], Project]:
    return lambda window: load_project(lake.project_root, None, (), names=(name,), environ=os.environ, window=window)


def asked(start: str, end: str, **request: Any) -> BackfillRequest:
    return BackfillRequest(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), **request)


def backfill(
    lake: Lake,
    start: str = DAYS[0],
    end: str = "2026-01-08",
    *,
    max_conflicts: int = 20,
    listen: Callable[[Event], None] | None = None,
    may_go_on: Callable[[PlannedChunk], bool] = lambda chunk: True,
    **request: Any,
) -> BackfillResult:
    wanted = asked(start, end, **request)
    return run_backfill(
        loading(lake), wanted, TimelineState(), listen or lake.events.append, max_conflicts, may_go_on=may_go_on
    )


def planned(lake: Lake, start: str = DAYS[0], end: str = "2026-01-08") -> BackfillPlan:
    request = asked(start, end)
    return plan_backfill(loading(lake)(window_of(request.start, request.end)).pipelines[0], TimelineState(), request)


def chunks(lake: Lake) -> list[tuple[str, str]]:
    """Return day and state of each of the table's chunk commits, oldest first."""
    return [(c.record.start[:10], c.record.state) for c in reversed(chunk_commits(lake.state(), "copy"))]


def amounts(lake: Lake) -> dict[str, int]:
    found = lake.rows("derived.copy", "id", "amount")
    assert len({key for key, _ in found}) == len(found), "a key stands twice"
    return {key: int(amount) for key, amount in found}


def at_phase(words: str, once: Callable[[], None], lake: Lake) -> Callable[[Event], None]:
    """Return a listener that does something the first time a phase begins with these words."""
    waiting = [once]

    def listen(event: Event) -> None:
        lake.events.append(event)
        if waiting and event.name == "phase" and event.message.startswith(words):
            waiting.pop()()

    return listen


def cluster(lake: Lake, operation: str, partitions: str) -> None:
    """Cluster as another tool does, which must be told the index, lest Hudi drop it, and the strategy."""
    options = ",".join(
        f"{key}={value}"
        for key, value in {
            **OCC,
            **RECORD_INDEX,
            **SEVERAL_WRITERS,
            **WRITERS_FIRST,
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.embed.timeline.server": "false",
        }.items()
    )
    lake.spark.newSession().sql(
        f"CALL run_clustering(path => '{lake.path('derived.copy')}', op => '{operation}', options => '{options}', "
        f"selected_partitions => '{partitions}')"
    ).collect()
