"""A data file that is as long as it was written, and is not what was written: found, and said with its table and its name.

The kind: bytes that changed where they lie. Of a log Hudi passes over a block that does not fit into its place, without a word:
its frames are looked at before it is read. Of a Parquet file the page's checksum tells, where the reader fails: whatever Spark
and Hudi say of it, and whether they name a file or not.
"""

from __future__ import annotations

import random
import struct
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from freshet.errors import FreshetError, StateError
from freshet.hudi.timeline import TimelineState
from freshet.index.ops.work import require_rows
from freshet.project.model.pipeline import Project, TableRef
from freshet.quarantine import commands
from freshet.run import show
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read import damage, missing
from freshet.sources.hudi.read.damage import refuse_damaged, refuse_damaged_in_store
from freshet.sources.hudi.read.frames import broken_frame
from freshet.sources.hudi.read.second_reader import damage_of
from tests.kit.memory import TARGET, a_spec, at
from tests.kit.timeline import OF_A_PIPELINE, OF_A_QUARANTINE, HandMade, commit

FOREIGN = Path(__file__).parents[2] / "foreign"
LOG = ".00000001-aa-0_{}.log.1_0-19-18"
FAILED = (
    "An error occurred while calling o12.save.\n: org.apache.hudi.exception.HoodieException: Failed\nCaused by: {}\n\tat a.B(C)"
)


def a_block(instant: str, kind: int = 3, rows: bytes = b"") -> bytes:
    """Return a block of one row as HoodieLogFormatWriter writes it."""
    row = rows or struct.pack("b", 2 * 30) + b"x" * 30
    content = struct.pack(">iii", 3, 1, len(row)) + row
    entries = {0: instant.encode(), 2: b'{"type":"string"}'}
    header = struct.pack(">i", len(entries)) + b"".join(struct.pack(">ii", k, len(v)) + v for k, v in entries.items())
    body = struct.pack(">ii", 1, kind) + header + struct.pack(">q", len(content)) + content + struct.pack(">i", 0)
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 8 + 6)


def test_real_logs_are_whole(tmp_path: Path) -> None:
    """Of Spark, of HoodieStreamer's options with change data, of Spark SQL's MERGE INTO with its parts of rows."""
    logs = []
    for name in ("plain_mor", "streamer_mor_cdc", "sql_mor"):
        with tarfile.open(FOREIGN / f"{name}.tar.xz") as archive:
            archive.extractall(tmp_path / name, filter="data")
        found = [path for path in (tmp_path / name).rglob(".*.log.*") if "/.hoodie/" not in str(path) and path.suffix != ".crc"]
        assert found
        logs += found
    assert [said for path in logs if (said := damage_of(str(path)))] == []


def test_rows_that_their_schema_cannot_read_are_found(tmp_path: Path) -> None:
    """The frames are whole: Hudi's own reader fails, and names no file. A text's bytes may be any, and are no damage."""
    file, whole = tmp_path / LOG.format(at(19)), a_block(at(19))
    for old, new, damaged in (
        (b'{"type"', b'7"type"', True),
        (b'"string"', b'"double"', True),
        (struct.pack("b", 60) + b"x", struct.pack("b", 80) + b"x", True),
        (struct.pack("b", 60) + b"x", struct.pack("b", 58) + b"x", True),
        (struct.pack(">i", 31), struct.pack(">i", 30), True),
        (b"xxx", b"\xff\xff\xff", False),
    ):
        assert old in whole
        file.write_bytes(whole.replace(old, new))
        assert broken_frame(str(file)) == ""
        assert bool(damage_of(str(file))) is damaged, (old, new)


