"""What the next run reads: from the source's timeline and the pipeline's position, nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.pipeline import MissingCheckpoint
from freshet.sources.hudi.look.late import position_at
from freshet.sources.hudi.look.window import horizon, next_window
from freshet.sources.hudi.position import Basis, HudiPosition
from tests.kit.memory import SOURCE, Loaded, a_commit, a_source_spec, a_table_state, an_instant, at

SCHEMA = '{"fields": [{"name": "day", "type": "%s"}]}'
NEW = {"schema": SCHEMA % "string"}


def window(source: TableState, upto: int | None, table: str = SOURCE.path, basis: Basis = "completed", **spec: Any) -> Any:
    position = None if upto is None else HudiPosition(instant=at(upto), table=table, basis=basis)
    return next_window("earnings", source, a_source_spec(**spec), position)


def refusal(source: TableState, upto: int | None, **more: Any) -> StateError:
    with pytest.raises(StateError) as refused:
        window(source, upto, **more)
    return refused.value


def a_clustering(completed: int) -> tuple[Instant, CommitInfo]:
    return a_commit(completed, action="replacecommit", operation="CLUSTER")


class TestFirstRun:
    def test_without_a_policy_it_is_an_error_that_names_both(self) -> None:
        error = refusal(a_table_state([a_commit(10)]), None, missing_checkpoint="ERROR")
        assert error.code == "NO_CHECKPOINT"
        assert "READ_UPTO_LATEST_COMMIT" in error.next_step
        assert "READ_LATEST" in error.next_step

    def test_whole_table_up_to_its_last_data_commit(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20), a_clustering(30)])
        found = window(source, None)
        assert (found.kind, found.end_inclusive, found.requested) == ("whole_table", at(20), (at(19),))

    def test_whole_table_is_not_bound_by_max_commits(self) -> None:
        found = window(a_table_state([a_commit(n) for n in range(10, 100, 10)]), None, max_commits=1)
        assert (found.kind, found.end_inclusive, found.waiting_commits) == ("whole_table", at(90), 0)

    def test_read_latest_starts_at_the_end_without_rows(self) -> None:
        found = window(a_table_state([a_commit(10), a_commit(20)]), None, missing_checkpoint="READ_LATEST")
        assert (found.kind, found.end_inclusive, found.requested, found.rows) == ("start_at_latest", at(20), (), 0)

    @pytest.mark.parametrize("policy", ["READ_UPTO_LATEST_COMMIT", "READ_LATEST"])
    def test_an_empty_source_is_idle(self, policy: MissingCheckpoint) -> None:
        assert window(a_table_state(), None, missing_checkpoint=policy).kind == "idle"

    def test_whole_table_is_read_where_clustering_alone_is_left_in_the_active_timeline(self) -> None:
        source = a_table_state([a_clustering(30)], archived=[a_commit(10)])
        found = window(source, None)
        assert (found.kind, found.end_inclusive) == ("whole_table", at(30))


class TestIncrement:
    def test_nothing_new_is_idle_at_the_same_place(self) -> None:
        found = window(a_table_state([a_commit(10), a_commit(20)]), 20)
        assert (found.kind, found.end_inclusive, found.requested) == ("idle", at(20), ())

    def test_only_clustering_since_is_idle(self) -> None:
        source = a_table_state([a_commit(10), a_clustering(20)])
        assert window(source, 10).kind == "idle"

    def test_begin_is_the_first_new_commits_own_completion_time(self) -> None:
        found = window(a_table_state([a_commit(10), a_commit(20), a_commit(30)]), 10)
        assert (found.kind, found.begin_inclusive, found.end_inclusive) == ("increment", at(20), at(30))
        assert found.requested == (at(19), at(29))

    def test_bound_by_max_commits_and_the_rest_is_counted(self) -> None:
        rows = {10: 0, 20: 1, 30: 2, 40: 4, 50: 8}
        source = a_table_state([a_commit(n, rows=count) for n, count in rows.items()])
        found = window(source, 10, max_commits=2)
        assert (found.begin_inclusive, found.end_inclusive, found.rows) == (at(20), at(30), 3)
        assert (found.waiting_commits, found.waiting_rows) == (2, 12)

    def test_clustering_does_not_use_up_the_bound(self) -> None:
        source = a_table_state([a_commit(10), a_clustering(20), a_commit(30), a_commit(40)])
        found = window(source, 10, max_commits=2)
        assert found.requested == (at(29), at(39))

    def test_a_commit_requested_early_and_completed_late_is_read(self) -> None:
        source = a_table_state([a_commit(10, requested=5), a_commit(20, requested=1)])
        found = window(source, 10)
        assert (found.begin_inclusive, found.requested) == (at(20), (at(1),))

    def test_commits_that_complete_in_the_same_millisecond_are_read_together(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20, requested=11), a_commit(20, requested=12), a_commit(30)])
        found = window(source, 10, max_commits=1)
        assert (found.requested, found.end_inclusive, found.waiting_commits) == ((at(11), at(12)), at(20), 1)

    def test_deletes_that_the_read_will_not_show_are_counted(self) -> None:
        found = window(a_table_state([a_commit(10), a_commit(20, deletes=3), a_commit(30, deletes=4)]), 10, max_commits=1)
        assert found.unseen_deletes == 3


class TestWholeFiles:
    """Whether Spark may read the rows out of the files that the commits wrote, without Hudi's reader."""

    @staticmethod
    def found(*commits: tuple[Instant, CommitInfo], whole_files: bool = True, hive_style: bool = False, **more: Any) -> bool:
        config = {"whole_files": whole_files, "hive_style": hive_style}
        source = a_table_state([a_commit(10, extra={"schema": "old"}), *commits], **config)
        return bool(window(source, 10, **more).whole_files)

    def test_of_one_schema(self) -> None:
        assert self.found(a_commit(20, extra=NEW), a_commit(30, extra=NEW))
        assert not self.found(a_commit(20, extra=NEW), whole_files=False)
        assert not self.found(a_commit(20, extra=NEW), a_commit(30, extra={"schema": SCHEMA % "int"}))
        assert not self.found(a_commit(20))

    def test_the_schema_is_the_tables_present_one(self) -> None:
        assert self.found(a_commit(20, extra=NEW), a_commit(30, extra=NEW), max_commits=1)
        assert not self.found(a_commit(20, extra=NEW), a_commit(30, extra={"schema": SCHEMA % "int"}), max_commits=1)
        assert not self.found(a_commit(20, extra={**NEW, "latest_schema": "renamed"}))

    @pytest.mark.parametrize(
        ("path", "hive_style", "expected"),
        [
            ("2026-01-05", False, True),
            ("day=2026-01-05", True, True),
            ("day=2026-01-05", False, False),
            ("a=b", False, False),
            ("2026-01-05", True, False),
            ("", False, False),
            ("2026/01", False, False),
            ("New York", False, False),
            ("__HIVE_DEFAULT_PARTITION__", False, False),
        ],
    )
    def test_paths_that_can_be_read_in_one_way(self, path: str, hive_style: bool, expected: bool) -> None:
        assert self.found(a_commit(20, extra=NEW, partitions=(path,)), hive_style=hive_style) == expected

    def test_a_later_one_that_completed_first_may_lie_over_it(self) -> None:
        """Writers that do not look for conflicts leave a file behind that no snapshot shows; read or not read by now."""
        assert not self.found(a_commit(20, requested=8, extra=NEW))
        assert not self.found(a_commit(20, requested=19, extra=NEW), a_commit(30, requested=15, extra=NEW))
        assert self.found(a_commit(20, requested=11, extra=NEW), a_commit(30, requested=15, extra=NEW))

    def test_no_other_action_between(self) -> None:
        assert not self.found(a_commit(20, extra=NEW), a_clustering(25), a_commit(30, extra=NEW))
        assert not self.found(a_commit(20, extra=NEW, action="replacecommit", operation="INSERT_OVERWRITE"))
        assert not self.found(a_commit(20, extra=NEW, action="deltacommit"))


