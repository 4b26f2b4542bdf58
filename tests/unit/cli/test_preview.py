"""``preview`` before Spark starts, and how what it finds is printed."""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from freshet.cli.preview import _narrowed
from freshet.cli.preview_text import csv_text, json_of, text_of
from freshet.errors import CheckError
from freshet.hudi.timeline import TimelineState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from freshet.quality.older import Older
from freshet.quality.outcome import Outcome
from freshet.run.preview import Changed, Preview
from tests.kit.timeline import a_table, a_target
from tests.unit.cli.conftest import Freshet, parsed

NEW = Changed({"id": "n", "amount": Decimal("1.50"), "note": None})
UPDATED = Changed({"id": "u", "amount": Decimal("2.00"), "note": "after"}, {"amount": Decimal("1.00"), "note": "before"})
FOUND = Preview(
    reads="reading 2 commits (14 rows) up to 20260801101500020",
    counts={"inserted": 3, "updated": 1, "unchanged": 2, "older": 1},
    batch=14,
    superseded=4,
    rows={"updated": (UPDATED,), "inserted": (NEW, NEW)},
    outcomes=(Outcome("negative", "where", "drop", "dropped", 3, seen="3 bad"),),
    quarantined=3,
    older=Older(2, False, 1),
    unknown=("which row Hudi takes",),
    error=None,
)


@pytest.fixture
def planned(root: Path) -> tuple[PipelineSpec, Plan]:
    a_table(root, "raw/events", 10)
    (spec,) = load_project(root, environ={}).pipelines
    return spec, compile_plan(spec, TimelineState(), RunRequest())


def test_nothing_new_starts_no_spark(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "freshet.run.preview", None)
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    assert freshet("preview", "payments").stdout.startswith("payments: nothing new: ")
    assert parsed(freshet("preview", "payments", "--output", "json"))["reads"] == ""
    assert freshet("preview", "payments", "--output", "csv").stdout == "_change\n"


def test_a_first_run_that_reads_nothing(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    words = "hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy=READ_LATEST"
    assert "a checkpoint without rows" in freshet("preview", "payments", "--set", f"hoodie.{words}").stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--csv",), 2),
        (("--start", "2026-01-01"), 2),
        (("--columns", "amuont"), 2),
        (("--limit", "0"), 2),
        (("--start", "2026-01-01", "--end", "2026-01-02"), 5),
    ],
)
def test_what_is_refused(freshet: Freshet, root: Path, words: tuple[str, ...], code: int) -> None:
    a_table(root, "raw/events", 10)
    assert freshet("preview", "payments", *words).exit_code == code


def test_what_a_run_is_refused_for(freshet: Freshet) -> None:
    error = parsed(freshet("preview", "payments", "--output", "json"))["error"]
    assert error["code"] == "SOURCE_MISSING"
    assert freshet("preview", "paymens").exit_code == 2


def test_what_is_printed(planned: tuple[PipelineSpec, Plan]) -> None:
    spec, plan = planned
    assert text_of(spec, plan, FOUND, FOUND.rows).splitlines() == [
        "payments: reading 2 commits (14 rows) up to 20260801101500020",
        "          3 inserted",
        "          1 updated",
        "          2 written again as they stand",
        "          1 ignored: a newer row stands",
        "          4 of the batch ignored: it holds a newer row of the key",
        "          3 to the quarantine (2 older rows of the same key stay published; 1 row without key, place or ordering "
        "value can delete nothing)",
        "  not known: which row Hudi takes",
        "",
        "rows that change:",
        "id=u",
        "  amount  1.00 -> 2.00",
        "  note    before -> after",
        "",
        "new rows, 2 of 3:",
        "id  amount  note",
        "n   1.50    null",
        "n   1.50    null",
        "",
        "CHECK     SEVERITY  STATUS   BAD ROWS  SEEN   EXPECTED",
        "negative  drop      dropped  3         3 bad",
    ]
    failed = replace(FOUND, error=CheckError("CHECK_FAILED", "payments: no."), counts={}, rows={})
    said = text_of(spec, plan, failed, {}).splitlines()
    assert ("  no row would be written" in said, said[-1]) == (
        True,
        "The run would publish nothing: CHECK_FAILED: payments: no.",
    )


def test_a_move_that_counts_as_two_rows_is_said_in_a_word(planned: tuple[PipelineSpec, Plan]) -> None:
    """Of a bucket index, which looks in one partition alone; not where no row can be one of both."""
    spec, plan = planned
    parted = replace(spec, target=replace(spec.target, partition_by=("day",)))
    everywhere = replace(parted, index=replace(spec.index, type="RECORD_INDEX"))
    for one, counts, said in (
        (parted, {"inserted": 1, "deleted": 1}, True),
        (parted, {"deleted": 1}, False),
        (spec, {"inserted": 1, "deleted": 1}, False),
        (everywhere, {"inserted": 1, "deleted": 1, "moved": 1}, False),
    ):
        text = text_of(one, plan, replace(FOUND, counts=counts, rows={}), {})
        assert ("counts as inserted there and as deleted here" in text) == said


def test_for_programs(planned: tuple[PipelineSpec, Plan]) -> None:
    _, plan = planned
    found: Any = json_of(plan, FOUND, FOUND.rows)
    assert (found["counts"]["inserted"], found["counts"]["deleted"], found["error"]) == (3, 0, None)
    assert found["rows"]["updated"] == [{"row": dict(UPDATED.row), "was": dict(UPDATED.was)}]
    assert csv_text(FOUND.rows).splitlines() == [
        "_change,id,amount,note,_was_id,_was_amount,_was_note",
        "updated,u,2.00,after,,1.00,before",
        *["inserted,n,1.50,,,,"] * 2,
    ]


def test_of_some_columns_the_key_is_shown_too(planned: tuple[PipelineSpec, Plan]) -> None:
    assert _narrowed(UPDATED, ("id",), ("note",)) == Changed({"id": "u", "note": "after"}, {"note": "before"})
    one = _narrowed(replace(UPDATED, was={"amount": 1}), ("id",), ("note",))
    spec, plan = planned
    assert "  differs in other columns" in text_of(spec, plan, FOUND, {"updated": (one,)})


def test_on_a_narrow_terminal(planned: tuple[PipelineSpec, Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    spec, plan = planned
    long = Changed({"id": "u", "note": "a" * 70}, {"note": "b" * 70})
    lines = text_of(spec, plan, FOUND, {"updated": (long,)}).splitlines()
    assert [line[:9] for line in lines[-7:-3]] == ["id=u", "  note", "    bbbbb", "    -> aa"]
