"""Where differences come from: told for certain by the commit that wrote a row, else as what may be."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.audit.causes import causes_of, is_own
from freshet.audit.plan import AuditPlan, plan_audit
from freshet.audit.request import AuditRequest
from freshet.audit.result import Group
from freshet.hudi.checkpoint import LOGIC_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, STREAMER_V2_KEY, encode
from freshet.hudi.table import CommitInfo, Instant, MemoryState, TableState
from freshet.plan.logic_record import LogicRecord, Standing, encode_record
from freshet.project.model.logic import Part, digest_of
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.verdict.result import Scope
from tests.kit.memory import (
    AVRO_TYPES,
    CITIES,
    SOURCE,
    TARGET,
    a_checkpoint,
    a_commit,
    a_spec,
    a_table_state,
    an_avro_schema,
    at,
)

OWN = {PIPELINE_KEY: "earnings", RUN_ID_KEY: "r", "schema": an_avro_schema(AVRO_TYPES)}
DAY_BEFORE = "20260731101500000"


def target(*more: Any, **extra: str) -> TableState:
    return a_table_state([a_commit(22, extra={**OWN, **extra, **encode(a_checkpoint(20))}), *more], ref=TARGET)


def planned(spec: PipelineSpec, stands: TableState, **tables: TableState) -> AuditPlan:
    lake = {
        "source": a_table_state([a_commit(10), a_commit(20)]),
        "cities": a_table_state([a_commit(1)], ref=CITIES),
        **tables,
        "target": stands,
    }
    state = MemoryState({table.ref.path: table for table in lake.values()})
    return plan_audit(spec, state, AuditRequest(everything=True), Scope(), "/nowhere")


def told(*groups: Group, spec: PipelineSpec | None = None, stands: TableState | None = None, **tables: TableState) -> Any:
    stands = stands or target()
    causes, left = causes_of(planned(spec or a_spec(), stands, **tables), stands, groups)
    return [(one.code, one.rows) for one in causes], left


MISSING, EQUAL = Group(kind="missing", rows=2), Group(kind="equal", rows=90)


def test_of_what_is_right_nothing_is_said() -> None:
    assert told(EQUAL, Group(kind="kept_out", rows=3), Group(kind="lost", rows=1)) == ([], 0)


def test_rows_of_a_commit_that_the_pipeline_did_not_make() -> None:
    stands = target(a_commit(30, extra={}), a_commit(40, extra={PIPELINE_KEY: "other"}))
    by_hand, other = (Group(kind="unequal", commit=at(n), rows=rows) for n, rows in ((29, 3), (39, 2)))
    assert told(EQUAL, by_hand, other, stands=stands) == ([("EDITED_ROWS", 5)], 0)
    own = Group(kind="surplus", commit=at(21), rows=1)
    assert told(by_hand, own, stands=stands) == ([("EDITED_ROWS", 3)], 1)


def test_a_commit_that_no_timeline_has_any_more_is_nobodys() -> None:
    assert told(Group(kind="unequal", commit=at(3), rows=4)) == ([], 4)


def test_one_in_the_archive_is_found() -> None:
    loaded = [a_commit(22, extra={**OWN, **encode(a_checkpoint(20))})]
    stands = a_table_state(loaded, ref=TARGET, archived=[a_commit(4, extra={})])
    assert told(Group(kind="unequal", commit=at(3), rows=4), stands=stands) == ([("EDITED_ROWS", 4)], 0)


@pytest.mark.parametrize(
    ("extra", "own"),
    [
        ({PIPELINE_KEY: "earnings"}, True),
        ({PIPELINE_KEY: "other", RUN_ID_KEY: "r"}, False),
        ({STREAMER_V2_KEY: at(1)}, True),
        ({RUN_ID_KEY: "r"}, True),
        ({}, False),
    ],
)
def test_whose_a_commit_is(extra: dict[str, str], own: bool) -> None:
    assert is_own(a_spec(), CommitInfo(extra=extra)) is own


def test_a_newer_row_stands() -> None:
    group = Group(kind="unequal", commit=at(21), rows=3, outranked=2)
    assert told(group) == ([("NEWER_ROW_STANDS", 2)], 1)


def test_an_input_that_has_gone_on_and_one_that_drives_nothing() -> None:
    later = a_table_state([a_commit(1), a_commit(5), a_commit(60)], ref=CITIES)
    assert told(MISSING, cities=later) == ([("INPUT_MOVED_ON", None), ("INPUT_DRIVES_NOTHING", None)], 2)
    assert told(MISSING, cities=a_table_state([a_commit(1)], ref=CITIES)) == ([], 2)


def test_a_lookback_that_was_passed() -> None:
    tips = TableRef("raw.tips", "/lake/raw/tips")
    one = InputSpec(name="tips", table=tips, read="incremental", line=8, lookback_seconds=3600, drives=(("trip", "trip_id"),))
    first, last = a_commit(1), a_commit(2)
    far = (Instant(DAY_BEFORE, DAY_BEFORE, "commit"), last[1])
    spec = a_spec(inputs=(one,))
    table = a_table_state([first, far], ref=tips)
    assert told(MISSING, spec=spec, tips=table)[0][-1] == ("LOOKBACK_PASSED", None)
    near = a_table_state([first, last], ref=tips)
    assert told(MISSING, spec=spec, tips=near) == ([], 2)


def test_deletes_that_no_run_is_told_of() -> None:
    source = a_table_state([a_commit(10), a_commit(20, deletes=4)])
    assert told(Group(kind="surplus", commit=at(21), rows=4), source=source) == ([("DELETES_NOT_PASSED", None)], 4)
    assert told(MISSING, source=source) == ([], 2)


@pytest.mark.parametrize("origin", ["override", "start_at_latest"])
def test_commits_that_were_never_read(origin: str) -> None:
    stands = target(a_commit(12, extra={**OWN, ORIGIN_KEY: origin}))
    assert told(MISSING, stands=stands) == ([("COMMITS_SKIPPED", None)], 2)
    assert told(Group(kind="unequal", commit=at(21), rows=1), stands=stands) == ([], 1)


def test_partitions_of_an_older_logic() -> None:
    logic = (Part("transformers/a.sql", "sql", "select 2"),)
    spec = a_spec(logic=logic)
    for digest, expected in (("older", [("OLDER_LOGIC", None)]), (digest_of(logic), [])):
        record = LogicRecord(digest=digest, base="", standing=Standing(held={"2026-08-01": digest}), parts={})
        stands = target(**{LOGIC_KEY: encode_record(record)})
        assert told(MISSING, spec=spec, stands=stands) == (expected, 2)


def test_what_is_certain_stands_first_and_words_name_the_table() -> None:
    stands = target(a_commit(30, extra={}))
    plan = planned(a_spec(), stands, cities=a_table_state([a_commit(1), a_commit(60)], ref=CITIES))
    causes, _ = causes_of(plan, stands, [Group(kind="surplus", commit=at(29), rows=1), MISSING])
    assert [one.code for one in causes] == ["EDITED_ROWS", "INPUT_MOVED_ON"]
    assert "1 row" in causes[0].message
    assert CITIES.name in causes[1].message
    assert SOURCE.name not in causes[1].message
