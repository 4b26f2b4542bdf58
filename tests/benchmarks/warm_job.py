"""``freshet run`` against the job by hand within one warm Spark session, where neither pays for Java's start."""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from pathlib import Path

from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.jvm.session import start_session
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.several import run_project
from tests.benchmarks.handwritten import run
from tests.benchmarks.timing import ROOT, overrides_of
from tests.feeds.rides import RideFeed

# Java compiles what is used often; from the third round on the times no longer fall.
_WARM_UP = 3


def source_of(spec: PipelineSpec) -> TableState:
    """Return the state of a pipeline's source, which has a commit."""
    state = TimelineState().table(spec.source.table)
    assert state is not None
    return state


def land_increment(feed: RideFeed, trips: int) -> None:
    """Land one increment: a fifth of its trips are new, the others change some that stand."""
    feed.land_increment(trips=trips // 5, updates=trips - trips // 5)


def main() -> None:
    """Print as JSON what each round took by either way.

    The command line: the benchmark's folder, the pipeline, the file of the job by hand, trips of an increment, rounds.
    """
    folder, name, job, trips, rounds = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    by_hand = json.loads(Path(job).read_text())
    project = load_project(ROOT, None, overrides_of(folder), names=(name,), tags=(), environ=os.environ)
    spec = project.pipelines[0]
    spark = start_session(spec.spark_conf)
    feed = RideFeed(spark, folder / "raw", folder / "dim", buckets=2)
    walls: dict[str, list[float]] = {"freshet, warm": [], "by_hand, warm": []}
    for number in range(rounds + _WARM_UP):
        before = source_of(spec).data_commits[-1].completed
        land_increment(feed, trips)
        window = source_of(spec).commits_between(begin_exclusive=before)
        own = {**by_hand, "begin": window[0].completed, "end": window[-1].completed}
        ways = {"freshet, warm": partial(_freshet, project), "by_hand, warm": partial(run, spark.newSession(), own)}
        for way in sorted(ways, reverse=bool(number % 2)):
            begin = time.perf_counter()
            ways[way]()
            if number >= _WARM_UP:
                walls[way].append(time.perf_counter() - begin)
    spark.stop()
    print(json.dumps(walls))


def _freshet(project: Project) -> None:
    (result,) = run_project(project, TimelineState(), lambda event: None)
    if result.outcome != "committed":
        raise RuntimeError(f"the run {result.outcome}: {result.error}")


if __name__ == "__main__":
    main()
