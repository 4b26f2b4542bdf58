"""What every cell of the table of ways is held to; ``ways.py`` has the table, and says what its batches break.

A cell is a way and a step: what is tried on a table of that way. The module that collects the cells gives them their lakes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from freshet.errors import Exit, FreshetError
from freshet.hudi.checkpoint import CHECKS_KEY
from freshet.run.result import RunResult
from tests.kit import ways
from tests.kit.lake import Lake
from tests.kit.ways import EMPTY, FIRST, HISTORY, LONG_AGO, NOW, TOLD, Way

NewLake = Callable[[Path], Lake]


def failed(result: RunResult, *names: str) -> None:
    """Assert that a run failed by these checks and no other, and says so."""
    assert result.error is not None, names
    if names == ("malformed",):
        # Where no row is dropped, the write itself refuses the first one.
        assert (result.error.code, result.error.exit_code) == ("NOT_OF_TYPE", Exit.CHECK), result.error
        assert "(check malformed)" in str(result.error)
        return
    assert (result.error.code, result.error.exit_code) == ("CHECK_FAILED", Exit.CHECK), (names, result.error)
    found = checks_of(result.error)
    assert sorted(one["name"] for one in found if one["status"] == "failed") == sorted(names)
    assert all(name in str(result.error) for name in names)
    assert f"check {next(one['name'] for one in found if one['status'] == 'failed')}: expected" in str(result.error)


def checks_of(error: FreshetError) -> list[dict[str, Any]]:
    """Return what each check found, as the error tells it to machines; nothing where the write itself refused a row."""
    details: Any = error.as_json()["details"]
    return list(details.get("checks", ()))


def all_passed(lake: Lake, result: RunResult, *skipped: str) -> None:
    """Assert that a published run's commit says the same as its report."""
    found = {str(one["name"]): one["status"] for one in result.checks}
    assert found == {name: "skipped" if name in skipped else "passed" for name in found}, found
    told = json.loads(lake.state().info(lake.state().data_commits[-1]).extra[CHECKS_KEY])
    assert told["checks"].keys() == {one["name"] for one in result.checks}


def standing(lake: Lake) -> object:
    """Return all that a failing check must leave: what is on disk, checkpoint, timeline."""
    return lake.files(), lake.position(), lake.state().commits


