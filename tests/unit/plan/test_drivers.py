"""Which rows of the main source a change in another table drives, and that none comes into ``SRC`` twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.table import TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.sources.hudi.look.versions import version_at_end
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, Version
from tests.kit.memory import Loaded, a_commit, a_spec, a_table_state, at
from tests.unit.plan.test_inputs import DRIVING, SCHEMA, a_lake, planned, stage, stood, tips_with

OF_ITS_OWN = {"own_merge": True, "table_type": "MERGE_ON_READ"}
UPDATES = replace(a_commit(300)[1], inserts=0, updates=3)


@pytest.mark.parametrize(
    ("config", "compared"),
    [
        (OF_ITS_OWN, True),
        ({**OF_ITS_OWN, "table_type": "COPY_ON_WRITE"}, False),
        ({"table_type": "MERGE_ON_READ"}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize("drives", ["trip_id", "day"])
@pytest.mark.parametrize(
    "commit",
    [
        (a_commit(300, action="deltacommit")[0], UPDATES),
        a_commit(300, action="deltacommit"),
    ],
    ids=["updates", "inserts"],
)
def test_a_payload_of_the_tables_own_may_have_deleted_rows_whatever_the_commit_counts(
    config: dict[str, Any],
    compared: bool,
    drives: str,
    commit: Loaded,
) -> None:
    """Kind: commits that may delete and count no delete; what drives by them and what passes deletes on ask one rule."""
    one = replace(DRIVING, drives=((drives, drives),))
    plan = planned(one, tips=tips_with(a_commit(5), commit, record_key=("trip_id",), **config), target=stood(500, 5))
    leaves_its_key = drives == "day" and bool(commit[1].updates)
    assert stage(plan, DriveRows).changes.before == ((Version(at(5)),) if compared or leaves_its_key else ())


class TestOnce:
    """A row comes once: what is not read at the window's end is read in one way alone, and as it is now."""

    def plan(self, *pending: int, commits: tuple[Loaded, ...] = ()) -> Plan:
        source = a_table_state([a_commit(10, extra=SCHEMA), *commits], whole_files=True)
        source = replace(source, pending=tuple(at(one) for one in pending))
        spec = a_spec(inputs=(DRIVING,), source={"max_commits": 1})
        return compile_plan(spec, a_lake(source, None, stood(10, 5)), RunRequest())

    NEW = (a_commit(20, extra=SCHEMA, partitions=("2026-01-05",)), a_commit(40, extra=SCHEMA, partitions=("2026-01-05",)))

    @pytest.mark.parametrize(
        ("pending", "as_of"), [((), at(20)), ((30,), at(20)), ((60,), at(20)), ((15,), ""), ((5, 60), ""), ((20,), at(19))]
    )
    def test_files_that_commits_wrote_are_read_where_the_version_at_their_end_can_be(
        self,
        pending: tuple[int, ...],
        as_of: str,
    ) -> None:
        """Kind: a commit that began before the window's and has not completed: Hudi shows no version after its request."""
        plan = self.plan(*pending, commits=self.NEW)
        (read,) = [one for one in plan.stages if isinstance(one, ReadIncrement)]
        driven = stage(plan, DriveRows)
        assert (read.window.requested, driven.as_of, driven.held) == ((at(19),), as_of, (at(19),))
        assert (read.as_of, read.window.whole_files) == (as_of, bool(as_of))

    def test_a_look_back_too(self) -> None:
        tips = replace(tips_with(*self.NEW, whole_files=True, partition_by=("day",)), pending=(at(15),))
        plan = planned(DRIVING, tips=tips, target=stood(500, 5))
        (read,) = [one.changes for one in plan.stages if isinstance(one, DriveRows)]
        assert (read.as_of, read.window.whole_files) == ("", False)


def test_nobody_reads_files_of_a_version_that_cannot_be_travelled_to() -> None:
    source = a_table_state([a_commit(10), *TestOnce.NEW], whole_files=True)
    for pending in range(0, 60, 3):
        state: TableState = replace(source, pending=(at(pending),))
        read = TestOnce().plan(pending, commits=TestOnce.NEW).stages[0]
        assert isinstance(read, ReadIncrement)
        assert read.window.whole_files == bool(version_at_end(state, at(20)))


class TestCleanedByVersions:
    """Cleaned by KEEP_LATEST_FILE_VERSIONS, of which no clean names a commit: what was overwritten is gone, whenever it was."""

    GROUP, OTHER = "2026-01-05/a", "2026-01-05/b"

    def source(self, *cleaned: tuple[str, int]) -> TableState:
        """Three commits, of which the newest two wait: one wrote a group of its own, and one the first one's again."""
        commits = [
            a_commit(moment, file_ids=(group,), extra=SCHEMA, partitions=("2026-01-05",))
            for moment, group in ((10, self.GROUP), (20, self.OTHER), (40, self.GROUP))
        ]
        deleted = tuple((group, at(moment - 1)) for group, moment in cleaned)
        newest = max((at(moment - 1) for _, moment in cleaned), default="")
        return replace(a_table_state(commits), retained_from=f"{newest}+" if newest else "", load_cleaned=lambda: deleted)

    def plan(self, source: TableState, max_commits: int = 1) -> Plan:
        spec = a_spec(inputs=(DRIVING,), source={"max_commits": max_commits})
        return compile_plan(spec, a_lake(source, None, stood(10, 5)), RunRequest())

    def test_rows_that_are_driven_at_a_version_that_is_cleaned_are_refused_for_good(self) -> None:
        """Kind: a version that a plan chooses whatever was cleaned, so that a retry, which chooses the same, never ends."""
        with pytest.raises(StateError) as refused:
            self.plan(self.source((self.GROUP, 10)))
        assert (refused.value.code, refused.value.retryable) == ("VERSION_CLEANED", False)
        assert refused.value.details["version"] == at(20)
        assert "num_instants" in refused.value.next_step

    def test_what_that_version_does_not_show_may_be_cleaned(self) -> None:
        assert stage(self.plan(self.source((self.OTHER, 5))), DriveRows).as_of == at(20)
        assert stage(self.plan(self.source()), DriveRows).as_of == at(20)
        assert stage(self.plan(self.source((self.GROUP, 10)), max_commits=5), DriveRows).as_of == at(40)
