"""Whose rows in a quarantine count after a full refresh, and which are left to take out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import BACKFILL_KEY, CHECKS_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, encode
from freshet.hudi.table import CommitInfo, Instant, MemoryState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.replay import compile_replay
from freshet.project.model.checks import CheckSpec, RowRule
from freshet.quarantine.identity import refuse_occupied
from freshet.quarantine.table import ID, hidden_runs, runs_left
from freshet.status.status import pipeline_status
from tests.kit.memory import SOURCE, TARGET, Loaded, a_checkpoint, a_commit, a_spec, a_table_state, at


def a_run(
    completed: int,
    run: str,
    origin: str,
    *,
    severity: str = "",
    operation: str = "UPSERT",
    base: int | None = None,
    pipeline: str = "earnings",
) -> Loaded:
    chunk = {} if base is None else {BACKFILL_KEY: json.dumps({"base": at(base)})}
    checks = {CHECKS_KEY: json.dumps({"checks": {"it": {"severity": severity}}})} if severity else {}
    action = "replacecommit" if operation.startswith("INSERT_OVERWRITE") else "commit"
    return a_commit(
        completed,
        action=action,
        operation=operation,
        extra={RUN_ID_KEY: run, ORIGIN_KEY: origin, PIPELINE_KEY: pipeline, **checks, **chunk},
    )


def refresh(origin: str = "whole_table", severity: str = "drop") -> Loaded:
    return a_run(30, "new", origin, severity=severity, operation="INSERT_OVERWRITE_TABLE")


OLD, DROPPED = a_run(9, "old", "run"), a_run(29, "new", "run")
FIRST = a_run(10, "old", "increment", severity="drop")
CLEARED = a_run(31, "new", "command")
CHUNK, CHUNK_DONE = a_run(25, "chunk", "chunk"), a_run(36, "chunk", "backfill", severity="drop", base=10)


@pytest.mark.parametrize(
    ("quarantine", "target", "hidden", "left"),
    [
        ((OLD, DROPPED, CLEARED), (FIRST, refresh()), (), None),
        ((OLD, DROPPED), (FIRST, refresh()), ("old",), {"new"}),
        ((OLD,), (FIRST, refresh()), ("old",), {"new"}),
        ((OLD,), (FIRST, refresh(severity="")), ("old",), {"new"}),
        ((OLD, DROPPED), (FIRST,), ("new",), None),
        # A chunk beside it, of which a row was dropped before the refresh and not published by then.
        ((OLD, CHUNK, DROPPED), (FIRST, refresh(), CHUNK_DONE), ("old",), {"new", "chunk"}),
        ((OLD, CHUNK, DROPPED), (FIRST, refresh()), ("chunk", "old"), {"new", "chunk"}),
        (
            (OLD, DROPPED, a_run(37, "chunk", "chunk")),
            (FIRST, refresh(), a_run(38, "chunk", "backfill", severity="drop", base=30)),
            (),
            None,
        ),
        # Whoever dropped rows since has taken them out; others have not looked.
        (
            (OLD, DROPPED, a_run(39, "next", "run")),
            (FIRST, refresh(), a_run(40, "next", "increment", severity="drop")),
            (),
            None,
        ),
        (
            (OLD, DROPPED),
            (FIRST, refresh(), a_run(40, "next", "increment", severity="fail"), a_run(41, "again", "replay")),
            ("old",),
            {"new", "next", "again"},
        ),
        ((OLD, DROPPED, a_run(39, "next", "run")), (FIRST, refresh()), ("next", "old"), {"new", "next"}),
        # What writes all rows, and drops none again.
        ((OLD,), (FIRST, refresh("index")), (), None),
        ((OLD,), (FIRST, a_run(30, "new", "whole_table", severity="drop")), (), None),
    ],
    ids=[
        "cleared",
        "killed before it",
        "that dropped nothing",
        "without checks",
        "killed before its commit",
        "a chunk from before",
        "a chunk at work",
        "a chunk since",
        "a run since",
        "others since",
        "a run at work",
        "an index made",
        "all read again",
    ],
)
def test_what_a_full_refresh_takes_out_of_the_quarantine_counts_no_more(
    quarantine: tuple[Loaded, ...],
    target: tuple[Loaded, ...],
    hidden: tuple[str, ...],
    left: set[str] | None,
) -> None:
    """Kind: a refresh that was killed, or could not take the quarantine's lease, between its commit and the clearing."""
    spec = a_spec()
    held, stands = a_table_state(quarantine, ref=spec.quarantine), a_table_state(target, ref=TARGET)
    state = MemoryState({spec.quarantine.path: held, TARGET.path: stands})
    assert hidden_runs(spec, state) == hidden
    assert runs_left(spec.name, held, stands) == left
    archived = a_table_state(target[-1:], archived=target[:-1], ref=TARGET)
    assert hidden_runs(spec, MemoryState({spec.quarantine.path: held, TARGET.path: archived})) == hidden


