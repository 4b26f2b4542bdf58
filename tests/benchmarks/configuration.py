"""What a benchmark's pipelines and sessions are set to, printed and kept with the figures."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from freshet.hudi.options import writer_options
from freshet.jvm.session import session_conf
from freshet.project.load.project import load_project

Settings = Mapping[str, Mapping[str, Mapping[str, str]]]


def of_pipelines(root: Path, names: Collection[str], overrides: Sequence[str] = ()) -> Settings:
    """Return how ordinary runs of pipelines are set.

    Args:
        root: The project's folder.
        names: The pipelines.
        overrides: ``--set`` values.

    Returns:
        By pipeline all that is said to Spark for a small job, besides the jars and the archive of their classes, and to Hudi.
    """
    pipelines = load_project(root, None, overrides, names=tuple(names), environ=os.environ).pipelines
    return {
        spec.name: {
            "spark": session_conf(spec.spark_conf, (), short=spec.target.table_type == "MERGE_ON_READ"),
            "hudi": writer_options(spec),
        }
        for spec in pipelines
    }


def of_scripts(jobs: Iterable[Path]) -> Settings:
    """Return how scripts by hand are set, by the names of the JSON files that tell them."""
    found = {job.stem: json.loads(job.read_text()) for job in jobs}
    return {f"script: {name}": {"spark": job["spark"], "hudi": job["options"]} for name, job in found.items()}


def of_session(conf: Mapping[str, str]) -> Settings:
    """Return how a session by itself is set, as one of freshet's."""
    return {"session": {"spark": session_conf(conf, ())}}