def test_a_garbled_frame_is_found_wherever_it_is(tmp_path: Path) -> None:
    """Each byte of two blocks changed, one after the other: but for the rows themselves all are found."""
    file, instant = tmp_path / LOG.format(at(19)), at(19)
    block = a_block(instant)
    whole = block + a_block(instant, kind=1)
    file.write_bytes(whole)
    assert broken_frame(str(file)) == ""
    begin = block.index(b'{"type"')
    of_rows = range(begin, len(block) - 12)
    missed = []
    for place in range(len(block)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        if not broken_frame(str(file)) and place not in of_rows:
            missed.append(place)
    # The version of a later release, a kind of block, and the key of an entry that is not looked at.
    at_version = range(14, 22)
    assert [place for place in missed if place not in at_version and place not in range(begin - 8, begin)] == []
    file.write_bytes(whole[:-30])
    assert broken_frame(str(file))
    file.write_bytes(whole + b"#HUDI#")
    assert broken_frame(str(file))


class Store:
    """A store over a folder, which counts what is asked of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked, self.bytes = root, list[str](), 0

    def _of(self, path: str) -> Path:
        return self.root / path.removeprefix("s3a://lake/")

    def sizes(self, folder: str) -> dict[str, int]:
        return {one.name: one.stat().st_size for one in self._of(folder).iterdir()}

    def read(self, path: str) -> bytes:
        return self._told(path, self._of(path).read_bytes())

    def read_part(self, path: str, begin: int, length: int) -> bytes:
        return self._told(path, self._of(path).read_bytes()[begin : begin + length])

    def _told(self, path: str, data: bytes) -> bytes:
        self.asked.append(path.rpartition("/")[2])
        self.bytes += len(data)
        return data


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    found = Store(tmp_path)
    monkeypatch.setattr(damage, "storage_for", lambda path: found)
    damage._hold_log.cache_clear()
    return found


IN_STORE = TableRef("raw.trips", "s3a://lake")


def in_store(*logs: Path) -> str:
    """Return what is said of logs in a store that are as long as their commits wrote them."""
    damage._hold_log.cache_clear()
    try:
        refuse_damaged_in_store(IN_STORE, [(one.name, one.stat().st_size) for one in logs], "Nothing was written.")
    except StateError as error:
        return error.code if "s3a://lake/.0" in error.message else "not named"
    return ""


def test_in_a_store_the_frames_are_looked_at_too(tmp_path: Path, store: Store) -> None:
    file = tmp_path / LOG.format(at(19))
    whole = a_block(at(19)) + a_block(at(19), kind=1)
    file.write_bytes(whole)
    assert (in_store(file), store.asked) == ("", [file.name])
    for place in (0, 7, 13, 23, len(whole) // 2 + 1, len(whole) - 1):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        assert in_store(file) == "FILE_CORRUPT", place
    file.write_bytes(a_block(at(18)))
    assert in_store(file) == "FILE_CORRUPT"


def test_of_a_large_log_only_the_frames_are_asked_for(tmp_path: Path, store: Store) -> None:
    """By few requests, its begin and its end; what is between them has no checksum, and is not read."""
    file = tmp_path / LOG.format(at(19))
    whole = a_block(at(19), rows=b"x" * (4 << 20))
    file.write_bytes(whole)
    assert in_store(file) == ""
    assert (len(store.asked) <= 4, store.bytes <= 1 << 16) == (True, True), (store.asked, store.bytes)
    file.write_bytes(whole[:-1] + b"?")
    assert in_store(file) == "FILE_CORRUPT"
    file.write_bytes(whole[: 2 << 20] + b"?" + whole[(2 << 20) + 1 :])
    assert in_store(file) == ""
    # Of a log of many blocks the first are looked at: nobody waits for thousands of requests.
    store.asked.clear()
    file.write_bytes(a_block(at(19), rows=b"x" * 20_000) * 200 + b"?")
    assert (in_store(file), len(store.asked)) == ("", 32)


def test_in_a_store_the_newest_logs_are_looked_at_once(tmp_path: Path, store: Store) -> None:
    """A run holds the same files as its plan did a moment ago, and a table may have thousands of logs."""
    logs = [tmp_path / f".0000000{n % 9}-aa-0_{at(n)}.log.1_0-19-18" for n in range(10, 210)]
    for number, log in enumerate(logs, 10):
        log.write_bytes(a_block(at(number)))
    assert (in_store(*logs), len(store.asked)) == ("", 64)
    assert set(store.asked) == {log.name for log in logs[-64:]}
    store.asked.clear()
    refuse_damaged_in_store(IN_STORE, [(one.name, one.stat().st_size) for one in logs], "x")
    assert store.asked == []
    logs[-1].unlink()
    assert in_store(*logs[:-1]) == ""


def test_a_log_that_is_cleaned_meanwhile_is_told_by_who_reads_it(store: Store) -> None:
    refuse_damaged_in_store(IN_STORE, [(LOG.format(at(19)), 100)], "x")
    assert store.asked == []


def test_a_version_in_a_store_is_held_by_its_logs(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a plan and a run ask for before they read."""
    log = tmp_path / LOG.format(at(19))
    log.write_bytes(a_block(at(19)))
    monkeypatch.setattr(missing, "storage_for", lambda path: store)
    missing._hold_all(IN_STORE, {"": [(log.name, log.stat().st_size)]}, "x")
    log.write_bytes(b"?" + log.read_bytes()[1:])
    damage._hold_log.cache_clear()
    with pytest.raises(StateError, match="is not what its commit wrote"):
        missing._hold_all(IN_STORE, {"": [(log.name, log.stat().st_size)]}, "x")


def test_a_log_of_another_commit_is_none_of_this_one(tmp_path: Path) -> None:
    """Hudi shows no block of a commit that the timeline does not have."""
    table = TableRef("raw.trips", str(tmp_path))
    file = tmp_path / LOG.format(at(19))
    for instant, fits in ((at(19), True), (at(18), False)):
        file.write_bytes(a_block(instant))
        if fits:
            refuse_damaged(table, file.name, file.stat().st_size, file.stat().st_size, "x")
            continue
        with pytest.raises(StateError) as refused:
            refuse_damaged(table, file.name, file.stat().st_size, file.stat().st_size, "Nothing was written.")
        assert refused.value.code == "FILE_CORRUPT"
        assert str(file) in refused.value.message


def a_base_file(path: Path, *, garbled: bool, codec: str = "zstd") -> None:
    draw = random.Random(7)
    rows = pa.table({"id": [f"id{draw.random()}" for _ in range(500)], "fare": [draw.random() for _ in range(500)]})
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(rows, path, compression=codec, write_page_checksum=True, use_dictionary=False)
    if garbled:
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 0x11
        path.write_bytes(bytes(data))


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "none"])
def test_a_garbled_page_is_found_in_every_codec(tmp_path: Path, codec: str) -> None:
    file = tmp_path / "a.parquet"
    for garbled in (False, True):
        a_base_file(file, garbled=garbled, codec=codec)
        assert bool(damage_of(str(file))) is garbled