def test_of_many_chunks_only_the_newest_are_looked_at() -> None:
    """Each chunk asks: through all that a backfill has done by then it would be their number squared."""
    chunks = [a_run(number, f"c{number}", "backfill", severity="drop", base=number - 1) for number in range(40, 140)]
    target = a_table_state([FIRST, refresh(), *chunks])
    asked: list[object] = []

    def load(instant: Instant) -> CommitInfo:
        asked.append(instant)
        return target.load(instant)

    assert runs_left("earnings", a_table_state([OLD]), replace(target, load=load)) is None
    assert len(asked) < 4


def test_without_a_table_there_is_nothing_to_take_out() -> None:
    assert runs_left("earnings", None, a_table_state([refresh()])) is None
    assert runs_left("earnings", a_table_state([OLD]), None) is None


def sent(completed: int, run: str, rows: int, **more: str) -> Loaded:
    """Return a commit of a run that sent rows to the quarantine."""
    checks = json.dumps({"quarantined": rows, "checks": {"it": {"severity": "drop"}}})
    extra = {RUN_ID_KEY: run, ORIGIN_KEY: "increment", PIPELINE_KEY: "earnings", CHECKS_KEY: checks, **more}
    return a_commit(completed, extra={**extra, **encode(a_checkpoint(10))})


def seen(quarantine: tuple[Loaded, ...] | None, *target: Loaded, archived: tuple[Loaded, ...] = ()) -> list[str]:
    """Return what a plan, and the status, say of a quarantine that is lost."""
    spec = a_spec(inputs=(), checks=(CheckSpec(name="it", severity="drop", line=1, rule=RowRule("amount < 0")),))
    held = {SOURCE.path: a_table_state([a_commit(10), a_commit(20)]), TARGET.path: a_table_state(target, ref=TARGET)}
    if quarantine is not None:
        held[spec.quarantine.path] = a_table_state(quarantine, ref=spec.quarantine, archived=archived, record_key=(ID,))
    state = MemoryState(held)
    found = [one.message for one in compile_plan(spec, state, RunRequest()).notices if one.code == "QUARANTINE_LOST"]
    assert pipeline_status(spec, state).advice == "\n".join(f"QUARANTINE_LOST: {one}" for one in found)
    return found


def test_a_quarantine_that_lost_rows_is_told() -> None:
    """Kind: a table beside the target that is deleted, or restored from a copy: its rows wait for somebody, who would take an
    empty quarantine for a clean one. Of a run's rows and of a chunk's.
    """
    assert "4 rows that 1 commit" in seen(None, sent(12, "one", 4))[0]
    assert "is gone" in seen(None, sent(12, "one", 4))[0]
    assert "older copy: 5 rows that 1 commit" in seen((a_run(11, "one", "run"),), sent(12, "one", 4), sent(14, "two", 5))[0]
    assert "9 rows that 2 commits" in seen((a_run(15, "three", "run"),), sent(12, "one", 4), sent(14, "two", 5))[0]
    with pytest.raises(StateError) as refused:
        compile_replay(a_spec(inputs=()), MemoryState({TARGET.path: a_table_state([sent(12, "one", 4)], ref=TARGET)}), "", ())
    assert refused.value.code == "QUARANTINE_LOST"


