"""The main job on real tables: what HoodieStreamer's own suite asserts, asked of freshet."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.kit.lake import Lake, rows

DAY = "2026-01-05"
EURO = Decimal("1.00")


@pytest.mark.parametrize("table_type", ["cow", "mor"])
@pytest.mark.parametrize("source_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_first_load_increment_and_idle_tick(lake: Lake, table_type: str, source_type: str) -> None:
    kind = {"hoodie.datasource.write.table.type": source_type}
    lake.pipeline(table_type=table_type)
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")), **kind)
    first = lake.run_ok()
    assert (first.outcome, first.inserts, lake.rows()) == ("committed", 2, rows(("a", 1, "1"), ("b", 1, "2")))

    last = lake.land(rows(("b", 2, "5"), ("c", 2, "3")), **kind)
    second = lake.run_ok()
    # A MERGE_ON_READ table appends to a bucket's log without looking the keys up: Hudi counts all of them as updates.
    assert (second.inserts + second.updates, second.checkpoint) == (2, last)
    assert lake.rows() == rows(("a", 1, "1"), ("b", 2, "5"), ("c", 2, "3"))

    commits = lake.state().commits
    assert lake.run_ok().outcome == "idle"
    assert lake.state().commits == commits


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_commit_tells_the_sizes_of_its_base_files(lake: Lake, table_type: str) -> None:
    lake.pipeline(table_type=table_type)
    lake.land(rows(*((f"{n}", 1, "1") for n in range(20))))
    lake.run_ok()
    lake.land(rows(("0", 2, "2")))
    lake.run_ok()
    sizes = sorted(file.stat().st_size for file in Path(lake.path("derived.copy")).rglob("[!.]*.parquet"))
    told = [lake.state().info(commit) for commit in lake.state().commits]
    # Of the second commit a MERGE_ON_READ table wrote a log.
    assert [info.base_files for info in told] == [2, 1 if table_type == "cow" else 0]
    assert sum(info.base_bytes for info in told) == sum(sizes)


def test_downstream_stands_at_its_upstreams_last_completion_time(lake: Lake) -> None:
    lake.pipeline("first")
    lake.pipeline("second", source="derived.first")
    lake.land(rows(("a", 1, "1")))
    assert {n: r.outcome for n, r in lake.run_all().items()} == {"first": "committed", "second": "committed"}
    lake.land(rows(("a", 2, "2"), ("b", 2, "2")))
    lake.run_all()
    assert lake.rows("derived.second") == rows(("a", 2, "2"), ("b", 2, "2"))
    assert lake.position("derived.second") == lake.state("derived.first").commits[-1].completed
    assert lake.position("derived.first") == lake.state("raw.events").commits[-1].completed


def test_missing_checkpoint_without_a_policy_is_an_error(lake: Lake) -> None:
    lake.pipeline(missing=None)
    lake.land(rows(("a", 1, "1")))
    error = lake.run().error
    assert error is not None
    assert error.code == "NO_CHECKPOINT"


def test_read_latest_takes_only_what_comes_from_now_on(lake: Lake) -> None:
    lake.pipeline(missing="READ_LATEST")
    last = lake.land(rows(("a", 1, "1")))
    assert lake.run_ok().checkpoint == last
    assert lake.rows() == []
    lake.land(rows(("b", 2, "2")))
    lake.run_ok()
    assert lake.rows() == rows(("b", 2, "2"))


def test_bound_on_commits_per_run_and_drain(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 2})
    lake.land(rows(("a", 0, "0")))
    lake.run_ok()
    landed = [lake.land(rows((key, 1, "1"))) for key in "bcdef"]
    assert lake.plan().window.waiting_commits == 3
    bounded = lake.run_ok()
    assert (bounded.inserts, bounded.checkpoint, bounded.waiting_commits) == (2, landed[1], 3)
    drained = lake.run_ok(drain=True)
    assert (len(drained.commits), drained.inserts, drained.checkpoint) == (2, 3, landed[-1])
    assert [r[0] for r in lake.rows()] == list("abcdef")


def test_an_older_row_never_overwrites_a_newer_one(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, cast(amount AS bigint) AS ts, amount, day FROM <SRC>")
    lake.land(rows(("a", 1, "5"), ("b", 1, "5")))
    lake.run_ok()
    lake.land(rows(("a", 2, "4"), ("b", 2, "6")))
    lake.run_ok()
    assert lake.rows() == rows(("a", 5, "5"), ("b", 6, "6"))


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_the_newest_of_several_rows_of_one_key_in_a_batch_wins(lake: Lake, table_type: str) -> None:
    lake.pipeline(
        table_type=table_type,
        sql="""
        SELECT id, ts + bump AS ts, cast(amount + bump AS decimal(10,2)) AS amount, day
        FROM <SRC> CROSS JOIN (SELECT explode(array(0, 2, 1)) AS bump)""",
    )
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    assert lake.rows() == rows(("a", 3, "3"))


def test_replaying_a_batch_adds_nothing(lake: Lake) -> None:
    lake.pipeline()
    first = lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("b", 2, "2")))
    lake.run_ok()
    before = lake.rows()
    lake.set_checkpoint(first)
    replay = lake.run_ok()
    assert (replay.inserts, lake.rows()) == (0, before)


def test_an_override_is_honoured_once(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1})
    landed = [lake.land(rows((key, 1, "1"))) for key in "abc"]
    assert lake.set_checkpoint(landed[0]).error is None
    assert lake.run_ok().checkpoint == landed[1]
    assert lake.run_ok().checkpoint == landed[2]
    assert [r[0] for r in lake.rows()] == ["b", "c"]


def test_reset_reads_the_whole_table_again(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.set_checkpoint(None)
    plan = lake.plan()
    assert (plan.window.kind, plan.first_run) == ("whole_table", False)
    lake.run_ok()
    assert lake.rows() == rows(("a", 1, "1"))


def test_empty_first_batch_creates_the_table_and_moves_the_checkpoint(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, ts, amount, day FROM <SRC> WHERE amount > 5")
    last = lake.land(rows(("a", 1, "1")))
    assert lake.run_ok().checkpoint == last
    assert (lake.rows(), lake.position()) == ([], last)
    last = lake.land(rows(("b", 2, "7")))
    lake.run_ok()
    assert (lake.rows(), lake.position()) == (rows(("b", 2, "7")), last)


def test_empty_later_batch_still_moves_the_checkpoint(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, ts, amount, day FROM <SRC> WHERE amount > 5")
    lake.land(rows(("a", 1, "9")))
    lake.run_ok()
    last = lake.land(rows(("b", 2, "1")))
    result = lake.run_ok()
    assert (result.outcome, result.inserts, result.checkpoint) == ("committed", 0, last)
    assert (lake.rows(), lake.position()) == (rows(("a", 1, "9")), last)


def test_a_source_without_commits_is_idle(lake: Lake) -> None:
    lake.pipeline()
    error = lake.run().error
    assert error is not None
    assert error.code == "SOURCE_MISSING"


def test_delete_operation_removes_the_keys_of_the_batch(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.pipeline(hoodie={"hoodie.datasource.write.operation": "delete"})
    lake.land(rows(("a", 2, "1")))
    assert lake.run_ok().deletes == 1
    assert lake.rows() == rows(("b", 1, "1"))


def test_insert_operation_refuses_a_key_that_stands_there(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.datasource.write.operation": "insert"})
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    # Of two buckets, so that some of them come into a file that is there.
    lake.land(rows(*((f"b{number}", 1, "1") for number in range(5))))
    assert len(lake.run_ok().commits) == 1
    assert len(lake.rows()) == 6
    lake.land(rows(("a", 2, "2"), ("c", 2, "2")))
    before, position = lake.rows(), lake.position()
    error = lake.run().error
    assert error is not None
    assert error.code == "DUPLICATE_KEY"
    assert (lake.rows(), lake.position()) == (before, position)


@pytest.mark.parametrize("day", ["2026/01 05%", "S\u00e3o Paulo/centro", "New York"])
def test_a_partition_value_comes_the_same_from_the_first_load_and_from_an_increment(lake: Lake, day: str) -> None:
    lake.pipeline()
    for ts in (1, 2):
        lake.land(rows(("a'; x", ts, "1"), day=day))
        lake.run_ok()
    assert lake.rows() == rows(("a'; x", 2, "1"), day=day)
