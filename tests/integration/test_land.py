"""What landing makes of files: their rows, types, what they change about a table, and what is refused."""

from __future__ import annotations

import gzip
import random
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError
from freshet.hudi.timeline import TimelineState
from freshet.landing.changes import compare, counts, written
from freshet.landing.columns import Asked, columns_for
from freshet.landing.file_rows import FILE
from freshet.landing.files import find_files
from freshet.landing.heads import shown
from freshet.landing.outcome import Landed, Landing, refuse_wrong
from freshet.landing.plan import MARK, TableAsked, bare_spec, new_spec
from freshet.landing.rows import batch_of, failed_read, with_misfits
from freshet.landing.run import land
from freshet.landing.run_seeds import land_seeds
from freshet.landing.seeds import load_seeds
from freshet.landing.texts import made_of
from freshet.project.load.warehouse import load_warehouse
from freshet.project.model.pipeline import TableRef
from freshet.project.syntax.column_text import parse_columns
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame
from tests.kit.lake import Lake
from tests.kit.whole import WHOLE

HEAD = "id,amount,name,at,day"
KEYED = {"key": ("id",), "ordering": "at"}


class Files:
    """Files of one test, landed in the lake's tables."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.folder = lake, lake.root / "files"
        self.folder.mkdir()
        self.warehouse = load_warehouse(lake.project_root)

    def write(self, name: str, *lines: str, head: str = HEAD) -> str:
        path = self.folder / name
        text = "\n".join([head, *lines]) + "\n" if name.endswith(".csv") else "\n".join(lines)
        path.write_text(text)
        return str(path)

    def land(self, table: str, *files: str, **more: Any) -> Landed:
        return land(self.warehouse, Landing(table=table, files=files, **more), TimelineState(), self.lake.events.append)


@pytest.fixture
def files(lake: Lake) -> Files:
    return Files(lake)


def numbers(landed: Landed) -> tuple[int, ...]:
    """Return rows read, inserted, updated, deleted, unchanged and older."""
    return landed.rows, landed.inserted, landed.updated, landed.deleted, landed.unchanged, landed.older


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_what_files_change(files: Files, kind: str) -> None:
    """Each thing that may become of a key, in one table with partitions: new, newer, the same, older, at the same time with
    other values, moved to another partition, deleted where it stands whatever partition the file says, absent, no more there.

    A file that is landed twice makes no commit; every change is one commit, and a reader of changes sees the deletes.
    """
    first = files.write(
        "1.csv", *(f"{key},{n},x,2026-01-05 10:00:00,d1" for n, key in enumerate("abcdefg", 1)), "a,1,x,2026-01-05 09:00:00,d1"
    )
    made = files.land("raw.t", first, partition_by=("day",), table_type=kind, **KEYED)
    assert (numbers(made), made.made, made.outcome) == ((8, 7, 0, 0, 0, 0), True, "committed")
    assert dict(made.columns) == {
        "id": "string",
        "amount": "bigint",
        "name": "string",
        "at": "timestamp",
        "day": "string",
        "_hoodie_is_deleted": "boolean",
    }
    assert files.lake.state("raw.t").config.records_changes
    assert files.land("raw.t", first).outcome == "idle"
    second = files.write(
        "2.csv",
        "a,1,x,2026-01-05 10:00:00,d1,",
        "b,20,x,2026-01-06 10:00:00,d1,false",
        "c,30,x,2026-01-05 10:00:00,d1,",
        "d,40,x,2026-01-04 10:00:00,d1,",
        "e,50,x,2026-01-06 10:00:00,d2,",
        "f,,,2026-01-06 10:00:00,,true",
        "z,,,2026-01-06 10:00:00,,true",
        "n,9,x,2026-01-06 10:00:00,d3,",
        head=f"{HEAD},_hoodie_is_deleted",
    )
    changed = files.land("raw.t", second, **KEYED)
    assert (numbers(changed), changed.replaced, changed.moved, changed.absent) == ((8, 1, 3, 1, 1, 1), 1, 1, 1)
    assert "SAME_ORDERING" in changed.notices[0]
    shown = {row[0]: (row[1], row[4]) for row in files.lake.rows("raw.t")}
    assert shown == {
        "a": (1, "d1"),
        "b": (20, "d1"),
        "c": (30, "d1"),
        "d": (4, "d1"),
        "e": (50, "d2"),
        "g": (7, "d1"),
        "n": (9, "d3"),
    }
    assert (files.land("raw.t", second).outcome, len(files.lake.state("raw.t").data_commits)) == ("idle", 2)
    whole = files.write("3.csv", "a,2,x,2026-01-07 10:00:00,d1", "n,9,x,2026-01-06 10:00:00,d3")
    assert numbers(files.land("raw.t", whole, whole=True)) == (2, 0, 1, 5, 1, 0)
    assert sorted(row[:2] for row in files.lake.rows("raw.t")) == [("a", 2), ("n", 9)]
    # Where the delete is newer and still stands in a log, the row does not come back.
    again = files.land("raw.t", files.write("4.csv", "f,6,x,2026-01-05 10:00:00,d1"), **KEYED)
    comes = kind == "cow"
    assert (numbers(again), len(files.lake.rows("raw.t"))) == ((1, comes, 0, 0, 0, not comes), 2 + comes)
    assert any("OLDER_THAN_DELETE" in one for one in again.notices) != comes


def test_any_files_in_any_order(quick: SparkSession, lake: Lake) -> None:
    """Drawn rows, landed one batch after the other, are what the newest row of each key says; Hudi's part is played by a map.

    Keys in other partitions, rows older and newer than the table's and than each other, repeated and deleted ones, some batches
    whole: what is not in them goes.
    """
    drawn, schema = random.Random(7), "id string, ts bigint, amount bigint, day string, _hoodie_is_deleted boolean"
    bare = bare_spec(load_warehouse(lake.project_root), TableRef("raw.t", lake.path("raw.t")))
    columns = (*parse_columns("raw.t", schema.rpartition(",")[0]), MARK)
    spec = new_spec(
        bare, load_warehouse(lake.project_root), TableAsked(key=("id",), ordering="ts", partition_by=("day",)), columns
    )
    held: dict[tuple[str, str], tuple[Any, ...]] = {}
    truth: dict[str, tuple[Any, ...]] = {}
    for number in range(10):
        times = {key: drawn.sample(range(1, 12), 4) for key in "abcdef"}
        batch = [
            (key, times[key].pop(), drawn.randrange(3), drawn.choice("pq"), drawn.random() < 0.2)
            for key in drawn.choices("abcdef", k=8)
            if times[key]
        ]
        batch += drawn.sample(batch, 2)
        whole = number % 4 == 3
        newest = {key: max(row for row in batch if row[0] == key) for key in {row[0] for row in batch}}
        if whole:
            truth = {key: row for key, row in truth.items() if key in newest}
        for key, row in newest.items():
            if key in truth and truth[key][1] > row[1]:
                continue
            truth.pop(key, None)
            if not row[4]:
                truth[key] = row
        rows = frame(quick, batch, schema).withColumn(FILE, F.lit("file:///x.csv"))
        stands = frame(quick, list(held.values()), schema) if held else None
        compared = compare(rows, stands, spec, FILE, False, whole).cache()
        assert sum(one.rows for one in counts(compared, spec, FILE).values()) == len(batch)
        for row in map(tuple, written(compared, spec, False).collect()):
            place = (row[0], row[3])
            if place in held and held[place][1] > row[1]:
                continue
            held.pop(place, None)
            if not row[4]:
                held[place] = row
        compared.unpersist()
        assert sorted(held.values()) == sorted(truth.values()), number


def test_seeds_are_all_that_their_tables_hold(files: Files) -> None:
    """Rows that left the file are deleted, those that stand there keep the time at which they last changed."""
    for name, text in (("csv", "id,rate\na,1.5\nb,2\nc,3\n"), ("yml", "key: id\ncolumns: {rate: 'DECIMAL(5,2)'}\n")):
        files.lake.write_file(f"seeds/raw.rates.{name}", text)

    def landed() -> Any:
        seeds = load_seeds(files.warehouse)
        (result,) = land_seeds(files.warehouse, seeds, TimelineState(), files.lake.events.append)
        return result

    assert numbers(landed()) == (3, 3, 0, 0, 0, 0)
    before = {row[0]: row[2] for row in files.lake.rows("raw.rates")}
    assert landed().outcome == "idle"
    files.lake.write_file("seeds/raw.rates.csv", "id,rate\na,1.50\nb,2.5\nd,4\n")
    assert numbers(landed()) == (3, 1, 1, 1, 1, 0)
    rows = files.lake.rows("raw.rates")
    assert [row[:2] for row in rows] == [("a", Decimal("1.50")), ("b", Decimal("2.50")), ("d", Decimal("4.00"))]
    assert [row[2] == before.get(row[0]) for row in rows] == [True, False, False]
    files.lake.write_file("seeds/raw.rates.csv", "id,rate\n")
    assert landed().code == "NO_ROWS"


AT = "2026-01-05 10:00:00"
COLUMNS = "id STRING, amount BIGINT, name STRING, at TIMESTAMP, day STRING"


def refused_by(spark: SparkSession, lake: Lake, text: str, code: str) -> DataError:
    with pytest.raises(DataError) as refused:
        looked_at(spark, lake, COLUMNS, "x.csv", text.encode("utf-8", "surrogateescape"), ("day",))
    assert (refused.value.code, refused.value.effect) == (code, "Nothing was written."), refused.value
    assert "x.csv" in refused.value.message
    return refused.value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{HEAD}\na,1,x,{AT}\n", "ROW_UNREADABLE"),
        (f'{HEAD}\na,1,x,{AT},"d\nb,1,x,{AT},d\n', "ROW_UNREADABLE"),
        (f"{HEAD}\na,1.5,x,{AT},d\nb,2,y,10:00,d\n", "OVERFLOW"),
        (f"{HEAD}\na,1,x,{AT},d\na,2,x,{AT},d\n", "ROWS_TIED"),
        (f"{HEAD},more\n", "UNKNOWN_COLUMN"),
        (f"{HEAD}\nb,1,caf\udce9,{AT},d\n", "BAD_BYTES"),
    ],
)
def test_rows_that_are_refused(
    quick: SparkSession,
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    code: str,
) -> None:
    """What one row of a file may have against it: with file, column and row in words, and before anything is written.

    Of several values that do not fit the first ones are told, each with its line.
    """
    monkeypatch.setattr("freshet.landing.heads._HEAD_BYTES", len(HEAD) + 6)
    error = refused_by(quick, lake, text, code)
    if code == "OVERFLOW":
        found = [(one["column"], one["value"], one["line"]) for one in error.details["values"]]
        assert found == [("amount", "1.5", 2), ("at", "10:00", 3)]
        assert "x.csv, line 3: at '10:00'" in error.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{HEAD}\na,1,x,{AT},d,e\n", "ROW_UNREADABLE"),
        (f'{HEAD}\na,1,"x"y",{AT},d"\n', "ROW_UNREADABLE"),
        (f"{HEAD}\na,1,x,10:00,d\nb,two,y,{AT},d\nc,3,z,{AT},d\nd,4,z,10:00,d\n", "NOT_OF_TYPE"),
        (f"{HEAD}\n,1,x,{AT},d\na,1,x,,d\n", "NULL_KEY"),
        (f"{HEAD}\na,12345678901234567890,x,{AT},d\n", "OVERFLOW"),
        (f"{HEAD}\na,1,x,,d\na,1,x,{AT},d\n", "NULL_ORDERING"),
        ("id,amount,at,day\n", "COLUMN_MISSING"),
        (f"{HEAD}\na,1,x,{AT},\n", "NULL_PARTITION"),
        (f"{HEAD}\na,1,x,{AT},a:b\n", "BAD_PARTITION"),
        (f"{HEAD},_hoodie_is_deleted\na,1,x,{AT},d,\na,1,x,{AT},d,true\n", "ROWS_TIED"),
        (f"{HEAD},_hoodie_is_deleted\na,1,x,{AT},d,perhaps\n", "NOT_OF_TYPE"),
    ],
)
def test_every_way_in_which_a_row_is_refused(quick: SparkSession, lake: Lake, text: str, code: str) -> None:
    error = refused_by(quick, lake, text, code)
    if code == "NOT_OF_TYPE" and "two" in text:
        # Of several values each with its line.
        found = [(one["column"], one["value"], one["line"]) for one in error.details["values"]]
        assert found == [("at", "10:00", 2), ("amount", "two", 3), ("at", "10:00", 5)]


def test_texts_that_lose_nothing_as_a_value(quick: SparkSession) -> None:
    """Of each type: what fits, and what Spark's own cast would take and cut short, or make something else of."""
    texts = {
        "int": (("1", " 12 ", "-5"), ("1.0", "1e3", "2147483648", "x")),
        "bigint": (("9223372036854775807",), ("9223372036854775808",)),
        "decimal(5,2)": (("1.500", "-123.45", ".5", "7."), ("1.555", "1234", "1e2", "0x1")),
        "double": (("1.5", "1e-3", "NaN", "9007199254740992"), ("9007199254740993", " 9007199254740993", "1d")),
        "date": (("2026-01-05", " 2026-1-5 "), ("2026-01-05 10:00:00", "2026", "2026-02-30", "05.01.2026")),
        "timestamp": ((AT, "2026-01-05", "2026-01-05T10:00:00.1234560Z"), ("10:00", "2026", "2026-01-05 10:00:00.1234567")),
        "boolean": (("true", "F", "1", "no"), ("maybe", "2")),
    }
    for kind, (good, bad) in texts.items():
        fits = made_of(F.col("text"), "text", parse_type(kind))[1]
        rows = frame(quick, [(text,) for text in (*good, *bad, "")], "text string").select("text", fits).collect()
        # Nothing is null.
        assert dict(map(tuple, rows)) == {**dict.fromkeys(good, True), **dict.fromkeys(bad, False), "": True}, kind