def test_a_quarantine_that_holds_what_was_sent_is_whole() -> None:
    """Whether its commits are archived by now, its rows taken out, refreshed anew or another pipeline's."""
    one = a_run(11, "one", "run")
    assert seen((one,), sent(12, "one", 4)) == []
    assert seen((one, a_run(13, "x", "command")), sent(12, "one", 4)) == []
    assert seen((a_run(15, "y", "run"),), sent(12, "one", 4), archived=(one,)) == []
    assert seen(None, sent(12, "one", 0)) == []
    assert seen(None, sent(9, "other", 4, **{PIPELINE_KEY: "refunds"}), sent(12, "one", 0)) == []
    assert (
        seen(
            None,
            sent(12, "one", 4),
            (
                refresh(severity="")[0],
                replace(refresh(severity="")[1], extra={**refresh(severity="")[1].extra, **encode(a_checkpoint(10))}),
            ),
        )
        == []
    )


_OWN = a_run(11, "one", "run")


@pytest.mark.parametrize(
    ("commits", "config", "why"),
    [
        ((_OWN,), {"record_key": ("id",)}, "record key"),
        ((_OWN,), {"record_key": ()}, "record key"),
        ((), {"record_key": ("id",)}, "record key"),
        ((a_run(11, "one", "run", pipeline="refunds"),), {}, "refunds"),
        ((_OWN, a_run(12, "two", "command", pipeline="refunds")), {}, "refunds"),
        ((_OWN,), {"properties": {"hoodie.table.name": "refunds_quarantine"}}, "refunds_quarantine"),
        ((_OWN,), {}, ""),
        ((), {}, ""),
        ((a_run(11, "one", "run", pipeline="refunds"), a_commit(12), _OWN), {}, ""),
        ((a_commit(12),), {"properties": {"hoodie.table.name": "Earnings_quarantine"}}, ""),
        (None, {}, ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_the_pipelines_quarantine_is_refused_before_anything_is_written(
    commits: tuple[Loaded, ...] | None,
    config: dict[str, Any],
    why: str,
) -> None:
    """Kind: another one's table at the quarantine's path, by its key, its name or its writer: of a run and a replay, of the
    first run and a later one; a table without commits, and one that another writer serves, is the pipeline's own still.
    """
    spec = a_spec(inputs=(), checks=(CheckSpec(name="it", severity="drop", line=1, rule=RowRule("amount < 0")),))
    found = None if commits is None else a_table_state(commits, ref=spec.quarantine, **{"record_key": (ID,), **config})
    source, target = a_table_state([a_commit(10), a_commit(20)]), a_table_state([sent(12, "one", 0)], ref=TARGET)
    there = {SOURCE.path: source, **({spec.quarantine.path: found} if found is not None else {})}
    for plan in (
        lambda: compile_plan(spec, MemoryState(there), RunRequest()),
        lambda: compile_plan(spec, MemoryState({**there, TARGET.path: target}), RunRequest()),
        lambda: compile_replay(spec, MemoryState({**there, TARGET.path: target}), "", ()),
        lambda: refuse_occupied(spec, found),
    ):
        if not why:
            plan()
            continue
        with pytest.raises(StateError, match=why) as refused:
            plan()
        assert refused.value.code == "QUARANTINE_OCCUPIED"


def test_an_idle_run_and_one_that_drops_nothing_do_not_look() -> None:
    spec = a_spec(inputs=(), checks=(CheckSpec(name="it", severity="drop", line=1, rule=RowRule("amount < 0")),))
    foreign = a_table_state([_OWN], ref=spec.quarantine)
    there = {SOURCE.path: a_table_state([a_commit(10)]), spec.quarantine.path: foreign}
    idle = MemoryState({**there, TARGET.path: a_table_state([sent(12, "one", 0)], ref=TARGET)})
    assert not compile_plan(spec, idle, RunRequest()).stages
    assert compile_plan(replace(spec, checks=()), MemoryState(there), RunRequest()).stages
