"""Unknown content is not no content: what of a table cannot be read refuses the look, with the table, the file and a code."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.errors import Exit, FreshetError, RetryableError, StateError
from freshet.hudi import actions, properties
from freshet.hudi.checkpoint import encode
from freshet.hudi.never_began import never_began
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.storage import files as storage
from freshet.storage import remote
from freshet.storage.failures import failure_of
from tests.kit.memory import a_checkpoint, at
from tests.kit.timeline import HandMade, clean, commit

WHOLE = commit(encode(a_checkpoint(5)), numInserts=10)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())


@pytest.fixture
def lake(tmp_path: Path) -> HandMade:
    return HandMade(tmp_path / "trips")


def code_of(look: Callable[[], Any]) -> str:
    with pytest.raises(FreshetError) as raised:
        look()
    assert "raw.trips" in str(raised.value)
    return raised.value.code


def error_of(table: HandMade) -> str | None:
    try:
        found = a_look(table)
        found.latest_checkpoint()
        found.commits_between(at(5))
    except FreshetError as error:
        return error.code
    return None


def a_look(table: HandMade) -> Any:
    found = TimelineState().table(table.ref)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [0, 1, 4, 100, len(WHOLE) // 2, len(WHOLE) - 20])
@pytest.mark.parametrize(
    "read",
    [
        lambda table: table.commits_between(at(5)),
        lambda table: table.latest_checkpoint(),
        lambda table: table.latest_extra("x"),
        lambda table: list(table.newest_first()),
        lambda table: table.info(table.commits[-1]),
    ],
    ids=["increment", "checkpoint", "extra", "walk", "info"],
)
def test_a_commit_that_is_cut_off_is_never_passed_over(lake: HandMade, size: int, read: Callable[[Any], Any]) -> None:
    """An empty file (a full or slow disk, a dead writer), a half one; of a source's window and of a target's own commits."""
    lake.done(10, WHOLE)
    lake.done(20, WHOLE[:size])
    assert code_of(lambda: read(a_look(lake))) == "TIMELINE_UNREADABLE"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_a_file_that_is_garbled_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    """Bytes changed, cut, doubled: a commit, a clean, the properties; nothing else is raised than an error of ours."""
    table = HandMade(tmp_path_factory.mktemp("t") / "trips")
    table.done(10, WHOLE)
    table.done(20, clean(at(9)), "clean")
    path = data.draw(st.sampled_from(sorted(p for p in table.timeline.parent.rglob("*") if p.is_file())))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
        content = content or bytearray(b"x")
    path.write_bytes(bytes(content))
    assert error_of(table) in {None, "TIMELINE_UNREADABLE", "TABLE_VERSION", "CHECKPOINT_UNREADABLE", "CHECKPOINT_TOO_NEW"}


@pytest.mark.parametrize(
    ("others", "may"),
    [
        ((f"{at(19)}.commit.requested", f"{at(19)}.inflight"), True),
        ((), False),
        ((f"{at(19)}.inflight", f"{at(29)}_{at(30)}.commit"), False),
        ((f"{at(19)}.inflight", f"{at(29)}.deltacommit.requested"), False),
        ((f"{at(19)}.inflight", f"{at(15)}_{at(30)}.commit"), False),
        ((f"{at(19)}.inflight", f"{at(29)}_{at(30)}.clean"), False),
    ],
    ids=["newest", "no plan", "older", "one begun", "completed later", "cleaned"],
)
def test_only_the_newest_action_is_advised_to_be_taken_back(lake: HandMade, others: tuple[str, ...], may: bool) -> None:
    """Beneath a later action Hudi takes nothing back ("Found commits after time"), and of a source rows would be lost."""
    lake.done(10, WHOLE)
    lake.done(20, b"")
    for name in others:
        lake.put(name, clean(at(9)) if name.endswith(".clean") else WHOLE)
    with pytest.raises(StateError) as raised:
        a_look(lake).info(next(i for i in a_look(lake).commits if i.requested == at(19)))
    assert (raised.value.code, "delete the file" in raised.value.next_step) == ("TIMELINE_UNREADABLE", may)


def test_a_file_of_the_archive_is_never_advised_to_be_deleted(lake: HandMade) -> None:
    lake.archive((10, "commit", b"Obj\x01junk"))
    with pytest.raises(StateError) as raised:
        a_look(lake).load_archived("")
    assert "delete" not in raised.value.next_step


def test_an_empty_clean_is_no_clean_that_deleted_nothing(lake: HandMade) -> None:
    lake.done(10, WHOLE)
    lake.done(20, b"", "clean")
    assert code_of(lambda: a_look(lake)) == "TIMELINE_UNREADABLE"


def test_a_commit_that_is_gone_is_no_commit_without_rows(lake: HandMade) -> None:
    """Listed, and then neither there nor in the archive: not yet visible, taken back, restored; a repeat sees what holds."""
    lake.done(10, WHOLE)
    table = a_look(lake)
    next(lake.timeline.glob("*.commit")).unlink()
    with pytest.raises(RetryableError) as raised:
        table.latest_checkpoint()
    assert raised.value.code == "TIMELINE_CHANGED"


@pytest.mark.parametrize("broken", ["metadata", "no metadata", "manifest", "version", "file", "missing file"])
def test_an_archive_that_is_broken_is_not_an_empty_one(lake: HandMade, broken: str) -> None:
    """Each of its files; a checkpoint that lies behind is not taken for none."""
    metadata = {"metadata": b"Obj\x01junk", "no metadata": None}
    lake.archive((10, "commit", metadata.get(broken, WHOLE)))  # type: ignore[arg-type]
    history = lake.timeline / "history"
    match broken:
        case "manifest":
            (history / "manifest_2").write_text('{"files": [{"fileN')
        case "version":
            (history / "_version_").write_bytes(b"\xff\xfe")
        case "file":
            (history / "new.parquet").write_bytes((history / "new.parquet").read_bytes()[:100])
        case "missing file":
            (history / "new.parquet").unlink()
    assert code_of(lambda: a_look(lake).latest_checkpoint()) == "TIMELINE_UNREADABLE"
    if "metadata" not in broken:
        # And what it lists was not taken back.
        assert code_of(lambda: a_look(lake).archived("")) == "TIMELINE_UNREADABLE"


@pytest.mark.parametrize("content", [None, b"", b"\x00\xff\xfe\x80" * 50, b"# only a comment\n"])
def test_a_table_whose_properties_are_broken_is_not_a_new_one(lake: HandMade, content: bytes | None) -> None:
    """Missing, empty, binary: a run would make a table over the rows that are there."""
    lake.done(10, WHOLE)
    path = lake.timeline.parent / "hoodie.properties"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert code_of(lambda: TimelineState().table(lake.ref)) == "TIMELINE_UNREADABLE"


_SUM = zlib.crc32(b"lake.trips")
_WRITTEN = (
    f"#Properties saved\nhoodie.table.version=8\nhoodie.table.name=trips\nhoodie.database.name=lake\n"
    f"hoodie.table.checksum={_SUM}\n"
).encode()


@pytest.mark.parametrize(
    ("content", "whole"),
    [
        (_WRITTEN, True),
        (_WRITTEN.replace(b"=trips", b"=tr\\u00e4ps"), True),
        (_WRITTEN.replace(b"=lake", b"=lakes"), False),
        (b"\x8f\xfe\x00\x91" + _WRITTEN[4:], False),
        (b"\0\0\0\0" + _WRITTEN[4:], False),
        (_WRITTEN.replace(b"trips", b"trapa"), False),
        (_WRITTEN.replace(str(_SUM).encode(), b"12x"), False),
        (_WRITTEN.replace(b".name=trips", b".nume=trips"), False),
        (_WRITTEN.replace(b".version=", b".virsion="), False),
    ],
    ids=["whole", "escaped", "database", "no text", "zeros", "name", "checksum", "no name", "no version"],
)
def test_properties_that_hudi_would_not_load_are_refused(lake: HandMade, content: bytes, whole: bool) -> None:
    """By their bytes, their keys, and the sum that Hudi itself looks at; the backup beside them still counts."""
    path = lake.timeline.parent / "hoodie.properties"
    path.write_bytes(content)
    if whole:
        assert a_look(lake).config.properties["hoodie.table.version"] == "8"
        return
    assert code_of(lambda: TimelineState().table(lake.ref)) == "TIMELINE_UNREADABLE"
    path.with_name("hoodie.properties.backup").write_bytes(_WRITTEN)
    assert a_look(lake).config.properties["hoodie.table.name"] == "trips"


def test_a_table_that_was_only_begun_is_none(lake: HandMade) -> None:
    (lake.timeline.parent / "hoodie.properties").unlink()
    lake.put(f"{at(10)}.commit.requested")
    assert TimelineState().table(lake.ref) is None


_CUT = _WRITTEN[: _WRITTEN.index(b"hoodie.table.checksum")]


@pytest.mark.parametrize(
    "content", [None, b"", _CUT[:-1], _CUT[:30]], ids=["no file", "empty", "version and no end", "cut off"]
)
def test_a_table_that_was_never_made_is_none(lake: HandMade, content: bytes | None) -> None:
    """Kind: what a writer leaves that is killed while Hudi makes a table, before there is an instant or a file of rows."""
    path = lake.timeline.parent / "hoodie.properties"
    path.unlink()
    (lake.timeline / "history").mkdir()
    (lake.timeline.parent / ".hoodie.properties.crc").touch()
    if content is not None:
        path.write_bytes(content)
    assert never_began(lake.ref.path)
    assert TimelineState().table(lake.ref) is None
    path.write_bytes(_WRITTEN)
    assert not never_began(lake.ref.path)
    assert a_look(lake).instants == ()


@pytest.mark.parametrize(
    "beside",
    [
        f".hoodie/timeline/{at(10)}.commit.requested",
        f".hoodie/timeline/{at(10)}.inflight",
        f".hoodie/timeline/{at(10)}_{at(11)}.commit",
        f".hoodie/{at(10)}.commit",
        ".hoodie/timeline/history/_version_",
        ".hoodie/hoodie.properties.backup",
        ".hoodie/metadata/.hoodie/hoodie.properties",
        ".hoodie/lock",
        "day=2026-08-01/a.parquet",
        "a.parquet",
        ".somebody",
    ],
)
def test_a_table_of_which_anything_else_is_there_is_not_one_that_never_began(lake: HandMade, beside: str) -> None:
    (lake.timeline.parent / "hoodie.properties").write_bytes(b"")
    path = Path(lake.ref.path) / beside
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert not never_began(lake.ref.path)
    assert code_of(lambda: TimelineState().table(lake.ref)) == "TIMELINE_UNREADABLE"


def test_what_cannot_be_told_is_no_table_that_never_began(tmp_path: Path, lake: HandMade) -> None:
    """No folder at all, an empty one, a link, properties that end and are none of a table's, a store that is not local."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".hoodie").symlink_to(lake.timeline.parent)
    (lake.timeline.parent / "hoodie.properties").write_bytes(b"# only a comment\n")
    for name in ("none", "empty", "file", "linked", "trips"):
        assert not never_began(str(tmp_path / name)), name
    assert not never_began("hdfs://lake/trips")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/lake/a\0b", "BAD_PATH"),
        ("http://example.invalid/trips", "BAD_PATH"),
        ("foo://example/trips", "BAD_PATH"),
    ],
)
def test_a_path_that_names_no_table_is_an_error_of_the_path(path: str, code: str) -> None:
    assert code_of(lambda: TimelineState().table(TableRef("raw.trips", path))) == code


