"""Whatever comes in, nothing is lost: rows in are rows published and rows quarantined, and what is published is what came."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from freshet.errors import SpecError
from freshet.types.columns import PLAIN_NAME
from tests.kit.lake import Lake, rows

DDL = """CREATE TABLE derived.copy (
  id STRING NOT NULL, ts BIGINT NOT NULL, amount DECIMAL(10,2), small SMALLINT, ratio DOUBLE, at TIMESTAMP, day DATE,
  name STRING NOT NULL, flag BOOLEAN, nested STRUCT<a: INT, b: ARRAY<STRING>>, n BIGINT
) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{type}')
"""
SCHEMA = T.StructType(
    [
        T.StructField("id", T.BinaryType()),
        T.StructField("ts", T.StringType()),
        T.StructField("amount", T.StringType()),
        T.StructField("small", T.LongType()),
        T.StructField("ratio", T.DoubleType()),
        T.StructField("at", T.StringType()),
        T.StructField("day", T.StringType()),
        T.StructField("name", T.BinaryType()),
        T.StructField("flag", T.StringType()),
        T.StructField(
            "nested", T.StructType([T.StructField("a", T.IntegerType()), T.StructField("b", T.ArrayType(T.BinaryType()))])
        ),
        T.StructField("n", T.LongType()),
    ]
)
# Spark makes texts of any bytes, as sources do that were never checked.
SQL = """SELECT cast(id AS string) AS id, ts, amount, small, ratio, at, day, cast(name AS string) AS name, flag,
  if(nested IS NULL, NULL, named_struct('a', nested.a, 'b', transform(nested.b, x -> cast(x AS string)))) AS nested, n
