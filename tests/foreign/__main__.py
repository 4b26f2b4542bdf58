"""Write the foreign tables anew: by Hudi's plain defaults, by Spark SQL, by what HoodieStreamer's examples set.

Everything that happens to a table happens to all of them: insert, update and insert, late update, delete, move; where Hudi
1.0.2 cannot do it on one of them, the step says so.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from freshet.hudi.timeline import TimelineState
from freshet.jvm.session import start_session
from freshet.project.model.pipeline import TableRef
from tests.foreign import FOLDER
from tests.kit.session import SPARK_CONF

SCHEMA = "id string, ts bigint, v string, day string"
DELETES = f"{SCHEMA}, _hoodie_is_deleted boolean"
Step = tuple[str, Callable[[], object]]
#: All that Hudi's quick start sets.
PLAIN = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "day",
}
#: As property files of HoodieStreamer have them, published ones among them.
STREAMER = {
    **PLAIN,
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.datasource.write.partitionpath.urlencode": "true",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
    "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "hoodie.datasource.write.reconcile.schema": "true",
    "hoodie.upsert.shuffle.parallelism": "2",
    "hoodie.insert.shuffle.parallelism": "2",
    "hoodie.parquet.small.file.limit": "104857600",
    "hoodie.cleaner.policy": "KEEP_LATEST_COMMITS",
    "hoodie.clean.commits.retained": "10",
    "hoodie.datasource.write.commitmeta.key.prefix": "streamer.checkpoint",
    "streamer.checkpoint.key.v2": "events,0:12,1:40",
}
MOR = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
CDC = {"hoodie.table.cdc.enabled": "true"}
FIRST = [("a", 1, "a1", "mon"), ("b", 1, "b1", "mon"), ("c", 1, "c1", "tue"), ("d", 1, "d1", "tue")]


class Maker:
    """Makes one table.

    Args:
        spark: The session.
        path: Its base path.
    """

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark, self.path = spark, path

    def write(self, rows: list[tuple[object, ...]], options: dict[str, str], operation: str, schema: str) -> None:
        frame = self.spark.createDataFrame(rows, schema)
        named = {"hoodie.table.name": self.path.name, "hoodie.datasource.write.operation": operation}
        frame.write.format("hudi").options(**{**named, **options}).mode("append").save(str(self.path))

    def by_options(self, options: dict[str, str]) -> list[Step]:
        """Return the steps of a writer that sets options."""
        soft = options.get("hoodie.datasource.write.table.type") == "MERGE_ON_READ"

        def upsert(*rows: tuple[object, ...], gone: bool = False) -> Callable[[], None]:
            found = [(*row, gone) for row in rows] if soft else list(rows)
            return lambda: self.write(found, options, "delete" if gone and not soft else "upsert", DELETES if soft else SCHEMA)

        return [
            ("insert", upsert(*FIRST)),
            ("update and insert", upsert(("a", 5, "a5", "mon"), ("e", 5, "e5", "tue"))),
            ("late update, which loses", upsert(("a", 3, "a3", "mon"), ("b", 6, "b6", "mon"))),
            # A delete operation leaves a MERGE_ON_READ log that Hudi 1.0.2 cannot read.
            ("delete", upsert(("c", 7, "c7", "tue"), gone=True)),
            ("insert again", upsert(("c", 8, "c8", "tue"), ("f", 8, "f8", "wed, 50%"))),
        ]

    def by_sql(self, properties: str, key: bool = True) -> list[Step]:
        """Return the steps of somebody who types SQL."""
        table = self.path.name
        keys = "primaryKey = 'id', preCombineField = 'ts', " if key else ""

        def sql(*texts: str) -> Callable[[], None]:
            return lambda: [self.spark.sql(text).collect() for text in texts] and None

        create = (
            f"CREATE TABLE {table} ({SCHEMA}) USING hudi PARTITIONED BY (day) LOCATION '{self.path}' "
            f"TBLPROPERTIES ({keys}{properties})"
        )
        listed = ", ".join(str(row) for row in FIRST)
        merge = (
            f"MERGE INTO {table} t USING (SELECT 'a' AS id, 9L AS ts, 'a9' AS v, 'mon' AS day) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET t.ts = s.ts, t.v = s.v WHEN NOT MATCHED THEN INSERT *"
        )
        steps = [
            ("insert", sql(create, f"INSERT INTO {table} VALUES {listed}")),
            ("insert more", sql(f"INSERT INTO {table} VALUES ('e', 5, 'e5', 'tue'), ('f', 5, 'f5', 'wed')")),
            ("update", sql(f"UPDATE {table} SET v = 'b6', ts = 6 WHERE id = 'b'")),
            ("delete", sql(f"DELETE FROM {table} WHERE id = 'c'")),
        ]
        return [*steps, ("merge into", sql(merge))] if key else steps

    def versions(self, steps: list[Step]) -> list[dict[str, object]]:
        """Take the steps; returns what the table held after each."""
        found: list[dict[str, object]] = []
        for what, step in steps:
            step()
            self.spark.catalog.clearCache()
            rows = self.spark.read.format("hudi").load(str(self.path)).select("id", "ts", "v", "day").collect()
            found.append({"what": what, "completed": self.completed(), "rows": sorted(map(list, rows), key=str)})
        return found

    def completed(self) -> str:
        """Return the completion time of the newest commit; of a table version whose files do not tell it, nothing."""
        if not (self.path / ".hoodie/timeline").exists():
            return ""
        state = TimelineState().table(TableRef("raw.foreign", str(self.path)))
        assert state is not None
        return state.commits[-1].completed


def nobodys(file: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a packed file without the names of who made it."""
    file.uid = file.gid = 0
    file.uname = file.gname = ""
    return file


def main() -> None:
    """Make each table, pack it, and write down its versions."""
    spark = start_session(SPARK_CONF)
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in {
            "plain_cow": lambda m: m.by_options(PLAIN),
            "plain_cow_cdc": lambda m: m.by_options({**PLAIN, **CDC}),
            "plain_mor": lambda m: m.by_options({**PLAIN, **MOR}),
            "streamer_cow": lambda m: m.by_options(STREAMER),
            "streamer_mor_cdc": lambda m: m.by_options({**STREAMER, **MOR, **CDC}),
            "sql_cow_cdc": lambda m: m.by_sql("type = 'cow', hoodie.table.cdc.enabled = 'true'"),
            "sql_mor": lambda m: m.by_sql("type = 'mor'"),
            "sql_keyless_cow": lambda m: m.by_sql("type = 'cow'", key=False),
            # The oldest that Hudi 1.0.2 writes, which its readers of timelines see otherwise.
            "version_6": lambda m: m.by_options(
                {**PLAIN, "hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}
            ),
        }.items():
            made = Maker(spark, Path(folder) / name)
            told[name] = made.versions(steps(made))
            for left in made.path.rglob("*.crc"):
                left.unlink()
            shutil.rmtree(made.path / ".hoodie/.temp", ignore_errors=True)
            with tarfile.open(FOLDER / f"{name}.tar.xz", "w:xz") as packed:
                packed.add(made.path, ".", filter=nobodys)
            print(f"{name}: {len(told[name])} versions, {(FOLDER / f'{name}.tar.xz').stat().st_size:,} bytes", flush=True)
    (FOLDER / "versions.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
