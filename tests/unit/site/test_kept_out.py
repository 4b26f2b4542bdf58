"""Rows of a quarantine as pages show them: read from its Parquet files, a few of them, without credentials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freshet.hudi.table import TableState
from freshet.quarantine import peek as looking
from freshet.secrets import REDACTOR
from freshet.site.detail_facts import Quarantined
from freshet.site.pages import pages
from tests.kit.html import Html, faults_of
from tests.kit.timeline import OF_A_QUARANTINE
from tests.kit.waiting import Kept
from tests.unit.site.conftest import Facts


@pytest.fixture
def kept(root: Path) -> Kept:
    return Kept(root)


def looked_at(facts: Facts, rows: int) -> Quarantined:
    found = facts(rows=rows).pipelines[0].details.quarantine
    assert found is not None
    return found


def test_rows_are_shown_where_they_are_asked_for(facts: Facts, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.wrote(20, "a", ("r", "old", "{}"), ("r", "rewritten", "{}"))
    kept.wrote(30, "b", ("r", "newest", '{"id": "k1", "amount": null}'))
    kept.wrote(31, "a", ("r", "kept", '{"id": "k2"}'))
    kept.published(40)
    assert looked_at(facts, 0).rows == ()
    found = looked_at(facts, 10)
    assert [(row.reason, row.row) for row in found.rows] == [
        ("kept", '{"id": "k2"}'),
        ("newest", '{"id": "k1", "amount": null}'),
    ]
    assert (found.is_cut, found.unread) == (False, "")
    found = looked_at(facts, 1)
    assert ([row.reason for row in found.rows], found.is_cut) == (["kept"], True)
    # In a file that an archived commit wrote there may be more.
    with monkeypatch.context() as patched:
        patched.setattr(TableState, "archived", lambda self, after: self.commits[:1])
        assert looked_at(facts, 10).is_cut
    made = pages(facts(rows=1))
    assert faults_of(made) == []
    assert 'rule kept {"id": "k2"} from position, by the run r' in Html(made["pipelines/payments.html"]).text


def test_a_row_of_a_run_that_never_published_does_not_wait(facts: Facts, kept: Kept) -> None:
    kept.wrote(20, "a", ("r", "waits", "{}"))
    kept.published(21)
    kept.wrote(30, "b", ("killed", "no", "{}"), run="killed")
    assert [row.reason for row in looked_at(facts, 10).rows] == ["waits"]


def test_what_can_be_a_credential_is_cut(facts: Facts, kept: Kept) -> None:
    REDACTOR.register("PASSWORD", "hunter2hunter2")
    row = {
        "password": "swordfish",
        "url": "https://me:swordfish@host/x",
        "value": json.dumps({"token": "swordfish"}),
        "value_base64": "c3dvcmRmaXNo",
        "note": "hunter2hunter2",
        "list": [{"secret": "swordfish"}],
        "id": "k1",
    }
    kept.wrote(
        20, "a", ("r", "password=swordfish", json.dumps(row)), ("r", "x", "no JSON: token=swordfish"), ("r", "y", "W" * 9999)
    )
    kept.published(21)
    text = json.dumps([vars(row) for row in looked_at(facts, 10).rows])
    assert "k1" in text
    assert "12 signs of base64" in text
    for secret in ("swordfish", "hunter2", "c3dvcmRmaXNo", "W" * 3000):
        assert secret not in text


def test_what_cannot_be_read_is_told_and_hides_nothing(facts: Facts, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.wrote(20, "a", ("r", "there", "{}"))
    kept.wrote(30, "b", ("r", "gone", "{}"), is_there=False)
    kept.published(31)
    assert [row.reason for row in looked_at(facts, 10).rows] == ["there"]
    (file,) = kept.folder.glob("*/a_*")
    whole = file.read_bytes()
    file.write_bytes(b"x" * len(whole))
    found = looked_at(facts, 10)
    assert (found.rows, found.inserted) == ((), 2)
    assert found.unread
    file.write_bytes(whole)
    monkeypatch.setattr(looking, "_MOST_BYTES", 10)
    found = looked_at(facts, 10)
    assert (found.rows, found.is_cut) == ((), True), "of a large file nothing is read"
    monkeypatch.undo()
    monkeypatch.setattr(looking, "_MOST_LOOKED_AT", 0)
    assert looked_at(facts, 10).is_cut
    (kept.folder / ".hoodie/hoodie.properties").write_text(OF_A_QUARANTINE.replace("_quarantine_id", "id"))
    assert "QUARANTINE_OCCUPIED" in looked_at(facts, 10).unread