def a_lake(root: Path, garbled: str, file: str) -> dict[str, TableRef]:
    """Return tables of one base file and one log, of which one file of one table is garbled."""
    tables = {}
    for name in ("raw.events", "dim.cities", "derived.copy", "derived.copy_quarantine"):
        table = HandMade(root / name, OF_A_PIPELINE)
        base, log = f"00000001-aa-0_0-19-18_{at(9)}.parquet", LOG.format(at(19))
        a_base_file(root / name / "2026-08-01" / base, garbled=name == garbled and file == "base")
        block = a_block(at(19))
        broken = block[:-5] + b"\x41" + block[-4:]
        (root / name / "2026-08-01" / log).write_bytes(broken if name == garbled and file == "log" else block)
        for moment, written, action in ((10, base, "commit"), (20, log, "deltacommit")):
            size = (root / name / "2026-08-01" / written).stat().st_size
            stats = {"fileId": "00000001-aa-0", "path": f"2026-08-01/{written}", "fileSizeInBytes": size}
            table.done(moment, commit(numInserts=1, **stats), action)
        tables[name] = TableRef(name, str(root / name))
    return tables


def read_here(files: list[str], end: float) -> tuple[str, str] | None:
    return next(((file, said) for file in files if (said := damage_of(file))), None)


