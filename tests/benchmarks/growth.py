"""What a run over the same 20,000 changed rows takes as the table grows, for each index; whole processes."""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from framework.runtime.dev_hbase.server import start, stop
from tests.benchmarks.engines import HBASE_GIB, land
from tests.benchmarks.orders import INDEXES, digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import freshet, show, spread
from tests.benchmarks.usage import Usage, as_json, used

CHANGED = 20_000
#: How many times as long a run may take on the largest table as on the smallest.
AT_MOST = {"BUCKET": 1.2, "HBASE": 1.2, "RECORD_INDEX": 1.5}
_NEVER = 1_000


def measure(sizes: Sequence[int], repetitions: int) -> dict[str, object]:
    """Run a pipeline of each index over the same number of changes on tables of several sizes, and print the figures.

    Args:
        sizes: Numbers of rows, the smallest first.
        repetitions: Measured rounds, after one that warms the machine up.

    Returns:
        The figures; ``kept`` says that no index grew by more than it may.
    """
    sized = {rows: _size(rows, repetitions) for rows in sizes}
    found = {rows: usages for rows, (usages, _) in sized.items()}
    kept = same = all(equal for _, equal in sized.values())
    growth = {}
    for index, most in AT_MOST.items():
        medians = [statistics.median(usage.wall_seconds for usage in found[rows][index]) for rows in (sizes[0], sizes[-1])]
        growth[index] = round(medians[1] / medians[0], 2)
        kept = kept and growth[index] <= most
        print(f"{index}: {growth[index]:g} times as long with {sizes[-1]:,} rows as with {sizes[0]:,} "
              f"(at most {most:g}: {'kept' if growth[index] <= most else 'MISSED'})", flush=True)
    usages = {str(rows): as_json(one) for rows, one in found.items()}
    return {"changed": CHANGED, "usage": usages, "growth": growth, "equal": same, "kept": kept}


def _size(rows: int, repetitions: int) -> tuple[dict[str, list[Usage]], bool]:
    print(f"{rows:,} rows, {CHANGED:,} changed", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    server = start(folder / "hbase", wait_seconds=120, heap_gib=HBASE_GIB)
    try:
        stream = Stream(rows, CHANGED, 0, 0)
        write_project(folder, rows, _NEVER, server, INDEXES)
        land(folder, stream, 0)
        for index in INDEXES:
            print(f"  {index} loaded in {load_first(folder, index).wall_seconds:.1f} s", flush=True)
        found: dict[str, list[Usage]] = {index: [] for index in INDEXES}
        for number in range(1, repetitions + 2):
            land(folder, stream, number)
            for index in INDEXES[number % 3:] + INDEXES[:number % 3]:
                usage = used(freshet("run", pipeline_of(index), "-C", str(folder), "--output", "json"))
                if number > 1:
                    found[index].append(usage)
        for index, usages in found.items():
            show(f"  {index}", spread([usage.wall_seconds for usage in usages]))
            phases = [json.loads(usage.output)["runs"][0]["seconds"] for usage in usages]
            medians = {name: round(statistics.median(one[name] for one in phases), 2) for name in phases[0]}
            print(f"    {medians}, read {statistics.median(u.read_gib for u in usages) * 1024:,.0f} MiB, "
                  f"written {statistics.median(u.written_gib for u in usages) * 1024:,.0f} MiB, "
                  f"CPU {statistics.median(u.cpu_seconds for u in usages):.1f} s", flush=True)
        same = len(set(digests_of(folder, INDEXES).values())) == 1
        print(f"  all tables equal at the end: {same}", flush=True)
        return found, same
    finally:
        stop(folder / "hbase", purge=True)
        shutil.rmtree(folder)
