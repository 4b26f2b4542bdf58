"""What answers without a JVM: an idle tick, `validate` of 100 pipelines, `status` of 100 tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from framework.runtime.session import start_session
from tests.benchmarks.timing import freshet, show, spread, timed
from tests.builders import a_project
from tests.feeds.landing import RawTable

PIPELINES = 100
COMMITS = 10
REPETITIONS = 5
BOUNDS = {"idle tick": 0.5, "validate of 100 pipelines": 2.0, "status of 100 tables": 2.0}


def measure() -> dict[str, object]:
    """Time the three commands on 100 pipelines whose targets stand; return the figures."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        project = _project(folder)
        commands = {
            "idle tick": freshet("run", "p000", "-C", str(project)),
            "validate of 100 pipelines": freshet("validate", "-C", str(project)),
            "status of 100 tables": freshet("status", "-C", str(project)),
        }
        results: dict[str, object] = {}
        for name, command in commands.items():
            timed(command)
            figures = spread([timed(command).wall_seconds for _ in range(REPETITIONS)])
            results[name] = {**figures, "kept": show(name, figures, BOUNDS[name])}
        results["idle tick starts a JVM"] = _starts_java(commands["idle tick"])
        print(f"the idle tick starts a JVM: {results['idle tick starts a JVM']}")
        return results
    finally:
        shutil.rmtree(folder)


def _project(folder: Path) -> Path:
    names = [f"p{number:03}" for number in range(PIPELINES)]
    project = folder / "project"
    for name in names:
        a_project(project, name, source="events")
    spark = start_session({"spark.master": "local[2]"})
    rows = spark.sql("SELECT 'a' AS id, cast(1 AS decimal(10,2)) AS amount, timestamp'2026-01-05 10:00:00' AS updated_at")
    source = RawTable(str(project / "data/raw/events"), ("id",), "updated_at")
    for _ in range(COMMITS):
        source.land(rows)
    # One real target, copied: a timeline does not say what table it is of.
    spark.stop()
    timed(freshet("run", names[0], "-C", str(project), "--drain"))
    derived = project / "data/derived"
    for name in names[1:]:
        shutil.copytree(derived / names[0], derived / name)
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
