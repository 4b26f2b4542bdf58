"""The newest runs of a pipeline, by as few of its records as will do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.run import last_runs as module
from freshet.run.last_runs import last_runs
from freshet.run.record_files import folder_of
from freshet.run.records import write_record
from tests.kit.memory import a_spec, at


@pytest.fixture
def spec(tmp_path: Path) -> PipelineSpec:
    one = a_spec()
    return replace(one, target=replace(one.target, ref=TableRef("derived.earnings", str(tmp_path / "derived/earnings"))))


def recorded(spec: PipelineSpec, begun: int, outcome: str = "committed", code: str = "", **more: Any) -> None:
    error = {"error": {"code": code, "message": "x"}} if code else {}
    record = {"what": "run", "begun": at(begun), "ended": at(begun + 5), "outcome": outcome, **error, **more}
    write_record(spec.target.ref, spec.name, record)


def test_no_run(spec: PipelineSpec) -> None:
    found = last_runs(spec)
    assert (found.last, found.worked, found.committed, found.success, found.begun, found.failures) == (
        None,
        None,
        None,
        "",
        "",
        0,
    )


def test_the_newest_of_each_kind(spec: PipelineSpec) -> None:
    recorded(spec, 10, rows={"read": 5}, seconds={"total": 2.0})
    recorded(spec, 20, "idle")
    recorded(spec, 30, "idle")
    recorded(spec, 40, "failed", "CHECK_FAILED")
    recorded(spec, 50, "killed")
    recorded(spec, 60, "failed", "ALREADY_RUNNING")
    found = last_runs(spec)
    assert found.last is not None
    assert found.worked is not None
    assert found.committed is not None
    assert (found.begun, found.worked.begun, found.committed.begun) == (at(60), at(40), at(10))
    assert found.success == at(35), "the last of those that are told together"
    assert found.failures == 2, "one that found its target taken has not failed"
    assert found.committed.rows["read"] == 5


def test_other_work_on_the_table_is_no_run(spec: PipelineSpec) -> None:
    recorded(spec, 10)
    for begun, what in ((20, "service"), (30, "backfill"), (40, "checkpoint"), (50, "audit")):
        recorded(spec, begun, "equal" if what == "audit" else "done", what=what)
    assert last_runs(spec).begun == at(10)
    recorded(spec, 60, what="full refresh")
    assert last_runs(spec).begun == at(60)


def test_no_more_records_are_read_than_needed(spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    for begun in range(10, 100, 10):
        recorded(spec, begun)
    recorded(spec, 100, "idle")
    read: list[str] = []
    real = module.read_file
    monkeypatch.setattr(module, "read_file", lambda storage, path: read.append(path) or real(storage, path))
    last_runs(spec)
    assert len(read) == 2
    read.clear()
    monkeypatch.setattr(module, "_LOOKED_AT", 3)
    for begun in range(200, 290, 10):
        recorded(spec, begun, "failed", "OVERFLOW")
    assert (last_runs(spec).failures, len(read)) == (3, 3)


def test_a_record_that_is_none_is_left_out(spec: PipelineSpec) -> None:
    recorded(spec, 10)
    Path(folder_of(spec.target.ref, spec.name), f"{at(30)}-0123abcd.failed.json").write_text('{"ver')
    assert last_runs(spec).begun == at(10)


def test_runs_of_before_a_migration_count(spec: PipelineSpec) -> None:
    recorded(spec, 10)
    moved = replace(spec, target=replace(spec.target, ref=TableRef("derived.earnings", f"{spec.target.ref.path}__m2")))
    assert last_runs(moved).begun == at(10)
    recorded(moved, 20, "failed", "OVERFLOW")
    found = last_runs(moved)
    assert (found.begun, found.success) == (at(20), at(15))
