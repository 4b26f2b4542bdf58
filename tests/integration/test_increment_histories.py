"""A history of a source that records its changes, drawn: each operation's increment and target are what the snapshots say.

FRESHET_EXAMPLES draws more than the few that every run draws.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.kit.history import INDEXES, KINDS, LAYOUTS, OPERATIONS, History, Row, begin, impossible
from tests.kit.lake import Lake

# By the run's instant, as nothing tells which of two rows without a key is the newer one; and no folder is named by ``day``.
COPY = (
    "SELECT id, <SRC_INSTANT> AS ts, amount, hex(day) AS day, hour, v, ts AS version, day AS at, _hoodie_is_deleted FROM <SRC>"
)
EXAMPLES = int(os.environ.get("FRESHET_EXAMPLES", "1"))
# The first one that is drawn by no other seed is the smallest that there is.
DRAWN = 1 + EXAMPLES


def followed_by(lake: Lake) -> None:
    """Declare a target that follows the table: its key is a row's id and place."""
    lake.pipeline(sql=COPY, columns=", hour STRING, v STRING, version BIGINT, at STRING, _hoodie_is_deleted BOOLEAN")
    ddl = lake.project_root / "ddl/copy.sql"
    ddl.write_text(ddl.read_text().replace("primaryKey = 'id'", "primaryKey = 'id,day,hour'"))


def held(lake: Lake) -> list[Row]:
    lake.run_ok(drain=True)
    return lake.rows("derived.copy", "id", "version", "v", "amount", "at", "hour")


@settings(
    max_examples=DRAWN,
    deadline=None,
    derandomize="FRESHET_EXAMPLES" not in os.environ,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.data(), st.sampled_from(KINDS), st.sampled_from(INDEXES), st.sampled_from(LAYOUTS))
def test_any_history(spark: SparkSession, data: st.DataObject, kind: str, index: str, layout: str) -> None:
    """Kind: operations after one another, of which each alone is right: services between writes, moves after deletes."""
    possible = [name for name in OPERATIONS if name != "partial_update" and not impossible(kind, index, layout, name)]
    drawn = data.draw(st.lists(st.sampled_from(possible), min_size=2, max_size=4))
    note(f"{kind} {index} {layout}: {drawn}")
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(spark, Path(folder))
        followed_by(lake)
        history = History(spark, Path(lake.path("raw.events")), kind, index, layout, cdc=True)
        begin(history)
        held(lake)
        first, start = history.position, dict(history.rows)
        for name in drawn:
            faults = OPERATIONS[name](history)
            assert not faults, "\n".join([name, *faults])
            assert held(lake) == sorted(history.rows.values(), key=str), name
        # All of it as one window, as after a long pause.
        history.position, history.rows = first, start
        faults = history.faults()
        assert not faults, "\n".join(["all of them", *faults])
