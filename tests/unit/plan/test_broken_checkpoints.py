"""A checkpoint that cannot be read names its pipeline and its table, and stops no other pipeline."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY, decode
from freshet.hudi.table import MemoryState, StateReader, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.retention import HELD
from freshet.plan.stages import Commit
from freshet.project.model.pipeline import TableRef
from freshet.project.model.readers import Reader
from freshet.status.status import pipeline_status
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_spec, a_table_state, a_target

BELOW = TableRef("derived.slips", "/lake/derived/slips")


def own(instant: object) -> dict[str, str]:
    position = {"instant": instant, "table": SOURCE.path, "basis": "completed"}
    return {CHECKPOINT_KEY: json.dumps({"version": 1, "positions": {"SRC": position}})}


@pytest.mark.parametrize(
    "instant",
    [
        "yesterday",
        "²⁰²⁶",
        "",
        " ",
        "2026-08-01",
        "٢٠٢٦٠٨٠١١٠١٥٠٠٠٠٠",
        "2026080110150000000",
        "-1",
        "1e9",
    ],
)
@pytest.mark.parametrize("key", ["own", STREAMER_V1_KEY, STREAMER_V2_KEY])
def test_an_instant_has_the_form_of_one(key: str, instant: str) -> None:
    """Words, other scripts' digits, nothing, too much; in freshet's key and in both of HoodieStreamer's."""
    if key != "own" and not instant:
        assert decode({key: instant}) is None
        return
    with pytest.raises(StateError) as raised:
        decode(own(instant) if key == "own" else {key: instant}, "derived.earnings", "earnings")
    assert raised.value.code == "CHECKPOINT_UNREADABLE"


@pytest.mark.parametrize(
    "metadata",
    [
        own("yesterday"),
        {CHECKPOINT_KEY: "junk"},
        {CHECKPOINT_KEY: "[" * 100_000},
        {CHECKPOINT_KEY: json.dumps({"version": 9})},
        {STREAMER_V2_KEY: "a.csv,5"},
        {STREAMER_V1_KEY: "a.csv,5"},
    ],
)
def test_the_error_names_the_pipeline_and_the_table(metadata: dict[str, str]) -> None:
    target = a_table_state([a_commit(900, extra=metadata)], ref=TARGET)
    state = MemoryState({t.ref.path: t for t in (a_table_state([a_commit(10)]), target)})
    spec = a_spec()
    with pytest.raises(StateError) as raised:
        compile_plan(spec, state, RunRequest())
    assert spec.name in raised.value.message
    assert TARGET.name in raised.value.message
    assert "NAME" not in str(raised.value)
    assert raised.value.code == "CHECKPOINT_TOO_NEW" or f"checkpoint set {spec.name} " in raised.value.next_step
    assert pipeline_status(spec, state).state == raised.value.code


class Broken(MemoryState):
    """A state in which one table cannot be looked at."""

    def table(self, ref: TableRef) -> TableState | None:
        if ref == BELOW:
            raise StateError("TIMELINE_UNREADABLE", f"{ref.name}: broken")
        return super().table(ref)


@pytest.mark.parametrize("broken", ["checkpoint", "table"])
def test_a_reader_that_is_broken_does_not_stop_its_upstream(broken: str) -> None:
    """Its checkpoint, its timeline: cleaning waits, as it does for one that is behind, and the plan says so."""
    below = a_table_state([a_commit(900, extra=own("yesterday"))], ref=BELOW)
    upstream = a_target(*((10 * n, a_checkpoint(n)) for n in range(1, 5)))
    tables = {t.ref.path: t for t in (a_table_state([a_commit(n) for n in range(1, 20)]), upstream, below)}
    state: StateReader = Broken(tables) if broken == "table" else MemoryState(tables)
    keeps = {"hoodie.clean.commits.retained": "2"}
    spec = replace(a_spec(inputs=()), readers=(Reader("slips", BELOW, ()),), write_options=keeps)
    plan = compile_plan(spec, state, RunRequest())
    assert [(notice.code, "slips" in notice.message) for notice in plan.notices] == [("RETENTION_HELD", True)]
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    assert {key: commit.options[key] for key in HELD} == HELD
