"""One job on a Spark standalone cluster of one and of two executors, and what a run costs by changed rows and by file groups.

The job compacts with every commit, so that its executors, which share two cores with the driver, have work enough. From what
a changed row and a file group cost follows, on paper, what a table of ten terabytes takes on a cluster of any size.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import configuration
from tests.benchmarks.engines import land
from tests.benchmarks.orders import digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import freshet, set_words, show, spread, timed
from tests.kit.cluster import spark_cluster

EXECUTORS = (1, 2)
#: Changed rows and buckets of each of the 30 partitions, by which the costs are told apart.
CASES = ((3_000, 1), (300_000, 1), (3_000, 8))
_TABLE_BYTES, _TABLE_ROWS, _CHANGED = 10 * 10**12, 10**9, 10**6
#: What Hudi aims at for a base file (hoodie.parquet.max.file.size).
_FILE_BYTES = 120 * 2**20


@dataclass(frozen=True)
class Costs:
    """What a run takes.

    Args:
        fixed: Seconds that no executor shortens: start, plan, commit.
        row: Core seconds of a changed row.
        group: Core seconds of a file group that is written.
    """

    fixed: float
    row: float
    group: float

    def seconds(self, rows: float, groups: float, cores: int) -> float:
        """Return what a run takes on so many cores."""
        return self.fixed + (self.row * rows + self.group * groups) / cores


def measure(rows: int, repetitions: int) -> dict[str, object]:
    """Run the job on both clusters in turn, then the cases, and print what comes of it.

    Args:
        rows: Rows of the table; a tenth of them changes.
        repetitions: Measured rounds, after one that warms up.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        walls, same = _on_clusters(folder / "clusters", rows, repetitions)
        ratios = [one / two for one, two in zip(*walls.values(), strict=True)]
        for number, seconds in walls.items():
            show(f"{rows // 10:,} changed rows of {rows:,}, {number} executor(s)", spread(seconds))
        show("one executor against two", spread(ratios), unit="times")
        cases = {case: _case(folder / f"case_{case[0]}_{case[1]}", rows, *case, repetitions) for case in CASES}
        costs = _costs({case: statistics.median(seconds) for case, seconds in cases.items()})
        return {
            "rows": rows,
            "seconds": {str(number): seconds for number, seconds in walls.items()},
            "ratio": spread(ratios),
            "cases": [
                {"changed": changed, "groups": 30 * buckets, "seconds": seconds}
                for (changed, buckets), seconds in cases.items()
            ],
            "costs": vars(costs),
            "ten_terabytes": _on_paper(costs),
            "equal": same,
            "kept": same,
            "configuration": configuration.of_pipelines(folder / "clusters/1", [pipeline_of("BUCKET")]),
        }
    finally:
        shutil.rmtree(folder)


def _on_clusters(folder: Path, rows: int, repetitions: int) -> tuple[dict[int, list[float]], bool]:
    stream = Stream(rows, rows // 10, 0, 0)
    roots = {number: folder / str(number) for number in EXECUTORS}
    for root in roots.values():
        write_project(root, rows, 1, None, ("BUCKET",))
        land(root, stream, 0)
        load_first(root, "BUCKET")
    walls: dict[int, list[float]] = {number: [] for number in EXECUTORS}
    with spark_cluster(folder, max(EXECUTORS), "3g") as master:
        for number in range(1, repetitions + 2):
            for executors, root in roots.items():
                land(root, stream, number)
                done = timed(freshet("run", pipeline_of("BUCKET"), "-C", str(root), *_settings(master, executors)))
                if number > 1:
                    walls[executors].append(done.wall_seconds)
    same = len({found for root in roots.values() for found in digests_of(root, ("BUCKET",)).values()}) == 1
    print(f"both tables hold the newest rows of the source at the end: {same}", flush=True)
    return walls, same


def _settings(master: str, executors: int) -> list[str]:
    conf = {
        "spark.master": master,
        "spark.executor.memory": "2500m",
        "spark.executor.cores": "1",
        "spark.cores.max": str(executors),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    return set_words({f"spark.{key}": value for key, value in conf.items()})


def _case(root: Path, rows: int, changed: int, buckets: int, repetitions: int) -> list[float]:
    stream = Stream(rows, changed, 0, 0)
    write_project(root, rows, 1_000, None, ("BUCKET",), buckets)
    land(root, stream, 0)
    load_first(root, "BUCKET")
    seconds = []
    for number in range(1, repetitions + 2):
        land(root, stream, number)
        done = json.loads(timed(freshet("run", pipeline_of("BUCKET"), "-C", str(root), "--output", "json")).output)
        seconds.append(float(done["runs"][0]["seconds"]["total"]))
    show(f"{changed:,} changed rows in {30 * buckets} file groups", spread(seconds[1:]))
    return seconds[1:]


def _costs(medians: dict[tuple[int, int], float], cores: int = 2) -> Costs:
    few, many, spread_out = (medians[case] for case in CASES)
    (few_rows, few_buckets), (many_rows, _), (_, many_buckets) = CASES
    row = max(0.0, many - few) * cores / (many_rows - few_rows)
    group = max(0.0, spread_out - few) * cores / (30 * (many_buckets - few_buckets))
    return Costs(max(0.0, few - (row * few_rows + group * 30 * few_buckets) / cores), row, group)


def _on_paper(costs: Costs, cores: Sequence[int] = (16, 64, 256)) -> dict[str, object]:
    groups = _TABLE_BYTES / _FILE_BYTES
    # Of random rows each falls into any group; of so many nearly all groups get one.
    touched = groups * (1 - (1 - 1 / groups) ** _CHANGED)
    found = {str(number): round(costs.seconds(_CHANGED, touched, number), 1) for number in cores}
    # Rows of the last days lie in the groups of the last days.
    recent = {str(number): round(costs.seconds(_CHANGED, touched / 100, number), 1) for number in cores}
    print(
        f"fixed {costs.fixed:.1f} s, {costs.row * 1e6:.1f} core microseconds a changed row, {costs.group * 1000:.1f} core "
        f"milliseconds a file group"
    )
    print(
        f"10 TB, {_TABLE_ROWS:,} rows in {groups:,.0f} file groups, {_CHANGED:,} changed: seconds = fixed + (row x changed + "
        f"group x groups touched) / cores"
    )
    print(f"  all groups touched ({touched:,.0f}), by cores: {found}")
    print(f"  one in a hundred, by cores: {recent}", flush=True)
    return {"groups": round(groups), "touched": round(touched), "all_touched": found, "one_in_a_hundred": recent}
