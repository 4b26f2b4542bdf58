"""``freshet audit --repair`` through an index on HBase: a row that it puts right, moves or deletes has its entry, or none."""

from __future__ import annotations

import pytest

from freshet.audit.request import AuditRequest
from freshet.audit.run import run_audit
from freshet.errors import StateError
from freshet.hudi.timeline import TimelineState
from tests.kit.commands import many
from tests.kit.hbase import DELETES, HBaseLake

ROWS = ("id", "ts", "amount", "day")
RIGHT = "SELECT id, ts, amount, day, false AS _hoodie_is_deleted FROM <SRC>"
WRONG = """SELECT id, ts, if(id = 'k000001', 99, amount) AS amount, if(id = 'k000002', '2026-01-09', day) AS day,
    id = 'k000003' AS _hoodie_is_deleted FROM <SRC>
  UNION ALL SELECT 'surplus', 2, 1.00, '2026-01-05', false"""


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_repair_tells_the_index(hlake: HBaseLake, table_type: str) -> None:
    """A row changed, one in another partition, one missing, one surplus."""
    hlake.pipeline(table_type=table_type, columns=DELETES, sql=RIGHT)
    hlake.land(many(20))
    hlake.run_ok()
    hlake.pipeline(table_type=table_type, columns=DELETES, sql=WRONG)
    hlake.land(many(5, ts=2))
    hlake.run_ok()
    hlake.pipeline(table_type=table_type, columns=DELETES, sql=RIGHT)
    project = hlake.project("copy")
    asked = AuditRequest(everything=True, repair=True)
    done = run_audit(project, project.pipelines[0], TimelineState(), asked, hlake.events.append)
    assert (done.checked, done.missing, done.surplus, done.unequal) == (21, 1, 1, 2)
    assert done.repaired is not None
    assert (done.outcome, done.repaired.how) == ("repaired", "upsert")
    assert hlake.rows("derived.copy", *ROWS) == hlake.rows("raw.events", *ROWS)
    hlake.agree()
    assert run_audit(project, project.pipelines[0], TimelineState(), AuditRequest(everything=True), hlake.events.append).agrees


def test_what_needs_partitions_replaced_is_refused(hlake: HBaseLake) -> None:
    """Without the mark of deleted rows: Hudi would leave the entry of the row that goes."""
    hlake.pipeline(sql="SELECT id, ts, amount, day FROM <SRC> UNION ALL SELECT 'surplus', 2, 1.00, '2026-01-05'")
    hlake.land(many(5))
    hlake.run_ok()
    hlake.pipeline()
    before, project = hlake.files(), hlake.project("copy")
    with pytest.raises(StateError) as refused:
        run_audit(
            project, project.pipelines[0], TimelineState(), AuditRequest(everything=True, repair=True), hlake.events.append
        )
    assert refused.value.code == "REPAIR_NOT_POSSIBLE"
    assert hlake.files() == before
    hlake.agree()
