"""Where a run's time goes, by samples of stacks: Java's processor time in an ordinary run and in one that compacts, and the
driver's Python, which mostly waits for Java.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from freshet.jvm.java import find_java_home
from tests.benchmarks import configuration
from tests.benchmarks.engines import land
from tests.benchmarks.orders import load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import ROOT, freshet, set_words, timed

# Whose code a frame is, first match wins; frames of the JDK and of Scala belong to whoever called them.
_OWNERS: Mapping[str, re.Pattern[str]] = {
    "zstd": re.compile(r"^com\.github\.luben"),
    "Avro": re.compile(r"^org\.apache\.avro|^org\.apache\.hudi\.avro|AvroUtils|^org\.apache\.parquet\.avro"),
    "Parquet": re.compile(r"^org\.apache\.parquet|sql\.execution\.datasources\.parquet"),
    "Kryo": re.compile(r"^com\.esotericsoftware"),
    "HBase": re.compile(r"hadoop\.hbase"),
    "freshet": re.compile(r"^freshet\."),
    "Hudi": re.compile(r"^org\.apache\.hudi|sql\.hudi"),
    "Spark's generated code": re.compile(r"catalyst\.expressions\.GeneratedClass"),
    "Spark's planner": re.compile(r"^org\.apache\.spark\.sql\.catalyst|^org\.apache\.spark\.sql\.internal"),
    "Spark": re.compile(r"^org\.apache\.spark"),
    "Hadoop": re.compile(r"^org\.apache\.hadoop"),
}
_JDK = re.compile(r"^(java|javax|jdk|sun|com\.sun|scala)\.")
_MOST = 12
_PY_SPY = Path(sys.executable).with_name("py-spy")


def measure(rows: int) -> dict[str, object]:
    """Profile three runs of a bucketed MERGE_ON_READ table, the second of which compacts, and print where their time went.

    Args:
        rows: Rows of the table; one in a hundred changes.

    Returns:
        The figures: of two runs samples by owner, hottest methods and pauses of the garbage collector; of the third the share
        of the driver's time by module of freshet.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        stream = Stream(rows, rows // 100, rows // 500, 0)
        # The first load and one run; the next commit is followed by a compaction.
        write_project(folder, rows, 3, None, ("BUCKET",))
        land(folder, stream, 0)
        load_first(folder, "BUCKET")
        found: dict[str, object] = {"rows": rows}
        for number, name in ((1, "a run"), (2, "a run that compacts")):
            land(folder, stream, number)
            recording = folder / f"{number}.jfr"
            timed(freshet("run", pipeline_of("BUCKET"), "-C", str(folder), *recorded(recording)))
            found[name] = summary = summary_of(recording)
            _show(f"{name}; {rows:,} rows, {stream.updates + stream.inserts:,} changed", summary)
        land(folder, stream, 3)
        stacks = folder / "stacks"
        timed(
            [
                str(_PY_SPY),
                "record",
                "--idle",
                "--threads",
                "--full-filenames",
                "--format",
                "raw",
                "--output",
                str(stacks),
                "--",
                *freshet("run", pipeline_of("BUCKET"), "-C", str(folder)),
            ]
        )
        found["the driver of a run"] = driver = driver_of(stacks.read_text(encoding="utf-8"))
        shares = ", ".join(f"{module} {share}%" for module, share in driver["modules_percent"].items())
        print(f"the driver of a run; {driver['samples']} samples of its main thread: {shares}", flush=True)
        return {**found, "configuration": configuration.of_pipelines(folder, [pipeline_of("BUCKET")])}
    finally:
        shutil.rmtree(folder)


def recorded(recording: Path) -> list[str]:
    """Return the words that make a freshet command sample the stacks of its driver into a file."""
    option = f"-XX:StartFlightRecording:filename={recording},settings=profile,dumponexit=true"
    # Without the archive of classes: with one, Java 17.0.15 ends by a SIGSEGV as soon as it records.
    return set_words({"spark.spark.driver.extraJavaOptions": option, "spark.spark.driver.extraClassPath": "/nowhere"})


