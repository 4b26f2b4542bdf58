"""An incremental run against the full recompute that it replaces, for a dimension and for a fact; whole processes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.jvm.session import start_session
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from tests.benchmarks import configuration
from tests.benchmarks.phases import event_log_options, spark_seconds
from tests.benchmarks.timing import ROOT, freshet, overrides_of, spread, timed
from tests.benchmarks.usage import Usage, as_json, used
from tests.feeds.drivers import DriverFeed
from tests.feeds.landing import RawTable, drawn, money
from tests.feeds.rides import driver_id

_DAYS = 60


@dataclass(frozen=True)
class Case:
    """A pipeline, and what is to be saved by running it incrementally.

    Args:
        pipeline: The example pipeline.
        what: In words, with how much changes.
        published: Change of run time, vcore-seconds and memory-seconds that the followed system published, in percent.
        wanted: The same as freshet aims at.
        ignored: Columns that say when a row was computed, and so differ.
    """

    pipeline: str
    what: str
    published: tuple[int, int, int]
    wanted: tuple[int, int, int]
    ignored: tuple[str, ...] = ()


DIMENSION = Case("dim_driver", "drivers, 1% of them changed, random", (-82, -59, -73), (-90, -85, -85), ("computed_upto",))
FACT = Case("driver_status", "rows in 60 days, 0.5% changed, 80% of it in the last two days", (-49, -24, -32), (-80, -60, -60))


def compare(case: Case, rows: int, rounds: int) -> dict[str, object]:
    """Run a pipeline incrementally and its recompute on the same changes, and print what each used.

    Args:
        case: The pipeline.
        rows: Rows of the source.
        rounds: Measured rounds, after one that warms the machine up and keeps Spark's event log.

    Returns:
        The figures.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        return _compare(folder, case, rows, rounds)
    finally:
        shutil.rmtree(folder)


def _compare(folder: Path, case: Case, rows: int, rounds: int) -> dict[str, object]:
    overrides = [*overrides_of(folder), "spark.spark.driver.memory=6g"]
    words = [word for override in overrides for word in ("--set", override)]
    _land(folder, case, "first", rows)
    timed(freshet("run", case.pipeline, *words))
    spec = load_project(ROOT, None, overrides, names=(case.pipeline,), environ=os.environ).pipelines[0]
    copy = folder / "recomputed"
    job = folder / "job.json"
    job.write_text(json.dumps(_job(spec, copy)))
    batch = [sys.executable, "-m", "tests.benchmarks.recompute", str(job)]

    found: dict[str, list[Usage]] = {"incremental": [], "recompute": []}
    for number in range(rounds + 1):
        _land(folder, case, "change", rows)
        logged = event_log_options(folder / "events") if number == 0 else []
        run = used(freshet("run", case.pipeline, "--output", "json", *words, *logged))
        recomputed = used(batch)
        if number:
            found["incremental"].append(run)
            found["recompute"].append(recomputed)
    same = _equal(case, spec.target.ref.path, str(copy))
    phases = {**json.loads(found["incremental"][-1].output)["runs"][0]["seconds"], "spark": spark_seconds(folder / "events")}
    settings = {**configuration.of_pipelines(ROOT, [case.pipeline], overrides), **configuration.of_scripts([job])}
    return {**_show(case, rows, found, phases, same), "configuration": settings}


def _show(
    case: Case,
    rows: int,
    found: dict[str, list[Usage]],
    phases: dict[str, object],
    same: bool,
) -> dict[str, object]:
    print(f"{case.pipeline}: {rows:,} {case.what}; {len(found['recompute'])} rounds; both tables equal at the end: {same}")
    measures: tuple[tuple[str, Callable[[Usage], float]], ...] = (
        ("run time, s", lambda u: u.wall_seconds),
        ("CPU, s", lambda u: u.cpu_seconds),
        ("peak memory x time, GiB s", lambda u: u.peak_gib * u.wall_seconds),
        ("peak memory, GiB", lambda u: u.peak_gib),
        ("memory over time, GiB s", lambda u: u.gib_seconds),
        ("bytes read, GiB", lambda u: u.read_gib),
        ("bytes written, GiB", lambda u: u.written_gib),
    )
    changes: dict[str, float] = {}
    for name, of in measures:
        medians = {which: spread([of(u) for u in usages])["median"] for which, usages in found.items()}
        changes[name] = round(100 * (medians["incremental"] / max(medians["recompute"], 1e-9) - 1), 1)
        print(
            f"  {name:<28} incremental {medians['incremental']:<9g} recompute {medians['recompute']:<9g} {changes[name]:+.1f}%"
        )
    three = [changes[name] for name, _ in measures[:3]]
    beaten = all(ours <= theirs for ours, theirs in zip(three, case.published, strict=True))
    aimed = all(ours <= aim for ours, aim in zip(three, case.wanted, strict=True))
    print(
        f"  published {case.published}: {'beaten' if beaten else 'NOT beaten'}; aim {case.wanted}: "
        f"{'reached' if aimed else 'not reached'}"
    )
    print(f"  where the time goes, s: {phases}", flush=True)
    return {
        "rows": rows,
        "usage": as_json(found),
        "change_percent": changes,
        "beaten": beaten,
        "aim_reached": aimed,
        "equal": same,
        "phases": phases,
        "kept": beaten and same,
    }


