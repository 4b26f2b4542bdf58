"""Files become rows: one of each format, what does not fit, and what is no file of its format.

The kind: a reader's leniency that makes other rows than were written, and a file of which a part is lost. No table is written.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError
from freshet.project.model.files import FileFormat
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.sources.files.look.listing import list_files
from freshet.sources.files.read.reader import FilesReader
from freshet.sources.files.read.rows import below
from freshet.sources.files.reads import ReadFiles
from freshet.sources.hudi.reads import Window
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type

COLUMNS = {"id": "string", "n": "int", "amount": "decimal(10,2)", "at": "timestamp"}
SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int32()), ("amount", pa.decimal128(10, 2)), ("at", pa.timestamp("us"))])
OF_CSV = {"header": "true", "sep": ";", "escape": '"'}
Rows = list[tuple[str, int]]


class Folder:
    """A folder of files of one format."""

    def __init__(self, spark: SparkSession, root: Path, kind: FileFormat, csv: Mapping[str, str] | None = None) -> None:
        self.spark, self.root, self.kind = spark, root / "land ing 50%", kind
        self.csv = dict(OF_CSV if kind == "csv" else {}) if csv is None else csv
        self.root.mkdir()

    def put(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def write(self, name: str, rows: Rows) -> bytes:
        data = WRITERS[self.kind](rows)
        self.put(name, data)
        return data

    def read(
        self, *names: str, rule: str = "readable", is_strict: bool = False, columns: Mapping[str, str] = COLUMNS
    ) -> tuple[list[tuple[Any, ...]], dict[str, str]]:
        """Return rows, and by file or line what went aside with its reason."""
        ref = TableRef(str(self.root), str(self.root))
        listing = list_files(ref)
        assert listing is not None
        stage = ReadFiles(
            table=ref,
            window=Window(kind="increment"),
            with_deletes=False,
            files=tuple(sorted(listing.files, key=lambda file: file.path)),
            format=self.kind,
            columns=tuple(Column(name=name, type=parse_type(kind)) for name, kind in columns.items()),
            csv=self.csv,
            is_strict=is_strict,
            rule=rule,
        )
        rows, aside = FilesReader().read(self.spark, stage)
        assert [field.name for field in rows.schema.fields] == [*columns, "_file"]
        found = sorted((tuple(row) for row in rows.selectExpr(*(names or columns)).collect()), key=str)
        told = aside.select(REASONS, ORIGINAL).collect() if aside is not None else []
        why = {}
        for row in told:
            body = json.loads(row[ORIGINAL])
            key = body["path"] if row[REASONS][0].startswith("the file: ") else body.get("line") or json.dumps(body)
            why[key] = row[REASONS][0]
        assert len(why) == len(told)
        return found, why


def _table(rows: Rows) -> pa.Table:
    told = [{"id": key, "n": n, "amount": Decimal(n) / 4, "at": 1_700_000_000_000_000} for key, n in rows]
    return pa.Table.from_pylist(told, SCHEMA)


def _json(rows: Rows) -> bytes:
    lines = [json.dumps({"id": key, "n": n, "amount": n / 4, "at": "2023-11-14T22:13:20Z"}) for key, n in rows]
    return "\n".join([*lines, "", ""]).encode()


def _csv(rows: Rows) -> bytes:
    # In another order than the columns have, with one that is none of them.
    lines = [f'{n};"{key}";{n / 4};x;2023-11-14 22:13:20' for key, n in rows]
    return "\r\n".join(["n;id;amount;more;at", *lines]).encode()


def _parquet(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(_table(rows), sink)
    return bytes(sink.getvalue())


def _orc(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    orc.write_table(_table(rows), sink)
    return bytes(sink.getvalue())


def _avro(rows: Rows) -> bytes:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    fields = [
        {"name": "id", "type": "string"},
        {"name": "n", "type": ["null", "int"]},
        {"name": "amount", "type": decimal},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ]
    sink = io.BytesIO()
    told = [{"id": key, "n": n, "amount": Decimal(n) / 4, "at": 1_700_000_000_000_000} for key, n in rows]
    fastavro.writer(sink, fastavro.parse_schema({"type": "record", "name": "r", "fields": fields}), told)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
}


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "orc", "avro"])
def test_rows_are_those_that_were_written_and_a_file_that_is_none_goes_aside_whole(
    spark: SparkSession, tmp_path: Path, kind: FileFormat
) -> None:
    land = Folder(spark, tmp_path, kind)
    land.write("day=1/a%20 b+c é", [("a", 1), ("b", 2)])
    whole = land.write("whole", [(f"w{n}", n) for n in range(2000)])
    packed = kind in ("json", "csv")
    if packed:
        land.put("c.gz", gzip.compress(WRITERS[kind]([("c", 3)])))
        # Cut off behind its beginning, which is whole.
        land.put("cut.gz", gzip.compress(WRITERS[kind]([(f"x{n}", n) for n in range(9000)]), 1)[:-40])
        land.put("broken", gzip.compress(b"x"))
    elif kind == "avro":
        land.put("broken", whole[: len(whole) // 2])
        land.put("cut.gz", b"Obj")
    else:
        land.put("broken", whole[: len(whole) // 2])
        land.put("cut.gz", b"PAR1ORC")
    rows, aside = land.read("id", "n", "amount", "cast(at AS string)", "_file.path", "_file.size")
    assert set(aside) == {"broken", "cut.gz"}
    assert all(why.startswith("the file: ") for why in aside.values())
    assert len(rows) == (2003 if packed else 2002)
    size = (land.root / "day=1/a%20 b+c é").stat().st_size
    assert rows[0] == ("a", 1, Decimal("0.25"), "2023-11-14 22:13:20", "day=1/a%20 b+c é", size)
    with pytest.raises(DataError) as refused:
        land.read(rule="")
    assert refused.value.code == "FILES_UNREADABLE"


def test_lines_that_are_no_rows_go_aside_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    land = Folder(spark, tmp_path, "json")
    bad = [b'{"id": "b", "n": 1.5}', b'{"id": "c"} {"id": "d"}', b"no json", b'[{"id": "e"}]', b'{"id": "f", "amount": 1.005}']
    land.put(
        "a", b"\n".join([b'\xef\xbb\xbf{"id": "a", "n": 1}', *bad, b"", b"  ", b'{"id": "\xff"}', b'{"id": "g", "more": 1}'])
    )
    rows, aside = land.read("id", "n")
    assert rows == [("a", 1), ("g", None)]
    assert {line for line in aside if "line_base64" not in line} == {line.decode() for line in bad}
    assert [json.loads(line)["line_base64"] for line in aside if "line_base64" in line] == ["eyJpZCI6ICL/In0="]
    assert land.read("id", is_strict=True)[0] == [("a",)]


def test_values_of_csv_that_do_not_fit_go_aside(spark: SparkSession, tmp_path: Path) -> None:
    land = Folder(spark, tmp_path, "csv")
    good = ["1;a;0.25;;2023-11-14 22:13:20", ";b;;;", '2;"c;""d";1;;']
    bad = ["1.5;x;1;;", "99999999999;x;1;;", "1;x;0.255;;", "1;x;1;;10:15", "1;x", "1;x;1;;;;", "1;x\ufffd;1;;"]
    land.put("a.csv", "\n".join(["n;id;amount;more;at", *good, *bad]).encode())
    land.put("other names.csv", b"x;y\n1;2\n")
    land.put("twice.csv", b"id;ID\n1;2\n")
    rows, aside = land.read("id", "n", "amount")
    assert rows == [("a", 1, Decimal("0.25")), ("b", None, None), ('c;"d', 2, Decimal("1.00"))]
    assert {"other names.csv", "twice.csv"} <= aside.keys()
    assert len(aside) == len(bad) + 2
    assert set(land.read("id", is_strict=True)[1]) == {"a.csv", "other names.csv", "twice.csv"}


def test_csv_without_names_is_read_in_the_order_of_the_columns_and_by_the_formats_that_are_declared(
    spark: SparkSession, tmp_path: Path
) -> None:
    land = Folder(spark, tmp_path, "csv", {"timestampFormat": "dd.MM.yyyy HH:mm", "dateFormat": "dd.MM.yyyy"})
    land.put("a", b"a,14.11.2023 22:13,14.11.2023\nb,2023-11-14,31.02.2023\n")
    columns = {"id": "string", "at": "timestamp", "day": "date"}
    rows, aside = land.read("id", "cast(at AS string)", "cast(day AS string)", columns=columns)
    assert (rows, len(aside)) == ([("a", "2023-11-14 22:13:00", "2023-11-14")], 1)


def test_files_of_several_schemas_are_read_each_by_its_own(spark: SparkSession, tmp_path: Path) -> None:
    land = Folder(spark, tmp_path, "parquet")

    def put(name: str, **columns: Any) -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), sink)
        land.put(name, bytes(sink.getvalue()))

    put("narrow", ID=["a"], n=pa.array([1], pa.int8()))
    put("wide", n=pa.array([2, 2**40], pa.int64()), id=["b", "x"], more=[1, 2])
    put("other", id=["y"], n=["1"])
    put("none", z=[1])
    rows, aside = land.read("id", "n", "amount")
    assert rows == [("a", 1, None), ("b", 2, None)]
    assert {"other", "none"} < aside.keys()
    assert [why for key, why in aside.items() if key not in ("other", "none")] == ["the record: n does not fit int"]


def test_a_damaged_page_is_found_by_reading_and_a_file_that_is_gone_is_no_damage(spark: SparkSession, tmp_path: Path) -> None:
    land = Folder(spark, tmp_path, "parquet")
    for number in range(5):
        land.write(f"f{number}", [(f"{number}-{n}", n) for n in range(3000)])
    data = bytearray((land.root / "f3").read_bytes())
    data[40:4000] = b"\x55" * 3960
    land.put("f3", bytes(data))
    rows, aside = land.read("_file.path")
    assert {path for (path,) in rows} == {"f0", "f1", "f2", "f4"}
    assert (len(rows), list(aside)) == (12_000, ["f3"])


def test_nothing_to_read_has_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    assert Folder(spark, tmp_path, "orc").read("id") == ([], {})


@pytest.mark.parametrize(
    ("uri", "root", "expected"),
    [
        ("file:/lake/a%20b/day=1/x%2By+z.json", "/lake/a b", "day=1/x+y+z.json"),
        ("file:///lake/x.json", "/lake", "x.json"),
        ("s3a://shop/x/x/x.json", "s3a://shop/x", "x/x.json"),
        # Of a whole bucket.
        ("s3a://shop/x/y.json", "s3a://shop", "x/y.json"),
        ("s3a://shop/landing/landing/y.json", "s3a://shop/landing/landing", "y.json"),
    ],
)
def test_a_path_is_told_from_below_the_root(spark: SparkSession, uri: str, root: str, expected: str) -> None:
    ((found,),) = spark.createDataFrame([(uri,)], "uri string").select(below(F.col("uri"), root)).collect()
    assert found == expected
