"""What each setting of freshet's own brings: the same runs with it and with it taken back, on copies of one table."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.engines import land
from tests.benchmarks.orders import digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import freshet, set_words, show, spread, timed

_NEVER = 1_000
_AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Case:
    """A kind of run, over updates of 1% of the rows and inserts of 0.2%.

    Args:
        index: The target's index.
        table_type: Its type, ``mor`` or ``cow``.
        moves: Whether a tenth of the updates move their row to another partition.
        buckets: Buckets of each of the 30 partitions; 0 for as many as the rows ask for.
        without: By the name of a setting, what takes it back.
    """

    index: str
    table_type: str
    moves: bool
    buckets: int
    without: Mapping[str, Mapping[str, object]]


CASES: Mapping[str, Case] = {
    "MERGE_ON_READ, 30 file groups": Case("BUCKET", "mor", False, 0, {
        "shuffle partitions by size, not 200": {"spark.spark.sql.shuffle.partitions": 200},
        "no column statistics": {"hoodie.metadata.index.column.stats.enable": "true"},
        "file slices from the timeline server": {"hoodie.embed.timeline.server": "false"},
    }),
    "MERGE_ON_READ, 240 file groups": Case("BUCKET", "mor", False, 8, {
        "markers every 5 ms, not 50": {"hoodie.markers.timeline_server_based.batch.interval_ms": 50},
    }),
    "COPY_ON_WRITE": Case("BUCKET", "cow", False, 0, {
        "zstd, not gzip": {"hoodie.parquet.compression.codec": "gzip"},
        "no bloom filters": {"hoodie.parquet.bloom.filter.enabled": "true"},
    }),
    "RECORD_INDEX, rows move": Case("RECORD_INDEX", "mor", True, 0, {
        "small files up to 4 MB, not 100": {"hoodie.parquet.small.file.limit": 100 << 20},
    }),
}


def measure(rows: int, repetitions: int) -> dict[str, object]:
    """Take the settings of each case back, one at a time, and print how much longer a run then takes.

    Args:
        rows: Rows of each table.
        repetitions: Measured rounds, after one that warms up.

    Returns:
        The seconds by case; ``kept`` says that no setting lengthens a run and that all tables of a case are equal.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        found: dict[str, object] = {}
        kept = True
        for number, (name, case) in enumerate(CASES.items()):
            print(f"{name}; {rows:,} rows", flush=True)
            walls, same = _rounds(folder / str(number), case, rows, repetitions)
            show("  all as it is", spread(walls[_AS_IT_IS]))
            times = {}
            for setting in case.without:
                print(f"  {setting}")
                show("    taken back", spread(walls[setting]))
                pairs = zip(walls[setting], walls[_AS_IT_IS], strict=True)
                times[setting] = spread([taken_back / as_it_is for taken_back, as_it_is in pairs])
                show("    times as long", times[setting], unit="times")
                kept = kept and times[setting]["median"] >= 1
            print(f"  all tables equal at the end: {same}", flush=True)
            kept = kept and same
            found[name] = {"seconds": walls, "times": times, "equal": same}
        return {"rows": rows, "cases": found, "kept": kept}
    finally:
        shutil.rmtree(folder)


def _rounds(root: Path, case: Case, rows: int, repetitions: int) -> tuple[dict[str, list[float]], bool]:
    stream = Stream(rows, rows // 100, rows // 500, rows // 1000 if case.moves else 0)
    write_project(root, rows, _NEVER, None, (case.index,), case.buckets, case.table_type)
    land(root, stream, 0)
    load_first(root, case.index)
    ways = {_AS_IT_IS: {}, **case.without}
    homes = {name: root / str(number) for number, name in enumerate(ways)}
    for home in homes.values():
        shutil.copytree(root / "derived", home / "derived")
    names = list(ways)
    walls: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(1, repetitions + 2):
        land(root, stream, number)
        # In turn, and another one first each time: whoever comes second finds the source's files cached.
        first = number % len(names)
        for name in names[first:] + names[:first]:
            words = set_words({**ways[name], "vars.derived": homes[name] / "derived"})
            done = timed(freshet("run", pipeline_of(case.index), "-C", str(root), *words))
            if number > 1:
                walls[name].append(done.wall_seconds)
    return walls, len({digests_of(home, (case.index,))[case.index] for home in homes.values()}) == 1