def _job(spec: PipelineSpec, target: Path) -> dict[str, object]:
    compiled = json.loads(timed(freshet("compile", spec.name, "--output", "json")).output)["plans"][0]
    options = next(stage["options"] for stage in compiled["stages"] if stage["stage"] == "commit")
    options = {key: value for key, value in options.items() if "concurrency" not in key and "lock" not in key}
    options |= {
        "hoodie.datasource.write.operation": "bulk_insert",
        "hoodie.datasource.write.row.writer.enable": "true",
        "hoodie.cleaner.policy.failed.writes": "EAGER",
        "hoodie.compact.inline": "false",
    }
    return {
        "spark": dict(spec.spark_conf),
        "source": spec.source.table.path,
        "inputs": {i.name: i.table.path for i in spec.inputs},
        "sql": [s.text.replace("`SRC_INSTANT`", "0") for step in spec.transform for s in step.statements],
        "columns": [(c.name, str(c.type)) for c in spec.target.columns],
        "options": options,
        "target": str(target),
    }


def _land(folder: Path, case: Case, what: str, rows: int) -> None:
    # A process of its own, so that its JVM is gone before anything is measured.
    timed([sys.executable, "-m", "tests.benchmarks.incremental", str(folder), case.pipeline, what, str(rows)])


def _spark() -> SparkSession:
    return start_session({"spark.master": "local[2]", "spark.driver.memory": "8g", "spark.sql.shuffle.partitions": "4"})


def _equal(case: Case, one: str, other: str) -> bool:
    spark = _spark()
    frames = [spark.read.format("hudi").load(path) for path in (one, other)]
    left, right = (f.select(*(c for c in f.columns if not c.startswith("_hoodie_") and c not in case.ignored)) for f in frames)
    same = left.exceptAll(right).isEmpty() and right.exceptAll(left).isEmpty()
    spark.stop()
    return same


def _land_here(folder: Path, pipeline: str, what: str, rows: int) -> None:
    spark = _spark()
    if pipeline == DIMENSION.pipeline:
        feed = DriverFeed(spark, folder / "raw", drivers=rows, buckets=8)
        if what == "first":
            feed.land_profiles()
            _land_days(spark, folder, rows)
        else:
            feed.change_profiles(100)
        return
    feed = DriverFeed(spark, folder / "raw", drivers=max(rows // 100, 1), buckets=1)
    if what == "first":
        feed.land_statuses(rows, _DAYS)
    else:
        feed.change_statuses(rows // 200)


def _land_days(spark: SparkSession, folder: Path, drivers: int) -> None:
    """Land what driver_daily_earnings would hold: a day of every driver, over a week of partitions."""
    n = F.col("id")
    day = F.date_format(F.date_add(F.to_date(F.lit("2026-01-05")), F.pmod(n, F.lit(7)).cast("int")), "yyyy-MM-dd")
    begin = F.to_timestamp(day)
    rows = spark.range(drivers).select(
        driver_id(n).alias("driver_id"),
        F.lit(8).cast("bigint").alias("trips"),
        F.lit(7).cast("bigint").alias("completed_trips"),
        money(drawn(1, "tips", n, below=3000)).cast("decimal(14,2)").alias("tip_amount"),
        money(drawn(1, "earnings", n, below=30000)).cast("decimal(14,2)").alias("earnings"),
        begin.alias("first_trip_at"),
        (begin + F.expr("INTERVAL 8 HOURS")).alias("last_trip_at"),
        F.lit(1).cast("bigint").alias("computed_upto"),
        F.lit(False).alias("_hoodie_is_deleted"),
        day.alias("datestr"),
    )
    path = str(folder / "derived" / "driver_daily_earnings")
    RawTable(path, ("driver_id", "datestr"), "computed_upto", "datestr", 1).land(rows, "insert")


if __name__ == "__main__":
    _land_here(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