class TestExpired:
    """The source has lost a commit that this pipeline has not read."""

    CLEANED = a_table_state([a_commit(n) for n in (10, 20, 30, 40)], retained_from=at(29))
    ARCHIVED = a_table_state([a_commit(30), a_commit(40)], archived=[a_commit(10), a_commit(20)])

    @pytest.mark.parametrize("source", [CLEANED, ARCHIVED], ids=["cleaned", "archived"])
    def test_is_an_error_that_names_the_lost_commit_and_the_ways_out(self, source: TableState) -> None:
        error = refusal(source, 10)
        assert error.code == "CHECKPOINT_EXPIRED"
        assert error.details == {"checkpoint": at(10), "first_lost": at(20)}
        assert "freshet checkpoint reset earnings" in error.next_step
        assert error.effect == "Nothing was read or written."

    @pytest.mark.parametrize("source", [CLEANED, ARCHIVED], ids=["cleaned", "archived"])
    def test_is_the_whole_table_where_that_was_declared(self, source: TableState) -> None:
        found = window(source, 10, full_scan_when_expired=True)
        assert (found.kind, found.end_inclusive) == ("whole_table", at(40))
        assert "fulltablescan" in found.reason

    @pytest.mark.parametrize("policy", ["READ_UPTO_LATEST_COMMIT", "READ_LATEST"])
    def test_is_not_answered_by_the_policy_for_a_missing_checkpoint(self, policy: MissingCheckpoint) -> None:
        assert refusal(self.CLEANED, 10, missing_checkpoint=policy).code == "CHECKPOINT_EXPIRED"

    @pytest.mark.parametrize("source", [CLEANED, ARCHIVED], ids=["cleaned", "archived"])
    def test_what_was_read_before_it_went_is_no_gap(self, source: TableState) -> None:
        found = window(source, 20)
        assert (found.kind, found.requested) == ("increment", (at(29), at(39)))

    def test_the_earliest_retained_commit_itself_can_be_read(self) -> None:
        assert window(self.CLEANED, 20).begin_inclusive == at(30)

    def test_after_a_clean_by_file_versions_only_later_commits_can_be_read(self) -> None:
        source = a_table_state([a_commit(n) for n in (10, 20, 30, 40)], retained_from=at(29) + "+")
        assert refusal(source, 20).details["first_lost"] == at(30)
        assert window(source, 30).kind == "increment"

    def test_archived_clustering_is_no_gap(self) -> None:
        source = a_table_state([a_commit(30)], archived=[a_commit(10), a_clustering(20)])
        assert window(source, 10).kind == "increment"

    def test_all_history_archived_and_read_is_idle(self) -> None:
        source = a_table_state([a_clustering(30)], archived=[a_commit(10), a_commit(20)])
        assert window(source, 20).kind == "idle"

    def test_declared_full_scan_where_clustering_alone_is_left_in_the_active_timeline(self) -> None:
        source = a_table_state([a_clustering(30)], archived=[a_commit(10), a_commit(20)])
        found = window(source, 10, full_scan_when_expired=True)
        assert (found.kind, found.end_inclusive) == ("whole_table", at(30))

    def test_a_long_commit_that_was_archived_unread_is_a_gap_though_earlier_completions_are_active(self) -> None:
        # Hudi archives by request time: the commit that began first goes first, even when it was the last to complete.
        source = a_table_state([a_commit(10, requested=5), a_commit(30, requested=25)], archived=[a_commit(20, requested=1)])
        error = refusal(source, 10)
        assert (error.code, error.details["first_lost"]) == ("CHECKPOINT_EXPIRED", at(20))

    def test_archive_stays_closed_on_an_idle_tick(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20)])
        object.__setattr__(source, "load_archived", lambda _: pytest.fail("the archive was opened"))
        assert window(source, 20).kind == "idle"


