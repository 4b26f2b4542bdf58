"""``freshet run NAME --full-refresh``: the target anew from the whole source, in one commit that replaces what stands."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from freshet.errors import RetryableError
from freshet.run import executor
from freshet.run.pending import pending_compactions, schedule_compaction
from freshet.run.service import service_client
from tests.kit.commands import freshet, refused
from tests.kit.lake import RECORD_INDEX, Lake, rows

CDC = ",\n  'hoodie.table.cdc.enabled' = 'true'"
DELETES = ",\n  _hoodie_is_deleted BOOLEAN"
PASSED_ON = "SELECT id, ts, amount, _hoodie_is_deleted, day FROM <SRC>"
MOVES = "SELECT id, ts, amount, if(id = 'moves', '2026-02-02', day) AS day FROM <SRC> WHERE id <> 'gone'"
OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.mark.parametrize(
    ("table_type", "hoodie"),
    [
        ("cow", {}),
        ("mor", OCC),
        ("cow", RECORD_INDEX),
        ("mor", RECORD_INDEX),
    ],
    ids=["cow", "mor, optimistic", "cow, record index", "mor, record index"],
)
def test_what_a_recompute_lacks_goes_and_later_runs_find_their_rows(
    lake: Lake,
    table_type: str,
    hoodie: Mapping[str, str],
) -> None:
    """Kind: what stands of rows that are replaced, in the table and in its index.

    Members: a row that goes, one whose partition goes with it, one that moves to another partition, one that stays; each is
    written again afterwards, and must stand once. On MERGE_ON_READ some of them lie in logs.
    """
    lake.pipeline(table_type=table_type, hoodie=hoodie)
    lake.land([*rows(("stays", 1, "1"), ("gone", 1, "1"), ("moves", 1, "1")), *rows(("gone", 1, "2"), day="2026-01-09")])
    lake.run_ok()
    lake.land(rows(("stays", 2, "2"), ("moves", 2, "2")))
    lake.run_ok()
    position = lake.position()
    # Nothing is new, and an ordinary run is idle.
    lake.write_file("transformers/copy.sql", MOVES)
    assert lake.run_ok().outcome == "idle"

    (run,) = freshet(lake, "run", "copy", "--full-refresh")["runs"]
    assert (run["outcome"], run["inserts"], run["replaced_all"]) == ("committed", 2, True)
    assert [row[:2] + row[3:] for row in lake.rows()] == [("moves", 2, "2026-02-02"), ("stays", 2, "2026-01-05")]
    assert lake.position() == position, "the source holds nothing newer"
    assert lake.run_ok().outcome == "idle"

    lake.write_file("transformers/copy.sql", "SELECT id, ts, amount, if(id = 'moves', '2026-02-02', day) AS day FROM <SRC>")
    lake.land(rows(("stays", 3, "3"), ("gone", 3, "3"), ("moves", 3, "3")))
    lake.run_ok()
    assert [(row[0], row[1]) for row in lake.rows()] == [("gone", 3), ("moves", 3), ("stays", 3)]
    if "hoodie.index.type" in hoodie:
        assert lake.index_agrees()


def test_of_nothing_comes_an_empty_table_and_readers_delete_what_went(lake: Lake) -> None:
    lake.pipeline(properties=CDC, columns=DELETES, sql=PASSED_ON)
    lake.pipeline("after", source="derived.copy", columns=DELETES, sql=PASSED_ON)
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")), **{"hoodie.table.cdc.enabled": "true"})
    assert all(run.error is None for run in lake.run_all().values())
    assert len(lake.rows("derived.after")) == 2
    lake.write_file("transformers/copy.sql", f"{PASSED_ON} WHERE false")
    (plan,) = freshet(lake, "plan", "copy", "--full-refresh")["plans"]
    assert [notice["code"] for notice in plan["notices"]] == ["READERS_READ_ALL"]
    assert lake.run_ok().outcome == "idle"
    freshet(lake, "run", "copy", "--full-refresh")
    assert lake.rows() == []
    lake.run_ok("after")
    assert lake.rows("derived.after") == []


def test_checks_come_before_it_and_the_quarantine_holds_what_the_recompute_drops(
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kind: what a check compares a table with that will not outlive the commit: itself as it stands, and itself replaced."""
    checks = """checks:
  - {name: no_minus, where: "amount < 0", severity: drop}
  - {name: nobody_vanished, sql: "select count(*) from <TABLE_NAME>", expect: {result: unchanged}}
"""
    lake.pipeline()
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.pipeline(top=checks, sql="SELECT id, ts, amount, day FROM <SRC> WHERE id <> 'b'")
    before = lake.files()
    assert refused(lake, "run", "copy", "--full-refresh", code=7)["code"] == "CHECK_FAILED"
    assert lake.files() == before

    checks = checks.replace("unchanged", "changed")
    lake.pipeline(top=checks, sql="SELECT id, ts, if(id = 'b', -1, amount) AS amount, day FROM <SRC>")
    (run,) = freshet(lake, "run", "copy", "--full-refresh")["runs"]
    assert (run["inserts"], run["quarantined"]) == (1, 1)
    lake.pipeline(
        top=checks.replace("changed", "unchanged"), sql="SELECT id, ts, if(id = 'b', -2, 3) AS amount, day FROM <SRC>"
    )
    freshet(lake, "run", "copy", "--full-refresh")
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["b"], "once, though two refreshes dropped it"

    def busy(*_: object) -> None:
        raise RetryableError("ALREADY_RUNNING", "the quarantine is being written.", "Nothing was read or written.")

    with monkeypatch.context() as patched:
        patched.setattr(executor, "release_earlier", busy)
        (run,) = freshet(lake, "run", "copy", "--full-refresh")["runs"]
    assert (run["outcome"], run["quarantined"]) == ("committed", 1)
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["b", "b"]
    assert freshet(lake, "quarantine", "show", "copy")["count"] == {"no_minus": 1}, "that of an earlier run counts no more"
    lake.land(rows(("b", 2, "1")))
    lake.run_ok()
    found = lake.rows("derived.copy_quarantine", "id", "ts", "_quarantine_run_id")
    assert [row[:2] for row in found] == [("b", 1), ("b", 2)], "and the next run has taken it out"
    assert run["run_id"] in {row[2] for row in found}


