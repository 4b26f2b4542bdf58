"""Tables that are loaded from a backup: where the log begins for them, what they wait for, and what is refused."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from freshet.changelog.fields import EVENT
from freshet.databases.model import Change
from freshet.ingest import landing as landing_module
from freshet.ingest.landing import Landing
from tests.unit.ingest.test_ingest import Data, data, events, ingested, initialised

__all__ = ["data"]
ORDERS = "public.orders"


class Ended(BaseException):
    """Where a command was killed."""


def lsn(number: int) -> str:
    return f"0/{number:X}"


def name_backup(folder: Path, position: str = "", pipeline: str = "shop_orders") -> None:
    """Let a pipeline name a backup; without a position one that is still to be made."""
    file = folder / f"pipelines/{pipeline}.yml"
    lines = [line for line in file.read_text().splitlines() if "bootstrap:" not in line]
    at = f", position: {position}" if position else ""
    said = f"  bootstrap: {{from: files, path: backup, format: parquet{at}}}"
    file.write_text("\n".join([*lines[: lines.index("source:") + 1], said, *lines[lines.index("source:") + 1 :]]) + "\n")


def blocked(found: Any) -> dict[str, str]:
    return {name: error["code"] for name, error in found["blocked"].items()}


def standing(folder: Path) -> Any:
    record = Landing(folder / "changes/shop").record()
    assert record is not None
    return record.tables[ORDERS]


@pytest.fixture
def shop(data: Data, tmp_path: Path) -> Data:
    """Return a database whose files were written, with rows and a log."""
    initialised(tmp_path)
    data.rows[ORDERS] = [{"id": 1, "status": "new"}]
    for number in (3, 9, 12):
        data.commit(number, Change(table=ORDERS, row={"id": number, "status": "x"}, within=1))
    return data


def references(folder: Path) -> list[int]:
    return [int(one[EVENT]["ref_key"].split(".")[0]) for one in events(folder)]


def test_the_log_is_read_from_the_place_that_the_backup_names_and_nothing_is_copied(shop: Data, tmp_path: Path) -> None:
    name_backup(tmp_path, lsn(8))
    found = ingested(tmp_path)
    assert (found["copied"], found["changed"], blocked(found)) == ({"public.items": 0}, {ORDERS: 2}, {})
    assert references(tmp_path) == [9, 12]
    assert (standing(tmp_path).base, standing(tmp_path).backup) == (8, lsn(8))
    assert blocked(ingested(tmp_path)) == {}


def test_a_backup_that_is_still_to_be_made_is_waited_for_while_the_log_is_kept(shop: Data, tmp_path: Path) -> None:
    name_backup(tmp_path)
    for _ in range(2):
        found = ingested(tmp_path, code=5)
        assert blocked(found) == {"shop_orders": "BACKUP_AWAITED"}
        assert "position: 5" in found["blocked"]["shop_orders"]["next"]
    assert references(tmp_path) == [9, 12], "its changes wait in files"
    # The position that was told, one of the backup's own that is later, one from before, and one that is no place of the log.
    for position, code in ((lsn(5), ""), (lsn(9), ""), (lsn(4), "BACKUP_TOO_OLD"), (lsn(13), "BACKUP_NOT_OF_LOG")):
        name_backup(tmp_path, position)
        found = ingested(tmp_path, code=5 if code else 0)
        assert blocked(found) == ({"shop_orders": code} if code else {}), position


def test_a_log_that_is_not_kept_from_the_place_on_is_refused_before_anything_is_done(shop: Data, tmp_path: Path) -> None:
    shop.kept_from = 10
    name_backup(tmp_path, lsn(8))
    error = ingested(tmp_path, code=5)["error"]
    assert error["code"] == "BACKUP_TOO_OLD"
    assert Landing(tmp_path / "changes/shop").record() is None
    # Without the position the log is kept from now on.
    name_backup(tmp_path)
    assert blocked(ingested(tmp_path, code=5)) == {"shop_orders": "BACKUP_AWAITED"}


def test_two_backups_of_two_places(shop: Data, tmp_path: Path) -> None:
    name_backup(tmp_path, lsn(8))
    name_backup(tmp_path, lsn(2), "shop_items")
    found = ingested(tmp_path)
    assert (found["copied"], blocked(found)) == ({}, {})
    # What is older than its own backup loses when it is merged.
    assert references(tmp_path) == [3, 9, 12]
    assert standing(tmp_path).base == 2


def test_a_table_is_copied_or_loaded_from_a_backup_and_stays_so(shop: Data, tmp_path: Path) -> None:
    ingested(tmp_path)
    name_backup(tmp_path, lsn(12))
    assert blocked(ingested(tmp_path, code=5)) == {"shop_orders": "BACKUP_CHANGED"}


def test_without_its_backup_a_table_that_was_not_copied_is_not_read(shop: Data, tmp_path: Path) -> None:
    name_backup(tmp_path, lsn(8))
    ingested(tmp_path)
    file = tmp_path / "pipelines/shop_orders.yml"
    file.write_text("\n".join(line for line in file.read_text().splitlines() if "bootstrap:" not in line) + "\n")
    found = ingested(tmp_path, code=5)
    assert blocked(found) == {"shop_orders": "BACKUP_CHANGED"}
    assert "names no backup" in found["blocked"]["shop_orders"]["message"]


def test_a_place_in_the_log_of_another_kind_of_database_is_refused(shop: Data, tmp_path: Path) -> None:
    name_backup(tmp_path, "0-1-42")
    error = ingested(tmp_path, code=1)["error"]
    assert (error["code"], "0-1-42" in error["message"]) == ("INGEST_UNFIT", True)


def test_a_table_that_is_named_later_begins_with_the_log_of_then(shop: Data, tmp_path: Path) -> None:
    file = tmp_path / "configs/ingest/shop.yml"
    text = file.read_text()
    file.write_text("\n".join(line for line in text.splitlines() if '"public.orders"' not in line) + "\n")
    ingested(tmp_path)
    file.write_text(text)
    name_backup(tmp_path, lsn(8))
    found = ingested(tmp_path, code=5)
    assert (found["copied"], blocked(found)) == ({}, {"shop_orders": "BACKUP_TOO_OLD"})
    name_backup(tmp_path, lsn(12))
    assert blocked(ingested(tmp_path)) == {}


@pytest.mark.parametrize("steps", range(8))
def test_a_kill_at_any_step_changes_nothing(shop: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    name_backup(tmp_path, lsn(8))
    left, real = steps, os.replace

    def replace(*words: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Ended
        real(*words)

    with monkeypatch.context() as patched:
        patched.setattr(landing_module.os, "replace", replace)
        with suppress(Ended):
            ingested(tmp_path)
    ingested(tmp_path)
    assert references(tmp_path) == [9, 12]
    assert (standing(tmp_path).base, standing(tmp_path).done, standing(tmp_path).pieces) == (8, True, 0)
