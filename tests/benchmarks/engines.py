"""Upserts of one stream of changes: freshet with each of its indexes, Delta Lake, Apache Iceberg; whole processes in turn."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from freshet.dev.hbase.server import start, stop
from freshet.jvm.jars import resolve_jars
from freshet.jvm.session import start_session
from tests.benchmarks import configuration, global_simple
from tests.benchmarks.engine_job import engine_of
from tests.benchmarks.orders import INDEXES, SPARK, digests_of, load_first, pipeline_of, write_project
from tests.benchmarks.stream import COLUMNS, DAYS, Stream
from tests.benchmarks.timing import ENGINES, freshet, show, spread, timed
from tests.benchmarks.usage import Usage, as_json, used

OTHERS = ("delta", "delta_vectors", "iceberg", "iceberg_on_read")
#: Through freshet; the last by a module that admits it, as freshet offers it to nobody.
OURS = (*INDEXES, global_simple.NAME)
LEAST = 1.5
#: Memory of the HBase that the index lies in, for its blocks; a cluster of its own has it elsewhere.
HBASE_GIB = 4
_NAMES = [name for name, _ in COLUMNS]


def compare(rows: int, rounds: int, names: Sequence[str]) -> dict[str, object]:
    """Give every engine the same rounds, and print what each used, compactions included.

    Args:
        rows: Rows of the table before the first round.
        rounds: Rounds; within them each table that puts merging off is compacted once. A further one before them warms up.
        names: Engines, of ``OURS`` and ``OTHERS``; at least one of ``INDEXES`` and of ``OTHERS`` each.

    Returns:
        The figures.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    server = start(folder / "hbase", wait_seconds=120, heap_gib=HBASE_GIB)
    try:
        stream = Stream(rows, rows // 100, rows // 500, rows // 1000)
        # The warm-up and the first load count among the commits, too.
        write_project(folder, rows, rounds + 1, server, [name for name in names if name in OURS])
        land(folder, stream, 0)
        for name in names:
            loaded = (
                load_first(folder, name, _module_of(name)) if name in OURS else timed(_script(folder, name, "first", 0, rounds))
            )
            print(f"  {name} loaded in {loaded.wall_seconds:.1f} s", flush=True)
        found: dict[str, list[Usage]] = {name: [] for name in names}
        for number in range(1, rounds + 2):
            land(folder, stream, number)
            # Each is first in turn: whoever comes later finds the source's files cached.
            first = number % len(names)
            for name in (*names[first:], *names[:first]):
                usage = used(
                    freshet("run", pipeline_of(name), "-C", str(folder), module=_module_of(name))
                    if name in OURS
                    else _script(folder, name, "change", number, rounds)
                )
                print(f"  round {number - 1}, {name}: {usage.wall_seconds:.1f} s", flush=True)
                if number > 1:
                    found[name].append(usage)
        global_simple.admit()
        settings = configuration.of_pipelines(folder, [pipeline_of(name) for name in names if name in OURS])
        return {**_show(folder, stream, found, rounds), "configuration": {**settings, **_settings_of_scripts(folder, names)}}
    finally:
        stop(folder / "hbase", purge=True)
        shutil.rmtree(folder)


def _show(folder: Path, stream: Stream, found: dict[str, list[Usage]], rounds: int) -> dict[str, object]:
    digests = _digests(folder, rounds, found)
    same = len(set(digests.values())) == 1
    print(
        f"{stream.rows:,} rows in {DAYS} partitions; a round updates {stream.updates:,} at random, moves {stream.moves:,} "
        f"of these to another day (with BUCKET the partition stays) and inserts {stream.inserts:,}; {rounds} rounds, one "
        f"compaction among them where merging is put off; all tables hold the newest rows of the source at the end: {same}"
    )
    totals = {}
    for name, usages in found.items():
        totals[name] = sum(usage.wall_seconds for usage in usages)
        show(f"{name}, a round", spread([usage.wall_seconds for usage in usages]))
        print(
            f"  all rounds {totals[name]:.1f} s, CPU {sum(u.cpu_seconds for u in usages):.1f} s, "
            f"memory {sum(u.gib_seconds for u in usages):.0f} GiB s, written {sum(u.written_gib for u in usages):.2f} GiB"
        )
    best, other = (min(set(totals).intersection(which), key=lambda name: totals[name]) for which in (INDEXES, OTHERS))
    ratio = round(totals[other] / totals[best], 2)
    kept = ratio >= LEAST
    print(f"{other} takes {ratio:g} times as long as {best} (at least {LEAST:g}: {'kept' if kept else 'MISSED'})", flush=True)
    return {
        "rows": stream.rows,
        "rounds": rounds,
        "usage": as_json(found),
        "totals": totals,
        "digests": digests,
        "equal": same,
        "best": best,
        "other": other,
        "ratio": ratio,
        "kept": kept and same,
    }


def _module_of(index: str) -> str:
    return global_simple.__name__ if index == global_simple.NAME else "freshet"


def _script(folder: Path, engine: str, do: str, number: int, rounds: int) -> list[str]:
    # Eight partitions for the others, which were all measured so; freshet's batches are cut by their size.
    conf = {
        **SPARK,
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.jars": ",".join(map(str, resolve_jars(ENGINES))),
    }
    job = {
        "engine": engine,
        "do": do,
        "table": str(folder / "others" / engine),
        "spark": conf,
        "columns": _NAMES,
        "compact": do == "change" and number == rounds + 1,
        "files": _files(folder, number) if do != "read" else [],
    }
    file = folder / "jobs" / f"{engine}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(job))
    return [sys.executable, "-m", "tests.benchmarks.engine_job", str(file)]


def _settings_of_scripts(folder: Path, names: Sequence[str]) -> configuration.Settings:
    jobs = {name: json.loads((folder / "jobs" / f"{name}.json").read_text()) for name in names if name in OTHERS}
    return {
        name: {"spark": {**job["spark"], **engine.conf}, "table": engine.options}
        for name, job in jobs.items()
        for engine in [engine_of(job)]
    }


def _files(folder: Path, number: int) -> list[str]:
    """Return the source's files of one round: those of its commit."""
    timeline = folder / "raw/orders/.hoodie/timeline"
    begun = sorted(path.name.split("_")[0] for path in timeline.glob("*.commit"))
    return [str(path) for path in (folder / "raw/orders").glob(f"*_{begun[number]}.parquet")]


def _digests(folder: Path, rounds: int, names: Collection[str]) -> dict[str, str]:
    found = {name: timed(_script(folder, name, "read", 0, rounds)).output.splitlines()[-1] for name in names if name in OTHERS}
    return found | digests_of(folder, [name for name in names if name in OURS])


def land(folder: Path, stream: Stream, number: int) -> None:
    """Append a round of the stream to a project's source."""
    # A process of its own, so that its JVM is gone before anything is measured.
    timed([sys.executable, "-m", "tests.benchmarks.engines", str(folder), json.dumps(asdict(stream)), str(number)])


if __name__ == "__main__":
    Stream(**json.loads(sys.argv[2])).land(start_session(SPARK), Path(sys.argv[1]) / "raw/orders", int(sys.argv[3]))
