"""``migrate`` and ``run --full-refresh`` as far as they go without Spark: what is shown, what is refused, what is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import COMPARED_KEY, FINGERPRINT_KEY, MIGRATION_KEY, ORIGIN_KEY, encode
from freshet.lease.local import hold_lease
from freshet.migration.files import switch_ddl
from freshet.plan.migrated import Note, Verdict
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import TableRef
from tests.kit.memory import a_checkpoint, at
from tests.kit.project import a_project
from tests.kit.timeline import OF_A_PIPELINE, OF_A_QUARANTINE, HandMade, a_table, a_target, clean, commit
from tests.unit.cli.conftest import Freshet, parsed

OLD, NEW = "data/derived/payments", "data/derived/payments__m2"
COMPARED = {COMPARED_KEY: Verdict("3 rows before, 3 after", False).encode(), ORIGIN_KEY: "index"}


def change_key(root: Path) -> str:
    """Write another record key into the DDL; return its text."""
    file = root / "ddl/payments.sql"
    file.write_text(file.read_text().replace("primaryKey = 'id'", "primaryKey = 'id,amount'"))
    return file.read_text()


def a_successor(
    root: Path,
    *,
    before: str = OLD,
    fingerprint: str | None = None,
    copied: bool = False,
    **later: int,
) -> HandMade:
    """Make the new table as its load leaves it; ``later`` is the completion of a run after it."""
    text = (root / "ddl/payments.sql").read_text()
    place = "LOCATION '{{ var.derived_root }}/payments__m2'\nTBLPROPERTIES"
    instead = {} if "LOCATION" in text else {"ddl/payments.sql": text.replace("TBLPROPERTIES", place)}
    spec = load_project(root, instead=instead).pipelines[0]
    table = HandMade(root / NEW, OF_A_PIPELINE.replace("fields=id", "fields=id,amount"))
    note = Note(before=str(root / before), commit=at(15), copied=copied)
    vector = encode(a_checkpoint(10, str(root / "data/raw/events")))
    table.done(60, commit({MIGRATION_KEY: note.encode(), FINGERPRINT_KEY: fingerprint or spec.fingerprint, **vector}))
    for moment in later.values():
        table.done(moment, commit({ORIGIN_KEY: "increment"}))
    return table


def code_of(freshet: Freshet, *words: str, exit_code: int = 5) -> str:
    result = freshet(*words, "--output", "json")
    assert result.exit_code == exit_code, result.output
    return str(parsed(result)["error"]["code"])


def test_a_dry_run_shows_what_differs_what_is_done_and_who_reads(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    a_project(
        root,
        "down",
        source="x",
        files={
            "pipelines/down.yml": (
                "ddl: ddl/down.sql\ntransform: transformers/down.sql\nhoodie:\n"
                '  hoodie.streamer.source.hoodieincr.path: "{{ var.derived_root }}/payments"   # of us\n'
                "  hoodie.bucket.index.num.buckets: 2\n"
            )
        },
    )
    before = change_key(root)
    shown = freshet("migrate", "payments", "--dry-run").stdout
    assert "KEY_CHANGED" in shown
    assert str(root / NEW) in shown
    assert 'down reads it by its path: write "{{ var.derived_root }}/payments__m2" in pipelines/down.yml:4' in shown
    assert "freshet run down --full-refresh" in shown
    found = parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))
    assert [one["code"] for one in found["differences"]] == ["KEY_CHANGED"]
    assert (found["before"], found["after"]) == (str(root / OLD), str(root / NEW))
    assert (found["location"], found["upto"], found["rows"]) == ("{{ var.derived_root }}/payments__m2", at(10), 20)
    assert found["notices"] == []
    (root / "data/raw/events/.hoodie/timeline" / f"{at(24)}_{at(25)}.clean").write_bytes(clean(at(19)))
    newer = parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))
    assert (newer["upto"], [one["code"] for one in newer["notices"]]) == (at(20), ["OTHER_POSITION"])
    assert (root / "ddl/payments.sql").read_text() == before
    assert not (root / NEW).exists()


def test_nothing_differs(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    assert code_of(freshet, "migrate", "payments") == "TARGET_MISSING"
    a_target(root, (15, 10))
    assert "nothing to do" in freshet("migrate", "payments").stdout
    assert parsed(freshet("migrate", "payments", "--anyway", "--dry-run", "--output", "json"))["differences"] == []
    assert code_of(freshet, "migrate", "payments", "--drop-old") == "NOT_MIGRATED"
    assert parsed(freshet("migrate", "payments", "--abandon", "--output", "json"))["deleted"] == []


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("foreign", "NEW_PLACE_TAKEN"),
        ("of another table", "NEW_PLACE_TAKEN"),
        ("by other files", "MIGRATION_OF_OTHER_FILES"),
        ("begun by other files", "MIGRATION_OF_OTHER_FILES"),
    ],
)
def test_what_stands_at_the_new_place_must_be_of_this_migration(freshet: Freshet, root: Path, how: str, code: str) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    match how:
        case "foreign":
            HandMade(root / NEW, OF_A_PIPELINE).done(20, commit())
        case "of another table":
            a_successor(root, before="data/derived/other")
        case "by other files":
            a_successor(root, fingerprint="0" * 16)
        case _:
            HandMade(root / NEW, OF_A_PIPELINE)
    assert code_of(freshet, "migrate", "payments", "--dry-run") == code
    if code == "NEW_PLACE_TAKEN":
        assert code_of(freshet, "migrate", "payments", "--abandon") == code
        assert (root / NEW).exists()


def test_what_is_no_table_is_not_deleted(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    mine = [root / NEW / "notes.parquet", root / "data/derived/payments_quarantine__m2/x"]
    for file in mine:
        file.parent.mkdir(parents=True)
        file.write_text("mine")
    assert code_of(freshet, "migrate", "payments", "--abandon") == "NEW_PLACE_TAKEN"
    mine[0].unlink()
    assert parsed(freshet("migrate", "payments", "--abandon", "--output", "json"))["deleted"] in ([], [str(root / NEW)])
    assert mine[1].exists()


def test_one_that_is_loaded_goes_on_and_may_be_given_up_until_somebody_runs_in_it(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    table = a_successor(root)
    assert parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))["loaded"] is True
    table.done(70, commit({ORIGIN_KEY: "increment"}))
    assert code_of(freshet, "migrate", "payments", "--abandon") == "NEW_TABLE_IN_USE"
    (root / NEW / ".hoodie/timeline" / f"{at(69)}_{at(70)}.commit").unlink()
    HandMade(root / "data/derived/payments_quarantine__m2", OF_A_QUARANTINE)
    with hold_lease(TableRef("x", str(root / NEW)), "run", 0, lambda words: None):
        assert code_of(freshet, "migrate", "payments", "--abandon", exit_code=4) == "ALREADY_RUNNING"
    deleted = parsed(freshet("migrate", "payments", "--abandon", "--output", "json"))["deleted"]
    assert deleted == [str(root / NEW), str(root / "data/derived/payments_quarantine__m2")]
    assert (root / OLD).exists()


def test_files_that_were_switched_elsewhere_wait_for_their_table(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    file = root / "ddl/payments.sql"
    file.write_text(change_key(root).replace("TBLPROPERTIES", "LOCATION 'data/derived/payments__m2'\nTBLPROPERTIES"))
    assert load_project(root).pipelines[0].quarantine.path == str(root / "data/derived/payments_quarantine__m2")
    found = parsed(freshet("plan", "payments", "--output", "json"))["plans"][0]
    assert found["error"]["code"] == "MIGRATION_NOT_DONE"
    assert parsed(freshet("status", "--output", "json"))["pipelines"][0]["state"] == "MIGRATION_NOT_DONE"
    HandMade(root / NEW, OF_A_PIPELINE.replace("fields=id", "fields=id,amount"))
    assert code_of(freshet, "checkpoint", "set", "payments", at(10), "--create") == "MIGRATION_NOT_DONE", "begun, and killed"
    shown = parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))
    assert (shown["before"], shown["after"], shown["location"]) == (str(root / OLD), str(root / NEW), "")


def test_the_old_table_is_deleted_when_nobody_needs_it(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    old = a_target(root, (15, 10))
    change_key(root)
    a_successor(root).done(62, commit(COMPARED))
    file = root / "ddl/payments.sql"
    file.write_text(file.read_text().replace("TBLPROPERTIES", "LOCATION 'data/derived/payments__m2'\nTBLPROPERTIES"))
    a_project(
        root,
        "down",
        files={
            "pipelines/down.yml": (
                "ddl: ddl/down.sql\ntransform: transformers/down.sql\nhoodie:\n"
                "  hoodie.streamer.source.hoodieincr.path: data/derived/payments\n  hoodie.bucket.index.num.buckets: 2\n"
            )
        },
    )
    assert code_of(freshet, "migrate", "payments", "--drop-old") == "OLD_TABLE_READ"
    (root / "pipelines/down.yml").unlink()
    old.done(80, commit({ORIGIN_KEY: "increment"}))
    assert code_of(freshet, "migrate", "payments", "--drop-old") == "OLD_TABLE_WRITTEN"
    words = ("migrate", "payments", "--drop-old", "--yes", "--output", "json")
    assert parsed(freshet(*words))["deleted"] == [str(root / OLD)]
    assert (root / NEW).exists()
    assert not (root / OLD).exists()
    assert parsed(freshet(*words))["deleted"] == []


def test_of_several_migrations_all_that_went_before_is_deleted(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    a_successor(root)
    newest = HandMade(root / "data/derived/payments__m3", OF_A_PIPELINE.replace("fields=id", "fields=id,amount"))
    newest.done(
        70,
        commit({MIGRATION_KEY: Note(before=str(root / NEW), commit=at(60), copied=False).encode(), ORIGIN_KEY: "whole_table"}),
    )
    newest.done(72, commit(COMPARED))
    file = root / "ddl/payments.sql"
    file.write_text(file.read_text().replace("TBLPROPERTIES", "LOCATION 'data/derived/payments__m3'\nTBLPROPERTIES"))
    done = freshet("migrate", "payments", "--drop-old", "--output", "json")
    assert parsed(done)["deleted"] == [str(root / OLD), str(root / NEW)]


def test_the_file_is_replaced_at_once_or_not_at_all(root: Path) -> None:
    spec = load_project(root).pipelines[0]
    file = root / "ddl/payments.sql"
    text, (other,) = file.read_text(), (root / "other.sql",)
    file.rename(other)
    file.symlink_to(other)
    other.chmod(0o640)
    switch_ddl(str(root), spec, text, "new\r\n", "place")
    assert (other.read_bytes(), file.is_symlink(), other.stat().st_mode & 0o777) == (b"new\r\n", True, 0o640)
    assert list(root.glob(".*")) == []
    with pytest.raises(StateError) as refused:
        switch_ddl(str(root), spec, text, "newer", "place")
    assert refused.value.code == "DDL_CHANGED"


def test_a_file_that_cannot_be_written_is_told_with_the_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    spec, text = load_project(root).pipelines[0], (root / "ddl/payments.sql").read_text()
    with pytest.raises(StateError) as refused:
        switch_ddl(str(root), spec, text, "new", "{{ var.derived_root }}/payments__m2")
    assert (refused.value.code, refused.value.details["location"]) == (
        "DDL_NOT_WRITABLE",
        "{{ var.derived_root }}/payments__m2",
    )
    assert [one.name for one in (root / "ddl").iterdir()] == ["payments.sql"]


def test_words_that_do_not_go_together(freshet: Freshet) -> None:
    for words in (("--abandon", "--drop-old"), ("--rename", "fare")):
        assert freshet("migrate", "payments", *words).exit_code == 2


def test_a_full_refresh_of_what_is_not_named_needs_a_word(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    refused = freshet("run", "--all", "--full-refresh")
    assert (refused.exit_code, "payments" in refused.stderr, "--yes" in refused.stderr) == (2, True, True)
    shown = freshet("run", "--all", "--full-refresh", "--dry-run")
    assert (shown.exit_code, "full refresh" in shown.stdout) == (0, True)
    assert freshet("plan", "payments", "--full-refresh").stdout == shown.stdout


def test_a_place_that_only_a_secret_tells_is_not_written(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE", "data/derived")
    base = root / "configs/base.yml"
    base.write_text('warehouse: {raw: data/raw, derived: "{{ env.LAKE }}"}\nvars: {raw_root: data/raw}\n')
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    error = parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))["error"]
    assert (error["code"], "data/derived" in str(error)) == ("LOCATION_NOT_WRITTEN", False)


def test_another_pipelines_mistake_hides_no_reader_from_a_deletion(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    a_project(root, "down", files={"pipelines/down.yml": "ddl: ddl/none.sql\n"})
    assert freshet("migrate", "payments", "--dry-run").exit_code == 0
    assert freshet("migrate", "payments", "--drop-old").exit_code == 3
