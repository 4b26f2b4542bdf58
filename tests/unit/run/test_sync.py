"""A sync that failed is an error of its own beside a commit that stands, and the next run makes up for it, idle or not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from freshet.errors import Exit, SyncError
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.result import exit_code_of, in_words
from freshet.run.sync_due import is_due, mark_done, mark_due
from tests.kit.memory import a_checkpoint
from tests.unit.run.test_runner import World, run, world  # noqa: F401 - a fixture

SYNCED = {"hoodie.datasource.hive_sync.enable": "true"}
FAILED = SyncError("SYNC_FAILED", "derived.a: no metastore", "", "")


@pytest.fixture
def tool(world: World, monkeypatch: pytest.MonkeyPatch) -> list[SyncError | None]:  # noqa: F811
    """What the sync answers, call by call; the executor marks and syncs as the real one does."""
    answers: list[SyncError | None] = []

    def sync_if_due(spec: PipelineSpec, *_: Any) -> SyncError | None:
        if not is_due(spec):
            return None
        error = answers.pop(0)
        if error is None:
            mark_done(spec)
        return error

    def execute(plan: Any, spec: PipelineSpec, *others: Any, **how: Any) -> SimpleNamespace:
        mark_due(spec)
        done = world.execute(plan, spec, *others, **how)
        return SimpleNamespace(**{**vars(done), "sync_error": sync_if_due(spec)})

    for name, module in (
        ("executor", {"execute": execute}),
        ("spark", {"session_for": lambda *_: None}),
        ("catalogue", {"sync_if_due": sync_if_due}),
    ):
        stand_in = ModuleType(f"freshet.run.{name}")
        vars(stand_in).update(module)
        monkeypatch.setitem(sys.modules, f"freshet.run.{name}", stand_in)
    return answers


def test_a_failed_sync_is_an_error_of_its_own_and_the_rows_stand(world: World, tool: list[SyncError | None]) -> None:  # noqa: F811
    """Of the kind: what fails after the commit. A table service that fails is a notice, for the next commit repeats it."""
    first, second = world.pipeline("a", write_options=SYNCED), world.pipeline("b")
    tool.append(FAILED)
    found = run(world, first, second, upstream={"b": ("a",)})
    assert (found["a"].outcome, found["a"].error, len(found["a"].commits)) == ("committed", FAILED, 1)
    assert "SYNC_FAILED" in in_words(found["a"])
    # What reads its rows runs, for they stand.
    assert found["b"].outcome == "committed"
    assert exit_code_of(tuple(found.values())) is Exit.SYNC
    assert Exit.SYNC not in (Exit.OK, Exit.FAILED, Exit.USAGE, Exit.INVALID, Exit.RETRY, Exit.STATE, Exit.DATA, Exit.CHECK)


def test_the_next_run_makes_up_for_it_without_a_row(world: World, tool: list[SyncError | None]) -> None:  # noqa: F811
    spec = world.pipeline("a", write_options=SYNCED)
    tool += [FAILED, FAILED, None]
    assert run(world, spec)["a"].error is FAILED
    again = run(world, spec)["a"]
    assert (again.outcome, again.error, exit_code_of((again,))) == ("idle", FAILED, Exit.SYNC)
    done = run(world, spec)["a"]
    assert (done.outcome, done.error, tool) == ("idle", None, [])
    # No call is left for it to make.
    assert run(world, spec)["a"].error is None


def test_a_run_that_is_killed_before_the_sync_leaves_it_to_the_next(world: World, tool: list[SyncError | None]) -> None:  # noqa: F811
    spec = world.pipeline("a", write_options=SYNCED)
    mark_due(spec)
    world.stands_at(spec, a_checkpoint(50))
    tool.append(None)
    assert (run(world, spec)["a"].outcome, tool, is_due(spec)) == ("idle", [], False)


def test_a_table_without_a_catalogue_is_never_due(world: World, tmp_path: Path) -> None:  # noqa: F811
    spec = world.pipeline("a")
    mark_due(spec)
    assert not is_due(spec)
    assert not list(tmp_path.rglob("*.sync"))