class TestForeignPosition:
    def test_checkpoint_of_another_table(self) -> None:
        error = refusal(a_table_state([a_commit(10)]), 10, table="/lake/raw/elsewhere")
        assert error.code == "CHECKPOINT_OF_ANOTHER_TABLE"
        assert f"freshet checkpoint set earnings {at(10)}" in error.next_step

    def test_hoodie_streamer_does_not_say_which_table(self) -> None:
        assert window(a_table_state([a_commit(10), a_commit(20)]), 10, table="").requested == (at(19),)

    def test_checkpoint_ahead_of_a_source_that_was_restored(self) -> None:
        error = refusal(a_table_state([a_commit(10), a_commit(20)]), 30)
        assert error.code == "CHECKPOINT_AHEAD"
        assert error.next_step.endswith(f"freshet checkpoint set earnings {at(20)}")

    @pytest.mark.parametrize("known", [True, False])
    @pytest.mark.parametrize(
        ("archived", "code"),
        [
            ([a_commit(30, requested=5)], "idle"),
            ([a_commit(30, requested=5), a_commit(35, requested=6)], "idle"),
            ([a_commit(29, requested=5)], "CHECKPOINT_AHEAD"),
            ([a_commit(5)], "CHECKPOINT_AHEAD"),
        ],
        ids=["its own commit", "a later one", "only older ones", "one of before"],
    )
    def test_a_commit_that_is_archived_by_now_is_not_ahead(self, known: bool, archived: list[Loaded], code: str) -> None:
        """Kind: in a short history the newest completion is archived, because it was requested first; all that is active is
        older. Also a checkpoint that knows no commits, as HoodieStreamer's.
        """
        active = [a_commit(15, requested=12), a_commit(20)]
        source = a_table_state(active, archived=archived)
        position = position_at(a_table_state([*archived, *active]), at(30), None) if known else HudiPosition(instant=at(30))
        try:
            found = next_window("earnings", source, a_source_spec(), position).kind
        except StateError as error:
            found = error.code
        assert found == code

    def test_checkpoint_at_a_clustering_commit_is_not_ahead(self) -> None:
        # HoodieStreamer's position may be that of a table service's commit.
        source = a_table_state([a_commit(10), a_clustering(20)])
        assert window(source, 20, table="").kind == "idle"

    def test_request_time_is_translated_by_the_active_timeline(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20, requested=15), a_commit(30)])
        found = window(source, 15, table="", basis="requested")
        assert (found.kind, found.begin_inclusive) == ("increment", at(30))

    def test_request_time_is_translated_by_the_archive(self) -> None:
        source = a_table_state([a_commit(30)], archived=[a_commit(10), a_commit(20, requested=15)])
        found = window(source, 15, table="", basis="requested")
        assert (found.kind, found.begin_inclusive) == ("increment", at(30))

    def test_request_time_that_no_commit_has(self) -> None:
        error = refusal(a_table_state([a_commit(30)]), 15, table="", basis="requested")
        assert error.code == "CHECKPOINT_UNKNOWN_COMMIT"


