"""A project with one pipeline per index over the same stream of orders."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.dev.hbase.look import HBase
from freshet.jvm.session import start_session
from tests.benchmarks.engine_job import digest
from tests.benchmarks.stream import COLUMNS, DAYS
from tests.benchmarks.timing import Timed, freshet, timed
from tests.kit.project import ACCEPTS

INDEXES = ("BUCKET", "RECORD_INDEX", "HBASE")
#: The driver of every engine. Some 30 files are read and written.
SPARK = {"spark.master": "local[2]", "spark.driver.memory": "6g"}
# A bucket takes about so many of these rows; a base file of them has some 60 MB.
_BUCKET_ROWS = 1_300_000
_BASE = """\
vars: {{root: {root}, derived: {root}/derived}}
warehouse: {{raw: "{{{{ var.root }}}}/raw", derived: "{{{{ var.derived }}}}"}}
spark: {{{spark}}}
"""
_DDL = """\
CREATE TABLE derived.{name} (
  {columns}
) USING hudi PARTITIONED BY ({partition})
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'version', type = '{table_type}')
"""
_JOINED = "WHERE id IN (SELECT id FROM everything)\n"
_CHECKED = """\
inputs:
  everything: {table: raw.orders, read: snapshot}
checks:
  - {name: no_less_than_nothing, where: "amount < 0", severity: fail}
"""


def write_project(
    root: Path,
    rows: int,
    compact_every: int,
    hbase: HBase | None,
    indexes: Collection[str],
    buckets: int = 0,
    table_type: str = "mor",
    checked: bool = False,
) -> None:
    """Write the project's files.

    A bucket index cannot move a row to another partition: its table lies by the day on which an order was made, the others by
    the day that an order names. All hold the same rows and columns.

    Args:
        root: The project's folder; the tables lie within, ``raw/orders`` is the source.
        rows: Rows of the table, about.
        compact_every: Commits after which logs are compacted.
        hbase: Where the index HBASE lies.
        indexes: For which indexes.
        buckets: Buckets of each partition; 0 for as many as the rows ask for.
        table_type: The tables' type, ``mor`` or ``cow``.
        checked: Whether the batch is joined with all rows of the source, and checked.
    """
    spark = ", ".join(f'{key}: "{value}"' for key, value in SPARK.items())
    _file(root / "configs/base.yml", _BASE.format(root=root, spark=spark))
    for index in indexes:
        name = pipeline_of(index)
        partition = "created_day" if index == "BUCKET" else "day"
        ordered = [*(c for c in COLUMNS if c[0] != partition), *(c for c in COLUMNS if c[0] == partition)]
        columns = ",\n  ".join(f"{column} {kind}" for column, kind in ordered)
        _file(root / f"ddl/{name}.sql", _DDL.format(name=name, columns=columns, partition=partition, table_type=table_type))
        selected = f"SELECT {', '.join(column for column, _ in ordered)} FROM <SRC>\n"
        _file(root / f"transformers/{name}.sql", selected + (_JOINED if checked else ""))
        settings: dict[str, object] = {
            "hoodie.streamer.source.hoodieincr.path": '"{{ var.root }}/raw/orders"',
            "hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy": "READ_UPTO_LATEST_COMMIT",
            # A round is one commit; further ones may have been landed.
            "hoodie.streamer.source.hoodieincr.num_instants": 1,
            "hoodie.index.type": index,
            "hoodie.compact.inline": "true",
            "hoodie.compact.inline.max.delta.commits": compact_every,
        }
        # Several projects may share a cluster.
        settings |= _of_index(index, buckets or max(1, rows // DAYS // _BUCKET_ROWS), hbase, f"{name}_{root.name}")
        lines = "".join(f"  {key}: {value}\n" for key, value in settings.items())
        stable = "partition_is_stable: true\n" if index == "BUCKET" else ""
        head = (
            f"ddl: ddl/{name}.sql\ntransform: transformers/{name}.sql\n{ACCEPTS}{stable}{_CHECKED if checked else ''}hoodie:\n"
        )
        _file(root / f"pipelines/{name}.yml", head + lines)


def pipeline_of(index: str) -> str:
    """Return the name of an index's pipeline, and of its target below ``derived``."""
    return f"orders_{index.lower()}"


def load_first(root: Path, index: str, module: str = "freshet") -> Timed:
    """Load a target for the first time, by freshet or a module that changes something of it first."""
    return timed(freshet("index", "bootstrap", pipeline_of(index), "-C", str(root), module=module))


def digests_of(root: Path, indexes: Collection[str], homes: Collection[Path] = ()) -> dict[str, str]:
    """Return what tells tables apart: equal where they hold the same rows.

    Args:
        root: The project's folder.
        indexes: Of its targets.
        homes: Where the targets lie, each below its ``derived``; by default in the project's folder.

    Returns:
        By table; ``wanted`` are the newest rows of all keys of the source, which must have been read whole.
    """
    tables = {f"{home.name}/{index}": home / "derived" / pipeline_of(index) for home in homes or (root,) for index in indexes}
    told = json.dumps({name: str(table) for name, table in tables.items()})
    # A process of its own, so that its JVM is gone before anything is measured.
    found: dict[str, str] = json.loads(timed([sys.executable, "-m", "tests.benchmarks.orders", str(root), told]).output)
    return found


def _of_index(index: str, buckets: int, hbase: HBase | None, table: str) -> Mapping[str, object]:
    if index == "BUCKET":
        return {"hoodie.bucket.index.num.buckets": buckets}
    if index != "HBASE":
        return {}
    assert hbase is not None
    # At a rate that holds nothing up: the cluster has no other user.
    return {**hbase.hoodie, "hoodie.index.hbase.table": table, "hoodie.index.hbase.max.qps.per.region.server": 1_000_000}


def _file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _print_digests(root: Path, tables: Mapping[str, str]) -> None:
    spark, names = start_session(SPARK), [name for name, _ in COLUMNS]
    source = spark.read.format("hudi").load(str(root / "raw/orders")).select(*names)
    found = {"wanted": digest(_newest(source, names), names)}
    for name, path in tables.items():
        found[name] = digest(spark.read.format("hudi").load(path), names)
    print(json.dumps(found))


def _newest(source: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the newest row of each key: the changed ones, which are few, and all others as they were at first."""
    changed = source.where("version > 0").groupBy("id").agg(F.max_by(F.struct(*names), "version").alias("row")).select("row.*")
    first = source.where("version = 0").join(F.broadcast(changed.select("id")), "id", "left_anti")
    return changed.unionByName(first)


if __name__ == "__main__":
    _print_digests(Path(sys.argv[1]), json.loads(sys.argv[2]))