FROM <SRC>"""
RULES = "checks: [{name: fits, malformed: true, severity: drop}, {name: odd, where: ratio = 0, severity: drop}]\n"
#: Of a published row, what it must be of the row that came; `s` is that.
SAME = """p.ts <=> try_cast(s.ts AS bigint) AND p.small <=> s.small AND p.ratio <=> s.ratio
  AND p.amount <=> try_cast(s.amount AS decimal(10,2)) AND isnull(p.amount) = isnull(s.amount)
  AND p.at <=> try_cast(s.at AS timestamp) AND isnull(p.at) = isnull(s.at)
  AND p.day <=> try_cast(s.day AS date) AND isnull(p.day) = isnull(s.day)
  AND p.flag <=> try_cast(s.flag AS boolean) AND isnull(p.flag) = isnull(s.flag)
  AND encode(p.id, 'UTF-8') <=> s.id AND encode(p.name, 'UTF-8') <=> s.name AND isnull(p.nested) = isnull(s.nested)
  AND p.nested.a <=> s.nested.a AND transform(p.nested.b, x -> encode(x, 'UTF-8')) <=> s.nested.b"""
#: And of a quarantined one, what its JSON must be.
KEPT = " AND ".join(
    f"get_json_object(p._quarantine_row, '$.{name}') <=> cast(s.{name} AS string)"
    for name in ("ts", "amount", "at", "day", "small", "flag", "n")
)

texts = st.one_of(
    st.text(max_size=12).map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=6),
    st.sampled_from([b"", b"\xff\xfe", "żółć 🚖".encode(), b"a\x00b", b"'; drop table", b"FRESHET_REFUSED\x1f"]),
)
numbers = st.one_of(
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["", " 1 ", "1e9", "NaN", "-0", "99999999.99", "99999999.995", "0x1", "١٢"]),
    st.none(),
)
times = st.one_of(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(str),
    st.dates(date(1, 1, 1)).map(str),
    st.sampled_from(["99999-01-01", "-0044-03-15", "2026-02-30", "0000-00-00", "now", "294248-01-01"]),
    st.none(),
)
row = st.tuples(
    st.one_of(texts, st.none()),
    st.one_of(st.integers(0, 2**63 - 1).map(str), numbers),
    numbers,
    st.one_of(st.integers(-(2**63), 2**63 - 1), st.none()),
    st.one_of(st.floats(), st.none()),
    times,
    times,
    st.one_of(texts, st.none()),
    st.one_of(st.sampled_from(["true", "no", "maybe", ""]), st.none()),
    st.one_of(
        st.none(),
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
            st.one_of(st.none(), st.lists(st.one_of(st.none(), texts), max_size=3)),
        ),
    ),
)

PLAIN: dict[str, Any] = {
    "id": b"k",
    "ts": "1",
    "amount": "1.00",
    "small": 1,
    "ratio": 1.0,
    "at": "2026-01-05 01:02:03.000004",
    "day": "2026-01-05",
    "name": b"x",
    "flag": "true",
    "nested": (1, [b"x"]),
}
MEGA = b"x" * 10_000_000
#: What is tried for certain, whatever is drawn: what is published, and what goes to the quarantine for which column.
PUBLISHED: dict[str, dict[str, Any]] = {
    "plain": {},
    "nulls": {**dict.fromkeys(PLAIN), "id": b"k", "ts": "1", "name": b""},
    "NaN": {"ratio": float("nan")},
    "infinity": {"ratio": float("inf")},
    "minus infinity": {"ratio": float("-inf")},
    "largest decimal": {"amount": "-99999999.99"},
    "largest numbers": {"ts": str(2**63 - 1), "small": -(2**15)},
    "first and last date": {"day": "0001-01-01", "at": "9999-12-31 23:59:59.999999"},
    "before the calendars changed": {"day": "1582-10-04", "at": "1500-02-28 12:00:00"},
    "10 MB": {"name": MEGA},
    "10 MB within": {"nested": (1, [MEGA])},
    "unicode": {"name": "żółć 🚖 عربى ‮ é".encode()},
    "zero byte": {"name": b"a\x00b"},
    "nested null": {"nested": None},
    "nested nulls": {"nested": (None, None)},
    "null in a list": {"nested": (None, [None, b"x", None])},
    "empty list": {"nested": (1, [])},
}
QUARANTINED: dict[str, tuple[str, dict[str, Any]]] = {
    "null key": ("id", {"id": None}),
    "empty key": ("id", {"id": b""}),
    "null ordering": ("ts", {"ts": None}),
    "null": ("name", {"name": None}),
    "NaN text": ("amount", {"amount": "NaN"}),
    "infinity text": ("amount", {"amount": "-Infinity"}),
    "decimal overflow": ("amount", {"amount": "100000000.00"}),
    "by rounding": ("amount", {"amount": "99999999.995"}),
    "exponent": ("amount", {"amount": "1e400"}),
    "bigint overflow": ("ts", {"ts": str(2**63)}),
    "smallint overflow": ("small", {"small": 2**15}),
    "no such day": ("day", {"day": "2026-02-30"}),
    "zero date": ("day", {"day": "0000-00-00"}),
    "date overflow": ("day", {"day": "99999999-01-01"}),
    "time overflow": ("at", {"at": "294248-01-01"}),
    "no boolean": ("flag", {"flag": "maybe"}),
    "invalid UTF-8": ("name", {"name": b"\xff\xfe"}),
    "half a surrogate": ("name", {"name": b"\xed\xa0\x80"}),
    "overlong": ("name", {"name": b"\xc0\xaf"}),
    "cut off": ("name", {"name": "🚖".encode()[:3]}),
    "invalid key": ("id", {"id": b"k\xff"}),
    "10 MB invalid": ("name", {"name": MEGA + b"\xff"}),
    "invalid within": ("nested", {"nested": (1, [None, b"\xff"])}),
    "zero": ("odd", {"ratio": -0.0}),
}
SURE = {**PUBLISHED, **{name: values for name, (_, values) in QUARANTINED.items()}}


def drawn() -> list[tuple[Any, ...]]:
    """Return what is sure and some hundred rows of hypothesis's, as one batch: a run costs seconds, a row nothing."""
    found = [tuple({**PLAIN, **values}.values()) for values in SURE.values()]

    @settings(
        max_examples=300 * int(os.environ.get("FRESHET_EXAMPLES", "1")),
        phases=[Phase.generate],
        database=None,
        derandomize="FRESHET_EXAMPLES" not in os.environ,
    )
    @given(row)
    def collect(values: tuple[Any, ...]) -> None:
        found.append(values)

    collect()
    return found