def test_rows_that_a_first_insert_refuses_are_refused(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.datasource.write.operation": "insert"})
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.write_file(
        "transformers/copy.sql", "SELECT id, ts, amount, day FROM <SRC> UNION ALL SELECT id, ts, amount, day FROM <SRC>"
    )
    assert refused(lake, "run", "copy", "--full-refresh", code=6)["code"] == "DUPLICATE_KEY"
    lake.write_file("transformers/copy.sql", "SELECT id, ts + 1 AS ts, amount, day FROM <SRC>")
    freshet(lake, "run", "copy", "--full-refresh")
    assert [row[:2] for row in lake.rows()] == [("a", 2)]


def test_a_compaction_that_was_planned_before_brings_nothing_back(lake: Lake) -> None:
    """Kind: what was planned for file groups that are replaced meanwhile, and is done afterwards."""
    lake.pipeline(table_type="mor", hoodie={**OCC, "hoodie.compact.inline": "false"})
    spec = lake.spec()
    for ts in (1, 2):
        lake.land(rows(("a", ts, "1"), ("gone", ts, "1")))
        lake.run_ok()
    with service_client(lake.spark, spec) as (client, _):
        planned = schedule_compaction(lake.spark, spec, client)
    assert pending_compactions(lake.spark, spec.target.ref) == [planned]
    lake.pipeline(
        table_type="mor",
        hoodie={**OCC, "hoodie.compact.inline": "false"},
        sql="SELECT id, ts, amount, day FROM <SRC> WHERE id <> 'gone' OR ts > 2",
    )
    freshet(lake, "run", "copy", "--full-refresh")
    assert [row[:2] for row in lake.rows()] == [("a", 2)]
    freshet(lake, "service", "copy", "--only", "compact")
    assert pending_compactions(lake.spark, spec.target.ref) == []
    assert [row[:2] for row in lake.rows()] == [("a", 2)]
    lake.land(rows(("a", 3, "3"), ("gone", 3, "3")))
    lake.run_ok()
    freshet(lake, "service", "copy", "--only", "compact")
    assert [row[:2] for row in lake.rows()] == [("a", 3), ("gone", 3)]
