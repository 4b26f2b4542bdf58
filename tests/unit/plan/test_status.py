"""Where a pipeline stands, as ``freshet status`` shows it."""

from __future__ import annotations

import pytest

from freshet.hudi.checkpoint import STREAMER_V1_KEY, STREAMER_V2_KEY
from freshet.hudi.keys.options import BUCKET_COUNT
from freshet.hudi.table import CommitInfo, Instant, MemoryState, TableState
from freshet.project.model.pipeline import IndexSpec
from freshet.status.status import PipelineStatus, pipeline_status
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_source_spec, a_spec, a_table_state, a_target, at


def status(reads: TableState | None, writes: TableState | None, **changes: object) -> PipelineStatus:
    held = {t.ref.path: t for t in (reads, writes) if t}
    return pipeline_status(a_spec(**{"inputs": (), **changes}), MemoryState(held))


def minutes_apart(*minutes: int) -> TableState:
    """Return a source with a commit of ten rows at each minute of one hour."""
    return a_table_state(
        [(Instant(f"2026080110{m:02d}00500", f"2026080110{m:02d}00000", "commit"), CommitInfo(inserts=10)) for m in minutes]
    )


def test_new() -> None:
    found = status(a_table_state([a_commit(10), a_commit(20)]), None)
    assert (found.state, found.checkpoint, found.last_commit, found.commits_behind, found.rows_behind) == ("new", "", "", 2, 20)
    assert found.minutes_to_horizon is None


def test_up_to_date() -> None:
    found = status(a_table_state([a_commit(10), a_commit(20)]), a_target((25, a_checkpoint(20))))
    assert found.state == "up_to_date"
    assert (found.last_commit, found.checkpoint) == (at(25), at(20))
    assert (found.commits_behind, found.rows_behind, found.minutes_behind) == (0, 0, 0.0)


def test_behind_in_commits_rows_and_minutes() -> None:
    target = a_table_state([a_commit(1, extra={STREAMER_V2_KEY: "20260801100000500"})], ref=TARGET)
    found = status(minutes_apart(0, 15, 30), target)
    assert (found.state, found.commits_behind, found.rows_behind, found.minutes_behind) == ("behind", 2, 20, 30.0)


def test_more_commits_wait_than_one_run_takes() -> None:
    source = a_table_state([a_commit(n) for n in range(10, 100, 10)])
    found = status(source, a_target((12, a_checkpoint(10))), source=a_source_spec(max_commits=2))
    assert found.commits_behind == 8


def test_distance_to_the_horizon_of_a_cleaned_source() -> None:
    source = minutes_apart(0, 10, 20, 30)
    object.__setattr__(source, "retained_from", "20260801101000000")
    target = a_table_state([a_commit(1, extra={STREAMER_V2_KEY: "20260801103000500"})], ref=TARGET)
    found = status(source, target)
    assert (found.horizon, found.minutes_to_horizon) == ("20260801101000500", 20.0)


def test_a_source_never_cleaned_has_no_horizon_to_fear() -> None:
    found = status(a_table_state([a_commit(10)]), a_target((12, a_checkpoint(10))))
    assert found.minutes_to_horizon is None


def test_expired_is_the_state_and_says_what_to_do() -> None:
    source = a_table_state([a_commit(n) for n in (10, 20, 30)], retained_from=at(29))
    found = status(source, a_target((12, a_checkpoint(10))))
    assert found.state == "CHECKPOINT_EXPIRED"
    assert (found.checkpoint, found.last_commit) == (at(10), at(12))
    assert "freshet checkpoint reset earnings" in found.message


def test_source_missing() -> None:
    found = status(None, a_target((12, a_checkpoint(10))))
    assert (found.state, found.last_commit) == ("SOURCE_MISSING", at(12))
    assert SOURCE.path in found.message


def test_no_policy_and_no_checkpoint() -> None:
    found = status(a_table_state([a_commit(10)]), None, source=a_source_spec(missing_checkpoint="ERROR"))
    assert found.state == "NO_CHECKPOINT"


def test_hoodie_streamers_request_time_is_shown_as_a_completion_time() -> None:
    source = a_table_state([a_commit(10, requested=5), a_commit(20)])
    found = status(source, a_table_state([a_commit(12, extra={STREAMER_V1_KEY: at(5)})], ref=TARGET))
    assert (found.state, found.checkpoint, found.commits_behind) == ("behind", at(10), 1)


def test_hoodie_streamers_start_of_all_time_is_a_position_too() -> None:
    # HoodieTimeline.INIT_INSTANT_TS and the "000" of older versions are no dates.
    for start in ("00000000000000", "000"):
        found = status(a_table_state([a_commit(10)]), a_table_state([a_commit(12, extra={STREAMER_V2_KEY: start})], ref=TARGET))
        assert (found.state, found.commits_behind) == ("behind", 1)


MB = 1 << 20


@pytest.mark.parametrize(
    ("files", "size", "buckets", "advice"),
    [
        (240, 1 * MB, 8, "BUCKETS_SMALL: a: the base files of 240 buckets that a commit wrote hold 1.0 MB each"),
        (99, 1 * MB, 8, ""),
        (240, 11 * MB, 8, ""),
        (240, 1 * MB, 1, ""),
        (3, 2048 * MB, 4, "BUCKETS_LARGE: a: the base files of 3 buckets that a commit wrote hold 2,048.0 MB each"),
        (3, 1000 * MB, 4, ""),
        (0, 0, 4, ""),
    ],
)
def test_buckets_that_do_not_fit(files: int, size: int, buckets: int, advice: str) -> None:
    # The newest commit wrote logs alone.
    target = a_table_state(
        [a_commit(5, base_files=files, base_bytes=files * size), a_commit(12, extra={STREAMER_V2_KEY: at(10)})], ref=TARGET
    )
    index = IndexSpec("BUCKET", {BUCKET_COUNT: str(buckets)})
    found = status(a_table_state([a_commit(10)]), target, name="a", index=index)
    assert found.state == "up_to_date"
    assert found.advice[: len(advice) or None] == advice
    if advice:
        wanted = {8: 1, 4: 68}[buckets]
        assert f"{BUCKET_COUNT}: {wanted} instead of {buckets}" in found.advice
        assert found.advice.endswith("freshet index migrate a --to bucket")
    assert status(a_table_state([a_commit(10)]), target, index=IndexSpec("RECORD_INDEX", {})).advice == ""