def differences(found: DataFrame, source: DataFrame, same: str) -> list[Any]:
    """Return the rows that are not what came: not in Python, which has no time before the year 1."""
    joined = found.alias("p").join(source.alias("s"), "n").where(f"NOT ({same})")
    return joined.selectExpr("n", "substring(to_json(struct(p.*)), 1, 500)", "substring(to_json(struct(s.*)), 1, 500)").take(5)


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_nothing_is_lost(lake: Lake, table_type: str) -> None:
    # A key stands once, so that what is published can be counted.
    keyed = [
        ((f"{number}:".encode() + values[0]) if values[0] else values[0], *values[1:], number)
        for number, values in enumerate(drawn())
    ]
    lake.pipeline("copy", SQL, source="raw.odd", top=RULES)
    lake.write_file("ddl/copy.sql", DDL.format(type=table_type))
    # Else two processes of Python make the rows again for each of six queries.
    frame = lake.spark.createDataFrame(keyed, SCHEMA).persist()
    # The same rows come a second time, so that they are merged with those that stand.
    for times, operation in ((1, "bulk_insert"), (2, "upsert")):
        frame.write.format("hudi").options(
            **{
                "hoodie.table.name": "odd",
                "hoodie.datasource.write.recordkey.field": "n",
                "hoodie.datasource.write.precombine.field": "n",
                "hoodie.datasource.write.partitionpath.field": "",
                "hoodie.embed.timeline.server": "false",
                "hoodie.datasource.write.operation": operation,
            }
        ).mode("append").save(lake.path("raw.odd"))
        result = lake.run_ok()
        published, waits = (
            lake.spark.read.format("hudi").load(lake.path(f"derived.{name}")) for name in ("copy", "copy_quarantine")
        )
        good, bad = ([row.n for row in one.select("n").collect()] for one in (published, waits))
        assert sorted(good * times + bad) == sorted([*range(len(keyed))] * times), "published once, or quarantined each time"
        assert result.quarantined * times == len(bad)
        assert min(len(good), len(bad)) > len(keyed) // 50
        assert differences(published, frame, SAME) == []
        assert differences(waits, frame, KEPT) == []
    frame.unpersist()
    reasons = dict(waits.select("n", "_quarantine_reason").collect())
    for number, name in enumerate(SURE):
        if name in PUBLISHED:
            assert number in good, (name, reasons.get(number))
        else:
            assert reasons.get(number, "").startswith(QUARANTINED[name][0]), name


def test_what_fits_is_published_unchanged(lake: Lake) -> None:
    lake.pipeline(
        "copy",
        "SELECT id, ts, amount, day FROM <SRC>",
        source="raw.texts",
        top="checks: [{name: fits, malformed: true, severity: drop}]\n",
    )
    values = ["99999999.99", "-99999999.99", "0.00", "1e3", "0.01"]
    lake.land(
        [(f"k{n}", "9223372036854775807", value, "żółć/🚖", 1) for n, value in enumerate(values)],
        table="raw.texts",
        schema="id string, ts string, amount string, day string, n bigint",
        **{"hoodie.datasource.write.precombine.field": "n"},
    )
    assert lake.run_ok().quarantined == 0
    assert lake.rows() == [
        (f"k{n}", 2**63 - 1, Decimal(value).quantize(Decimal("0.01")), "żółć/🚖") for n, value in enumerate(values)
    ]


#: Names that are tried for certain: words of SQL and of freshet's own; and what Avro cannot hold, or freshet takes itself.
NAMES = [
    "A1",
    "_",
    "__",
    "select",
    "order",
    "null",
    "timestamp",
    "struct",
    "x" * 200,
    "hoodie",
    "key",
    "value",
    "__newest",
    "b",
    "__in_batch",
    "__in_table",
    "__order",
    "__gone",
    "_quarantine",
    "ts2",
    "batch",
    "SRC",
    "s",
    "p",
    "t",
    "freshet_after",
    "freshet_before_all",
]
NO_NAMES = [
    "żółć",
    "🚖",
    "名前",
    "é",
    "\uff41",
    "a b",
    "a-b",
    "1a",
    "a.b",
    "a`b",
    "a'b",
    'a"b',
    "a\nb",
    "a;b",
    "a,b",
    "a\u200b",
    "a\x00b",
    "a/b",
    "a#b",
    "$a",
    "{{a}}",
    "<SRC>",
    " a",
    "e\u0301",
    "\u202ea",
    "__freshet_rules",
]
names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.from_regex(PLAIN_NAME, fullmatch=True).map(lambda name: name[:40]),
)