def test_texts_that_only_look_like_numbers_stay_texts(quick: SparkSession, lake: Lake) -> None:
    """Each type that follows from the texts of a column, and the texts beside them from which it does not."""
    texts = {
        "whole": ("1", "-20", ""),
        "code": ("007", "10", "20"),
        "long": ("12345678901234567890", "1", "2"),
        "plus": ("+1", "1", "1"),
        "real": ("1.50", "-2e3", "7"),
        "digits": ("1.2345678901234567", "1", "1"),
        "zero": ("0", "0.5", ""),
        "dot": ("1.", "2", "3"),
        "yes": ("true", "FALSE", ""),
        "one": ("1", "true", ""),
        "day": ("2026-01-05", "2026-02-28", ""),
        "most": ("1", "2.5", "n/a"),
        "days": ("2026-01-05", "?", "2026-01-06"),
        "none": ("2026-02-30", "2026-01-05", ""),
        "at": (AT, "2026-01-05T10:00:00.123456Z", "2026-01-06"),
        "time": ("10:00", "11:00", ""),
        "nothing": ("", "", ""),
        "id": ("a", "b", "c"),
        "spaced": (" 1", "2", "3"),
    }
    lines = [",".join(texts), *(",".join(values[number] for values in texts.values()) for number in range(3))]
    found = find_files([write(lake, "x.csv", "\n".join(lines).encode())])
    told: list[str] = []
    # Of a column whose type is said nothing is guessed, and the others' are.
    columns = columns_for(
        quick,
        found,
        parse_columns("raw.t", "id STRING"),
        Asked(key=("id",), ordering="at", partition_by=(), generated=False),
        "raw.t",
        told,
    )
    kinds = {c.name: str(c.type) for c in columns if str(c.type) != "string"}
    assert kinds == {
        "whole": "bigint",
        "real": "double",
        "zero": "double",
        "yes": "boolean",
        "day": "date",
        "at": "timestamp",
        "_hoodie_is_deleted": "boolean",
    }
    # What most values of a column are not is told with its place; codes and halves are not.
    assert [one.partition(" To have")[0] for one in told] == [
        f"TEXT_COLUMN: {name} is text though 2 of 3 values are {most}: {odd} is not ({shown(found.paths[0])}, line {line})."
        for name, most, odd, line in (
            ("most", "numbers", "'n/a'", 4),
            ("days", "dates", "'?'", 3),
            ("spaced", "numbers", "' 1'", 2),
        )
    ]


