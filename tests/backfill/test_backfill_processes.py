"""A backfill in a process of its own: beside the incremental writer, and killed at three places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from freshet.backfill.record import chunk_commits
from tests.kit.backfills import BY_DAY, DAYS, NBCC, OCC, TENFOLD, backfill, chunks, cluster
from tests.kit.commands import ROOT, start, until
from tests.kit.gate import Gate
from tests.kit.lake import RECORD_INDEX, Lake, Row, rows
from tests.kit.whole import WHOLE

pytestmark = pytest.mark.waits


@contextmanager
def backfilling(lake: Lake, gate: Gate) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "freshet",
        "backfill",
        "copy",
        "--start",
        DAYS[0],
        "--end",
        "2026-01-08",
        "--project",
        str(lake.project_root),
        "--output",
        "json",
    ]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "GATE": str(gate.folder)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def gate(lake: Lake) -> Gate:
    return Gate(lake)


def prepare(lake: Lake, hoodie: dict[str, str], table_type: str, sql: str = "SELECT id, ts, amount, day FROM <SRC>") -> None:
    """Write the pipeline with the gate as its last step."""
    lake.pipeline(
        sql=sql,
        transform="[transformers/copy.sql, transformers/gate.py]",
        top=BY_DAY % "upsert",
        hoodie=hoodie,
        table_type=table_type,
    )


def land_round(lake: Lake, number: int) -> None:
    """Land on every day an update of a row that all rounds change, a new row, and one that comes too late to count."""
    batch: list[Row] = []
    for day in DAYS:
        batch += rows(
            (f"a{day[-1]}", 100 + number, f"{number}"),
            (f"n{number}-{day[-1]}", 1, "1"),
            (f"b{day[-1]}", -number, "99"),
            day=day,
        )
    lake.land(batch)


def check(lake: Lake, rounds: int) -> None:
    assert lake.rows() == lake.rows("raw.events")
    assert len(lake.rows()) == 3 * (2 + rounds)
    positions = [c.main.instant for _, _, c in lake.state().checkpoints() if c.main]
    assert len(positions) == 1 + rounds
    assert positions == sorted(set(positions), reverse=True)
    assert sorted(chunks(lake)) == [(day, "done") for day in DAYS]
    assert lake.run_ok().outcome == "idle"


def run_by_a_scheduler(lake: Lake) -> None:
    """Run the pipeline once, in a process of its own."""
    process = start(lake, "run", "copy", "--wait", "60")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["runs"][0]["outcome"] == "committed"


def run_within(lake: Lake) -> None:
    assert lake.run_ok().outcome == "committed"


@pytest.mark.parametrize(
    ("hoodie", "table_type", "rounds", "run"),
    [
        pytest.param(OCC, "cow", 10, run_by_a_scheduler, marks=pytest.mark.nightly, id="OCC"),
        pytest.param(NBCC, "mor", 3, run_within, id="NBCC"),
    ],
)
def test_an_incremental_writer_and_a_backfill_on_the_same_partitions(
    lake: Lake,
    gate: Gate,
    hoodie: dict[str, str],
    table_type: str,
    rounds: int,
    run: Callable[[Lake], None],
) -> None:
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    prepare(lake, hoodie, table_type)
    lake.run_ok()
    begun = lake.state().commits[-1].completed
    with backfilling(lake, gate) as process:
        until(lambda: gate.reached(DAYS[0]), process)
        # The first round is committed while the first chunk is being written; the others as it happens.
        for number in range(1, rounds + 1):
            land_round(lake, number)
            run(lake)
            gate.open(*DAYS)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert (result["done"], result["failed"], result["error"]) == (3, {}, None)
    check(lake, rounds)
    if hoodie is OCC:
        assert result["conflicts"] >= 1
        assert "COMMIT_CONFLICT" in err
        return
    assert result["conflicts"] == 0
    assert "conflict" not in {event.name for event in lake.events}
    (first,) = [c.instant for c in chunk_commits(lake.state(), "copy") if c.record.start.startswith(DAYS[0])]
    between = [i for i in lake.state().commits if max(begun, first.requested) < i.completed < first.completed]
    assert between, "a run was to commit while the chunk was being written"


@pytest.mark.nightly
def test_a_clustering_beside_a_chunk_takes_no_row_back(lake: Lake, gate: Gate) -> None:
    indexed = {**OCC, **RECORD_INDEX}
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    prepare(lake, indexed, "cow")
    lake.run_ok()
    before = lake.rows()
    prepare(lake, indexed, "cow", TENFOLD)

    def clustered(operation: str, day: str) -> bool:
        """Cluster a day; False where Hudi let the writer go first."""
        try:
            cluster(lake, operation, day)
        except (Py4JJavaError, PySparkException):
            return False
        return True

    with backfilling(lake, gate) as process:
        until(lambda: gate.reached(DAYS[0]), process)
        assert clustered("schedule", DAYS[0])
        gate.open(DAYS[0])
        # The second chunk is being written, and the first one stands, on rows of which the plan knows nothing.
        until(lambda: gate.reached(DAYS[1]), process)
        executed = clustered("execute", DAYS[0])
        assert [amount for key, _, amount, _ in lake.rows() if key[1] == DAYS[0][-1]] == [10, 20]
        assert not executed
        clustered("scheduleAndExecute", DAYS[1])
        gate.open(*DAYS)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["done"] == 3
    clustered("execute", DAYS[1])
    assert lake.rows() == [(key, ts, amount * 10, day) for key, ts, amount, day in before]


def test_a_killed_backfill_is_resumed_by_the_same_command(lake: Lake, gate: Gate) -> None:
    """Killed at three places one after another; `make test` kills at the last, and the schedules at the others in process."""
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    prepare(lake, OCC, "cow")
    lake.run_ok()
    before, untouched = lake.position(), lake.rows()
    prepare(lake, OCC, "cow", TENFOLD)

    if WHOLE:
        # Before a chunk's commit, which has begun.
        with backfilling(lake, gate) as process:
            until(lambda: gate.reached(DAYS[0]), process)
            until(lambda: any((lake.root / "derived/copy/.hoodie/timeline").glob("*.inflight")), process)
            process.kill()
            process.communicate()
        assert (chunks(lake), lake.rows()) == ([], untouched)

        # After the commit, while Hudi cleans up behind it, and not within its lock, which the next would wait for.
        gate.forget()
        with backfilling(lake, gate) as process:
            until(lambda: gate.reached(DAYS[0]), process)
            gate.open(DAYS[0])
            lock, timeline = lake.root / "derived/copy/.hoodie/lock", lake.root / "derived/copy/.hoodie/timeline"
            begun = len(list(timeline.glob("*_*.commit")))
            # By the files' names alone, as the moment is short; on a busy machine the kill may come before chunk 2.
            until(lambda: len(list(timeline.glob("*_*.commit"))) > begun and not lock.exists(), process)
            process.kill()
            process.communicate()
        assert chunks(lake) == [(DAYS[0], "done")]

    # Between two chunks: the second is done, the third cannot be.
    gate.open(*DAYS[:2])
    with backfilling(lake, gate) as process:
        assert process.stderr is not None
        assert any(f"chunk {'1/2' if WHOLE else '2/3'} 2026-01-06" in line for line in process.stderr)
        process.kill()
        process.communicate()
    assert chunks(lake) == [(day, "done") for day in DAYS[:2]]

    result = backfill(lake)
    assert (result.error, result.done, result.skipped, len(result.commits)) == (None, 3, 2, 1)
    assert chunks(lake) == [(day, "done") for day in DAYS]
    assert lake.rows() == [(key, ts, amount * 10, day) for key, ts, amount, day in untouched]
    assert (lake.position(), lake.run_ok().outcome) == (before, "idle")