def test_horizon_is_the_oldest_commit_that_can_still_be_read() -> None:
    assert horizon(TestExpired.CLEANED) == at(30)
    assert horizon(a_table_state([a_commit(10)])) == at(10)
    assert horizon(a_table_state()) == ""


@st.composite
def timelines(draw: st.DrawFn) -> list[tuple[Instant, CommitInfo]]:
    """Commits and clusterings, requested in one order and completed in another, some in the same millisecond."""
    commits = {}
    for requested in draw(st.lists(st.integers(1, 400), unique=True, max_size=12)):
        service = draw(st.booleans())
        instant, info = a_commit(
            requested + draw(st.integers(1, 400)),
            requested,
            action="replacecommit" if service else "commit",
            operation="CLUSTER" if service else "UPSERT",
        )
        commits[instant] = info
    return list(commits.items())


@settings(max_examples=80, deadline=None)
@given(timelines(), st.integers(1, 5))
def test_taking_window_after_window_reads_each_data_commit_exactly_once(
    commits: list[tuple[Instant, CommitInfo]],
    max_commits: int,
) -> None:
    source = a_table_state(commits)
    position, read = HudiPosition(instant=at(0), table=SOURCE.path), []
    while (found := next_window("p", source, a_source_spec(max_commits=max_commits), position)).kind != "idle":
        assert found.kind == "increment"
        assert position.instant < found.begin_inclusive <= found.end_inclusive
        assert found.waiting_commits == len(source.data_commits) - len(read) - len(found.requested)
        read += found.requested
        position = HudiPosition(instant=found.end_inclusive, table=SOURCE.path)
    assert sorted(read) == sorted(i.requested for i in source.data_commits)
    assert len(read) == len(set(read))


@settings(max_examples=60, deadline=None)
@given(timelines(), st.integers(1, 3), st.integers(0, 800), st.integers(0, 400))
def test_whatever_was_archived_a_window_is_whole_or_refused(
    commits: list[tuple[Instant, CommitInfo]],
    max_commits: int,
    upto: int,
    archived_before: int,
) -> None:
    """No archived commit after the position is ever passed over in silence."""
    gone = [(i, info) for i, info in commits if i.requested < at(archived_before)]
    source = a_table_state([pair for pair in commits if pair not in gone], archived=gone)
    unread = [i for i, info in gone if i.completed > at(upto) and info.operation != "CLUSTER"]
    try:
        found = next_window(
            "p", source, a_source_spec(max_commits=max_commits), HudiPosition(instant=at(upto), table=SOURCE.path)
        )
    except StateError as refused:
        outcome = refused.code
    else:
        outcome = found.kind
    # Idle moves nothing: whatever comes next is looked at again.
    assert outcome in ("CHECKPOINT_EXPIRED", "CHECKPOINT_AHEAD", "idle") or not unread


class TestRestored:
    restored = a_table_state([a_commit(10), a_commit(40)], other=[an_instant(30, action="restore")])

    def test_a_checkpoint_whose_commit_a_restore_removed_is_refused(self) -> None:
        assert refusal(self.restored, 20).code == "SOURCE_RESTORED"

    def test_one_whose_commit_stands_goes_on(self) -> None:
        assert window(self.restored, 10).begin_inclusive == at(40)

    def test_one_from_after_the_restore_goes_on(self) -> None:
        assert window(self.restored, 40).kind == "idle"
