"""Delete a table: whoever does it holds its lease, and has made sure that nobody needs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from freshet.storage.files import is_local, local_path, storage_for


def delete_table(path: str, spark_conf: Mapping[str, str]) -> bool:
    """Delete a table's folder; of a local one what is left after a kill is no table, and is deleted by the same command.

    Args:
        path: The table.
        spark_conf: Settings of the session that a remote store needs.

    Returns:
        Whether there was anything.
    """
    if is_local(path):
        place = Path(local_path(path))
        aside = place.with_name(f".{place.name}.dropped")
        there = aside.exists() or place.exists()
        shutil.rmtree(aside, ignore_errors=True)
        if place.exists():
            os.rename(place, aside)
            shutil.rmtree(aside)
        return there
    if not storage_for(path).names(path):
        return False
    # Of a remote store whatever Hadoop can write to.
    from freshet.jvm.session import start_session

    spark = start_session(dict(spark_conf))
    jvm = spark._jvm
    assert jvm is not None
    place_ = jvm.org.apache.hadoop.fs.Path(path)
    return bool(place_.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).delete(place_, True))
