"""What answers without a JVM, by the number of pipelines and by the length of the timelines."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from freshet.jvm.session import start_session
from tests.benchmarks import configuration
from tests.benchmarks.timing import freshet, show, spread, timed
from tests.feeds.landing import RawTable
from tests.kit.project import PIPELINE, a_project

PIPELINES = (10, 100, 1000)
TIMELINES = (10, 1_000, 10_000)
COMMITS = 10
# The tests' own project accepts all that there is, which would be most of its text.
ACCEPTS = "accepts: [{code: DELETES_STAY, why: a row of this source is never deleted}]\n"
REPETITIONS = 5
BOUNDS = {
    "idle tick of 100 pipelines": 0.5,
    "validate of 100 pipelines": 2.0,
    "status of 100 pipelines": 2.0,
    "metrics of 100 pipelines": 1.0,
}


def measure() -> dict[str, object]:
    """Time the commands on pipelines whose targets stand; return the figures."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        results: dict[str, object] = {}
        project = _project(folder)
        for count in PIPELINES:
            _grow(project, count)
            for word, command in _commands(project).items():
                _time(f"{word} of {count} pipelines", command, results)
        tick = freshet("run", "p0", "-C", str(project))
        results["idle tick starts a JVM"] = _starts_java(tick)
        print(f"the idle tick starts a JVM: {results['idle tick starts a JVM']}")
        for commits in TIMELINES:
            for table in ("raw/events", "derived/p0"):
                _lengthen(project / "data" / table, commits)
            for word in ("run", "validate", "compile", "plan", "status"):
                _time(f"{word} p0, timelines of {commits:,} commits", freshet(word, "p0", "-C", str(project)), results)
        kept = all(found["kept"] for found in results.values() if isinstance(found, dict))
        return {
            **results,
            "kept": kept and not results["idle tick starts a JVM"],
            "configuration": configuration.of_pipelines(project, ["p0"]),
        }
    finally:
        shutil.rmtree(folder)


def _commands(project: Path) -> dict[str, list[str]]:
    where = ("-C", str(project))
    return {
        "idle tick": freshet("run", "p0", *where),
        "validate": freshet("validate", *where),
        "compile": freshet("compile", "--all", *where),
        "plan p0": freshet("plan", "p0", *where),
        "status": freshet("status", *where),
        "metrics": freshet("status", "--metrics", *where),
    }


def _time(name: str, command: list[str], results: dict[str, object]) -> None:
    timed(command)
    figures = spread([timed(command).wall_seconds for _ in range(REPETITIONS)])
    results[name] = {**figures, "kept": show(name, figures, BOUNDS.get(name))}


def _grow(project: Path, count: int) -> None:
    """Give the project so many pipelines, each with a target; a timeline does not say what table it is of."""
    for number in range(count):
        name = f"p{number}"
        if not (project / f"pipelines/{name}.yml").exists():
            _pipeline(project, name)
            shutil.copytree(project / "data/derived/p0", project / f"data/derived/{name}")


def _pipeline(project: Path, name: str) -> Path:
    return a_project(project, name, files={f"pipelines/{name}.yml": PIPELINE.format(name=name, source="events") + ACCEPTS})


def _lengthen(table: Path, commits: int) -> None:
    """Put copies of a table's first commit before it, so that its timeline has so many."""
    timeline = table / ".hoodie/timeline"
    standing = sorted(timeline.glob("*.commit"))
    begin = datetime(2020, 1, 1)
    for number in range(commits - len(standing)):
        moment = f"{begin + timedelta(seconds=number):%Y%m%d%H%M%S}"
        copy = timeline / f"{moment}000_{moment}001.commit"
        if not copy.exists():
            shutil.copyfile(standing[0], copy)


def _project(folder: Path) -> Path:
    project = _pipeline(folder / "project", "p0")
    spark = start_session({"spark.master": "local[2]"})
    rows = spark.sql("SELECT 'a' AS id, cast(1 AS decimal(10,2)) AS amount, timestamp'2026-01-05 10:00:00' AS updated_at")
    source = RawTable(str(project / "data/raw/events"), ("id",), "updated_at")
    for _ in range(COMMITS):
        source.land(rows)
    spark.stop()
    timed(freshet("run", "p0", "-C", str(project), "--drain"))
    return project


def _starts_java(command: list[str]) -> bool:
    # A java that ends at once and leaves a mark stands in JAVA_HOME's place.
    with tempfile.TemporaryDirectory() as folder:
        flag, java = Path(folder) / "started", Path(folder) / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\ntouch {flag}\nexit 1\n")
        java.chmod(0o755)
        (Path(folder) / "release").write_text('JAVA_VERSION="17.0.0"\n')
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "JAVA_HOME": folder})
        return flag.exists()