def with_examples(test: Callable[..., None]) -> Callable[..., None]:
    for name in (*NAMES, *NO_NAMES):
        test = example(name)(test)
    return test


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@settings(
    max_examples=100 * int(os.environ.get("FRESHET_EXAMPLES", "1")),
    database=None,
    deadline=None,
    derandomize="FRESHET_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@with_examples
@given(names)
def test_a_name_is_taken_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Of any column of a DDL: the files alone say whether Hudi can hold it."""
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    lake = Lake(None, tmp_path)  # type: ignore[arg-type]
    lake.pipeline(columns=f",\n  {quoted(name)} STRING")
    taken = name.lower().startswith(("_hoodie_", "__freshet_")) or name.lower() in ("id", "ts", "amount", "day")
    fits = PLAIN_NAME.fullmatch(name) and not taken
    if fits:
        assert name in {column.name for column in lake.spec().target.columns}
        return
    with pytest.raises(SpecError) as refused:
        lake.spec()
    assert {problem.file for problem in refused.value.problems} == {"ddl/copy.sql"}


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_names_that_are_taken_hold_their_values(lake: Lake, table_type: str) -> None:
    """Published, updated and quarantined, every column under its name."""
    columns = "".join(f",\n  {quoted(name)} STRING" for name in NAMES)
    values = ", ".join(f"concat('{number}-', ts) AS {quoted(name)}" for number, name in enumerate(NAMES))
    top = (
        "checks: [{name: fits, malformed: true, severity: drop}, {name: odd, where: amount < 0, severity: drop}, "
        "{name: full, sql: 'select count_if(`select` is null) from <TABLE_NAME>', expect: 0}]\n"
    )
    lake.pipeline(sql=f"SELECT id, ts, amount, day, {values} FROM <SRC>", columns=columns, top=top, table_type=table_type)
    for ts in (1, 2):
        lake.land(rows(("a", ts, "1.00"), ("b", ts, "-1.00")))
        assert lake.run_ok().quarantined == 1
        expected = tuple(f"{number}-{ts}" for number in range(len(NAMES)))
        assert lake.rows("derived.copy", "id", *map(quoted, NAMES)) == [("a", *expected)]
        assert ("b", *expected) in lake.rows("derived.copy_quarantine", "id", *map(quoted, NAMES))


def test_a_name_of_the_quarantine_is_refused_where_rows_go_there(lake: Lake) -> None:
    lake.pipeline(columns=",\n  _quarantine_rule STRING")
    assert lake.spec().checks == ()
    lake.pipeline(columns=",\n  _quarantine_rule STRING", top="checks: [{name: fits, malformed: true, severity: drop}]\n")
    with pytest.raises(SpecError) as refused:
        lake.spec()
    assert [problem.code for problem in refused.value.problems] == ["RESERVED_COLUMN"]


def test_names_of_a_batch_that_no_table_can_hold(lake: Lake) -> None:
    """Though the batch may add columns."""
    lake.land(rows(("a", 1, "1.00")))
    lake.pipeline(top="schema_contract: add_columns\n")
    lake.run_ok()
    lake.land(rows(("b", 1, "1.00")))
    before = lake.rows(), lake.state().commits
    for name in NO_NAMES:
        if set(name) & set("<{\0"):
            # The transformation's own marks, and what no file of text may hold.
            continue
        lake.pipeline(sql=f"SELECT id, ts, amount, day, 1 AS {quoted(name)} FROM <SRC>", top="schema_contract: add_columns\n")
        refused = lake.run().error
        assert refused is not None, name
        assert refused.code == "BATCH_MISMATCH", (name, str(refused))
    assert (lake.rows(), lake.state().commits) == before
