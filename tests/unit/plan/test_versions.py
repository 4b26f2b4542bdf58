"""Which versions of a table an increment is the difference of, and which commits a source has taken back."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.errors import RetryableError, StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint, decode, encode, seen_after
from freshet.hudi.table import TableState
from freshet.sources.hudi.look.unreadable import refuse_unreadable
from freshet.sources.hudi.look.versions import version_at, version_at_end, versions_held
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import NEVER, Version
from tests.kit.memory import SOURCE, a_commit, a_source_spec, a_table_state, an_avro_schema, an_instant, at

CDC = {"records_changes": True}


def position(completed: int) -> HudiPosition:
    return HudiPosition(instant=at(completed), table=SOURCE.path)


def window(source: TableState, upto: int, seen: int | None = None, **spec: Any) -> Any:
    return next_window("earnings", source, a_source_spec(**spec), position(upto), position(seen) if seen else None)


class TestVersionAt:
    def test_of_writers_one_after_the_other_it_is_the_time_itself(self) -> None:
        source = a_table_state([a_commit(10), a_commit(20), a_commit(30)])
        assert version_at(source, at(20)) == Version(at(20))

    def test_a_table_service_that_came_after_stands_for_the_same_rows(self) -> None:
        clustering = a_commit(25, action="replacecommit", operation="CLUSTER")
        assert version_at(a_table_state([a_commit(20), clustering, a_commit(30)]), at(20)) == Version(at(25))

    def test_what_was_overtaken_is_not_seen_and_what_overtook_it_is(self) -> None:
        source = a_table_state([a_commit(10), a_commit(30, requested=20), a_commit(40, requested=15)])
        assert version_at(source, at(30)) == Version(at(10), (at(20),))

    def test_one_that_began_before_it_and_ended_before_the_time_is_seen(self) -> None:
        source = a_table_state([a_commit(10), a_commit(30, requested=12), a_commit(40, requested=15)])
        assert version_at(source, at(30)) == Version(at(12))

    def test_before_all_commits(self) -> None:
        source = a_table_state([a_commit(30, requested=20), a_commit(40, requested=5)])
        assert version_at(source, at(30)) == Version(NEVER, (at(20),))

    @pytest.mark.parametrize("read_upto", ["0", "000", "2026", "20260801", "2026080110", "202608011015", "2026080110150000"])
    def test_what_is_no_time_that_hudi_travels_to(self, read_upto: str) -> None:
        """Kind: HoodieStreamer's short instants, of which "000" is the beginning of all time; Hudi takes 14 or 17 digits.

        And a time before all commits, set by hand: nothing was there. What is archived by now was.
        """
        source = a_table_state([a_commit(20), a_commit(30, deletes=1)])
        assert version_at(source, read_upto) == Version(NEVER)
        assert version_at_end(a_table_state(), read_upto) == ""
        before = a_table_state([a_commit(20), a_commit(30)], archived=[a_commit(5)])
        assert version_at(before, read_upto) == Version(NEVER)
        assert version_at(source, at(15)) == Version(NEVER)

    def test_what_was_there_is_archived_by_now(self) -> None:
        source = a_table_state([a_commit(20), a_commit(30)], archived=[a_commit(5), a_commit(10)])
        assert version_at(source, at(7)) == Version(at(7))
        assert version_at(source, "20260802") == Version(at(30))
        between = at(10)[:-1]
        assert at(9) < between < at(10)
        assert version_at(source, between) == Version(at(4))
        # An unread commit that all of the active timeline overtook does not hide what is older than it.
        overtaken = a_table_state([a_commit(30, requested=20), a_commit(40, requested=15)], archived=[a_commit(5)])
        assert version_at(overtaken, at(30)) == Version(at(4), (at(20),))

    @given(
        st.lists(
            st.tuples(st.integers(0, 400), st.integers(1, 400)),
            min_size=1,
            max_size=8,
            unique_by=(lambda pair: pair[0], lambda pair: pair[0] + pair[1]),
        ),
        st.integers(0, 7),
    )
    def test_it_holds_what_had_completed_and_nothing_else(self, drawn: list[tuple[int, int]], index: int) -> None:
        """Time travel shows what was requested by then; overtakers come to that."""
        source = a_table_state([a_commit(begun + took, requested=begun) for begun, took in drawn])
        upto = source.commits[index % len(source.commits)].completed
        version = version_at(source, upto)
        shown = {i for i in source.commits if i.requested <= version.as_of or i.requested in version.overtakers}
        assert shown == {i for i in source.commits if i.completed <= upto}
        end = version_at_end(source, upto)
        assert all(i.requested <= end for i in source.commits if i.completed <= upto)


def test_the_end_of_a_window_sees_all_of_it_and_what_that_overtook() -> None:
    source = a_table_state([a_commit(10), a_commit(30, requested=20), a_commit(40, requested=15), a_commit(60)])
    assert version_at_end(source, at(30)) == at(40)
    assert version_at_end(source, at(60)) == at(60)
    assert version_at_end(a_table_state([a_commit(30, requested=20), a_commit(90, requested=25)]), at(30)) == at(20)


class TestPending:
    """Hudi refuses to travel to a time after the request of a commit that has not completed, whatever becomes of it."""

    COMMITS = (a_commit(10), a_commit(30, requested=20), a_commit(40, requested=35, deletes=1))

    def test_one_that_began_after_what_was_read_is_travelled_before(self) -> None:
        source = replace(a_table_state(self.COMMITS), pending=(at(25),))
        assert version_at(source, at(30)) == Version(at(20))
        assert version_at_end(source, at(40)) == ""
        assert version_at_end(replace(source, pending=(at(38),)), at(40)) == at(35)

    def test_one_that_was_overtaken_by_what_was_read_is_waited_for(self) -> None:
        with pytest.raises(RetryableError) as refused:
            version_at(replace(a_table_state(self.COMMITS), pending=(at(15),)), at(30))
        assert refused.value.code == "SOURCE_COMMIT_PENDING"


def test_a_window_from_before_another_schema_is_read_by_the_present_one() -> None:
    old, new = {"schema": "old"}, {"schema": "new"}
    source = a_table_state([a_commit(10, extra=old), a_commit(20, extra=old), a_commit(30, extra=new)])
    assert (version_at_end(source, at(20)), version_at_end(source, at(30))) == ("", at(30))
    renamed = replace(a_table_state([a_commit(10), a_commit(20)]), has_schema_history=lambda: True)
    assert version_at_end(renamed, at(20)) == ""


class TestSetBack:
    SOURCE = a_table_state([a_commit(10), a_commit(20), a_commit(30, deletes=1), a_commit(40)], **CDC)

    def test_the_window_ends_no_earlier_than_it_did(self) -> None:
        assert window(self.SOURCE, 10, seen=30, max_commits=1).end_inclusive == at(30)
        assert window(self.SOURCE, 10, seen=30, max_commits=1, incremental_format="latest_state").end_inclusive == at(20)

    def test_what_the_target_had_seen_is_held_against_the_end_too(self) -> None:
        found = window(self.SOURCE, 10, seen=20)
        before = Checkpoint({MAIN: position(10)}, position(20))
        assert versions_held("earnings", self.SOURCE, found, before) == (Version(at(20)), Version(at(10)))

    def test_all_is_read_again(self) -> None:
        found = next_window("earnings", self.SOURCE, a_source_spec(), None)
        assert versions_held("earnings", self.SOURCE, found, Checkpoint({}, position(20))) == (Version(at(20)),)
        cleaned = replace(self.SOURCE, retained_from=at(25))
        assert versions_held("earnings", cleaned, found, Checkpoint({}, position(20))) == ()

    def test_all_is_read_because_the_checkpoint_expired_and_nobody_knows_what_was_deleted(self) -> None:
        """Kind: a full scan that would leave deleted rows for ever; the version that the target holds may be whole.

        A checkpoint of HoodieStreamer's, which does not name the table, and one that was set back are of it too.
        """
        found = next_window("earnings", self.SOURCE, a_source_spec(), None)
        cleaned = replace(self.SOURCE, retained_from=at(25))
        for main in (position(20), HudiPosition(instant=at(20)), HudiPosition(instant=at(19), basis="requested")):
            before = Checkpoint({MAIN: main})
            assert versions_held("earnings", self.SOURCE, found, before) == (Version(at(20)),)
            with pytest.raises(StateError) as refused:
                versions_held("earnings", cleaned, found, before)
            assert (refused.value.code, refused.value.details["checkpoint"]) == ("VERSION_CLEANED", at(20))
            assert "checkpoint reset earnings" in refused.value.next_step

    def test_it_travels_with_the_checkpoint_until_the_position_is_there_again(self) -> None:
        back = Checkpoint({MAIN: position(10)}, position(30))
        assert decode(encode(back)) == back
        assert seen_after(back, position(20)) == position(30)
        assert seen_after(back, position(30)) is None
        assert seen_after(Checkpoint({MAIN: position(30)}), position(10)) == position(30)
        assert seen_after(Checkpoint({MAIN: HudiPosition(instant=at(30), table="/elsewhere")}), position(10)) is None


class TestTakenBack:
    """A rollback says which commits it took back, and not whether they had completed: every failed write is rolled back."""

    @staticmethod
    def rolled_back(taken: int, *commits: int, archived: tuple[int, ...] = (), at_: int = 50) -> TableState:
        state = a_table_state(
            [a_commit(n) for n in commits], other=[an_instant(at_, action="rollback")], archived=[a_commit(n) for n in archived]
        )
        return replace(state, load_taken_back=lambda instant: (at(taken),))

    def test_the_checkpoints_own_commit_is_gone(self) -> None:
        with pytest.raises(StateError) as refused:
            window(self.rolled_back(19, 10, 60), 20)
        assert (refused.value.code, refused.value.details["standing"]) == ("SOURCE_ROLLED_BACK", at(10))

    @pytest.mark.parametrize(
        "source",
        [
            rolled_back(19, 10, 20, 60),
            rolled_back(45, 10, 60),
            rolled_back(19, 10, 60, at_=15),
            rolled_back(5, 30, 60, archived=(20,)),
        ],
        ids=["of a failed write", "begun after it", "before it was read", "the checkpoint's commit is archived"],
    )
    def test_other_rollbacks_are_no_matter(self, source: TableState) -> None:
        assert window(source, 20, full_scan_when_expired=True).kind in ("increment", "whole_table")


def test_rows_that_do_not_tell_their_commit() -> None:
    with pytest.raises(StateError) as refused:
        window(a_table_state([a_commit(10)], meta_fields=False), 10)
    assert refused.value.code == "NO_META_FIELDS"


@pytest.mark.parametrize(
    ("refused", "changed"),
    [
        (True, {}),
        (False, {"table_type": "COPY_ON_WRITE"}),
        (False, {"plain_paths": True}),
        (False, {"partition_by": ()}),
        (False, {"own_merge": False, "properties": {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}}),
        (False, {"properties": {}}),
    ],
)
def test_a_table_whose_partition_columns_hudi_shows_as_null(refused: bool, changed: dict[str, Any]) -> None:
    """Kind: MERGE_ON_READ, computed paths and a payload of its own: the cells of the increments' matrix that are no cells."""
    config: dict[str, Any] = {
        "table_type": "MERGE_ON_READ",
        "own_merge": True,
        "plain_paths": False,
        "partition_by": ("day",),
        "properties": {"hoodie.record.merge.mode": "CUSTOM"},
        **changed,
    }
    raises: AbstractContextManager[object] = pytest.raises(StateError, match="PARTITION_UNREADABLE")
    with raises if refused else nullcontext():
        refuse_unreadable("copy", a_table_state([a_commit(10)], **config))


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ({"type": "long", "logicalType": "timestamp-micros"}, True),
        ({"type": "long", "logicalType": "timestamp-millis"}, True),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, True),
        ("bytes", True),
        ("string", False),
        ("long", False),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, False),
        ({"type": "int", "logicalType": "date"}, False),
    ],
)
@pytest.mark.parametrize("column", ["day", "meta.day"])
@pytest.mark.parametrize("config", [{}, {"table_type": "MERGE_ON_READ"}, {"hive_style": True}, {"url_encoded": True}])
def test_a_table_whose_partitions_hudi_misreads(kind: Any, refused: bool, column: str, config: dict[str, Any]) -> None:
    """Kind: types of which a path does not hold the text: see tests/integration/test_partition_types.py."""
    struct = {"type": "record", "name": "m", "fields": [{"name": "day", "type": kind}]}
    types: dict[str, Any] = {"day": ["null", kind], "meta": ["null", struct]}
    if column != "day":
        types["day"] = "string"
    # A key generator makes a text of it.
    config = {**config, "partition_by": ("id", column)}
    commits = [a_commit(10, extra={"schema": an_avro_schema(types)})]
    refuse_unreadable("copy", a_table_state(commits, **config, plain_paths=False))
    source = a_table_state(commits, **config)
    raises: AbstractContextManager[object] = pytest.raises(StateError, match="PARTITION_UNREADABLE")
    with raises if refused else nullcontext():
        refuse_unreadable("copy", source)
