"""``freshet land --drop``: a table that was landed wrongly goes, and no other one; and what comes after a landing."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.cli.land_text import next_step
from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY
from freshet.landing.outcome import Landed
from freshet.lease.local import hold_lease
from freshet.project.model.pipeline import TableRef
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed
from tests.unit.cli.test_land import LANDED


def landed(root: Path, name: str, **extra: str) -> Path:
    HandMade(root / "data/raw" / name, OF_A_PIPELINE).done(10, commit({**LANDED, **extra}, numInserts=10))
    return root / "data/raw" / name


def test_a_landed_table_goes_with_its_rows(freshet: Freshet, root: Path) -> None:
    folder = landed(root, "landed")
    done = freshet("land", "raw.landed", "--drop", "--output", "json")
    assert (done.exit_code, parsed(done)) == (0, {"table": "raw.landed", "path": str(folder), "outcome": "dropped"})
    assert (folder.exists(), folder.with_name(".landed.dropped").exists()) == (False, False)
    assert parsed(freshet("land", "raw.landed", "--drop", "--output", "json"))["error"]["code"] == "TABLE_MISSING"


def test_what_is_not_deleted(freshet: Freshet, root: Path) -> None:
    """A pipeline's target and its quarantine, another program's table, one that was a pipeline's, a folder, one in use."""
    a_target(root, (15, 10))
    a_table(root, "raw/foreign", 10)
    (root / "data/raw/folder").mkdir()
    landed(root, "kept", **{ORIGIN_KEY: "increment", PIPELINE_KEY: "gone"})
    held = landed(root, "held")
    for name, code in (
        ("derived.payments", "TABLE_OF_A_PIPELINE"),
        ("derived.payments_quarantine", "TABLE_OF_A_PIPELINE"),
        ("raw.kept", "TABLE_OF_A_PIPELINE"),
        ("raw.foreign", "TABLE_NOT_LANDED"),
        ("raw.folder", "TABLE_MISSING"),
        ("row.x", "UNKNOWN_DATABASE"),
    ):
        before = sorted((root / "data").rglob("*"))
        error = parsed(freshet("land", name, "--drop", "--yes", "--output", "json"))["error"]
        assert error["code"] == code, name
        assert [one for one in before if not one.exists()] == []
    with hold_lease(TableRef("raw.held", str(held)), "other", 0, print):
        assert freshet("land", "raw.held", "--drop").exit_code == 4
    assert held.exists()


def test_a_table_that_a_pipeline_has_read_goes_only_where_that_is_said_twice(freshet: Freshet, root: Path) -> None:
    """Its target holds rows of it; a pipeline that has read nothing of it yet keeps nobody from it."""
    folder = landed(root, "events")
    target = a_target(root, (15, 10))
    assert target is not None
    error = parsed(freshet("land", "raw.events", "--drop", "--output", "json"))["error"]
    assert (error["code"], error["details"]["pipelines"], folder.exists()) == ("TABLE_WAS_READ", ["payments"], True)
    assert "freshet run payments --full-refresh" in error["next"]
    assert (freshet("land", "raw.events", "--drop", "--yes").exit_code, folder.exists()) == (0, False)
    folder = landed(root, "events")
    for path in sorted((root / "data/derived").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert (freshet("land", "raw.events", "--drop").exit_code, folder.exists()) == (0, False)


@pytest.mark.parametrize(
    "words",
    [
        ("--drop",),
        ("raw.x", "a.csv", "--drop"),
        ("raw.x", "--drop", "--key", "id"),
        ("--seeds", "--drop"),
        ("raw.x", "a.csv", "--yes"),
    ],
)
def test_drop_goes_with_one_table_alone(freshet: Freshet, words: tuple[str, ...]) -> None:
    assert freshet("land", *words).exit_code == 2


@pytest.mark.parametrize(
    ("table", "readers", "folder", "said"),
    [
        ("raw.orders", (), "", "freshet init --pipeline orders --source raw.orders"),
        ("raw.orders", (), "my shop", "freshet init 'my shop' --pipeline orders --source raw.orders"),
        ("raw.taken", (), "", "freshet init --pipeline taken_facts --source raw.taken"),
        ("raw.Orders", (), "", "freshet show raw.Orders --limit 5"),
        ("raw.orders", ("a", "b"), "shop", "freshet run a b -C shop"),
    ],
)
def test_what_comes_after_a_landing(table: str, readers: tuple[str, ...], folder: str, said: str) -> None:
    """A pipeline that reads it: those that there are, else one to be made, by a name that `init` takes."""
    one = Landed(table=table, path="/x", outcome="committed", readers=readers)
    assert next_step(one, Path(folder), {"taken"}) == said
