"""The look at the target just before the write: whoever was faster keeps what it published, and this run writes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.errors import RetryableError
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit, Plan, Precondition
from freshet.run.fence import fence
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

SPEC = a_spec(inputs=())
BEFORE = a_target((20, a_checkpoint(10)))


def planned(target: TableState | None = BEFORE) -> tuple[Plan, Commit]:
    tables = {SOURCE.path: a_table_state([a_commit(10), a_commit(30)])}
    plan = compile_plan(SPEC, MemoryState({**tables, **({TARGET.path: target} if target else {})}), RunRequest())
    return plan, next(stage for stage in plan.stages if isinstance(stage, Commit))


@pytest.mark.parametrize(
    "now",
    [
        a_target((20, a_checkpoint(10)), (40, a_checkpoint(30))),
        # Set back, or reset, by hand.
        a_target((20, a_checkpoint(10)), (40, a_checkpoint(5))),
        a_target((20, a_checkpoint(10)), (40, a_checkpoint(None))),
        # The table was made anew meanwhile.
        None,
        a_target(),
    ],
    ids=["read on", "set back", "reset", "gone", "made anew"],
)
def test_a_run_whose_checkpoint_has_moved_writes_nothing(now: TableState | None) -> None:
    plan, commit = planned()
    fence(plan, SPEC, BEFORE, commit)
    with pytest.raises(RetryableError) as error:
        fence(plan, SPEC, now, commit)
    assert error.value.code == "CHECKPOINT_MOVED"


def test_a_table_that_another_run_has_made_meanwhile_is_not_written_over() -> None:
    plan, commit = planned(None)
    fence(plan, SPEC, None, commit)
    with pytest.raises(RetryableError, match="moved the checkpoint"):
        fence(plan, SPEC, BEFORE, commit)


@pytest.mark.parametrize("kind", ["override", "backfill", "replay", "repair"])
def test_what_takes_no_part_in_the_checkpoint_does_not_look_at_it(kind: str) -> None:
    plan, commit = planned()
    moved = a_target((20, a_checkpoint(10)), (40, a_checkpoint(30)))
    fence(replace(plan, window=replace(plan.window, kind=kind)), SPEC, moved, commit)  # type: ignore[arg-type]


def test_a_commit_to_a_partition_that_the_plan_holds_is_refused() -> None:
    """Kind: what is joined with the target, or replaces a partition of it. A commit to another partition harms neither."""
    plan, commit = planned()
    held = replace(commit, guard=Precondition(at(20), ("2026-08-01",), True))
    of_others = [a_commit(at_ms, partitions=(day,)) for at_ms, day in ((20, "2026-07-01"), (40, "2026-08-02"))]
    fence(replace(plan, checkpoint_before=None), SPEC, a_table_state(of_others, ref=TARGET), held)
    with pytest.raises(RetryableError) as error:
        fence(plan, SPEC, a_table_state([*of_others, a_commit(50, partitions=("2026-08-01",))], ref=TARGET), held)
    assert (error.value.code, error.value.details["commits"]) == ("PARTITION_CHANGED", [at(50)])
