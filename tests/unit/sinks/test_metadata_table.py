"""Hudi lists a table's files by its metadata table: one that is damaged loses and doubles rows, and nobody is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.errors import FreshetError
from freshet.hudi import actions, properties
from freshet.hudi.timeline import TimelineState
from freshet.plan.stages import Commit
from freshet.sources.hudi.read.held import hold_target
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.reads import Version
from tests.kit.memory import at
from tests.kit.timeline import OF_A_PIPELINE, HandMade, clean, commit


@pytest.fixture(autouse=True)
def _any_log(monkeypatch: pytest.MonkeyPatch) -> None:
    # What hand-made logs hold is no block: see test_garbled_files.
    monkeypatch.setattr("freshet.sources.hudi.read.damage.broken_frame", lambda path: "")


NOTHING = "Nothing was written."
LISTED = f"{OF_A_PIPELINE}hoodie.table.metadata.partitions=column_stats,files\n"
OF_METADATA = "hoodie.table.version=8\nhoodie.table.type=MERGE_ON_READ\nhoodie.timeline.path=timeline\n"
BASE, LOG = "files-0000-0_0-19-18_{}.hfile", ".files-0000-0_{}.log.1_0-37-42"
FIRST = "0" * 17
WHOLE = {BASE.format(FIRST): 9, LOG.format(at(19)): 9, LOG.format(at(29)): 9}
NEWEST = LOG.format(at(29))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())


def listed(root: Path, of_table: str = LISTED) -> tuple[HandMade, HandMade]:
    """Return a table, and its metadata table: a base file that was made with it, and a log of each of two commits."""
    table = HandMade(root / "a lake, 100%" / "trips", of_table)
    metadata = HandMade(Path(table.ref.path) / ".hoodie/metadata", OF_METADATA)
    (Path(metadata.ref.path) / "files").mkdir()
    for moment in (20, 30):
        table.done(moment, commit())
    wrote(metadata, f"{FIRST}_{at(15)}", BASE.format(FIRST))
    for moment in (20, 30):
        wrote(metadata, f"{at(moment - 1)}_{at(moment)}", LOG.format(at(moment - 1)))
    return table, metadata


def wrote(metadata: HandMade, times: str, name: str, action: str = "deltacommit", folder: str = "files") -> None:
    operation = "COMPACT" if action == "commit" else "UPSERT_PREPPED"
    metadata.put(
        f"{times}.{action}",
        commit(operation=operation, partition=folder, fileId="files-0000-0", path=f"{folder}/{name}", fileSizeInBytes=9),
    )
    (Path(metadata.ref.path) / folder).mkdir(exist_ok=True)
    (Path(metadata.ref.path) / folder / name).write_bytes(b"x" * 9)


def looks(table: HandMade, **options: str) -> dict[str, FreshetError | None]:
    def seen(look: Callable[[], None]) -> FreshetError | None:
        try:
            look()
        except FreshetError as error:
            return error
        return None

    state = TimelineState().table(table.ref)
    assert state is not None
    options = {f"hoodie.{key.replace('_', '.')}": value for key, value in options.items()}
    return {
        "whole": seen(lambda: hold_version(table.ref, Version(""), NOTHING)),
        "at a version": seen(lambda: hold_version(table.ref, Version(at(20)), NOTHING)),
        "written": seen(lambda: hold_target(state, Commit(table=table.ref, operation="upsert", options=options))),
    }


def cut(name: str, size: int) -> Callable[[HandMade], object]:
    return lambda metadata: (Path(metadata.ref.path) / "files" / name).write_bytes(b"x" * size)


def gone(name: str) -> Callable[[HandMade], None]:
    return lambda metadata: (Path(metadata.ref.path) / "files" / name).unlink()


def settings(text: str | None) -> Callable[[HandMade], None]:
    def change(metadata: HandMade) -> None:
        path = Path(metadata.ref.path) / ".hoodie/hoodie.properties"
        path.unlink() if text is None else path.write_text(text)

    return change


DAMAGE = [
    *(
        (f"{what} {name}", then, code, f"files/{name}")
        for name in WHOLE
        for what, then, code in (
            ("empty", cut(name, 0), "FILE_CORRUPT"),
            ("half", cut(name, 4), "FILE_CORRUPT"),
            ("gone", gone(name), "FILE_MISSING"),
        )
    ),
    (
        "cleaned",
        lambda m: (gone(NEWEST)(m), m.done(40, clean(at(29), NEWEST, partition="files"), "clean")),
        "FILE_MISSING",
        NEWEST,
    ),
    ("settings empty", settings(""), "FILE_CORRUPT", "hoodie.properties"),
    ("settings garbled", settings("\x01\x02 no setting"), "FILE_CORRUPT", "hoodie.properties"),
    ("settings gone", settings(None), "FILE_CORRUPT", "hoodie.properties"),
    ("a commit empty", lambda m: m.put(f"{at(29)}_{at(30)}.deltacommit"), "FILE_CORRUPT", f"{at(29)}_{at(30)}.deltacommit"),
]


@pytest.mark.parametrize(("then", "code", "name"), [case[1:] for case in DAMAGE], ids=[case[0] for case in DAMAGE])
def test_a_damaged_metadata_table_is_refused(tmp_path: Path, then: Callable[[HandMade], object], code: str, name: str) -> None:
    """Kind: a file that Hudi passes over, and with it all files that it lists. Of a source read whole or at a version, and of
    the target; also its base file, its settings and its timeline, of which Hudi's own words name nothing to mend.
    """
    table, metadata = listed(tmp_path)
    then(metadata)
    for error in looks(table).values():
        assert error is not None
        assert (error.code, int(error.exit_code)) == (code, 5)
        assert f"{metadata.ref.path}/" in error.message
        assert name in error.message
        assert "metadata delete" in error.next_step


def compacted(metadata: HandMade) -> None:
    """A base file of a compaction; what lies below it is cleaned, and a log is written over it."""
    wrote(metadata, f"{at(31)}_{at(33)}", BASE.format(at(31)), "commit")
    wrote(metadata, f"{at(39)}_{at(40)}", LOG.format(at(39)))
    for name in WHOLE:
        gone(name)(metadata)
    metadata.done(42, clean(at(39), *WHOLE, partition="files"), "clean")


def overtaken(metadata: HandMade) -> None:
    """An index that was dropped: its files go, and the commits that wrote them stay."""
    wrote(metadata, f"{at(33)}_{at(34)}", "col-stats-0000-0_0-19-18_20260801101500033.hfile", folder="column_stats")
    for file in (Path(metadata.ref.path) / "column_stats").iterdir():
        file.unlink()


def archiving(metadata: HandMade) -> None:
    """An archiver at work, or one that died: it has taken the compaction, and not yet the older commits."""
    compacted(metadata)
    (metadata.timeline / f"{at(31)}_{at(33)}.commit").unlink()
    (metadata.timeline / f"{FIRST}_{at(15)}.deltacommit").unlink()


def begun(metadata: HandMade) -> None:
    """A commit and a compaction that have not ended, or were rolled back: their files are there, cut, or not."""
    for end in ("requested", "inflight"):
        metadata.put(f"{at(39)}.deltacommit.{end}")
    metadata.put(f"{at(35)}.compaction.requested")
    cut(LOG.format(at(39)), 0)(metadata)
    metadata.put(f"{at(44)}_{at(45)}.rollback")


def no_table(metadata: HandMade) -> None:
    settings(None)(metadata)
    for file in metadata.timeline.iterdir():
        file.unlink()


HEALTHY = [
    ("whole", lambda m: None),
    ("grown", cut(NEWEST, 12)),
    ("compacted", compacted),
    ("index dropped", overtaken),
    ("begun", begun),
    ("archiving", archiving),
    ("of another version", settings(OF_METADATA.replace("version=8", "version=6"))),
    ("only its folder", no_table),
]


@pytest.mark.parametrize("then", [case[1] for case in HEALTHY], ids=[case[0] for case in HEALTHY])
def test_a_whole_metadata_table_passes(tmp_path: Path, then: Callable[[HandMade], object]) -> None:
    """Where its timeline does not tell, nobody is stopped."""
    table, metadata = listed(tmp_path)
    then(metadata)
    assert set(looks(table).values()) == {None}


def test_one_that_hudi_does_not_read_is_not_looked_at(tmp_path: Path) -> None:
    """Left over from before it was switched off; and a run that switches it off, by which Hudi deletes it."""
    table, metadata = listed(tmp_path, f"{OF_A_PIPELINE}hoodie.table.metadata.partitions=\n")
    cut(NEWEST, 0)(metadata)
    assert set(looks(table).values()) == {None}
    (Path(table.ref.path) / ".hoodie/hoodie.properties").write_text(LISTED)
    assert looks(table, metadata_enable="false")["written"] is None
    assert looks(table, datasource_write_operation="insert_overwrite")["written"] is not None


def test_one_that_changes_between_two_looks_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kind: a log written anew under its name, and a metadata table that Hudi drops and makes again."""
    table, metadata = listed(tmp_path)
    cut(NEWEST, 0)(metadata)
    real, seen = TimelineState.table, list[str]()

    def look(self: TimelineState, ref: object) -> object:
        seen.append(str(ref))
        if len([path for path in seen if "metadata" in path]) == 2:
            cut(NEWEST, 9)(metadata)
        return real(self, ref)  # type: ignore[arg-type]

    monkeypatch.setattr(TimelineState, "table", look)
    hold_version(table.ref, Version(""), NOTHING)
    assert len([path for path in seen if "metadata" in path]) == 2


