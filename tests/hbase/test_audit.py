"""``freshet audit --repair`` through an index on HBase: a row that it puts right, moves or deletes has its entry, or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freshet.audit.request import AuditRequest
from freshet.audit.result import AuditResult
from freshet.audit.run import run_audit
from freshet.errors import StateError
from freshet.hudi.timeline import TimelineState
from tests.kit.backfills import at_phase
from tests.kit.commands import many
from tests.kit.hbase import DELETES, HBaseLake
from tests.kit.lake import rows

ROWS = ("id", "ts", "amount", "day")
RIGHT = "SELECT id, ts, amount, day, false AS _hoodie_is_deleted FROM <SRC>"
WRONG = """SELECT id, ts, if(id = 'k000001', 99, amount) AS amount, if(id = 'k000002', '2026-01-09', day) AS day,
    id = 'k000003' AS _hoodie_is_deleted FROM <SRC>
  UNION ALL SELECT 'surplus', 2, 1.00, '2026-01-05', false"""
ALL = AuditRequest(everything=True)


def audited(hlake: HBaseLake, request: AuditRequest = ALL, listen: Any = None) -> AuditResult:
    project = hlake.project("copy")
    return run_audit(project, project.pipelines[0], TimelineState(), request, listen or hlake.events.append)


def counts(found: AuditResult) -> tuple[int, int, int, int]:
    return found.checked, found.missing, found.surplus, found.unequal


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
    done = audited(hlake, replace(ALL, repair=True))
    assert counts(done) == (21, 1, 1, 2)
    assert done.repaired is not None
    assert (done.outcome, done.repaired.how) == ("repaired", "upsert")
    assert hlake.rows("derived.copy", *ROWS) == hlake.rows("raw.events", *ROWS)
    hlake.agree()
    assert audited(hlake).agrees


@pytest.mark.nightly
@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_rows_that_checks_keep_out_wait_in_the_quarantine(hlake: HBaseLake, table_type: str) -> None:
    """Of one an older row stands, of one nothing: what a recompute has is target and quarantine; beside it a row is wrong."""
    checks = "checks:\n  - {name: negative, where: amount < 0, severity: drop}\n"

    def written(sql: str) -> None:
        hlake.pipeline(table_type=table_type, columns=DELETES, sql=sql, top=checks)

    written(RIGHT)
    hlake.land(rows(("older", 1, "1"), ("k000001", 1, "2")))
    hlake.run_ok()
    written(RIGHT.replace("amount,", "if(id = 'k000001', 99, amount) AS amount,"))
    hlake.land(rows(("older", 2, "-1"), ("never", 2, "-1"), ("k000001", 2, "2")))
    assert hlake.run_ok().quarantined == 2
    written(RIGHT)
    found = audited(hlake)
    assert (counts(found), found.kept_out, found.lost) == ((1, 0, 0, 1), 2, 0)
    assert audited(hlake, replace(ALL, repair=True)).outcome == "repaired"
    assert counts(audited(hlake)) == (1, 0, 0, 0)
    hlake.agree()


@pytest.mark.nightly
@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_beside_the_live_writer(hlake: HBaseLake, table_type: str) -> None:
    """It commits while an audit looks, which does not see it, and before an audit's repair, which looks again."""

    def written(sql: str) -> None:
        hlake.pipeline(table_type=table_type, columns=DELETES, sql=sql)

    def goes_on(ts: int) -> None:
        hlake.land(rows(("a", ts, "5"), (f"n{ts}", ts, "5")))
        hlake.run_ok()

    written(RIGHT.replace("amount,", "if(id = 'b', 99, amount) AS amount,"))
    hlake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    hlake.run_ok()
    written(RIGHT)
    assert counts(audited(hlake, listen=at_phase("comparing with", lambda: goes_on(2), hlake))) == (2, 0, 0, 1)
    done = audited(hlake, replace(ALL, repair=True), listen=at_phase("comparing with", lambda: goes_on(3), hlake))
    assert (done.outcome, done.unequal, counts(audited(hlake))) == ("repaired", 1, (4, 0, 0, 0))
    hlake.agree()


def test_what_needs_partitions_replaced_is_refused(hlake: HBaseLake) -> None:
    """Without the mark of deleted rows: Hudi would leave the entry of the row that goes."""
    hlake.pipeline(sql="SELECT id, ts, amount, day FROM <SRC> UNION ALL SELECT 'surplus', 2, 1.00, '2026-01-05'")
    hlake.land(many(5))
    hlake.run_ok()
    hlake.pipeline()
    before = hlake.files()
    with pytest.raises(StateError) as refused:
        audited(hlake, replace(ALL, repair=True))
    assert refused.value.code == "REPAIR_NOT_POSSIBLE"
    assert hlake.files() == before
    hlake.agree()
