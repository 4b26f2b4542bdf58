"""The batch job that an incremental one replaces: the same SQL over all rows, written anew by Hudi's bulk insert.

It is told everything by a JSON file. The bulk insert with Spark's own rows is Hudi's fastest way to write a table.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql.functions import lit

from freshet.jvm.session import start_session


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    # As freshet starts it, the archive of classes included.
    spark = start_session(job["spark"])
    spark.sparkContext.setLogLevel("OFF")
    source = spark.read.format("hudi").load(job["source"])
    source.withColumn("_hoodie_is_deleted", lit(False)).createOrReplaceTempView("SRC")
    for name, path in job["inputs"].items():
        spark.read.format("hudi").load(path).createOrReplaceTempView(name)
    for statement in job["sql"]:
        rows = spark.sql(statement)
    columns = [f"cast(`{name}` as {kind}) as `{name}`" for name, kind in job["columns"]]
    rows.selectExpr(*columns).write.format("hudi").options(**job["options"]).mode("overwrite").save(job["target"])
    spark.stop()


main()