@pytest.mark.parametrize("garbled", ["raw.events", "dim.cities", "derived.copy"])
@pytest.mark.parametrize("file", ["base", "log"])
@pytest.mark.parametrize("named", ["the base file", "the table", "nothing"])
def test_what_failed_by_a_garbled_file_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    garbled: str,
    file: str,
    named: str,
) -> None:
    """Source, input and target; a base file and a log; while the batch is made, and while it is written."""
    monkeypatch.setattr(damage, "_asked", read_here)
    tables = a_lake(tmp_path, garbled, file)
    path = tables[garbled].path
    words = {
        "the base file": f"SparkException: Encountered error while reading file file://{path}/2026-08-01/00000001-aa-0_0-19-18_"
        f"{at(9)}.parquet. Details:\nCaused by: java.lang.ArrayIndexOutOfBoundsException: 7",
        "the table": f"HoodieException: Exception when reading log file of {path}/2026-08-01",
        "nothing": "java.lang.NegativeArraySizeException: -3",
    }[named]
    reads = (tables["raw.events"], tables["dim.cities"])
    for reading in (True, False):
        error = in_words(tables["derived.copy"], FAILED.format(words), reads, reading)
        assert (error.code, error.exit_code, error.retryable) == ("FILE_CORRUPT", 5, False)
        assert error.message.startswith(f"{garbled}: {path}/2026-08-01/")
        assert (".log." in error.message) == (file == "log")
        assert error.effect
        assert "Restore the file" in error.next_step


def test_the_quarantine_is_a_table_too(tmp_path: Path) -> None:
    tables = a_lake(tmp_path, "derived.copy_quarantine", "base")
    error = in_words(
        tables["derived.copy_quarantine"], FAILED.format("java.lang.IllegalStateException: x"), (tables["raw.events"],)
    )
    assert (error.code, error.message.startswith("derived.copy_quarantine: ")) == ("FILE_CORRUPT", True)


def test_where_all_is_whole_the_failure_is_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where there is nothing to look at, a reader that hangs, or ends with a signal."""
    tables = a_lake(tmp_path, "", "")
    reads, text = (tables["raw.events"],), FAILED.format("java.lang.ClassCastException: a")
    assert in_words(tables["derived.copy"], text, reads).code == "WRITE_FAILED"
    assert in_words(TARGET, text).code == "WRITE_FAILED"
    monkeypatch.setattr(damage, "_READER", "import time; print('? /x', flush=True); time.sleep(9)")
    monkeypatch.setattr(damage, "_PATIENCE_SECONDS", 0.5)
    assert in_words(tables["derived.copy"], text, reads).code == "WRITE_FAILED"
    ends = "import os, sys; print('? ' + sys.stdin.readline().strip(), flush=True); os.kill(os.getpid(), {})"
    for number, code in ((9, "WRITE_FAILED"), (6, "FILE_CORRUPT")):
        monkeypatch.setattr(damage, "_READER", ends.format(number))
        ended: FreshetError = in_words(tables["derived.copy"], text, reads)
        assert (ended.code, "signal 6" in ended.message) == (code, number == 6)


def test_who_only_looks_or_makes_an_index_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: rows that Hudi would pass over. ``freshet show`` would not show them, an index would lack their keys, by which they
    would be written twice, and a quarantine's rows would wait no more.
    """
    for module in (show, commands):
        monkeypatch.setattr(
            module, "load_table" if module is show else "session_for", lambda *_, **__: pytest.fail("it is read")
        )
    tables = a_lake(tmp_path, "derived.copy", "log")
    a_lake(tmp_path / "other", "derived.copy_quarantine", "log")
    kept = TableRef("derived.copy_quarantine", str(tmp_path / "other/derived.copy_quarantine"))
    properties = Path(kept.path) / ".hoodie/hoodie.properties"
    properties.write_text(OF_A_QUARANTINE)
    spec = a_spec(name="copy", target={"ref": tables["derived.copy"]}, quarantine=kept)
    state = TimelineState()
    there = state.table(tables["derived.copy"])
    assert there is not None
    wanted = show.Wanted(limit=1)
    project = Project("", "local", (spec,), {})
    for look in (
        lambda: require_rows(spec, state),
        lambda: show.show_rows(None, there, wanted),  # type: ignore[arg-type]
        lambda: commands.show(project, spec, state, "", 1, print),
        lambda: commands.drop(project, spec, state, "", print),
    ):
        with pytest.raises(StateError) as refused:
            look()
        assert (refused.value.code, ".log." in refused.value.message) == ("FILE_CORRUPT", True)
