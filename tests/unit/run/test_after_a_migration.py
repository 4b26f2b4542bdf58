"""What somebody sees of a migrated table that was before: its runs, and that it had no rows yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.table import MemoryState
from freshet.project.model.pipeline import TableRef
from freshet.run.history import read_history
from freshet.run.records import write_record
from freshet.run.show import Wanted, show_rows
from tests.kit.memory import a_commit, a_spec, a_table_state


def test_runs_of_before_are_told_behind_those_since(tmp_path: Path) -> None:
    base = a_spec()
    ref = TableRef(base.target.ref.name, f"{tmp_path}/trips__m3")
    of_places = (("trips", "run"), ("trips__m2", "migrate"), ("trips__m3", "backfill"), ("other", "service"))
    for number, (place, what) in enumerate(of_places):
        record = {"what": what, "begun": f"20260801{number:09d}", "outcome": "done"}
        write_record(replace(ref, path=f"{tmp_path}/{place}"), base.name, record)
    spec = replace(base, target=replace(base.target, ref=ref))
    entries, unreadable = read_history(spec, MemoryState({}), 10)
    assert ([entry.what for entry in entries], unreadable) == (["backfill", "migrate", "run"], [])
    assert [entry.what for entry in read_history(spec, MemoryState({}), 2)[0]] == ["backfill", "migrate"]


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("/lake/trips", "begins at"),
        ("/lake/trips__m2", "before its migration the table was /lake/trips"),
    ],
)
def test_a_time_before_the_table_is_refused(path: str, begins: str) -> None:
    """Kind: a table that was not there had no row, which is another thing than no row found."""
    spark: Any = None
    state = a_table_state([a_commit(20, 20)], ref=TableRef("derived.trips", path))
    with pytest.raises(StateError) as raised:
        show_rows(spark, state, Wanted(at="20260101000000000"))
    assert raised.value.code == "BEFORE_FIRST_COMMIT"
    assert begins in raised.value.message
