"""A file that Spark did not find is gone for good, or was cleaned meanwhile: only then a retry is of use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.errors import FreshetError, StateError
from freshet.hudi import actions
from freshet.hudi.timeline import TimelineState
from freshet.plan.stages import Commit
from freshet.project.model.pipeline import TableRef
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.held import hold_target
from freshet.sources.hudi.read.missing import hold_files, hold_version
from freshet.sources.hudi.reads import Version
from tests.kit.memory import TARGET, at
from tests.kit.timeline import OF_A_PIPELINE, HandMade, clean, clean_plan, commit


@pytest.fixture(autouse=True)
def _any_log(monkeypatch: pytest.MonkeyPatch) -> None:
    # What hand-made logs hold is no block: see test_garbled_files.
    monkeypatch.setattr("freshet.sources.hudi.read.damage.broken_frame", lambda path: "")


BASE, LOG = "00000001-aa-0_0-12-40_{}.parquet", ".00000001-aa-0_{}.log.1_0-12-40"
TEXT = "An error.\n: java.lang.RuntimeException\nCaused by: java.io.FileNotFoundException: File file:{} does not exist\n"
IMAGINED = "day=1/2026-08-01"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())


def a_lake(root: Path, then: Callable[[HandMade], None]) -> TableRef:
    table = HandMade(root / "a lake" / "trips", OF_A_PIPELINE)
    table.done(20, commit(numInserts=1))
    table.done(30, commit(numInserts=1))
    then(table)
    return table.ref


def cleaned(moment: int, partition: str = IMAGINED) -> bytes:
    return clean(at(29), BASE.format(at(moment)), partition=partition)


CASES = [
    ("nothing came", lambda table: None, 20, "FILE_MISSING"),
    ("archived since", lambda table: table.archive((10, "commit", commit())), 10, "FILE_MISSING"),
    ("another was cleaned", lambda table: table.done(40, cleaned(9), "clean"), 20, "FILE_MISSING"),
    ("of another partition", lambda table: table.done(40, cleaned(19, "day=2"), "clean"), 20, "FILE_MISSING"),
    ("cleaned", lambda table: table.done(40, cleaned(19), "clean"), 20, ""),
    ("is being cleaned", lambda table: table.put(f"{at(39)}.clean.inflight"), 20, ""),
    ("rolled back", lambda table: None, 25, ""),
]


@pytest.mark.parametrize(("then", "moment", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("name", [BASE, LOG], ids=["base", "log"])
@pytest.mark.parametrize("reading", [True, False], ids=["reading", "writing"])
def test_a_file_is_gone_for_good_where_the_timeline_knows_it(
    tmp_path: Path,
    then: Callable[[HandMade], None],
    moment: int,
    code: str,
    name: str,
    reading: bool,
) -> None:
    """Deleted by hand or lost by the store, of the source and of the target; the same command would fail for ever."""
    ref = a_lake(tmp_path, then)
    text = TEXT.format(f"{ref.path}/{IMAGINED}/{name.format(at(moment - 1))}")
    for target, reads in ((TARGET, (ref,)), (ref, ())):
        error = in_words(target, text, reads, reading)
        later = "SOURCE_CHANGED_UNDER_READ" if target is TARGET else "COMMIT_CONFLICT"
        assert (error.code, error.retryable) == ((code, False) if code else (later, True))
        assert ref.name in error.message


@pytest.mark.parametrize(
    ("there", "then", "code"),
    [
        (9, lambda table: None, ""),
        (12, lambda table: None, ""),
        (8, lambda table: None, "FILE_CORRUPT"),
        (0, lambda table: None, "FILE_CORRUPT"),
        (None, lambda table: None, "FILE_MISSING"),
        # No clean rightly deletes a file of the newest version: the rows are lost, and Hudi reads on without them.
        (
            None,
            lambda table: [table.done(40 + len(day), cleaned(19, day), "clean") for day in ("day=2026-08-01", "")],
            "FILE_MISSING",
        ),
        (None, lambda table: table.put(f"{at(39)}.clean.requested"), "FILE_MISSING"),
    ],
    ids=["whole", "grown", "cut", "empty", "gone", "cleaned", "is being cleaned"],
)
@pytest.mark.parametrize("name", [BASE, LOG], ids=["base", "log"])
@pytest.mark.parametrize("day", ["day=2026-08-01", ""], ids=["partitioned", "not partitioned"])
def test_the_files_of_a_window_are_what_its_commits_wrote(
    tmp_path: Path,
    there: int | None,
    then: Callable[[HandMade], None],
    code: str,
    name: str,
    day: str,
) -> None:
    """Hudi lists what is there, and skips the end of a log that it cannot read: the rows would be passed over."""
    ref = a_lake(tmp_path, then)
    path = f"{day}/{name.format(at(19))}".lstrip("/")
    timeline = Path(ref.path) / ".hoodie/timeline"
    (timeline / f"{at(19)}_{at(20)}.commit").write_bytes(commit(path=path, fileSizeInBytes=9))
    (timeline / f"{at(29)}_{at(30)}.commit").write_bytes(commit(fileId="00000002-bb-0"))
    (Path(ref.path) / day).mkdir(exist_ok=True)
    if there is not None:
        (Path(ref.path) / path).write_bytes(b"x" * there)
    hold_files(ref, (at(29),), "", "Nothing was written.")
    if not code:
        hold_files(ref, (at(19), at(29)), "", "Nothing was written.")
        return
    with pytest.raises(StateError) as refused:
        hold_files(ref, (at(19), at(29)), "", "Nothing was written.")
    assert (refused.value.code, path in refused.value.message) == (code, True)


OLD, NEW = (BASE.format(at(moment)) for moment in (19, 29))
DAY = "day=2026-08-01"
LATEST, EARLIER = Version(""), Version(at(20))
NOTHING = "Nothing was written."


def cleans(*names: str) -> Callable[[HandMade], None]:
    return lambda table: table.done(40, clean(at(29), *names, partition=DAY), "clean")


def is_cleaning(*names: str, empty: bool = False) -> Callable[[HandMade], None]:
    def begin(table: HandMade) -> None:
        plan = b"" if empty else clean_plan(*names, partition=DAY, base=table.ref.path)
        for end in ("requested", "inflight"):
            table.put(f"{at(39)}.clean.{end}", plan)

    return begin


def rewritten(root: Path, *gone: str) -> HandMade:
    """Return a table of one file group that its second commit wrote anew, some of the files gone."""
    table = HandMade(root / "a lake, 100%" / "trips", OF_A_PIPELINE)
    place = Path(table.ref.path) / DAY
    place.mkdir()
    for moment, name in ((20, OLD), (30, NEW)):
        table.done(moment, commit(partition=DAY, path=f"{DAY}/{name}", fileSizeInBytes=9))
        if name not in gone:
            (place / name).write_bytes(b"x" * 9)
    return table


def code_of(look: Callable[[], None]) -> str:
    try:
        look()
    except FreshetError as error:
        return error.code
    return ""


@pytest.mark.parametrize(
    ("then", "of_latest", "of_earlier"),
    [
        (lambda table: None, "FILE_MISSING", "FILE_MISSING"),
        (cleans(OLD, NEW), "FILE_MISSING", "SOURCE_CHANGED_UNDER_READ"),
        (cleans("00000002-bb-0_0-12-40_20260801101500019.parquet"), "FILE_MISSING", "FILE_MISSING"),
        (is_cleaning(OLD, NEW), "FILE_MISSING", "SOURCE_CHANGED_UNDER_READ"),
        # A cleaner that has died disarms nothing but what it was going to delete.
        (is_cleaning("00000002-bb-0_0-12-40_20260801101500019.parquet"), "FILE_MISSING", "FILE_MISSING"),
        (is_cleaning(empty=True), "FILE_MISSING", "SOURCE_CHANGED_UNDER_READ"),
    ],
    ids=["no clean", "cleaned", "another cleaned", "in a clean's plan", "another in its plan", "in no plan that can be read"],
)
def test_what_a_clean_may_delete_excuses_no_file_of_the_newest_version(
    tmp_path: Path,
    then: Callable[[HandMade], None],
    of_latest: str,
    of_earlier: str,
) -> None:
    """Kind: a guard that a clean disarms; the newest slice deleted by it (apache/hudi issue 19290), a clean that never ended.

    Also an earlier version of which a clean has deleted a file: its rows are never left out in silence, and the next look at
    the timeline has another answer. Of all that look: before a write, a whole read, a window, and what Spark did not find.
    """
    table = rewritten(tmp_path, OLD, NEW)
    then(table)
    ref, state = table.ref, TimelineState().table(table.ref)
    assert state is not None
    assert code_of(lambda: hold_version(ref, LATEST, NOTHING)) == of_latest
    assert code_of(lambda: hold_target(state, Commit(table=ref, operation="upsert", options={}))) == of_latest
    assert code_of(lambda: hold_files(ref, (at(29),), "", NOTHING)) == of_latest
    assert in_words(TARGET, TEXT.format(f"{ref.path}/{DAY}/{NEW}"), (ref,)).code == of_latest
    assert code_of(lambda: hold_version(ref, EARLIER, NOTHING)) == of_earlier
    assert code_of(lambda: hold_files(ref, (at(19),), at(20), NOTHING)) == of_earlier
    assert in_words(TARGET, TEXT.format(f"{ref.path}/{DAY}/{OLD}"), (ref,)).code == of_earlier


@pytest.mark.parametrize("then", [cleans(OLD), is_cleaning(OLD)], ids=["has ended", "is at work"])
def test_a_cleaner_between_the_plan_and_the_read_is_no_loss(tmp_path: Path, then: Callable[[HandMade], None]) -> None:
    """Of the kind: a commit that was taken back in between, and a table that was dropped. The same command succeeds then."""
    table = rewritten(tmp_path, OLD)
    newest = table.timeline / f"{at(29)}_{at(30)}.commit"
    seen = newest.read_bytes()
    newest.unlink()
    planned = TimelineState().table(table.ref)
    assert planned is not None
    newest.write_bytes(seen)
    then(table)
    assert code_of(lambda: hold_version(planned, LATEST, NOTHING)) == "SOURCE_CHANGED_UNDER_READ"
    assert code_of(lambda: hold_target(planned, Commit(table=table.ref, operation="upsert", options={}))) == "COMMIT_CONFLICT"
    hold_version(table.ref, LATEST, NOTHING)
    hold_files(table.ref, (at(29),), "", NOTHING)


def test_a_commit_that_is_taken_back_meanwhile_is_no_loss(tmp_path: Path) -> None:
    table = rewritten(tmp_path, NEW)
    planned = TimelineState().table(table.ref)
    assert planned is not None
    assert planned.info(planned.commits[-1]).files
    (table.timeline / f"{at(29)}_{at(30)}.commit").unlink()
    assert code_of(lambda: hold_version(planned, LATEST, NOTHING)) == "SOURCE_CHANGED_UNDER_READ"
    hold_version(table.ref, LATEST, NOTHING)


def test_of_an_earlier_version_the_newest_commits_up_to_it_are_looked_at(tmp_path: Path) -> None:
    """Not the newest of all, of which none may be of that version."""
    table = rewritten(tmp_path, OLD)
    for moment in range(100, 160):
        table.done(moment, commit(partition=DAY))
    assert code_of(lambda: hold_version(table.ref, EARLIER, NOTHING)) == "FILE_MISSING"


def test_where_nobody_can_tell_it_stays_a_matter_of_time() -> None:
    for place in ("/nowhere/trips", "/nowhere/trips/a.parquet"):
        error = in_words(TARGET, TEXT.format(place), (TableRef("raw.trips", "/nowhere/trips"),))
        assert error.code == "SOURCE_CHANGED_UNDER_READ"


@pytest.mark.parametrize(
    ("cause", "of_target", "code", "exit_code"),
    [
        ("java.io.IOException: No space left on device", True, "STORAGE_FULL", 5),
        ("java.io.FileNotFoundException: {}/d/x.parquet (Read-only file system)", True, "NOT_WRITABLE", 5),
        ("java.io.IOException: Mkdirs failed to create file:{}/d (exists=false, cwd=file:/)", True, "NOT_WRITABLE", 5),
        ("java.nio.file.AccessDeniedException: {}/d/x.parquet", False, "STORAGE_REFUSED", 5),
        ("org.apache.hadoop.security.AccessControlException: Permission denied: user=a, path={}", True, "STORAGE_REFUSED", 5),
        ("java.net.ConnectException: Connection refused", True, "STORAGE_UNREACHABLE", 4),
        ("com.amazonaws.SdkClientException: Unable to execute HTTP request: bucket.local", True, "STORAGE_UNREACHABLE", 4),
        ("java.net.UnknownHostException: namenode", True, "STORAGE_UNREACHABLE", 4),
        ("org.apache.hadoop.fs.ChecksumException: Checksum error: file:{}/d/x.parquet at 0", False, "FILE_CORRUPT", 5),
        ("java.lang.RuntimeException: file:{}/d/x.parquet is not a Parquet file. Expected magic", True, "FILE_CORRUPT", 5),
    ],
)
def test_what_a_store_says_has_a_code_of_its_own(cause: str, of_target: bool, code: str, exit_code: int) -> None:
    """A retry is of use where the store may answer later, and nowhere else."""
    source = TableRef("raw.trips", "/lake/raw/trips")
    path = TARGET.path if of_target else source.path
    error = in_words(TARGET, f"An error occurred.\n: java.lang.RuntimeException\nCaused by: {cause.format(path)}\n", (source,))
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.message.startswith(TARGET.name if of_target else source.name)


def test_what_a_python_step_says_is_no_word_of_a_store() -> None:
    worker = 'Traceback (most recent call last):\n  File "a.py", line 1\nOSError: [Errno 28] No space left on device\n'
    text = f"An error.\nCaused by: org.apache.spark.api.python.PythonException: {worker}"
    assert in_words(TARGET, text).code == "PYTHON_ERROR"
