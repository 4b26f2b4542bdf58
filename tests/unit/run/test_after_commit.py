"""What goes wrong after a commit: the rows are published, and no error says that nothing was written."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import FreshetError, RetryableError
from freshet.events.event import Event
from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.table import MemoryState
from freshet.jvm import at_work, lock
from freshet.lease.local import Lease
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit, Plan
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef
from freshet.run import executor
from freshet.run.batch import Batch
from freshet.run.runner import leased, run_once
from freshet.run.write_session import WriteSession
from freshet.sources.hudi.reads import Window
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target

BUSY = RetryableError("ALREADY_RUNNING", "the quarantine is being written.", "Nothing was read or written.")


@pytest.fixture
def spec(tmp_path: Path) -> PipelineSpec:
    return a_spec(target=a_table_spec(ref=TableRef("derived.earnings", str(tmp_path / "earnings"))), inputs=())


@pytest.fixture
def tables(spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch) -> MemoryState:
    """Return the tables of a run whose Spark is replaced: its commit comes to the target, and nothing else happens."""
    target = replace(a_target((22, a_checkpoint(20))), ref=spec.target.ref)
    held = {SOURCE.path: a_table_state([a_commit(10), a_commit(20)]), spec.target.ref.path: target}

    def write_commit(rows: object, commit: Any, run_id: str, read: object, **_: object) -> None:
        extra = {RUN_ID_KEY: run_id, PIPELINE_KEY: spec.name, ORIGIN_KEY: commit.metadata[ORIGIN_KEY]}
        before = [(i, target.info(i)) for i in target.commits]
        held[spec.target.ref.path] = a_table_state([*before, a_commit(40, extra=extra)], ref=spec.target.ref)

    for name, stand_in in {
        "session_for": lambda *_: None,
        "make_batch": lambda plan, *_: Batch(rows=None, commit=plan.stages[-1]),  # type: ignore[arg-type]
        "hold_target": lambda *_: None,
        "check_clock": lambda *_: None,
        "mark_due": lambda *_: None,
        "sync_if_due": lambda *_: None,
        "keep_apart": lambda *_: 0,
        "write_commit": write_commit,
    }.items():
        monkeypatch.setattr(executor, name, stand_in)
    monkeypatch.setattr(lock, "jvm_lock", lambda *_: nullcontext())
    monkeypatch.setattr(at_work, "at_work", nullcontext)
    return MemoryState(held)


def replaying(plan: Plan) -> Plan:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return replace(plan, window=Window(kind="replay"), stages=(replace(commit, operation="upsert"),))


@pytest.mark.parametrize("error", [BUSY, OSError(28, "No space left on device")], ids=["busy", "foreign"])
@pytest.mark.parametrize("what", ["release_earlier", "release"])
def test_a_quarantine_that_cannot_be_cleared_is_a_notice(
    spec: PipelineSpec,
    tables: MemoryState,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    error: Exception,
) -> None:
    """Kind: what fails between the commit and the run's end. A table service and a catalogue's sync have their own tests."""

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(executor, what, fails)
    plan = compile_plan(spec, tables, RunRequest(full_refresh=True))
    plan = plan if what == "release_earlier" else replaying(plan)
    heard: list[Event] = []
    made: list[str] = []

    def then(session: WriteSession) -> None:
        made.append("the index")

    result = leased(Project("/p", "local", (spec,), {}), spec, tables, heard.append, lambda: plan, "full refresh", then=then)
    assert (result.error, result.outcome, made) == (None, "committed", ["the index"])
    (notice,) = (one for one in heard if one.name == "notice")
    assert notice.message.startswith("QUARANTINE_NOT_CLEARED: the rows are published")
    assert notice.fields["code"] == ("ALREADY_RUNNING" if error is BUSY else "UNEXPECTED_ERROR")


def test_before_the_commit_it_ends_the_run(spec: PipelineSpec, tables: MemoryState, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise BUSY

    monkeypatch.setattr(executor, "keep_apart", fails)
    plan = compile_plan(spec, tables, RunRequest(full_refresh=True))
    session = WriteSession(spec=spec, lease=Lease(Path("/w")), listen=[].append, waiting=[].append)
    with pytest.raises(FreshetError) as refused:
        run_once(Project("/p", "local", (spec,), {}), spec, tables, lambda event: None, lambda: plan, session)
    assert refused.value.code == "ALREADY_RUNNING"


def test_a_lease_that_another_machine_has_is_no_commit(
    spec: PipelineSpec, tables: MemoryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind: the last look before a commit. Each writer asks ``WriteSession.confirm``; here a run, after its work."""
    lost = RetryableError("LEASE_LOST", "another machine has it.", "The run was ended.")
    monkeypatch.setattr(WriteSession, "confirm", lambda session: (_ for _ in ()).throw(lost))
    monkeypatch.setattr(executor, "write_commit", lambda *_, **__: pytest.fail("it is written"))
    plan = compile_plan(spec, tables, RunRequest(full_refresh=True))
    result = leased(Project("/p", "local", (spec,), {}), spec, tables, [].append, lambda: plan, "full refresh")
    assert (result.outcome, result.error) == ("failed", lost)
