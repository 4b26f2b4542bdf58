"""How complete windows of event times are: by commits, checkpoints and a time index, never by rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from freshet.account.complete import completeness_of
from freshet.account.steps import Step
from freshet.account.windows import Completeness, WindowFill, filled
from freshet.account.windows_of_topics import count_topics
from freshet.event_times.counted import Counted
from freshet.hudi.checkpoint import MAIN, ORIGIN_KEY, TIMES_KEY, Checkpoint
from freshet.hudi.table import CommitInfo, Instant, MemoryState, TableState
from freshet.project.model.promises import EventTimes
from freshet.sources.kafka.look.facts import Extent, Facts, Part
from freshet.sources.kafka.position import KafkaPosition
from tests.kit.files import a_files_spec
from tests.kit.memory import SOURCE, Loaded, a_checkpoint, a_commit, a_spec, a_table_state, a_target
from tests.unit.metrics.kit import BEGIN

HOUR = 3600
#: Two windows of before the tests' one minute, and that of it.
FIRST, SECOND, NOW = (int(BEGIN) - int(BEGIN) % HOUR + n * HOUR for n in (-2, -1, 0))
TIMES = EventTimes(window_seconds=HOUR, lateness_seconds=HOUR)


def telling(completed: int, windows: Mapping[int, int], size: int = HOUR, earlier: int = 0, **extra: str) -> Loaded:
    """Return a commit that says how many of its rows are of which window."""
    counted = Counted(at_ms=int(BEGIN) * 1000, window_seconds=size, windows=windows, earlier=earlier)
    rows = sum(windows.values()) + earlier
    return a_commit(completed, rows=rows, extra={TIMES_KEY: counted.metadata(), **extra})


def told(source: TableState, *target: TableState, now: float = BEGIN + HOUR, times: EventTimes = TIMES) -> Completeness:
    tables = {table.ref.path: table for table in (source, *target)}
    found = completeness_of(a_spec(inputs=(), event_times=times), MemoryState(tables), now)
    assert found is not None
    return found


def short(found: Completeness) -> list[tuple[Any, ...]]:
    return [(one.begin, one.at_source, one.taken, one.fill) for one in found.windows]


def test_a_window_is_complete_once_every_commit_with_rows_of_it_is_taken() -> None:
    source = a_table_state([telling(10, {FIRST: 3, SECOND: 2}), telling(20, {SECOND: 4, NOW: 1})])
    found = told(source, a_target((30, a_checkpoint(20))))
    assert short(found) == [(FIRST, 3, 3, "complete"), (SECOND, 6, 6, "complete"), (NOW, 1, 1, "open")]
    assert (found.note, found.share) == ("", 1.0)


def test_what_waits_is_missing_and_short_only_when_it_is_due() -> None:
    source = a_table_state([telling(10, {FIRST: 3, SECOND: 2}), telling(20, {SECOND: 6, NOW: 1})])
    target = a_target((15, a_checkpoint(10)))
    early = told(source, target, now=BEGIN)
    assert short(early) == [(FIRST, 3, 3, "complete"), (SECOND, 8, 2, "open"), (NOW, 1, 0, "open")]
    late = told(source, target)
    assert short(late)[1] == (SECOND, 8, 2, "short")
    assert (late.windows[1].why, late.share) == ("6 rows wait", 0.25)


def test_what_was_passed_over_by_hand_is_named() -> None:
    source = a_table_state([telling(10, {FIRST: 3}), telling(20, {FIRST: 2}), telling(30, {SECOND: 1})])
    target = a_target((15, a_checkpoint(10)), (25, a_checkpoint(20)), (35, a_checkpoint(30)))
    infos: dict[Instant, CommitInfo] = {
        one: CommitInfo(**{**vars(target.info(one)), "extra": {**target.info(one).extra, ORIGIN_KEY: origin}})
        for one, origin in zip(target.commits, ("increment", "override", "increment"), strict=True)
    }
    found = told(source, a_table_state(list(infos.items()), ref=target.ref))
    assert short(found) == [(FIRST, 5, 3, "short"), (SECOND, 1, 1, "complete")]
    assert "2 rows were passed over: the checkpoint was set by hand" in found.windows[0].why


def test_of_commits_that_tell_nothing_only_what_is_left_is_in_doubt() -> None:
    """What is taken lacks nothing; what is not may be of any window until then, and no scan is made to see."""
    own = telling(40, {FIRST: 5})[1].extra
    source = a_table_state([a_commit(10), a_commit(20)])
    taken = told(source, a_target((30, a_checkpoint(20)), extra=dict(own)))
    assert [(one.begin, one.at_source, one.published, one.fill) for one in taken.windows] == [(FIRST, None, 5, "complete")]
    assert "only a scan" in taken.note
    waits = told(source, a_target((30, a_checkpoint(10)), extra=dict(own)))
    assert (waits.windows[0].fill, waits.windows[0].share, waits.uncounted) == ("unknown", None, 10)
    assert "10 rows that wait" in waits.windows[0].why


def test_windows_that_do_not_fit_and_rows_that_were_summed_are_in_doubt() -> None:
    target = a_target((15, a_checkpoint(10)))
    half = told(a_table_state([telling(10, {FIRST: 3, FIRST + 1800: 4}, size=1800)]), target)
    assert short(half) == [(FIRST, 7, 7, "complete")], "two halves make one"
    third = told(a_table_state([telling(10, {FIRST: 3}), telling(20, {FIRST: 2}, size=7200)]), target)
    assert (short(third), third.uncounted) == ([(FIRST, 3, 3, "unknown")], 2)
    summed = told(a_table_state([telling(10, {FIRST: 3}), telling(20, {SECOND: 2}, earlier=9)]), target)
    assert [(one.fill, one.share, one.in_doubt) for one in summed.windows] == [("unknown", None, True), ("short", 0.0, True)]
    assert summed.uncounted == 9
    early = told(a_table_state([telling(10, {NOW: 3}), telling(20, {}, earlier=9)]), target)
    assert [(one.fill, one.share) for one in early.windows] == [("open", None)]


def test_rows_that_are_computed_again_are_no_new_events() -> None:
    source = a_table_state([telling(10, {FIRST: 3}), a_commit(20, extra={ORIGIN_KEY: "backfill"})])
    found = told(source, a_target((15, a_checkpoint(10))))
    assert short(found) == [(FIRST, 3, 3, "complete")]
    assert found.uncounted == 0


def test_without_a_run_nothing_is_taken_and_without_windows_nothing_is_told() -> None:
    source = a_table_state([telling(10, {FIRST: 3})])
    assert short(told(source)) == [(FIRST, 3, 0, "short")]
    assert completeness_of(a_spec(event_times=EventTimes(column="updated_at")), MemoryState({}), BEGIN) is None
    assert told(a_target()).error == f"there is no table {SOURCE.path}"


def test_of_a_source_whose_windows_nobody_counts_that_is_said() -> None:
    found = completeness_of(a_spec(inputs=(), source=a_files_spec(), event_times=TIMES), MemoryState({}), BEGIN)
    assert found is not None
    assert found.error == "windows of a source of kind files are not counted"


PART = ("orders", 0)


class Index:
    """A cluster whose partition has a record in each second since ``FIRST``."""

    def offsets_at(self, parts: Iterable[Part], moment_ms: int) -> Mapping[Part, int | None]:
        offset = max(0, moment_ms // 1000 - FIRST)
        return dict.fromkeys(parts, offset if offset < 3 * HOUR - 100 else None)


def a_step(completed: int, offset: int | None, origin: str = "increment", topic: str = "first") -> Step:
    """Return a step up to an offset; for None one that lets the pipeline begin anew."""
    position = KafkaPosition(of="kafka:orders", offsets={"orders": {0: offset}}, ids={"orders": topic}) if offset else None
    instant, info = a_commit(completed, extra={ORIGIN_KEY: origin})
    return Step(instant=instant, info=info, checkpoint=Checkpoint({MAIN: position} if position else {}))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], [(3600, 0), (3600, 0), (3500, 0)]),
        ([a_step(10, 7300)], [(3600, 3600), (3600, 3600), (3500, 100)]),
        ([a_step(10, 100, "start_at_latest"), a_step(20, 5000)], [(3500, 3500), (3600, 1400), (3500, 0)]),
        ([a_step(10, 3000), a_step(20, 4000, "override"), a_step(30, 20_000)], [(3600, 3000), (3600, 3200), (3500, 3500)]),
        # What was read stays read, wherever the checkpoint is put; what was passed over counts until it is read after all.
        ([a_step(10, 7200), a_step(20, 100, "override")], [(3600, 3600), (3600, 3600), (3500, 0)]),
        (
            [a_step(10, 100), a_step(20, 400, "override"), a_step(30, 7200), a_step(40, 50, "override")],
            [(3600, 3300), (3600, 3600), (3500, 0)],
        ),
        (
            [a_step(10, 100), a_step(20, 400, "override"), a_step(30, 50, "override"), a_step(40, 7200)],
            [(3600, 3600), (3600, 3600), (3500, 0)],
        ),
        (
            [a_step(10, 100), a_step(20, 400, "override"), a_step(30, 7200, "whole_table")],
            [(3600, 3600), (3600, 3600), (3500, 0)],
        ),
        ([a_step(10, 7200), a_step(20, None, "override")], [(3600, 3600), (3600, 3600), (3500, 0)]),
        # Another topic has the name now, and nothing of it was read.
        ([a_step(10, 20_000, topic="before")], [(3600, 0), (3600, 0), (3500, 0)]),
    ],
    ids=[
        "no run",
        "waits",
        "begins at the latest",
        "set by hand",
        "set back",
        "set back over what was passed over",
        "read after all",
        "read whole",
        "reset",
        "made anew",
    ],
)
def test_records_of_a_topic_by_its_time_index(steps: list[Step], expected: list[tuple[int, int]]) -> None:
    facts = Facts(ids={"orders": "first"}, parts={PART: Extent(0, 3 * HOUR - 100)})
    broker: Any = Index()
    found, doubts = count_topics(facts, broker, steps, (FIRST, SECOND, NOW), HOUR)
    assert doubts == {}
    windows: list[WindowFill] = list(filled(found, TIMES, BEGIN, "record", {}))
    assert [(one.at_source, one.taken) for one in windows] == expected


def test_records_that_are_gone_are_on_neither_side() -> None:
    facts = Facts(parts={PART: Extent(3000, 3 * HOUR - 100)})
    broker: Any = Index()
    found, doubts = count_topics(facts, broker, [a_step(10, 3600)], (FIRST, SECOND), HOUR)
    assert [(found[one].at_source, found[one].missing) for one in (FIRST, SECOND)] == [(600, 0), (3600, 3600)]
    assert doubts == {}, "they were read before"


def test_records_that_were_gone_before_they_were_read_leave_their_windows_in_doubt() -> None:
    facts = Facts(parts={PART: Extent(4000, 3 * HOUR - 100)})
    broker: Any = Index()
    steps = [a_step(10, 1000), a_step(20, 4500, "override"), a_step(30, 3 * HOUR - 100)]
    found, doubts = count_topics(facts, broker, steps, (FIRST, SECOND, NOW), HOUR)
    assert (found[FIRST].at_source, found[SECOND].missing, found[NOW].missing) == (0, 500, 0)
    assert list(doubts) == [FIRST, SECOND]
    assert "3,000 records that were gone" in doubts[FIRST]
    assert count_topics(facts, broker, [a_step(10, 1000, "start_at_latest"), *steps[2:]], (FIRST,), HOUR)[1] == {}
