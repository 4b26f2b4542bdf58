"""A batch that is looked at before it is written: it is computed once, and written by as many tasks as its rows ask for."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from freshet.quality.kept import use_few_tasks
from tests.benchmarks.expectations import stages
from tests.kit.lake import Lake, rows

# So many tasks Spark plans for each shuffle, before it sees how few rows there are.
PLANNED = 20
SPARK = f"spark: {{spark.sql.adaptive.coalescePartitions.initialPartitionNum: {PLANNED}}}\n"
GROUPED = "SELECT id, max(ts) AS ts, max(amount) AS amount, day FROM <SRC> GROUP BY id, day"


@pytest.mark.parametrize(
    "top",
    [
        SPARK + "checks: [{name: negative, where: amount < 0}]\n",
        SPARK + "write: {strategy: merge, columns: [amount]}\n",
        SPARK + "checks: [{name: negative, where: amount < 0}]\nwrite: {strategy: merge, columns: [amount]}\n",
    ],
    ids=["checked", "merged", "checked and merged"],
)
def test_a_kept_batch_is_read_once_and_written_by_few_tasks(spark: SparkSession, lake: Lake, top: str) -> None:
    lake.pipeline(sql=GROUPED, top=top)
    lake.land(rows(("a", 1, "1.00"), ("b", 1, "1.00")))
    lake.run_ok()
    lake.land(rows(*((f"k{number}", 2, "2.00") for number in range(40)), ("a", 2, "2.00")))
    before = stages(spark)
    lake.run_ok()
    made = [stage for number, stage in stages(spark).items() if number not in before]
    written = [stage.numTasks() for stage in made if "HoodieJavaRDD" in stage.name()]
    assert written
    assert max(written) <= 2
    read = [stage.inputRecords() for stage in made if stage.inputRecords() == 41]
    assert len(read) == 1, "the increment is read by one stage alone"
    assert len(lake.rows()) == 42


def test_what_is_shuffled_goes_to_as_many_tasks_as_its_files_ask_for(spark: SparkSession) -> None:
    """Three rows of a file went through 200 tasks, twice: what is kept is not put together again (SPARK-46995)."""
    session, key = spark.newSession(), "spark.sql.shuffle.partitions"
    for bytes_read, tasks in ((0, 2), (100 << 20, 6), (1 << 50, 2000)):
        # Eight bytes for each number.
        use_few_tasks(session, [session.range(bytes_read // 8)], {})
        assert session.conf.get(key) == str(tasks)
    session.conf.set(key, "7")
    use_few_tasks(session, [], {key: "7"})
    assert session.conf.get(key) == "7"
