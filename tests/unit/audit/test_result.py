"""What an audit found, as JSON, in words and in its record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.api.shown import shown_audit
from freshet.audit.kept import last_audit, percent, record_of, standing_words
from freshet.audit.result import AuditResult, Cause, Example, Group, Repaired, counted_columns, some_examples, summed
from freshet.cli.audit_text import text_of
from freshet.project.model.pipeline import TableRef
from freshet.run import records
from freshet.run.records import read_records, remembered
from freshet.secrets import REDACTOR
from tests.kit.memory import a_spec, a_table_spec

UNEQUAL = Example(
    kind="unequal",
    key={"id": "u"},
    columns=("amount",),
    recompute={"id": "u", "amount": 7},
    target={"id": "u", "amount": 5},
    commit="20260801101500021",
)
CLEAN = AuditResult(
    pipeline="earnings",
    target="derived.earnings",
    commit="20260801101500022",
    checkpoint="20260801101500020",
    zone="UTC",
    share=0.01,
    by=("id",),
    seed="s",
    checked=300,
)
WRONG = replace(
    CLEAN,
    missing=1,
    surplus=1,
    unequal=2,
    columns={"amount": 2, "tip": 1},
    examples=(
        Example(kind="missing", key={"id": "m"}, recompute={"id": "m", "amount": 1}),
        Example(kind="surplus", key={"id": "s"}, target={"id": "s", "amount": None}, commit="20260801101500021"),
        UNEQUAL,
    ),
    causes=(
        Cause(code="EDITED_ROWS", message="2 rows were written by others", rows=2),
        Cause(code="OLDER_LOGIC", message="old"),
    ),
    unexplained=2,
)
DONE = replace(WRONG, repaired=Repaired(commit="20260801101500040", written=3, deleted=1, how="upsert"))


def test_outcomes() -> None:
    assert (CLEAN.outcome, WRONG.outcome, DONE.outcome) == ("equal", "differs", "repaired")
    assert (CLEAN.differing, WRONG.differing) == (0, 4)
    lost = replace(CLEAN, kept_out=2, lost=1)
    assert (lost.outcome, replace(lost, dropped_by_hand=True).outcome) == ("differs", "equal")
    assert replace(DONE, lost=1).outcome == "differs", "no commit brings back what the quarantine has lost"


def test_the_bound_is_on_rows_or_on_pieces_and_exact_where_all_were_compared() -> None:
    assert CLEAN.upper_bound == pytest.approx(1 - 0.05 ** (1 / 300))
    assert CLEAN.bound_of == "rows"
    pieces = replace(WRONG, pieces=100, wrong_pieces=0)
    assert pieces.upper_bound == pytest.approx(1 - 0.05**0.01)
    assert pieces.bound_of == "pieces"
    assert replace(WRONG, by=(), share=1.0).upper_bound == pytest.approx(4 / 300)
    assert replace(CLEAN, by=(), checked=0).upper_bound == 0.0


def test_for_programs() -> None:
    found: Any = json.loads(json.dumps(DONE.as_json()))
    assert found["outcome"] == "repaired"
    assert {key: found[key] for key in ("checked", "missing", "surplus", "unequal", "differing", "confidence")} == {
        "checked": 300,
        "missing": 1,
        "surplus": 1,
        "unequal": 2,
        "differing": 4,
        "confidence": 0.95,
    }
    assert found["examples"][2]["recompute"] == {"id": "u", "amount": 7}
    assert found["causes"][0] == {"code": "EDITED_ROWS", "message": "2 rows were written by others", "rows": 2}
    assert found["repaired"]["how"] == "upsert"
    assert found["columns"] == {"amount": 2, "tip": 1}


def test_in_words() -> None:
    assert text_of(WRONG).splitlines() == [
        "earnings: 300 rows checked (1% drawn by id): 4 differ: 1 missing, 1 surplus, 2 unequal (amount: 2, tip: 1)",
        "  as of the checkpoint 2026-08-01 10:15:00Z in commit 2026-08-01 10:15:00Z",
        "  with 95% confidence at most 3.1% of all rows are wrong; drawn by --seed s",
        "  cause: EDITED_ROWS: 2 rows were written by others",
        "  may be: OLDER_LOGIC: old",
        "  2 rows: that it comes from there is not certain",
        "  to repair them: freshet audit earnings --all --repair",
        "",
        "rows that are missing:",
        "id=m",
        "  amount  1",
        "",
        "rows that should not be there:",
        "id=s  (commit 2026-08-01 10:15:00Z)",
        "  amount  null",
        "",
        "rows that differ (as they stand -> as they should), 1 of 2:",
        "id=u  (commit 2026-08-01 10:15:00Z)",
        "  amount  5 -> 7",
    ]


def test_in_words_of_what_is_right_and_of_what_was_not_looked_at() -> None:
    said = text_of(
        replace(CLEAN, cleaned=("SRC",), since="20260801000000000", left_out=("updated_at",), kept_out=2, lost=1)
    ).splitlines()
    assert said[0] == "earnings: 300 rows checked (1% drawn by id): all equal a recompute"
    for words in ("of SRC the present rows", "only rows that came since", "updated_at", "2 keys", "1 row of these"):
        assert sum(words in line for line in said) == 1, words
    whole = text_of(replace(CLEAN, by=(), share=1.0))
    assert "confidence" not in whole
    assert "drawn" not in whole
    assert "there is none" in text_of(replace(CLEAN, checked=0))


def test_in_words_of_a_repair() -> None:
    said = text_of(DONE)
    assert "repaired by commit 2026-08-01 10:15:00Z (upsert): 3 rows written, 1 deleted; the checkpoint stays" in said
    assert "other rows may be wrong, too: freshet audit earnings --all --repair" in said
    assert "other rows" not in text_of(replace(DONE, by=()))


@pytest.mark.parametrize(
    ("share", "words", "bound"),
    [
        (0, "0%", "0%"),
        (0.01, "1%", "1%"),
        (0.0291, "2.9%", "3%"),
        (0.00991, "0.99%", "1%"),
        (1.0, "100%", "100%"),
        (2.9157e-9, "0.00000029%", "0.0000003%"),
        (0.98, "98%", "98%"),
    ],
)
def test_shares_and_bounds_which_no_rounding_lowers(share: float, words: str, bound: str) -> None:
    assert (percent(share), percent(share, up=True)) == (words, bound)


def test_groups_are_summed_and_some_of_each_kind_shown() -> None:
    groups = [
        Group(kind="unequal", commit="1", rows=5, columns={"b": 1, "a": 4}, examples=(UNEQUAL,) * 2),
        Group(kind="unequal", commit="2", rows=1, columns={"a": 1}, examples=(UNEQUAL,)),
        Group(kind="missing", rows=2, examples=(WRONG.examples[0],)),
    ]
    assert (summed(groups, "unequal"), summed(groups, "surplus")) == (6, 0)
    assert list(counted_columns(groups).items()) == [("a", 5), ("b", 1)]
    assert [one.kind for one in some_examples(groups, most=2)] == ["missing", "unequal"]
    assert len(some_examples(groups)) == 4
    assert some_examples([]) == ()


def test_its_record_is_kept_among_those_of_runs_and_the_last_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = (f"20260801101500{n:03d}" for n in range(1000))
    monkeypatch.setattr(records, "now", lambda: next(moments))
    ref = TableRef("derived.earnings", str(tmp_path / "derived/earnings"))
    spec = a_spec(target=a_table_spec(ref=ref))
    assert last_audit(spec) is None
    for found in (WRONG, CLEAN, DONE):
        with remembered(ref, spec.name, "audit") as record:
            record.update(record_of(found))
        with remembered(ref, spec.name, "run") as record:
            record.update(outcome="idle")
        told = last_audit(spec)
        assert told is not None
        assert (told["outcome"], told["checked"], told["differing"]) == (found.outcome, 300, found.differing)
    told_of, unreadable = read_records(ref, spec.name, 10)
    assert ([one["what"] for one in told_of], unreadable) == (["run", "audit"] * 3, [])
    assert told_of[1]["commits"] == ["20260801101500040"]
    with pytest.raises(RuntimeError), remembered(ref, spec.name, "audit"):
        raise RuntimeError
    again = last_audit(spec)
    assert again is not None
    assert again["outcome"] == "repaired", "one that failed found nothing"


def test_the_last_one_outlives_the_records_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a pipeline that runs every few minutes the newest thousand records are of a few days."""
    moments = (f"202608011015{n:02d}000" for n in range(60))
    monkeypatch.setattr(records, "now", lambda: next(moments))
    monkeypatch.setattr(records, "KEPT", 3)
    ref = TableRef("derived.earnings", str(tmp_path / "derived/earnings"))
    spec = a_spec(target=a_table_spec(ref=ref))
    for what in ("audit", "audit", *["run"] * 6):
        with remembered(ref, spec.name, what) as record:
            record.update(record_of(CLEAN) if what == "audit" else {"outcome": "committed"})
    told = last_audit(spec)
    assert told is not None
    assert told["outcome"] == "equal"
    assert [one["what"] for one in read_records(ref, spec.name, 10)[0]] == ["run"] * 3 + ["audit"]


