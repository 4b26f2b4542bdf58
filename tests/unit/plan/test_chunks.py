"""Cutting a range of dates into chunks."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.backfill.chunks import MOST_CHUNKS, BadRange, Chunk, Step, cut, length_of, partition_values, step_of
from freshet.errors import Exit
from freshet.project.model.pipeline import Granularity

JANUARY = datetime(2026, 1, 1)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text)


def refused(*arguments: object) -> str:
    with pytest.raises(BadRange) as raised:
        cut(*arguments)  # type: ignore[arg-type]
    assert raised.value.code == "BAD_RANGE"
    assert raised.value.exit_code == Exit.USAGE
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("6h", Step(hours=6)),
        ("1d", Step(hours=24)),
        ("2w", Step(hours=336)),
        ("1mo", Step(months=1)),
        (" 24h ", Step(hours=24)),
        ("0d", None),
        ("", None),
        ("d", None),
        ("1y", None),
        ("1.5d", None),
        ("-1d", None),
        ("99999d", None),
        ("1d 1h", None),
    ],
)
def test_lengths(text: str, step: Step | None) -> None:
    assert step_of(text) == step


@pytest.mark.parametrize("granularity", ["hour", "day", "month"])
def test_a_partition_is_as_long_as_its_length_says(granularity: Granularity) -> None:
    (one,) = cut(JANUARY, step_of(length_of(granularity)).after(JANUARY), length_of(granularity), granularity)
    assert len(partition_values(one, granularity)) == 1


def test_the_last_chunk_may_be_shorter() -> None:
    assert cut(day("2026-01-01"), day("2026-01-04"), "2d", "day") == (
        Chunk(day("2026-01-01"), day("2026-01-03")),
        Chunk(day("2026-01-03"), day("2026-01-04")),
    )


def test_months_have_their_own_lengths() -> None:
    found = cut(day("2027-12-01"), day("2028-04-01"), "1mo", "month")
    assert [c.start for c in found] == [day(f"{m}-01") for m in ("2027-12", "2028-01", "2028-02", "2028-03")]
    assert found[-1].end == day("2028-04-01")


@pytest.mark.parametrize(
    ("start", "end", "length", "granularity", "starts"),
    [
        ("2026-01-30", "2026-03-10", "1mo", "day", ("2026-01-30", "2026-02-01", "2026-03-01")),
        ("2026-01-30T07:00", "2026-02-02", "1mo", "hour", ("2026-01-30T07:00", "2026-02-01")),
        ("2026-01-31T07:30", "2026-02-02", "1mo", None, ("2026-01-31T07:30", "2026-02-01")),
        ("2026-02-15", "2026-05-01", "3mo", "day", ("2026-02-15",)),
        ("2025-11-30", "2026-06-01", "3mo", "month", ()),
        ("2025-11-01", "2026-06-01", "3mo", "month", ("2025-11-01", "2026-02-01", "2026-05-01")),
        ("2026-01-01", "2026-01-05", "2d", "day", ("2026-01-01", "2026-01-03")),
    ],
)
def test_a_month_is_that_of_the_calendar_and_a_range_may_cut_it(
    start: str,
    end: str,
    length: str,
    granularity: Granularity | None,
    starts: tuple[str, ...],
) -> None:
    """Chunks of several partitions: of days, of hours, of months, and where any range will do."""
    if not starts:
        refused(day(start), day(end), length, granularity)
        return
    found = cut(day(start), day(end), length, granularity)
    assert [c.start for c in found] == [day(text) for text in starts]
    assert found[-1].end == day(end)


def test_hours_where_any_range_will_do() -> None:
    found = cut(day("2026-01-01T05:30"), day("2026-01-01T12:00"), "6h", None)
    assert [(c.start.hour, c.start.minute, c.end.hour) for c in found] == [(5, 30, 11), (11, 30, 12)]


@pytest.mark.parametrize(
    ("start", "end", "chunk", "granularity"),
    [
        ("2026-01-02", "2026-01-02", "1d", None),
        ("2026-01-03", "2026-01-02", "1d", None),
        ("2026-01-01", "2026-01-02", "soon", None),
        ("2026-01-01T01:00", "2026-01-02", "1d", "day"),
        ("2026-01-01", "2026-01-02T23:00", "1d", "day"),
        ("2026-01-01T00:30", "2026-01-01T02:00", "1h", "hour"),
        ("2026-01-15", "2026-03-01", "1mo", "month"),
        ("2026-01-01", "2026-01-03", "6h", "day"),
        ("2026-01-01", "2026-03-01", "4w", "month"),
        ("2020-01-01", "2026-01-01", "1h", None),
    ],
)
def test_ranges_that_cannot_be_cut(start: str, end: str, chunk: str, granularity: Granularity | None) -> None:
    refused(day(start), day(end), chunk, granularity)


def test_as_many_chunks_as_allowed() -> None:
    end = Step(hours=MOST_CHUNKS).after(JANUARY)
    assert len(cut(JANUARY, end, "1h", "hour")) == MOST_CHUNKS
    refused(JANUARY, Step(hours=1).after(end), "1h", "hour")


@pytest.mark.parametrize(
    ("granularity", "start", "end", "values"),
    [
        ("day", "2026-02-27", "2026-03-02", ("2026-02-27", "2026-02-28", "2026-03-01")),
        ("hour", "2026-01-01T22:00", "2026-01-02T00:00", ("2026-01-01-22", "2026-01-01-23")),
        ("month", "2025-12-01", "2026-02-01", ("2025-12", "2026-01")),
    ],
)
def test_values_of_partitions(granularity: Granularity, start: str, end: str, values: tuple[str, ...]) -> None:
    assert partition_values(Chunk(day(start), day(end)), granularity) == values


@given(
    begin=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    hours=st.integers(1, 2000),
    length=st.sampled_from(["1h", "7h", "1d", "3d", "2w", "1mo", "5mo"]),
)
def test_chunks_cover_the_range_once(begin: datetime, hours: int, length: str) -> None:
    found = cut(begin, Step(hours=hours).after(begin), length, None)
    assert (found[0].start, found[-1].end) == (begin, Step(hours=hours).after(begin))
    assert all(one.end == then.start for one, then in pairwise(found))
    assert all(one.start < one.end for one in found)