@pytest.fixture(scope="module")
def raw(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ways.land(Lake(spark, tmp_path_factory.mktemp("raw")))


@pytest.fixture(scope="module")
def tables() -> dict[Way, Lake]:
    return {}


def a_table(raw: Path, way: Way, tables: dict[Way, Lake], new_lake: NewLake, folders: pytest.TempPathFactory) -> Lake:
    """Return the way's table after a first, good batch and those of the history, and a source with one more commit.

    It is made once: a bad batch leaves it as it is, which is what its step asserts, and the good one comes last. Ways of one
    maker begin from one table, each from its files as the maker left them.
    """
    if way in tables:
        return tables[way]
    shared = None if way.is_apart else Way("begun", way.table_type, way.index)
    if shared in tables:
        lake = tables[shared]
        ways.put_back(lake.root / "begun", lake.root / "derived")
    else:
        lake = new_lake(folders.mktemp(str(way)))
        _make(lake, raw, way)
        if shared:
            tables[shared] = lake
            ways.put_back(lake.root / "derived", lake.root / "begun")
    tables[way] = lake
    ways.see(lake, raw, TOLD)
    return lake


def _make(lake: Lake, raw: Path, way: Way) -> None:
    ways.see(lake, raw, FIRST)
    if way.verb == "delete":
        way.maker.declare(lake, "first", "seed", top=ways.NO_CHECK)
        lake.run_ok()
    else:
        way.maker.declare(lake, "first")
        all_passed(lake, lake.run_ok(), "volume")
    for version, batch in enumerate(HISTORY, start=FIRST + 1):
        ways.see(lake, raw, version)
        way.maker.declare(lake, batch, top=ways.NO_CHECK)
        lake.run_ok()


def the_first_commit_is_not_bad(lake: Lake, raw: Path, way: Way) -> None:
    """On no table: first all that the batch breaks is found, then all that the table would; nothing is there afterwards."""
    ways.see(lake, raw, TOLD)
    way.declare(lake, "first", *way.of_batch, at=LONG_AGO)
    # There is no commit yet that a volume could be compared with.
    failed(lake.run(), *(kind for kind in way.of_batch if kind != "volume"))
    if way.verb != "delete":
        # Of no table a delete changes nothing, so that nobody looks at its rows.
        way.declare(lake, "first", "malformed")
        failed(lake.run(), "malformed")
    way.declare(lake, "first", amount="900.00", but="good")
    failed(lake.run(), *(kind for kind in way.of_table if way.verb != "delete" or kind != "unchanged"))
    assert not lake.root.joinpath("derived/copy").exists()


def a_bad_batch_is_refused(table: Lake, tables: dict[Way, Lake], way: Way, kinds: tuple[str, ...]) -> None:
    """By these checks and no other, each of which is named; what is on disk, the commits and the checkpoint stay."""
    # Should the batch be published after all, the way's other cells get another table.
    del tables[way]
    before = standing(table)
    way.declare(table, *(() if "changed" in kinds else ("good",)), *kinds, at=LONG_AGO if "freshness" in kinds else NOW)
    result = table.run()
    failed(result, *kinds)
    assert result.error is not None
    assert {one["status"] for one in checks_of(result.error)} <= {"failed", "passed", "skipped"}
    assert standing(table) == before
    tables[way] = table


def a_good_batch_is_published(table: Lake, way: Way) -> None:
    """Every check says passed, in the report and in the commit."""
    way.declare(table, "good", "changed")
    result = table.run_ok()
    all_passed(table, result)
    assert [one["name"] for one in result.checks] == list(ways.kinds_of(way.verb))
    before = ("first", "seed") if way.verb == "delete" else ("first",)
    assert table.rows("derived.copy", "id", "ts", "amount") == ways.published(way.verb, *before, *HISTORY, "good", "changed")
    assert table.position() == table.state("raw.all").commits[-1].completed


def an_empty_batch_fails_nothing(table: Lake, raw: Path, way: Way) -> None:
    """The checkpoint moves, and the rows stay: ``changed`` too has nothing to say of no rows."""
    ways.see(table, raw, EMPTY)
    way.declare(table, "good")
    # A full outer join replaces the whole table, by as many rows.
    stands = table.rows if way.verb == "full_outer_join" else table.files
    before = stands()
    result = table.run_ok()
    assert {one["status"] for one in result.checks} <= {"passed", "skipped"}
    assert [one["name"] for one in result.checks] == list(ways.kinds_of(way.verb))
    assert stands() == before
    assert table.position() == table.state("raw.all").commits[-1].completed


def hold(step: str, way: Way, raw: Path, tables: dict[Way, Lake], new_lake: NewLake, folders: pytest.TempPathFactory) -> Lake:
    """Try one step on a table of one way; returns its lake.

    Args:
        step: One of ``ways.STEPS``.
        way: The way.
        raw: The versions of the raw table.
        tables: Tables that earlier steps have made.
        new_lake: Makes a lake in a folder.
        folders: Where its folders come from.
    """
    if step == "first":
        lake = new_lake(folders.mktemp(f"first-{way}"))
        the_first_commit_is_not_bad(lake, raw, way)
        return lake
    lake = a_table(raw, way, tables, new_lake, folders)
    if step == "published":
        a_good_batch_is_published(lake, way)
        an_empty_batch_fails_nothing(lake, raw, way)
    else:
        a_bad_batch_is_refused(lake, tables, way, way.broken_by(step))
    return lake
