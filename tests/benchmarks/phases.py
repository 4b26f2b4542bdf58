"""Say where a run's time goes, from Spark's own event log: Hudi names each job by what it does."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks.timing import set_words

# What Hudi 1.0.2 writes into the descriptions of its jobs, first match wins.
_PHASES = (
    ("metadata table", re.compile(r"_metadata$|/\.hoodie/metadata/", re.MULTILINE)),
    ("index", re.compile(r"tag|index|look ?up|bucket", re.IGNORECASE)),
    ("write", re.compile(r"doing partition and writing|insert|upsert|write ?status|bulk", re.IGNORECASE)),
    ("services", re.compile(r"clean|compact|archiv|cluster|rollback", re.IGNORECASE)),
    ("commit", re.compile(r"commit|metadata|marker|timeline|heartbeat|file system view", re.IGNORECASE)),
    ("read and transform", re.compile(r"workload profile|building|distinct|count|broadcast|cache|collect", re.IGNORECASE)),
)


def event_log_options(folder: Path) -> list[str]:
    """Return the words that make a freshet command keep Spark's event log in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return set_words({"spark.spark.eventLog.enabled": "true", "spark.spark.eventLog.dir": f"file://{folder}"})


def spark_seconds(folder: Path) -> Mapping[str, float]:
    """Return seconds of Spark's jobs by phase; jobs that run side by side count each.

    Args:
        folder: Where the event logs of the runs lie.
    """
    found: dict[str, float] = defaultdict(float)
    for log in folder.iterdir():
        begun: dict[int, tuple[str, int]] = {}
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                properties = event.get("Properties") or {}
                words = "\n".join(str(properties.get(key, "")) for key in ("spark.job.description", "spark.jobGroup.id"))
                begun[event["Job ID"]] = (_phase(words), event["Submission Time"])
            elif event["Event"] == "SparkListenerJobEnd" and event["Job ID"] in begun:
                phase, since = begun.pop(event["Job ID"])
                found[phase] += (event["Completion Time"] - since) / 1000
    return {phase: round(seconds, 1) for phase, seconds in sorted(found.items(), key=lambda pair: -pair[1])}


def _phase(words: str) -> str:
    return next((phase for phase, pattern in _PHASES if pattern.search(words)), "read and transform")