def test_values_of_each_format(quick: SparkSession, lake: Lake) -> None:
    """The same rows of CSV as people and machines write it, of JSON by the line and as a list, and of Parquet."""
    columns = "id STRING, n DECIMAL(6,3), ok BOOLEAN, day DATE, at TIMESTAMP, text STRING"
    at, tail = (
        datetime(2026, 1, 5, 10, 0, 0, 5, tzinfo=timezone.utc).astimezone().replace(tzinfo=None),
        "2026-01-05T10:00:00.000005Z",
    )
    rows = [("a", Decimal("1.500"), True, date(2026, 1, 5), at, 'x,"y"\nz'), ("b", None, None, None, at, None)]
    csv = f'\ufeffid,n,ok,day,at,text\r\na,1.5000,true,2026-01-05,{tail},"x,""y""\nz"\r\n\r\n"b","",,,{tail},\r\n'
    one = f'{{"id":"a","n":1.5,"ok":true,"day":"2026-01-05","at":"{tail}","text":"x,\\"y\\"\\nz"}}'
    other = f'{{"text":null,"at":"{tail}","id":"b"}}'
    moment = datetime(2026, 1, 5, 10, 0, 0, 5, tzinfo=timezone.utc)
    table = pa.table(
        {
            "text": ['x,"y"\nz', None],
            "id": ["a", "b"],
            "n": pa.array([Decimal("1.5"), None], pa.decimal128(4, 1)),
            "ok": [True, None],
            "day": pa.array([date(2026, 1, 5), None]),
            "at": pa.array([moment] * 2, pa.timestamp("us", "UTC")),
        }
    )
    parquet.write_table(table, lake.root / "x.parquet")
    found: dict[str, bytes | None] = {"x.csv": csv.encode(), "x.json": f"{one}\n{other}\n".encode(), "x.parquet": None}
    if WHOLE:
        found |= {"x.csv.gz": gzip.compress(csv.encode()), "list.json": f"[{one},\n{other}]".encode()}
    for name, data in found.items():
        assert looked_at(quick, lake, columns, name, data) == rows, name


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("x.json", b'{"id":"a","at":"2026-01-05","o":{"x":1,"y":2}}\n', "TYPE_DIFFERS"),
        ("x.json", b'{"id":"a","at":"2026-01-05","o":1}\n', "TYPE_DIFFERS"),
        ("x.json", b'{"id":"a","o":null}\n', "COLUMN_MISSING"),
        ("x.json", b'{"id":"a","at":"2026-01-05","n":1.2345678901234567}\n', "OVERFLOW"),
        ("x.json", b'{"id":\n', "ROW_UNREADABLE"),
        ("x.json", b'{"id":"a","at":"2026-01-05","o":{"x":"text"}}\n', "ROW_UNREADABLE"),
    ],
)
def test_objects_that_do_not_fit(quick: SparkSession, lake: Lake, name: str, data: bytes, code: str) -> None:
    with pytest.raises(DataError, match=code):
        looked_at(quick, lake, "id STRING, at TIMESTAMP, o STRUCT<x: BIGINT>, n DECIMAL(38,16)", name, data)


