"""Which files a run reads: each once, whatever order they land in, however old they are, wherever a run is killed. Pure.

Of the kind: a file that is read twice, or never, and nobody says so.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.project.model.files import FilesSpec
from freshet.sources.files.look import seen
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.look.ready import ready_of
from freshet.sources.files.look.seen import Late, position_after
from freshet.sources.files.look.window import Choice, choose, window_of
from freshet.sources.files.position import ENCODING, FilesPosition, after_time
from freshet.sources.files.reads import File
from tests.kit.files import DAY, HOUR, MINUTE, NOW, a_file, a_files_spec, a_listing


def chosen(spec: FilesSpec, listing: Listing, position: FilesPosition | None = None, **more: Any) -> Choice:
    return choose("p", spec, ready_of(spec, listing), position, **more)


def kept(position: FilesPosition) -> FilesPosition:
    """Return a position as a commit keeps it."""
    found = ENCODING.decode(json.loads(json.dumps(position.encoded())))
    assert found == position
    assert isinstance(found, FilesPosition)
    return found


def paths(choice: Choice) -> list[str]:
    return [file.path for file in choice.read]


# --- each once, or said ---------------------------------------------------------------------------------------------------

LANDINGS = st.lists(
    st.lists(
        st.tuples(
            # When it was modified, before the moment in which it comes: equal ones, late ones, and far too late ones.
            st.sampled_from([0, 0, 0, 1, MINUTE, 2 * HOUR, 20 * HOUR, 3 * DAY, 40 * DAY]),
            # Whether it stands in the place of one of the files before it.
            st.sampled_from([None, None, None, None, 0, 1, 2]),
            st.integers(0, 3),
        ),
        max_size=4,
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(
    landings=LANDINGS,
    steps=st.lists(st.sampled_from([0, MINUTE, HOUR, 9 * HOUR, 2 * DAY]), min_size=8, max_size=8),
    killed=st.lists(st.booleans(), min_size=24, max_size=24),
    most=st.integers(1, 4),
    remembered=st.sampled_from([1, 2, 16_384]),
    rewritten=st.sampled_from(["read", "ignore"]),
)
def test_every_file_is_read_once_or_said(
    landings: list[list[tuple[int, int | None, int]]],
    steps: list[int],
    killed: list[bool],
    most: int,
    remembered: int,
    rewritten: Any,
) -> None:
    spec = a_files_spec(max_files=most, max_bytes=25, too_late="warn", rewritten=rewritten, quiet_seconds=0, empty="skip")
    now, number = NOW, 0
    there: dict[str, File] = {}
    read, landed, ignored = Counter[File](), list[File](), set[File]()
    # Of what was left out the day is said at least.
    said = set[int]()
    position: FilesPosition | None = None
    kills = iter(killed)

    def run() -> bool:
        nonlocal position
        choice = chosen(spec, Listing(files=tuple(there.values()), asked_ms=now), position)
        if not choice.read:
            return False
        if next(kills, False):
            return True
        read.update(choice.read)
        ignored.update(choice.ignored)
        said.update(choice.late.days, choice.late.doubtful)
        position = kept(choice.after)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen, "MOST_FILES", remembered)
        for landing, step in zip(landings, steps, strict=False):
            now += step
            for age, over, size in landing:
                number += 1
                path = f"f{number}"
                if over is not None and len(landed) > over:
                    path = landed[over].path
                file = File(path, 10 + size, now - age)
                if file != there.get(path):
                    there[path] = file
                    landed.append(file)
            run()
        for _ in range(200):
            if not run():
                break
        else:
            pytest.fail("there is always something to read")
        # Whatever was left out has been told by now, or is told by this look, which reads nothing.
        last = chosen(spec, Listing(files=tuple(there.values()), asked_ms=now), position)
    said.update(last.late.days, last.late.doubtful)
    ignored.update(last.ignored)
    assert max(read.values(), default=0) <= 1
    never = [file for file in there.values() if file not in read and file not in ignored]
    assert {file.modified // DAY for file in never} <= said


def test_a_position_stays_small_however_many_files_were_read() -> None:
    files = [File(f"day={n // 500}/f{n}", 10, NOW - 90 * DAY + n * MINUTE) for n in range(60_000)]
    position = position_after(FilesPosition(of="r"), read=files, rewritten=(), unread=(), standing=files, late_ms=DAY)
    assert len(json.dumps(kept(position).encoded())) < 70_000
    assert sum(count for count, _ in (position.days or {}).values()) + 1441 >= 60_000
    assert position.as_json()["remembered"] == 1441


def test_files_that_land_faster_than_they_can_be_remembered_are_remembered_for_a_shorter_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seen, "MOST_FILES", 100)
    files = [a_file(f"f{n}", DAY - n * MINUTE) for n in range(200)]
    spec = a_files_spec()
    first = chosen(spec, a_listing(files)).after
    assert first.as_json()["remembered"] == 100
    late = a_file("late", DAY - 50 * MINUTE)
    with pytest.raises(StateError) as refused:
        chosen(spec, a_listing(files, late), first)
    assert (refused.value.code, refused.value.details["files"]) == ("FILES_LATE", ["late"])


# --- late and rewritten ones ----------------------------------------------------------------------------------------------


def test_a_late_file_is_read_within_the_time_and_said_beyond_it() -> None:
    spec = a_files_spec(late_seconds=7200)
    old, new = a_file("old", 9 * DAY), a_file("new", DAY)
    first = chosen(spec, a_listing(old, new)).after
    assert paths(chosen(spec, a_listing(old, new, a_file("in time", DAY + HOUR)), first)) == ["in time"]
    too_late = a_file("too late", DAY + 3 * HOUR)
    with pytest.raises(StateError) as refused:
        chosen(spec, a_listing(old, new, too_late), first)
    assert refused.value.code == "FILES_LATE"
    assert "too late" in refused.value.message
    warned = chosen(a_files_spec(late_seconds=7200, too_late="warn"), a_listing(old, new, too_late, a_file("x", HOUR)), first)
    assert paths(warned) == ["x"]
    window = window_of(warned, first)
    assert "too late" in window.warning
    assert window.warning in window.reason
    # Said once: from then on it counts as read.
    again = chosen(spec, a_listing(old, new, too_late, a_file("x", HOUR)), warned.after)
    assert (paths(again), again.late.number) == ([], 0)


def test_old_files_that_are_cleared_away_are_no_late_ones() -> None:
    spec = a_files_spec(late_seconds=60)
    files = [a_file(f"f{n}", 9 * DAY - n * HOUR) for n in range(100)]
    position = chosen(spec, a_listing(files)).after
    fewer = chosen(spec, a_listing(files[30:]), position)
    assert (fewer.late.number, len(fewer.late.doubtful)) == (0, 1)
    assert "one that came late to those would not be seen" in fewer.words
    assert chosen(spec, a_listing(), position).late == Late()
    with pytest.raises(StateError):
        # As many as before, and not the same.
        chosen(spec, a_listing(files[1:], a_file("other", 9 * DAY)), position)


@pytest.mark.parametrize("changed", [{"size": 11}, {"modified": DAY - 1}, {"modified": 30 * DAY}])
def test_a_rewritten_file_is_refused_read_again_or_left_as_it_was(changed: dict[str, int]) -> None:
    before = a_listing(a_file("a", DAY), a_file("b", DAY))
    after = a_listing(a_file("b", DAY), a_file("a", **{"modified": DAY, **changed}))
    position = chosen(a_files_spec(), before).after
    with pytest.raises(StateError) as refused:
        chosen(a_files_spec(), after, position)
    assert (refused.value.code, refused.value.details["files"]) == ("FILES_REWRITTEN", ["a"])
    again = chosen(a_files_spec(rewritten="read"), after, position)
    assert paths(again) == ["a"]
    assert paths(chosen(a_files_spec(rewritten="read"), after, again.after)) == []
    ignored = chosen(a_files_spec(rewritten="ignore"), after, position)
    assert (paths(ignored), [file.path for file in ignored.ignored]) == ([], ["a"])


# --- bounds ---------------------------------------------------------------------------------------------------------------


def test_files_of_one_time_may_be_cut_apart_by_the_bounds() -> None:
    spec = a_files_spec(max_bytes=25)
    files = [a_file(name, DAY) for name in "cabde"]
    first = chosen(spec, a_listing(files))
    assert (paths(first), [f.path for f in first.later]) == (["a", "b"], ["c", "d", "e"])
    # HoodieStreamer goes by the time alone: from its place on all of that time is read, some of it again.
    assert first.after.streamer_form() == str(NOW - DAY - 1)
    second = chosen(spec, a_listing(files), first.after)
    third = chosen(spec, a_listing(files), second.after)
    assert (paths(second), paths(third)) == (["c", "d"], ["e"])
    assert third.after.streamer_form() == str(NOW - DAY)


def test_a_file_that_is_larger_than_the_bound_is_read_alone() -> None:
    files = [a_file("a", 3 * DAY), a_file("b", 2 * DAY, size=100), a_file("c", DAY)]
    position, read = None, []
    for _ in range(3):
        choice = chosen(a_files_spec(max_bytes=25), a_listing(files), position)
        position = choice.after
        read.append(paths(choice))
    assert read == [["a"], ["b"], ["c"]]


def test_a_whole_reading_knows_no_bounds_and_no_position() -> None:
    files = [a_file(f"f{n}", n * DAY) for n in range(1, 6)]
    position = chosen(a_files_spec(), a_listing(files)).after
    assert len(chosen(a_files_spec(max_files=1), a_listing(files), is_whole=True).read) == 5
    assert position == chosen(a_files_spec(max_files=1), a_listing(files), is_whole=True).after


# --- what is left alone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "changes", "is_read"),
    [
        ("a.json", {}, True),
        ("2026/01/05/a.json", {}, True),
        ("day=2026-01-05/a b%20[x]{1}?.json", {}, True),
        (".a.json", {}, False),
        ("_SUCCESS", {}, False),
        ("_temporary/0/a.json", {}, False),
        (".staging/a.json", {}, False),
        ("a.json.tmp", {}, False),
        ("a.json._COPYING_", {}, False),
        ("A.JSON.PART", {}, False),
        ("a.json.filepart", {}, False),
        ("partly.json", {}, True),
        ("a.json", {"pattern": "*.json"}, True),
        ("x/a.json", {"pattern": "*.json"}, True),
        ("x/a.json", {"pattern": "x/*.json"}, True),
        ("x/y/a.json", {"pattern": "x/*.json"}, False),
        ("x/y/a.json", {"pattern": "x/**/*.json"}, True),
        ("x/a.json", {"pattern": "x/**/?.json"}, True),
        ("a.jsonl", {"pattern": "*.json"}, False),
        ("a+b.json", {"pattern": "a+b.json"}, True),
        ("aab.json", {"pattern": "a+b.json"}, False),
    ],
)
def test_names_and_patterns(path: str, changes: dict[str, Any], is_read: bool) -> None:
    assert bool(ready_of(a_files_spec(**changes), a_listing(a_file(path))).files) is is_read


def test_what_may_still_be_written_is_left_alone_and_said() -> None:
    listing = a_listing(
        a_file("quiet", 2 * MINUTE), a_file("written", 30_000), a_file("empty", DAY, size=0), File("ahead", 10, NOW + DAY)
    )
    found = ready_of(a_files_spec(), listing)
    assert [file.path for file in found.files] == ["quiet"]
    assert found.words == ("1 file modified in the future, 1 file modified too short a time ago, 1 file without a byte")
    assert {f.path for f in ready_of(a_files_spec(empty="skip", quiet_seconds=0), listing).files} == {
        "quiet",
        "written",
        "empty",
    }
    choice = chosen(a_files_spec(), listing)
    # What is ahead of the clock is no mark: files of today would all be late.
    assert choice.after.mark == NOW - 2 * MINUTE


def test_files_of_a_folder_wait_for_its_marker_however_long_and_are_not_late() -> None:
    spec = a_files_spec(marker="_SUCCESS", late_seconds=60)
    done, waits = a_file("b/_SUCCESS", DAY), a_file("a/1", 20 * DAY)
    first = chosen(spec, a_listing(waits, a_file("b/1", DAY), done))
    assert paths(first) == ["b/1"]
    assert "in a folder without _SUCCESS" in first.words
    assert first.after.streamer_form() == str(NOW - 20 * DAY - 1)
    both = a_listing(waits, a_file("a/_SUCCESS", HOUR), a_file("b/1", DAY), done)
    second = chosen(spec, both, first.after)
    assert paths(second) == ["a/1"]
    assert paths(chosen(spec, both, second.after)) == []


def test_a_file_that_gets_its_bytes_later_is_read_then() -> None:
    spec = a_files_spec(late_seconds=60)
    first = chosen(spec, a_listing(a_file("a", 9 * DAY, size=0), a_file("b", DAY)))
    assert paths(chosen(spec, a_listing(a_file("a", HOUR), a_file("b", DAY)), first.after)) == ["a"]


# --- from HoodieStreamer, and by hand -------------------------------------------------------------------------------------


def test_from_a_time_on_what_is_newer_is_read_and_what_comes_late_is_said_from_the_first_run_on() -> None:
    spec = a_files_spec(late_seconds=3600)
    at = after_time("", NOW - 2 * DAY)
    files = [a_file("before", 3 * DAY), a_file("then", 2 * DAY), a_file("after", 2 * DAY - 1)]
    first = chosen(spec, a_listing(files), at)
    assert paths(first) == ["after"]
    with pytest.raises(StateError) as refused:
        chosen(spec, a_listing(files, a_file("late", 3 * DAY)), kept(first.after))
    assert refused.value.code == "FILES_LATE"