def test_a_record_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    ref = TableRef("derived.earnings", str(tmp_path / "derived/earnings"))
    spec = a_spec(target=a_table_spec(ref=ref))
    folder = tmp_path / "derived/.freshet/earnings.runs/earnings"
    folder.mkdir(parents=True)
    (folder / "20260801101500000-0123abcd.differs.json").write_text('{"ver')
    assert last_audit(spec) is None


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("equal", "all equal a recompute"),
        ("differs", "2 differ; what: `freshet audit p`"),
        ("repaired", "2 differed, and are repaired"),
    ],
)
def test_what_status_says(outcome: str, words: str) -> None:
    said = standing_words("p", {"when": "20260801101500000", "outcome": outcome, "checked": 1204, "differing": 2})
    assert said.startswith("p: last audit 2026-08-01 10:15:00Z (")
    assert said.endswith(f"): 1,204 rows checked, {words}")
    assert standing_words("p", None) == ""


def test_no_secret_reaches_a_caller_or_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None), ("_strict", None)):
        monkeypatch.setattr(REDACTOR, name, empty)
    REDACTOR.register("TOKEN", "hunter2-and-more")
    row = {"id": "hunter2-and-more"}
    found = replace(
        WRONG,
        examples=(replace(UNEQUAL, key=row, recompute=row, target=row),),
        causes=(Cause(code="EDITED_ROWS", message="by hunter2-and-more"),),
    )
    assert "hunter2" not in json.dumps(shown_audit(found).as_json())