@pytest.mark.parametrize(
    ("error", "code", "exit_code"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "STORAGE_REFUSED", Exit.STATE),
        (OSError("When getting information: AWS Error ACCESS_DENIED"), "STORAGE_REFUSED", Exit.STATE),
        (OSError("its client ended with -6: AuthenticationException"), "STORAGE_REFUSED", Exit.STATE),
        (OSError(errno.EIO, "Input/output error"), "STORAGE_UNREACHABLE", Exit.RETRY),
        (OSError("AWS Error NETWORK_CONNECTION: Could not resolve host"), "STORAGE_UNREACHABLE", Exit.RETRY),
        (TimeoutError("no answer within 60 seconds"), "STORAGE_UNREACHABLE", Exit.RETRY),
        (IsADirectoryError(errno.EISDIR, "Is a directory"), "STORAGE_FAILED", Exit.STATE),
        (RuntimeError("of a client"), "STORAGE_FAILED", Exit.STATE),
    ],
)
def test_a_failure_of_a_store_has_the_class_by_which_a_retry_helps_or_not(error: Exception, code: str, exit_code: Exit) -> None:
    found = failure_of(TableRef("raw.trips", "s3a://lake/trips"), error)
    assert (found.code, found.exit_code, "raw.trips (s3a://lake/trips)" in found.message) == (code, exit_code, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_rights_is_refused(lake: HandMade) -> None:
    lake.timeline.parent.chmod(0)
    try:
        assert code_of(lambda: TimelineState().table(lake.ref)) == "STORAGE_REFUSED"
    finally:
        lake.timeline.parent.chmod(0o755)


def test_a_client_that_ends_its_process_does_not_end_this_one() -> None:
    """Azure's without credentials ends it by SIGABRT; in a process of its own, so that an abort would be seen."""
    program = (
        "from freshet.hudi.timeline import TimelineState\nfrom freshet.project.model.pipeline import TableRef\n"
        "try:\n    TimelineState().table(TableRef('raw.trips', 'abfss://c@account.dfs.core.windows.net/trips'))\n"
        "except Exception as error:\n    print(error.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip() in ("STORAGE_REFUSED", "STORAGE_UNREACHABLE")) == (0, True), done


class Stub:
    """What the child asks in place of a client."""

    def __init__(self, uri: str) -> None:
        self.uri = uri


def test_a_store_in_a_process_gives_what_the_store_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, bytes, a missing file; a child that was ended is begun anew, one that does not answer is given up."""
    (tmp_path / "a").write_bytes(b"\x00\n" * 1000)
    asked = remote.ProcessStorage(f"file://{tmp_path}")
    try:
        assert asked.names(f"file://{tmp_path}") == ["a"]
        assert asked.read(f"file://{tmp_path}/a") == b"\x00\n" * 1000
        with pytest.raises(FileNotFoundError):
            asked.read(f"file://{tmp_path}/b")
        asked._child.kill()  # type: ignore[union-attr]
        asked._child.wait()  # type: ignore[union-attr]
        assert asked.names(f"file://{tmp_path}/none") == []
        monkeypatch.setattr(remote, "_PATIENCE_SECONDS", 0.05)
        os.kill(asked._child.pid, signal.SIGSTOP)  # type: ignore[union-attr]
        with pytest.raises(TimeoutError):
            asked.read(f"file://{tmp_path}/a")
    finally:
        asked.end()


def test_the_stores_client_is_chosen_by_the_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "ArrowStorage", Stub)
    assert isinstance(storage.storage_for("s3a://lake/trips"), Stub)
    assert isinstance(storage.storage_for("abfss://c@a.dfs.core.windows.net/trips"), remote.ProcessStorage)
    assert isinstance(storage.storage_for("/lake/trips"), storage.LocalStorage)


def test_an_error_of_the_state_stays_what_it_is(lake: HandMade) -> None:
    (lake.timeline.parent / "hoodie.properties").write_text("hoodie.table.version=6\n")
    with pytest.raises(StateError) as raised:
        TimelineState().table(lake.ref)
    assert raised.value.code == "TABLE_VERSION"
