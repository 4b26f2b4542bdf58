"""What a run over the same 20,000 changed rows takes as the table grows, for each index; whole processes."""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from freshet.dev.hbase.look import HBase
from freshet.dev.hbase.server import start, stop
from tests.benchmarks import configuration
from tests.benchmarks.engines import land
from tests.benchmarks.orders import INDEXES, digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import freshet, show, spread
from tests.benchmarks.usage import Usage, as_json, used

CHANGED = 20_000
#: How many times as long a run may take on the largest table as on the smallest.
AT_MOST = {"BUCKET": 1.2, "HBASE": 1.2, "RECORD_INDEX": 1.5}
_NEVER = 1_000
# The indexes of the four tables take 2.3 GB together, about what such a heap keeps of them.
_HBASE_GIB = 8


def measure(
    sizes: Sequence[int],
    repetitions: int,
    indexes: Sequence[str] = INDEXES,
    region_servers: int = 1,
) -> dict[str, object]:
    """Run a pipeline of each index over the same number of changes on tables of several sizes, and print the figures.

    Args:
        sizes: Numbers of rows, the smallest first.
        repetitions: Measured rounds, after one that warms the machine up.
        indexes: Those that are measured.
        region_servers: Of the HBase; what one keeps in memory is divided among them.

    Returns:
        The figures; ``kept`` says that no index grew by more than it may and that all tables hold the newest rows of their
        sources.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    server = start(folder / "hbase", wait_seconds=120, heap_gib=_HBASE_GIB, region_servers=region_servers)
    try:
        projects = {rows: folder / str(rows) for rows in sizes}
        for rows, project in projects.items():
            _load(project, rows, server, indexes)
        found = _rounds(projects, repetitions, indexes)
        for rows, usages in found.items():
            print(f"{rows:,} rows, {CHANGED:,} changed")
            for index, one in usages.items():
                _show(index, one)
        same = all(len(set(digests_of(project, indexes).values())) == 1 for project in projects.values())
        print(f"all tables hold the newest rows of their sources at the end: {same}", flush=True)
        growth, kept = _growth(found[sizes[0]], found[sizes[-1]])
        return {
            "changed": CHANGED,
            "region_servers": region_servers,
            "growth": growth,
            "equal": same,
            "kept": kept and same,
            "usage": {str(rows): as_json(one) for rows, one in found.items()},
            "configuration": {
                f"{name}, {rows:,} rows": settings
                for rows, project in projects.items()
                for name, settings in configuration.of_pipelines(project, [*map(pipeline_of, indexes)]).items()
            },
        }
    finally:
        stop(folder / "hbase", purge=True)
        shutil.rmtree(folder)


def _load(project: Path, rows: int, server: HBase, indexes: Sequence[str]) -> None:
    print(f"{rows:,} rows", flush=True)
    write_project(project, rows, _NEVER, server, indexes)
    land(project, Stream(rows, CHANGED, 0, 0), 0)
    for index in indexes:
        print(f"  {index} loaded in {load_first(project, index).wall_seconds:.1f} s", flush=True)


def _rounds(
    projects: Mapping[int, Path],
    repetitions: int,
    indexes: Sequence[str],
) -> dict[int, dict[str, list[Usage]]]:
    found: dict[int, dict[str, list[Usage]]] = {rows: {index: [] for index in indexes} for rows in projects}
    sizes = list(projects)
    for rows, project in projects.items():
        for number in range(1, repetitions + 2):
            land(project, Stream(rows, CHANGED, 0, 0), number)
    # One index after the other, so that none reads from disk what the tables of another drove out of the system's cache; within
    # it one size after the other, so that what else the machine does falls on all of them.
    for index in indexes:
        for number in range(1, repetitions + 2):
            first = number % len(sizes)
            for rows in sizes[first:] + sizes[:first]:
                usage = used(freshet("run", pipeline_of(index), "-C", str(projects[rows]), "--output", "json"))
                if number > 1:
                    found[rows][index].append(usage)
    return found


def _show(index: str, usages: Sequence[Usage]) -> None:
    show(f"  {index}", spread([usage.wall_seconds for usage in usages]))
    phases = [json.loads(usage.output)["runs"][0]["seconds"] for usage in usages]
    medians = {name: round(statistics.median(one[name] for one in phases), 2) for name in phases[0]}
    print(
        f"    {medians}, read {statistics.median(u.read_gib for u in usages) * 1024:,.0f} MiB, "
        f"written {statistics.median(u.written_gib for u in usages) * 1024:,.0f} MiB, "
        f"CPU {statistics.median(u.cpu_seconds for u in usages):.1f} s",
        flush=True,
    )


def _growth(smallest: Mapping[str, Sequence[Usage]], largest: Mapping[str, Sequence[Usage]]) -> tuple[dict[str, object], bool]:
    growth: dict[str, object] = {}
    kept = True
    for index, usages in smallest.items():
        pairs = zip(largest[index], usages, strict=True)
        times = spread([large.wall_seconds / small.wall_seconds for large, small in pairs])
        kept = show(f"{index}, the largest table to the smallest", times, AT_MOST[index], "times") and kept
        growth[index] = times
    return growth, kept