def summary_of(recording: Path) -> dict[str, object]:
    """Return a recording's samples by owner and by method, in percent, and the seconds that all threads paused for garbage.

    Args:
        recording: A file of Java's Flight Recorder, whose profile samples running threads every 10 or 20 milliseconds.
    """
    owners: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    tasks = 0
    for event in _events(recording, "jdk.ExecutionSample", "jdk.NativeMethodSample"):
        frames = [
            f"{f['method']['type']['name'].replace('/', '.')}.{f['method']['name']}"
            for f in (event["stackTrace"] or {}).get("frames", [])
        ]
        owner = _owner(frames)
        # A thread in native code mostly waits; compression is what works there.
        if not frames or ("native" in event and owner != "zstd"):
            continue
        owners[owner] += 1
        methods[next((frame for frame in frames if not _JDK.match(frame)), frames[0])] += 1
        tasks += "task launch worker" in str((event["sampledThread"] or {}).get("javaName"))
    whole = max(1, sum(owners.values()))
    pauses = sum(_seconds(event["sumOfPauses"]) for event in _events(recording, "jdk.GarbageCollection"))
    return {
        "samples": whole,
        "in_tasks_percent": round(100 * tasks / whole, 1),
        "gc_pauses_seconds": round(pauses, 2),
        "owners_percent": {name: round(100 * n / whole, 1) for name, n in owners.most_common()},
        "methods_percent": {name: round(100 * n / whole, 1) for name, n in methods.most_common(_MOST)},
    }


def driver_of(stacks: str) -> dict[str, Any]:
    """Return where the driver's main thread was, waiting or not, in percent of its samples.

    Args:
        stacks: Of py-spy, raw with threads: a stack and its number of samples a line, frames from the outermost one.
    """
    modules: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, samples = line.rpartition(" ")
        thread, *frames = stack.split(";")
        if "MainThread" in thread:
            modules[_module(frames)] += int(samples)
    whole = max(1, sum(modules.values()))
    return {"samples": whole, "modules_percent": {name: round(100 * n / whole, 1) for name, n in modules.most_common(_MOST)}}


def _module(frames: Sequence[str]) -> str:
    """Name the innermost module of freshet, or what Python imports by then."""
    for frame in reversed(frames):
        if "<frozen importlib" in frame:
            return "imports"
        if f"({ROOT}/framework/" in frame:
            return frame.partition(f"({ROOT}/")[2].partition(".py")[0].replace("/", ".")
    return "Python"


def _owner(frames: Sequence[str]) -> str:
    for frame in frames:
        for name, pattern in _OWNERS.items():
            if pattern.search(frame):
                return name
    return "JDK and others"


def _events(recording: Path, *names: str) -> list[dict[str, object]]:
    jfr = find_java_home() / "bin" / "jfr"
    text = subprocess.run(
        [str(jfr), "print", "--json", "--stack-depth", "64", "--events", ",".join(names), str(recording)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [
        event["values"] | ({"native": True} if "Native" in event["type"] else {})
        for event in json.loads(text)["recording"]["events"]
    ]


def _seconds(duration: str) -> float:
    """Return the seconds of a duration as ISO 8601 writes a short one: ``PT0.0123S``."""
    found = re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", duration)
    assert found is not None, duration
    return 60 * int(found[1] or 0) + float(found[2])


def _show(name: str, summary: Mapping[str, object]) -> None:
    print(
        f"{name}: {summary['samples']} samples of running threads, {summary['in_tasks_percent']}% of them in Spark's tasks; "
        f"{summary['gc_pauses_seconds']} s of pauses for garbage"
    )
    for key in ("owners_percent", "methods_percent"):
        shares = summary[key]
        assert isinstance(shares, dict)
        print(f"  {key.partition('_')[0]}: " + ", ".join(f"{owner} {share}%" for owner, share in shares.items()), flush=True)
