"""What the driver sees of a file at its beginning or its end, before Spark reads it: what it has in common with others, or why
it is none."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

from freshet.errors import FreshetError
from freshet.project.model.files import FileFormat
from freshet.project.model.pipeline import TableRef
from freshet.sources.files.read.heads import PartFile, look_at
from freshet.sources.files.reads import File, ReadFiles
from freshet.sources.hudi.reads import Window
from freshet.storage.files import LocalStorage

TABLE = pa.table({"id": ["a"] * 2000, "n": list(range(2000))})
AVRO = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}


def looked(
    root: Path, kind: FileFormat, csv: dict[str, str] | None = None, **files: bytes
) -> tuple[dict[tuple[str, ...], list[str]], dict[str, str]]:
    """Return files by what they have in common, and why others are none; an ``_`` in a name stands for a dot."""
    named = {name.replace("_", "."): data for name, data in files.items()}
    for name, data in named.items():
        (root / name).write_bytes(data)
    ref = TableRef(str(root), str(root))
    stage = ReadFiles(
        table=ref,
        window=Window(kind="increment"),
        with_deletes=False,
        files=tuple(File(name, len(data), 0) for name, data in named.items()),
        format=kind,
        columns=(),
        csv=csv or {},
    )
    groups, bad = look_at(stage)
    return {alike: [f.path for f in of] for alike, of in groups.items()}, {f.path: why for f, why in bad.items()}


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def an_orc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    orc.write_table(table, sink)
    return bytes(sink.getvalue())


def an_avro(name: str = "id") -> bytes:
    sink = io.BytesIO()
    schema = fastavro.parse_schema({**AVRO, "fields": [{"name": name, "type": "string"}]})
    fastavro.writer(sink, schema, [{name: "a"}] * 100)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_files_of_one_schema_are_read_together_and_what_has_none_is_told(tmp_path: Path, kind: FileFormat) -> None:
    other = TABLE.rename_columns(["key", "n"])
    one, two = {
        "parquet": (parquet(TABLE), parquet(other)),
        "orc": (an_orc(TABLE), an_orc(other)),
        "avro": (an_avro(), an_avro("key")),
    }[kind]
    groups, bad = looked(
        tmp_path,
        kind,
        a=one,
        b=one,
        c=two,
        empty=b"",
        short=one[:7],
        text=b"id,n\n1,2\n",
        zip=b"PK\x03\x04" + one,
        half=one[:40],
    )
    assert sorted(groups.values()) == [["a", "b"], ["c"]]
    assert set(bad) == {"empty", "short", "text", "zip", "half"}
    assert all(why.startswith("it is no ") for why in bad.values()), bad


def test_avro_that_is_cut_off_in_a_block_is_none_though_javas_reader_would_read_the_rest(tmp_path: Path) -> None:
    whole = an_avro()
    groups, bad = looked(tmp_path, "avro", a=whole, cut=whole[:-1], more=whole + b"x")
    assert list(groups.values()) == [["a"]]
    assert bad.keys() == {"cut", "more"}


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_name_must_say_how_a_file_is_packed(tmp_path: Path, kind: FileFormat) -> None:
    packed = gzip.compress(b"{}\n")
    groups, bad = looked(tmp_path, kind, a=b"{}\n", a_gz=packed, b=packed, b_gz=b"{}\n", c_gz=b"", d_bz2=packed)
    assert groups == {(): ["a", "a.gz"]}
    assert set(bad) == {"b", "b.gz", "c.gz", "d.bz2"}


@pytest.mark.parametrize(
    ("data", "csv", "expected"),
    [
        (b"id,n\n1,2\n", {}, ("id", "n")),
        (b"id,n\r\n1,2\r\n", {}, ("id", "n")),
        (b"id,n", {}, ("id", "n")),
        (b"\xef\xbb\xbfid, n \n", {}, ("id", "n")),
        (b"\n\n# say\nid;n\n", {"sep": ";", "comment": "#"}, ("id", "n")),
        (b'"i;d";n\n', {"sep": ";"}, ("i;d", "n")),
        (b"'i,d',n\n", {"quote": "'"}, ("i,d", "n")),
        (b"id||n\n", {"sep": "||"}, ("id", "n")),
        ("né;n\n".encode("latin-1"), {"sep": ";", "encoding": "ISO-8859-1"}, ("né", "n")),
        (b"id,ID\n1,2\n", {}, "stands twice"),
        (b"\n \n", {}, "no names"),
        (b"a" * 70_000, {}, "no end"),
        (b"id,n\n", {"encoding": "klingon"}, "cannot be read"),
    ],
)
def test_the_first_line_of_csv_names_its_columns(
    tmp_path: Path, data: bytes, csv: dict[str, str], expected: tuple[str, ...] | str
) -> None:
    for name, body in (("plain", data), ("a_gz", gzip.compress(data))):
        groups, bad = looked(tmp_path, "csv", {"header": "true", **csv}, **{name: body})
        if isinstance(expected, tuple):
            assert list(groups) == [expected]
        else:
            assert expected in next(iter(bad.values()))


def test_how_a_file_is_packed_is_said_in_small_letters(tmp_path: Path) -> None:
    """Hadoop finds the codec by the name as it stands: the packed bytes would be read as text."""
    groups, bad = looked(tmp_path, "json", a_GZ=gzip.compress(b"{}"), b_Bz2=b"BZh9", c_gz=gzip.compress(b"{}"))
    assert (groups, sorted(bad)) == ({(): ["c.gz"]}, ["a.GZ", "b.Bz2"])


def test_a_store_that_fails_is_no_bad_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: object, path: str, begin: int, length: int) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(LocalStorage, "read_part", fails)
    for kind in ("json", "parquet", "avro"):
        with pytest.raises(FreshetError) as refused:
            looked(tmp_path, kind, a=b"{}\n")  # type: ignore[arg-type]
        assert refused.value.code == "STORAGE_REFUSED"


def test_a_file_that_is_read_in_parts_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    part = PartFile(LocalStorage(), str(tmp_path / "a"), 10)
    assert (part.read(3), part.tell(), part.seek(-2, io.SEEK_END), part.read(), part.read(1)) == (b"012", 3, 8, b"89", b"")
    assert (part.seek(1), part.seek(2, io.SEEK_CUR), part.read(2)) == (1, 3, b"34")