ROWS = "record-index-{:04d}-0"


def entries(
    metadata: HandMade,
    group: int,
    requested: str,
    completed: int,
    log: bool = False,
    folder: str = "record_index",
) -> str:
    """Write a file of the record index, as a commit of the metadata table; return its path."""
    name = f".{ROWS.format(group)}_{requested}.log.1_0-3-4" if log else f"{ROWS.format(group)}_0-1-2_{requested}.hfile"
    metadata.put(
        f"{requested}_{at(completed)}.deltacommit",
        commit(partition=folder, fileId=ROWS.format(group), path=f"{folder}/{name}", fileSizeInBytes=9),
    )
    place = Path(metadata.ref.path) / folder / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"x" * 9)
    return f"{folder}/{name}"


INDEXED = f"{OF_A_PIPELINE}hoodie.table.metadata.partitions=column_stats,files,record_index\n"


def test_a_damaged_record_index_is_refused_where_it_finds_the_rows_of_a_write(tmp_path: Path) -> None:
    """Kind: an index that has forgotten keys, whose rows would be written twice. Reads do not ask it, nor writes by
    another index; and column statistics are asked by nobody, as tables are read without them.
    """
    table, metadata = listed(tmp_path, INDEXED)
    first, log = entries(metadata, 0, f"{'0' * 16}2", 16), entries(metadata, 0, at(25), 26, log=True)
    entries(metadata, 1, f"{'0' * 16}3", 17, folder="column_stats")
    assert set(looks(table, index_type="RECORD_INDEX").values()) == {None}
    (Path(metadata.ref.path) / "column_stats").joinpath(f"{ROWS.format(1)}_0-1-2_{'0' * 16}3.hfile").unlink()
    assert set(looks(table, index_type="RECORD_INDEX").values()) == {None}
    for path in (first, log):
        for size, code in ((4, "FILE_CORRUPT"), (None, "FILE_MISSING")):
            place = Path(metadata.ref.path) / path
            place.unlink() if size is None else place.write_bytes(b"x" * size)
            found = looks(table, index_type="RECORD_INDEX")
            assert (found["whole"], found["at a version"]) == (None, None)
            error = found["written"]
            assert error is not None
            assert (error.code, path in error.message, "metadata delete" in error.next_step) == (code, True, True)
            assert looks(table, index_type="BUCKET")["written"] is None
            place.write_bytes(b"x" * 9)


# As a writer names it, and as Hudi does that makes a part of a metadata table that stands.
@pytest.mark.parametrize("anew", [at(24), f"{'0' * 16}4"])
def test_a_record_index_that_was_made_anew_has_other_files(tmp_path: Path, anew: str) -> None:
    """Of fewer groups than before: nobody tells by a commit that the others are gone. And one that was dropped."""
    table, metadata = listed(tmp_path, INDEXED)
    for group in (0, 1):
        entries(metadata, group, f"{'0' * 16}{group + 2}", 16 + group)
    entries(metadata, 1, at(22), 23, log=True)
    entries(metadata, 0, at(23), 24, log=True)
    for file in (Path(metadata.ref.path) / "record_index").iterdir():
        file.unlink()
    assert looks(table, index_type="RECORD_INDEX")["written"] is not None
    entries(metadata, 0, anew, 25)
    assert looks(table, index_type="RECORD_INDEX")["written"] is None
    (Path(metadata.ref.path) / "record_index").joinpath(f"{ROWS.format(0)}_0-1-2_{anew}.hfile").unlink()
    (Path(table.ref.path) / ".hoodie/hoodie.properties").write_text(LISTED)
    assert looks(table, index_type="RECORD_INDEX")["written"] is None
