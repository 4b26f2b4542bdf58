"""A partition's value is read as it was written, or refused before the write with its column and row.

Of this kind: characters that a path or a URI gives a meaning (a colon, a slash at an end, dots, a percent with two digits, an
equals sign where paths name no column), texts that Hudi takes for null, names longer than a folder's may be; in one or two
partition columns, plain, hive style or encoded, on both table types. What is refused here was seen to fail, or to be read as
another value, on Hudi 1.0.2.
"""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from freshet.plan.stages import Paths
from freshet.quality.partitions import cannot_be_kept
from tests.kit.frames import frame
from tests.kit.lake import Lake, rows

STYLED = ", 'hoodie.datasource.write.hive_style_partitioning' = 'true'"
ENCODED = ", 'hoodie.datasource.write.partitionpath.urlencode' = 'true'"
STYLES = {"plain": "", "hive": STYLED, "encoded": ENCODED}
PATHS = {"plain": Paths(("day",)), "hive": Paths(("day",), True), "encoded": Paths(("day",), encoded=True)}
ALWAYS_GOOD = (
    "2026-01-05",
    "a b",
    "50%",
    "%",
    "a?b",
    "a#b",
    "a*b",
    "a{b}",
    "a'b",
    'a"b',
    "é",
    " a",
    "a,b",
    "a;b",
    "a|b",
    "~",
    ".hoodie",
    "_x",
    "a+b",
    "a&b",
    "a@b",
    "null",
    "日本",
    "default",
)
GOOD = {
    "plain": (*ALWAYS_GOOD, "a/b", "a b/c=d%25"),
    "hive": (*ALWAYS_GOOD, "a/b", "/a", ".", "..", "a=b"),
    "encoded": (*ALWAYS_GOOD, "10:30", "a:b", "a%20b", "a=b", "a//b", "a/", "/a", "a/../b", "file:/x"),
}
ALWAYS_BAD = ("", "__HIVE_DEFAULT_PARTITION__", "x" * 300)
IN_PATHS = (*ALWAYS_BAD, "10:30", "a:b", ":", "2026-01-05 10:11:12", "a/", "a//b", "a/../b", "a%20b", "a\0b")
BAD = {"plain": (*IN_PATHS, "/a", ".", "..", "a=b"), "hive": IN_PATHS, "encoded": (*ALWAYS_BAD, ".", "..")}


def quoted(text: str) -> str:
    return "unhex('" + text.encode().hex() + "')"


def pipeline(lake: Lake, values: tuple[str, ...], style: str, table_type: str = "cow") -> None:
    """Write a pipeline whose partition is drawn from the values by the event's ``id``, a number."""
    texts = ", ".join(f"CAST({quoted(value)} AS STRING)" for value in values)
    lake.pipeline(
        sql=f"SELECT id, ts, amount, element_at(array({texts}), CAST(id AS INT)) AS day FROM <SRC>",
        # Without a metadata table Hudi lists folders, and finds no partition within the folder of another one.
        properties=STYLES[style],
        table_type=table_type,
        hoodie={"hoodie.metadata.enable": "true"},
    )


@pytest.mark.parametrize(("style", "table_type"), [("plain", "cow"), ("hive", "mor"), ("encoded", "cow")])
def test_what_is_taken_comes_back(lake: Lake, style: str, table_type: str) -> None:
    values = GOOD[style]
    pipeline(lake, values, style, table_type)
    for ts in (1, 2):
        lake.land(rows(*((str(number + 1), ts, "1") for number in range(len(values)))))
        lake.run_ok()
    assert lake.rows("derived.copy", "day", "ts") == sorted(((value, 2) for value in values), key=str)


@pytest.mark.parametrize("style", STYLES)
def test_what_is_refused(lake: Lake, style: str) -> None:
    texts = [(text, text in BAD[style]) for text in (*GOOD[style], *BAD[style])]
    found = frame(lake.spark, texts, "day string, bad boolean")
    wrong = found.where(cannot_be_kept("day", F.col("day"), PATHS[style]) != F.col("bad")).collect()
    assert wrong == []
    within = cannot_be_kept("day", F.lit("a/b"), Paths(("city", "day"), style == "hive", style == "encoded"))
    assert lake.spark.range(1).select(within).collect()[0][0] is (style != "encoded"), "which column is the slash of?"


def test_a_refusal_names_column_value_and_row(lake: Lake) -> None:
    pipeline(lake, ("2026-01-05", "10:30"), "plain")
    lake.land(rows(("1", 1, "1")))
    lake.run_ok()
    lake.land(rows(("2", 1, "1")))
    error = lake.run().error
    assert error is not None
    assert (error.code, error.exit_code) == ("BAD_PARTITION", 6)
    assert {name: error.details[name] for name in ("column", "value", "row")} == {
        "column": "day",
        "value": "10:30",
        "row": "id=2",
    }
    assert len(lake.rows()) == len(lake.state().commits) == 1


def test_a_row_that_may_be_dropped_goes_to_the_quarantine(lake: Lake) -> None:
    pipeline(lake, ("2026-01-05", "10:30"), "plain")
    file = lake.project_root / "pipelines/copy.yml"
    file.write_text("checks: [{name: shape, malformed: true, severity: drop}]\n" + file.read_text())
    lake.land(rows(("1", 1, "1"), ("2", 1, "1")))
    assert lake.run_ok().quarantined == 1
    assert [row[0] for row in lake.rows()] == ["1"]


@pytest.mark.nightly
@pytest.mark.parametrize("style", STYLES)
def test_what_is_refused_is_what_hudi_cannot_keep(lake: Lake, style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, a newer Hudi can do more."""
    monkeypatch.setattr("freshet.quality.contract.cannot_be_kept", lambda *_: F.lit(False))
    kept = []
    for number, value in enumerate(BAD[style]):
        pipeline(lake, (value,), style)
        for name in ("pipelines", "ddl", "transformers"):
            file = next((lake.project_root / name).glob("copy.*"))
            file.write_text(file.read_text().replace("derived.copy", f"derived.copy{number}"))
        lake.land(rows(("1", 2 * number + 1, "1")))
        if lake.run().error is not None:
            continue
        lake.land(rows(("1", 2 * number + 2, "1")))
        try:
            if lake.run().error is None and lake.rows(f"derived.copy{number}", "day", "ts") == [(value, 2 * number + 2)]:
                kept.append(value)
        except PySparkException:
            continue
    assert kept == []
