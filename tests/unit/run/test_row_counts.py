"""What a run says of rows: what happened to them, or that it is not known.

Of this kind: a row that moves, which Hudi counts as inserted and as deleted; a new row that Hudi writes to a log and counts as
updated; both in one commit, and in a drain of several.
"""

from __future__ import annotations

import pytest

from freshet.hudi.table import CommitInfo
from freshet.project.model.pipeline import IndexSpec
from freshet.run.result import RunResult, in_words, row_counts, summed
from freshet.types.columns import Atomic, Column
from tests.kit.memory import BUCKETS, COLUMNS, a_spec

RECORD_INDEX, HBASE = IndexSpec("RECORD_INDEX", {}), IndexSpec("HBASE", {})
MARKED = (*COLUMNS, Column(name="_hoodie_is_deleted", type=Atomic("boolean")))
BOTH = " (a row that moved to another partition counts as both; how many did is not known)"


@pytest.mark.parametrize(
    ("index", "target", "rows", "words"),
    [
        (BUCKETS, {}, (1, 2, 0), "1 inserted, 2 updated, 0 deleted"),
        (BUCKETS, {"columns": MARKED}, (1, 2, 3), "1 inserted, 2 updated, 3 deleted"),
        (BUCKETS, {"columns": MARKED}, (0, 2, 3), "0 inserted, 2 updated, 3 deleted"),
        (BUCKETS, {"columns": MARKED}, (1, 2, 0), "1 inserted, 2 updated, 0 deleted"),
        (BUCKETS, {"columns": MARKED, "partition_by": ()}, (1, 2, 3), "1 inserted, 2 updated, 3 deleted"),
        (BUCKETS, {"columns": MARKED, "table_type": "MERGE_ON_READ"}, (0, 2, 3), "2 inserted or updated, 3 deleted"),
        (RECORD_INDEX, {}, (3, 2, 1), "2 inserted, 2 updated, 1 moved, 0 deleted"),
        (RECORD_INDEX, {}, (0, 2, 0), "0 inserted, 2 updated, 0 deleted"),
        (RECORD_INDEX, {"columns": MARKED}, (3, 2, 1), "3 inserted, 2 updated, 1 deleted" + BOTH),
        (RECORD_INDEX, {"columns": MARKED}, (0, 0, 1), "0 inserted, 0 updated, 1 deleted"),
        (RECORD_INDEX, {"columns": MARKED, "partition_by": ()}, (3, 2, 1), "3 inserted, 2 updated, 1 deleted"),
        (BUCKETS, {"table_type": "MERGE_ON_READ"}, (0, 2, 0), "2 inserted or updated, 0 deleted"),
        (BUCKETS, {"table_type": "MERGE_ON_READ"}, (1, 2, 0), "1 inserted, 2 inserted or updated, 0 deleted"),
        (BUCKETS, {"table_type": "MERGE_ON_READ"}, (1, 0, 0), "1 inserted, 0 updated, 0 deleted"),
        (HBASE, {"table_type": "MERGE_ON_READ", "columns": MARKED}, (0, 2, 1), "0 inserted, 2 updated, 1 deleted" + BOTH),
    ],
)
def test_what_is_said(index: IndexSpec, target: dict[str, object], rows: tuple[int, int, int], words: str) -> None:
    found = row_counts(
        a_spec(index=index, target=target),
        CommitInfo(operation="UPSERT", **dict(zip(("inserts", "updates", "deletes"), rows, strict=True))),
    )
    said = RunResult(
        pipeline="a",
        outcome="committed",
        run_id="r",
        commits=("1",),
        inserts=found.inserts,
        updates=found.updates,
        deletes=found.deletes,
        moves=found.moves,
        mixed=found.mixed,
    )
    assert in_words(said) == f"committed 1: {words}; checkpoint none"
    assert said.as_json()["mixed"] == list(found.mixed)


def test_a_drain_adds_them_up() -> None:
    one = RunResult(pipeline="a", outcome="committed", inserts=1, moves=2, mixed=("updates",))
    other = RunResult(pipeline="a", outcome="committed", inserts=1, moves=1, mixed=("deletes", "inserts"))
    both = summed(one, other)
    assert (both.inserts, both.moves, both.mixed) == (2, 3, ("deletes", "inserts", "updates"))
