"""What a timeline says: which commits brought rows, in which order, and which of them carries the checkpoint."""

from __future__ import annotations

import pytest

from freshet.hudi.checkpoint import STREAMER_V2_KEY, encode
from freshet.hudi.table import MemoryState
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_table_state, an_instant, at


def test_order_is_by_completion_not_by_request() -> None:
    table = a_table_state([a_commit(30, requested=1), a_commit(10, requested=2), a_commit(20, requested=3)])
    assert [i.completed for i in table.commits] == [at(10), at(20), at(30)]
    assert [i.requested for i in table.commits_between(at(10))] == [at(3), at(1)]


def test_bounds_exclude_the_begin_and_include_the_end() -> None:
    table = a_table_state([a_commit(n) for n in (10, 20, 30)])
    assert [i.completed for i in table.commits_between(at(10), at(30))] == [at(20), at(30)]


def test_cleans_and_rollbacks_are_not_commits() -> None:
    table = a_table_state([a_commit(10)], other=[an_instant(20, action="clean"), an_instant(30, action="rollback")])
    assert [i.completed for i in table.commits] == [at(10)]


def test_clustering_brings_no_rows_but_insert_overwrite_does() -> None:
    table = a_table_state(
        [
            a_commit(10),
            a_commit(20, action="replacecommit", operation="CLUSTER"),
            a_commit(30, action="replacecommit", operation="INSERT_OVERWRITE"),
            a_commit(40, action="replacecommit", operation="DELETE_PARTITION"),
        ]
    )
    assert [i.completed for i in table.data_commits] == [at(10), at(30), at(40)]
    assert len(table.commits) == 4


def test_compaction_of_merge_on_read_brings_no_rows() -> None:
    table = a_table_state(
        [
            a_commit(10, action="deltacommit"),
            a_commit(20, operation="COMPACT"),
            a_commit(30, action="deltacommit"),
            a_commit(40, operation="BULK_INSERT"),
        ],
        table_type="MERGE_ON_READ",
    )
    assert [i.completed for i in table.data_commits] == [at(10), at(30), at(40)]


def test_checkpoint_is_found_behind_commits_that_carry_none() -> None:
    table = a_table_state(
        [
            a_commit(10, extra=encode(a_checkpoint(1))),
            a_commit(20, extra=encode(a_checkpoint(2))),
            a_commit(30, action="replacecommit", operation="CLUSTER"),
            a_commit(40, extra={"schema": "{}"}),
        ]
    )
    assert table.latest_checkpoint() == a_checkpoint(2)
    assert [instant.completed for instant, _, _ in table.checkpoints()] == [at(20), at(10)]


def test_checkpoint_is_that_of_the_last_completion_not_of_the_last_request() -> None:
    table = a_table_state(
        [
            a_commit(20, requested=1, extra=encode(a_checkpoint(2))),
            a_commit(10, requested=9, extra=encode(a_checkpoint(1))),
        ]
    )
    assert table.latest_checkpoint() == a_checkpoint(2)


def test_checkpoint_is_found_in_the_archive() -> None:
    table = a_table_state(
        [a_commit(40), a_commit(50)],
        archived=[a_commit(10, extra=encode(a_checkpoint(1))), a_commit(20, extra={STREAMER_V2_KEY: at(2)}), a_commit(30)],
    )
    found = table.latest_checkpoint()
    assert found is not None
    assert found.main is not None
    assert found.main.instant == at(2)


def test_archive_stays_closed_while_the_active_timeline_answers() -> None:
    opened = []
    table = a_table_state([a_commit(10, extra=encode(a_checkpoint(1)))])
    object.__setattr__(table, "load_archived", lambda completed_after: opened.append(1) or ())
    assert table.latest_checkpoint() == a_checkpoint(1)
    assert not opened


def test_no_commit_ever_carried_a_checkpoint() -> None:
    assert a_table_state([a_commit(10)], archived=[a_commit(5)]).latest_checkpoint() is None


@pytest.mark.parametrize(
    ("table_type", "operations", "expected"),
    [
        ("MERGE_ON_READ", ["BULK_INSERT"], True),
        ("MERGE_ON_READ", ["BULK_INSERT", "CLUSTER"], True),
        ("MERGE_ON_READ", ["BULK_INSERT", "UPSERT"], False),
        ("COPY_ON_WRITE", ["BULK_INSERT", "UPSERT"], True),
    ],
)
def test_rows_lie_in_no_log_where_they_were_only_bulk_inserted(
    table_type: str,
    operations: list[str],
    expected: bool,
) -> None:
    commits = [a_commit(10 * n, operation=operation) for n, operation in enumerate(operations, 1)]
    assert a_table_state(commits, table_type=table_type).has_no_logs is expected
    # The archive counts, too.
    assert a_table_state(commits[:1], archived=commits[1:], table_type=table_type).has_no_logs is expected


def test_latest_extra_skips_commits_without_the_key() -> None:
    table = a_table_state([a_commit(10, extra={"schema": "old"}), a_commit(20, extra={"schema": "new"}), a_commit(30)])
    assert table.latest_extra("schema") == "new"
    assert table.latest_extra("nothing") is None


def test_memory_state_answers_by_path() -> None:
    table = a_table_state([a_commit(10)])
    state = MemoryState({SOURCE.path: table})
    assert state.table(SOURCE) is table
    assert state.table(TARGET) is None
