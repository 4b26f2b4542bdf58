"""What a run costs that has one changed row: in a process of its own, and as one of several pipelines in one session."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from itertools import count
from pathlib import Path
from statistics import median

from framework.runtime.session import start_session
from tests.benchmarks.phases import event_log_options, spark_seconds
from tests.benchmarks.timing import Timed, freshet, show, spread, timed
from tests.builders import a_project
from tests.feeds.landing import RawTable

PIPELINES = 5
# What freshet does to start soon, taken away: an archive of classes fits no class path but its own.
_WITHOUT = {
    "without the archive of classes": ("--set", "spark.spark.driver.extraClassPath=/nowhere"),
    "with the optimising compiler": ("--set", "spark.spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=4"),
}


def measure(repetitions: int) -> dict[str, object]:
    """Run one pipeline alone and the others together, each over the same one row, and print what each takes.

    Args:
        repetitions: Measured rounds, after one that makes the tables and warms the machine up.

    Returns:
        The figures, in seconds.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        names = [f"p{number}" for number in range(PIPELINES)]
        for name in names:
            a_project(folder, name, source="events")
        alone: list[float] = []
        inside: list[dict[str, float]] = []
        further: list[float] = []
        without: dict[str, list[float]] = {name: [] for name in _WITHOUT}

        landings = count(1)

        def one_row(*words: str) -> Timed:
            # A process of its own, so that its JVM is gone before anything is measured.
            timed([sys.executable, "-m", "tests.benchmarks.fixed_cost", str(folder), str(next(landings))])
            return timed(freshet("run", names[0], "-C", str(folder), "--output", "json", *words))

        for number in range(repetitions + 1):
            one = one_row()
            rest = timed(freshet("run", *names[1:], "-C", str(folder), "--output", "json"))
            others = {name: one_row(*words).wall_seconds for name, words in _WITHOUT.items()}
            if number:
                alone.append(one.wall_seconds)
                inside.append(json.loads(one.output)["runs"][0]["seconds"])
                # The first of a session pays for its start.
                further += [run["seconds"]["total"] for run in json.loads(rest.output)["runs"][1:]]
                for name, seconds in others.items():
                    without[name].append(seconds)
        one_row(*event_log_options(folder / "events"))
        print(f"one changed row, {repetitions} rounds")
        show("freshet run of one pipeline, whole process", spread(alone))
        for name, walls in without.items():
            show(f"  {name}", spread(walls))
        phases = {phase: round(median(seconds[phase] for seconds in inside), 3) for phase in inside[0]}
        phases["before and after"] = round(median(alone) - phases["total"], 3)
        print(f"  where they go, medians: {phases}")
        jobs = spark_seconds(folder / "events")
        print(f"  of it in Spark's jobs: {jobs}")
        show("each further pipeline of one session", spread(further))
        return {"alone": spread(alone), "further": spread(further), "phases": phases, "spark": jobs,
                **{name: spread(walls) for name, walls in without.items()}}
    finally:
        shutil.rmtree(folder)


def _land_here(folder: Path, number: int) -> None:
    spark = start_session({"spark.master": "local[1]"})
    rows = spark.sql(f"SELECT 'a' AS id, cast({number} AS decimal(10,2)) AS amount, current_timestamp() AS updated_at")
    RawTable(str(folder / "data/raw/events"), ("id",), "updated_at").land(rows)


if __name__ == "__main__":
    _land_here(Path(sys.argv[1]), int(sys.argv[2]))
