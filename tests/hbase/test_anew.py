"""Tables that are made anew under an HBase index: by a full refresh in their place, by a migration beside it."""

from __future__ import annotations

import pytest

from tests.kit.commands import freshet, refused
from tests.kit.hbase import HBaseLake
from tests.kit.lake import rows

ALL = "SELECT id, ts, amount, day FROM <SRC>"


def killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_the_entries_of_rows_that_a_full_refresh_took_out_mislead_nobody(
    hlake: HBaseLake,
    table_type: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hlake.pipeline(table_type=table_type)
    hlake.land(rows(("stays", 1, "1"), ("gone", 1, "1"), ("moves", 1, "1")))
    hlake.run_ok()
    hlake.land(rows(("stays", 2, "2")))
    hlake.run_ok()
    hlake.write_file(
        "transformers/copy.sql",
        "SELECT id, ts, amount, if(id = 'moves', '2026-02-02', day) AS day FROM <SRC> WHERE id <> 'gone'",
    )
    # Ended between the rows and their index: the next run knows that the index is another one's, and the same command mends it.
    with monkeypatch.context() as patched:
        patched.setattr("freshet.index.ops.make.index_after_load", killed)
        freshet(hlake, "run", "copy", "--full-refresh", code=130)
    hlake.land(rows(("stays", 3, "3")))
    assert refused(hlake, "run", "copy")["code"] == "INDEX_REPLACED"
    (run,) = freshet(hlake, "run", "copy", "--full-refresh")["runs"]
    assert (run["outcome"], run["inserts"]) == ("committed", 2)
    hlake.agree()
    hlake.write_file("transformers/copy.sql", ALL)
    hlake.land(rows(("stays", 4, "4"), ("gone", 4, "4"), ("moves", 4, "4")))
    hlake.run_ok()
    assert [row[:2] for row in hlake.rows()] == [("gone", 4), ("moves", 4), ("stays", 4)]
    hlake.agree()


def test_a_successor_needs_an_index_table_of_its_own(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    hlake.run_ok()
    hlake.land(rows(("a", 2, "2")))
    hlake.pipeline(table_type="mor")
    assert refused(hlake, "migrate", "copy")["code"] == "INDEX_OF_ANOTHER_TABLE"
    assert not (hlake.root / "derived/copy__m2").exists()
    hlake.pipeline(table_type="mor", hoodie={"hoodie.index.hbase.table": hlake.index_table("copy2")})
    assert freshet(hlake, "migrate", "copy")["switched"]
    hlake.run_ok()
    assert [row[:2] for row in hlake.rows("derived.copy__m2")] == [("a", 2), ("b", 1)]
    assert hlake.verify().agrees
