"""What each setting of freshet's own brings: the same runs with it and with it taken back, on copies of one table.

And what others bring that freshet does not choose, so that they can be looked at again.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import configuration
from tests.benchmarks.engines import land
from tests.benchmarks.orders import digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import Stream
from tests.benchmarks.timing import freshet, set_words, show, spread
from tests.benchmarks.usage import Usage, as_json, used

_NEVER = 1_000
AS_IT_IS = "as it is"
# Among settings, what is run instead of freshet itself.
_MODULE = "module"


@dataclass(frozen=True)
class Case:
    """A kind of run, over updates of 1% of the rows and inserts of 0.2%.

    Args:
        index: The target's index.
        table_type: Its type, ``mor`` or ``cow``.
        moves: Whether a tenth of the updates move their row to another partition.
        buckets: Buckets of each of the 30 partitions; 0 for as many as the rows ask for.
        without: By the name of a setting, what takes it back.
        instead: By the name of a setting that freshet does not choose, what makes it. May be slower or faster.
        checked: Whether the batch is joined with all rows of the source, and checked.
    """

    index: str
    table_type: str
    moves: bool
    buckets: int
    without: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    instead: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    checked: bool = False


CASES: Mapping[str, Case] = {
    "MERGE_ON_READ, 30 file groups": Case(
        "BUCKET",
        "mor",
        False,
        0,
        {
            "shuffle partitions by size, not 200": {"spark.spark.sql.shuffle.partitions": 200},
            "no column statistics": {"hoodie.metadata.index.column.stats.enable": "true"},
            "file slices from the timeline server": {"hoodie.embed.timeline.server": "false"},
        },
    ),
    "MERGE_ON_READ, 240 file groups": Case(
        "BUCKET",
        "mor",
        False,
        8,
        {
            "markers every 5 ms, not 50": {"hoodie.markers.timeline_server_based.batch.interval_ms": 50},
        },
    ),
    "COPY_ON_WRITE": Case(
        "BUCKET",
        "cow",
        False,
        0,
        {
            "zstd, not gzip": {"hoodie.parquet.compression.codec": "gzip"},
            "no bloom filters": {"hoodie.parquet.bloom.filter.enabled": "true"},
        },
    ),
    "RECORD_INDEX, rows move": Case(
        "RECORD_INDEX",
        "mor",
        True,
        0,
        {
            "small files up to 4 MB, not 100": {"hoodie.parquet.small.file.limit": 100 << 20},
        },
    ),
    "MERGE_ON_READ, checked": Case(
        "BUCKET",
        "mor",
        False,
        0,
        {
            "a checked batch is kept, not computed again for the write": {_MODULE: "tests.benchmarks.unkept"},
        },
        checked=True,
    ),
    "MERGE_ON_READ, the driver": Case(
        "BUCKET",
        "mor",
        False,
        0,
        instead={
            "2 GB of memory, not 6": {"spark.spark.driver.memory": "2g"},
            "1 GB of memory": {"spark.spark.driver.memory": "1g"},
            "the optimising compiler": {"spark.spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4"},
            "Java's own collector, G1": {"spark.spark.driver.extraJavaOptions": "-XX:+UseG1GC"},
            "the parallel collector": {"spark.spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Xmn128m"},
            "Kryo without reference tracking": {"spark.spark.kryo.referenceTracking": "false"},
            "no metadata table": {"hoodie.metadata.enable": "false"},
        },
    ),
}


def measure(rows: int, repetitions: int, cases: Sequence[str]) -> dict[str, object]:
    """Take the settings of each case back, one at a time, and print how much longer a run then takes.

    Args:
        rows: Rows of each table.
        repetitions: Measured rounds, after one that warms up.
        cases: Names of those to be measured.

    Returns:
        The seconds by case; ``kept`` says that no setting lengthens a run and that all tables of a case are equal.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        found: dict[str, object] = {}
        settings: dict[str, Mapping[str, Mapping[str, str]]] = {}
        kept = True
        for number, name in enumerate(cases):
            case = CASES[name]
            print(f"{name}; {rows:,} rows", flush=True)
            usages, same = _rounds(folder / str(number), case, rows, repetitions)
            print("  as it is")
            _show(usages[AS_IT_IS])
            times = {}
            for setting in (*case.without, *case.instead):
                print(f"  {setting}: {'taken back' if setting in case.without else 'instead'}")
                _show(usages[setting])
                pairs = zip(usages[setting], usages[AS_IT_IS], strict=True)
                times[setting] = spread([other.wall_seconds / as_it_is.wall_seconds for other, as_it_is in pairs])
                show("    times as long", times[setting], unit="times")
                kept = kept and (setting in case.instead or times[setting]["median"] >= 1)
            print(f"  all tables hold the newest rows of the source at the end: {same}", flush=True)
            kept = kept and same
            found[name] = {"usage": as_json(usages), "times": times, "equal": same}
            settings |= {
                f"{name}: {of}": one
                for of, one in configuration.of_pipelines(folder / str(number), [pipeline_of(case.index)]).items()
            }
        return {"rows": rows, "cases": found, "kept": kept, "configuration": settings}
    finally:
        shutil.rmtree(folder)


def _show(usages: Sequence[Usage]) -> None:
    show("    run time", spread([usage.wall_seconds for usage in usages]))
    show("    CPU", spread([usage.cpu_seconds for usage in usages]))
    show("    largest memory", spread([usage.peak_gib for usage in usages]), unit="GiB")


def _rounds(root: Path, case: Case, rows: int, repetitions: int) -> tuple[dict[str, list[Usage]], bool]:
    stream = Stream(rows, rows // 100, rows // 500, rows // 1000 if case.moves else 0)
    write_project(root, rows, _NEVER, None, (case.index,), case.buckets, case.table_type, case.checked)
    land(root, stream, 0)
    load_first(root, case.index)
    ways = {AS_IT_IS: {}, **case.without, **case.instead}
    homes = {name: root / str(number) for number, name in enumerate(ways)}
    for home in homes.values():
        shutil.copytree(root / "derived", home / "derived")
    names = list(ways)
    usages: dict[str, list[Usage]] = {name: [] for name in ways}
    for number in range(1, repetitions + 2):
        land(root, stream, number)
        # In turn, and another one first each time: whoever comes second finds the source's files cached.
        first = number % len(names)
        for name in names[first:] + names[:first]:
            own = {**ways[name], "vars.derived": homes[name] / "derived"}
            module = str(own.pop(_MODULE, "freshet"))
            usage = used(freshet("run", pipeline_of(case.index), "-C", str(root), *set_words(own), module=module))
            if number > 1:
                usages[name].append(usage)
    return usages, len({*digests_of(root, (case.index,), homes.values()).values()}) == 1