def write(lake: Lake, name: str, data: bytes | None) -> str:
    if data is not None:
        (lake.root / name).write_bytes(data)
    return str(lake.root / name)


def looked_at(
    spark: SparkSession,
    lake: Lake,
    columns: str,
    name: str,
    data: bytes | None,
    partition_by: tuple[str, ...] = (),
) -> list[tuple[Any, ...]]:
    """Return the rows of a file as a table of these columns would hold them, if nothing is wrong with them."""
    spark.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    warehouse, found = load_warehouse(lake.project_root), find_files([write(lake, name, data)])
    bare = bare_spec(warehouse, TableRef("raw.t", lake.path("raw.t")))
    spec = new_spec(
        bare,
        warehouse,
        TableAsked(key=("id",), ordering="at", partition_by=partition_by),
        (*parse_columns("raw.t", columns), MARK),
    )
    try:
        rows, _ = batch_of(spark, found, spec, Asked(key=("id",), ordering="at", partition_by=(), generated=False))
        refuse_wrong(spec, counts(compare(rows, None, spec, FILE, False, False), spec, FILE))
        return sorted(tuple(row) for row in rows.drop(FILE, "_hoodie_is_deleted").collect())
    except (Py4JJavaError, PySparkException) as error:
        raise with_misfits(spark, failed_read(spec.target.ref, error, found), found, spec) from error
