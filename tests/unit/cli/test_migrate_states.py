"""All states of a migration, without Spark: what each command makes of each, and what a kill between any two leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import CheckError, FreshetError, StateError
from freshet.hudi.checkpoint import COMPARED_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, encode
from freshet.hudi.timeline import TimelineState
from freshet.lease.local import backfill_lease, hold_lease
from freshet.migration import load as migrate_load
from freshet.migration import settle as migrate_settle
from freshet.migration.check import Compared
from freshet.migration.drop import abandon
from freshet.migration.prepare import prepare
from freshet.migration.run import MigrationResult, migrate
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import TableRef
from tests.kit.memory import a_checkpoint, at
from tests.kit.timeline import OF_A_PIPELINE, OF_A_QUARANTINE, HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed
from tests.unit.cli.test_migrate import COMPARED, NEW, OLD, a_successor, change_key

# Which table the files name, how far the new one is, and whether the old one stands:
# what `migrate` would do, what a run is refused for, what --drop-old deletes, and what --abandon deletes after it.
STATES = [
    ("old", "absent", True, "load", "KEY_CHANGED", "NOT_MIGRATED", []),
    ("old", "begun", True, "load", "KEY_CHANGED", "NOT_MIGRATED", [NEW]),
    ("old", "loaded", True, "compare", "KEY_CHANGED", "NOT_MIGRATED", [NEW]),
    ("old", "indexed", True, "compare", "KEY_CHANGED", "NOT_MIGRATED", [NEW]),
    ("old", "compared", True, "compare", "KEY_CHANGED", "NOT_MIGRATED", [NEW]),
    ("old", "run in", True, "compare", "KEY_CHANGED", "NOT_MIGRATED", "NEW_TABLE_IN_USE"),
    ("new", "absent", True, "load", "MIGRATION_NOT_DONE", "NOT_MIGRATED", []),
    ("new", "begun", True, "load", "MIGRATION_NOT_DONE", "NOT_MIGRATED", [NEW]),
    ("new", "loaded", True, "compare", "MIGRATION_NOT_DONE", "MIGRATION_NOT_DONE", [NEW]),
    ("new", "indexed", True, "compare", "MIGRATION_NOT_DONE", "MIGRATION_NOT_DONE", [NEW]),
    ("new", "compared", True, "nothing", "", [OLD], []),
    ("new", "run in", True, "nothing", "", [OLD], []),
    ("new", "absent", False, "TARGET_MISSING", "", "NOT_MIGRATED", []),
    ("new", "begun", False, "TARGET_MISSING", "", "NOT_MIGRATED", []),
    ("new", "loaded", False, "nothing", "", [], []),
    ("new", "compared", False, "nothing", "", [], []),
]


def name_new(root: Path, place: str = NEW) -> None:
    file = root / "ddl/payments.sql"
    file.write_text(file.read_text().replace("TBLPROPERTIES", f"LOCATION '{place}'\nTBLPROPERTIES"))


def make_new(root: Path, state: str, copied: bool = False) -> None:
    if state == "begun":
        HandMade(root / NEW, OF_A_PIPELINE.replace("fields=id", "fields=id,amount"))
    if state in ("absent", "begun"):
        return
    table = a_successor(root, copied=copied)
    match state:
        case "indexed":
            table.done(61, commit({ORIGIN_KEY: "index"}))
        case "compared":
            table.done(62, commit(COMPARED))
        case "run in":
            # Of a version that noted no comparison.
            table.done(70, commit({ORIGIN_KEY: "increment"}))


@pytest.mark.parametrize("copied", [False, True], ids=["computed", "copied"])
@pytest.mark.parametrize(("named", "new", "stands", "does", "run", "dropped", "abandoned"), STATES, ids=lambda one: str(one))
def test_every_state_of_a_migration(
    freshet: Freshet,
    root: Path,
    copied: bool,
    named: str,
    new: str,
    stands: bool,
    does: str,
    run: str,
    dropped: Any,
    abandoned: Any,
) -> None:
    """Kind: a state that a command takes for another, after a kill or in an environment where the files arrived switched."""
    a_table(root, "raw/events", 10)
    if stands:
        a_target(root, (15, 10))
    change_key(root)
    if named == "new":
        name_new(root)
    make_new(root, new, copied)

    def found(*words: str) -> dict[str, Any]:
        return dict(parsed(freshet(*words, "--output", "json")))

    shown = found("migrate", "payments", "--dry-run", *(["--copy"] if copied else []))
    code = shown.get("error", {}).get("code")
    assert (code or ("nothing" if "loaded" not in shown else "compare" if shown["loaded"] else "load")) == does
    if "after" in shown:
        assert (shown["before"], shown["after"], bool(shown["location"])) == (str(root / OLD), str(root / NEW), named == "old")
    assert is_refused(freshet) == run
    for word, expected in (("--drop-old", dropped), ("--abandon", abandoned)):
        done = found("migrate", "payments", word)
        assert done.get("error", {}).get("code", done.get("deleted")) == (
            expected if isinstance(expected, str) else [str(root / one) for one in expected]
        ), word


def test_an_environment_that_comes_to_two_migrations_at_once_is_not_loaded_by_a_run(freshet: Freshet, root: Path) -> None:
    """Kind: files that name a successor whose predecessor was never here; also of a table begun by a run that was killed."""
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    name_new(root, "data/derived/payments__m3")
    assert is_refused(freshet) == "MIGRATION_NOT_DONE"
    shown = parsed(freshet("migrate", "payments", "--dry-run", "--output", "json"))
    assert (shown["before"], shown["after"]) == (str(root / OLD), str(root / "data/derived/payments__m3"))
    for file in (root / OLD / ".hoodie/timeline").iterdir():
        file.unlink()
    assert is_refused(freshet) == "", "no row to compare with"


class Died(BaseException):
    """Stands for kill -9: nothing is caught, nothing is tidied up."""


class Work:
    """A migration of ``payments`` whose Spark is replaced: what it did, and where it dies."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch, *, agrees: bool = True) -> None:
        self.root, self.done, self.dies, self.agrees = root, list[str](), "", agrees
        self.meanwhile: Callable[[], None] = lambda: None
        patch.setattr(migrate_load, "load", self.load)
        patch.setattr(migrate_settle, "compare", self.compare)
        patch.setattr(migrate_settle, "record", self.record)
        patch.setattr(migrate_settle, "_WAIT_SECONDS", 0.0)
        self.switch = migrate_settle.switch_ddl
        patch.setattr(migrate_settle, "switch_ddl", self.switched)

    def at(self, step: str) -> None:
        self.done.append(step)
        if step == self.dies:
            raise Died

    def load(self, one: Any, *_: object) -> None:
        if one.loaded:
            return
        self.at("begins to load")
        make_new(self.root, "loaded", one.copy)
        self.at("loaded")
        self.meanwhile()

    def compare(self, one: Any, state: object, phase: object, accept: bool) -> Compared:
        self.at("compares")
        if not self.agrees and not accept:
            raise CheckError("MIGRATION_DIFFERS", "they differ.", one.stays)
        return Compared(old_rows=3, new_rows=3, by_key=True, only_new=int(not self.agrees))

    def record(self, one: Any, new: Any, verdict: Any, *_: object) -> None:
        self.at("records")
        file = Path(new.ref.path, ".hoodie/timeline", f"{at(62)}_{at(63)}.commit")
        file.write_bytes(commit({COMPARED_KEY: verdict.encode(), ORIGIN_KEY: "index"}))
        self.at("recorded")

    def switched(self, *words: Any) -> None:
        self.at("switches")
        self.switch(*words)
        self.at("switched")

    def migrate(self, *, accept: bool = False, copy: bool = False) -> MigrationResult | None:
        project = load_project(self.root)
        one = prepare(project, TimelineState(), lambda texts: load_project(self.root, instead=texts), copy=copy)
        return migrate(one, str(self.root), TimelineState(), lambda event: None, accept) if one else None


def is_refused(freshet: Freshet) -> str:
    error = parsed(freshet("plan", "payments", "--output", "json"))["plans"][0].get("error")
    return error["code"] if error else ""


STEPS = ["begins to load", "loaded", "compares", "records", "recorded"]


@pytest.mark.parametrize("copy", [False, True], ids=["computed", "copied"])
@pytest.mark.parametrize(
    ("named", "step"),
    [
        *(("old", step) for step in (*STEPS, "switches", "switched")),
        *(("new", step) for step in STEPS),
    ],
)
def test_killed_anywhere_the_same_command_goes_on(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    named: str,
    copy: bool,
) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    if named == "new":
        name_new(root)
    work = Work(root, monkeypatch)
    work.dies = step
    with pytest.raises(Died):
        work.migrate(copy=copy)
    is_settled = step == ("switched" if named == "old" else "recorded")
    assert is_refused(freshet) == ("" if is_settled else "KEY_CHANGED" if named == "old" else "MIGRATION_NOT_DONE")

    work.dies, before = "", list(work.done)
    done = work.migrate(copy=copy)
    assert (done is None) == is_settled, "nothing is left to do"
    assert is_refused(freshet) == ""
    assert NEW in (root / "ddl/payments.sql").read_text().replace("{{ var.derived_root }}", "data/derived")
    twice = {one for one in work.done if work.done.count(one) > 1}
    # What was done by the new table's own account, or the DDL's, is not done again.
    assert twice <= {step, "compares"}
    assert ("compares" in work.done[len(before) :]) == (step in ("begins to load", "loaded", "compares", "records"))


@pytest.mark.parametrize("named", ["old", "new"])
def test_a_comparison_that_failed_is_made_again_until_somebody_accepts_or_gives_up(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str,
) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    if named == "new":
        name_new(root)
    work = Work(root, monkeypatch, agrees=False)
    for _ in range(2):
        with pytest.raises(CheckError) as differs:
            work.migrate()
        assert ("name the old one" in differs.value.effect) == (named == "old")
        assert is_refused(freshet) != ""
    assert freshet("migrate", "payments", "--drop-old").exit_code == 5
    assert abandon(load_project(root).pipelines[0], TimelineState(), lambda event: None) == (str(root / NEW),)
    with pytest.raises(CheckError):
        work.migrate()
    done = work.migrate(accept=True)
    assert done is not None
    assert (done.differs, done.switched) == (True, named == "old")
    assert is_refused(freshet) == ""
    assert work.migrate() is None
    assert parsed(freshet("migrate", "payments", "--drop-old", "--output", "json"))["deleted"] == [str(root / OLD)]


def of(origin: str, **more: str) -> dict[str, str]:
    return {PIPELINE_KEY: "payments", ORIGIN_KEY: origin, RUN_ID_KEY: "later", **more}


@pytest.mark.parametrize(
    ("extra", "rows", "copied", "is_lost"),
    [
        (of("increment"), 3, True, False),
        (of("driven"), 3, True, False),
        (of("index"), 3, True, False),
        ({"streamer.checkpoint.key.v2": at(20)}, 3, True, False),
        (of("replay"), 3, True, True),
        (of("replay"), 3, False, True),
        ({}, 3, True, True),
        ({}, 3, False, True),
        (of("backfill"), 3, True, True),
        (of("backfill"), 3, False, False),
        (of("backfill"), 0, True, True),
        (of("whole_table"), 3, True, True),
        (of("whole_table"), 3, False, False),
        (of("override"), 0, True, True),
    ],
    ids=str,
)
@pytest.mark.parametrize("how", ["meanwhile", "before the same command"])
def test_what_came_to_the_old_table_and_no_run_reads_again_is_not_left_out(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    extra: dict[str, str],
    rows: int,
    copied: bool,
    is_lost: bool,
    how: str,
) -> None:
    """Kind: a commit without a position in the source, beside a migration: the comparison is with the version before it."""
    a_table(root, "raw/events", 10)
    old = a_target(root, (15, 10))
    change_key(root)
    work = Work(root, monkeypatch)

    def write() -> None:
        old.done(40, commit(extra, numInserts=rows))

    if how == "meanwhile":
        work.meanwhile = write
    else:
        work.dies = "compares"
        with pytest.raises(Died):
            work.migrate(copy=copied)
        write()
        work.dies = ""
    if not is_lost:
        assert work.migrate(copy=copied) is not None
        return
    with pytest.raises(StateError) as refused:
        work.migrate(copy=copied)
    assert (refused.value.code, refused.value.details["commits"]) == ("OLD_TABLE_WRITTEN", [at(40)])
    assert "LOCATION" not in (root / "ddl/payments.sql").read_text()
    assert "--abandon" in refused.value.next_step
    assert work.migrate(copy=copied, accept=True) is not None


@pytest.mark.parametrize("who", ["a run of the old table", "a backfill of it", "work on the new table"])
def test_nobody_writes_while_the_tables_are_compared_and_switched(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    who: str,
) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    change_key(root)
    old, new = TableRef("derived.payments", str(root / OLD)), TableRef("derived.payments", str(root / NEW))
    held = {"a run of the old table": old, "a backfill of it": backfill_lease(old), "work on the new table": new}[who]
    work = Work(root, monkeypatch)
    with hold_lease(held, "other", 0, lambda words: None):
        with pytest.raises(FreshetError) as refused:
            work.migrate()
        assert (refused.value.code, work.done) == ("ALREADY_RUNNING", ["begins to load", "loaded"])
        assert "is loaded" in refused.value.effect
    taken: list[str] = []

    def taken_by(words: str) -> None:
        taken.append(words)

    def compare(*words: Any) -> Compared:
        with pytest.raises(FreshetError), hold_lease(held, "other", 0, taken_by):
            pass
        return work.compare(*words)

    monkeypatch.setattr(migrate_settle, "compare", compare)
    assert work.migrate() is not None


@pytest.mark.parametrize("named", ["old", "new"])
def test_rows_that_wait_in_the_old_tables_quarantine_are_not_forgotten(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str,
) -> None:
    """Kind: a copy holds no row of the quarantine.

    Members: before the copy, and before the quarantine is deleted with its table; the files name the old table or, as where
    they were deployed, the new one.
    """
    a_table(root, "raw/events", 10)
    old = a_target(root, (15, 10))
    vector = encode(a_checkpoint(10, str(root / "data/raw/events")))
    old.done(15, commit({**vector, **of("increment", **{RUN_ID_KEY: "run-15"})}))
    kept = HandMade(root / "data/derived/payments_quarantine", OF_A_QUARANTINE)
    kept.done(9, commit(of("run", **{RUN_ID_KEY: "run-15"}), numInserts=2))
    change_key(root)
    if named == "new":
        name_new(root)
    asked: list[tuple[str, str, tuple[str, ...]]] = []

    class Rows:
        def count(self) -> int:
            return 2

    def waiting(spark: object, spec: Any, hidden: tuple[str, ...]) -> Rows:
        asked.append((spec.target.ref.path, spec.quarantine.path, hidden))
        return Rows()

    monkeypatch.setattr(migrate_load, "session_for", lambda *_: None)
    monkeypatch.setattr(migrate_load, "waiting_rows", waiting)
    project = load_project(root)
    one = prepare(project, TimelineState(), lambda texts: load_project(root, instead=texts), copy=True)
    assert one is not None
    with pytest.raises(StateError) as refused:
        migrate_load.load(one, TimelineState(), lambda event: None, lambda: pytest.fail("it is loaded"))
    assert refused.value.code == "QUARANTINE_NOT_EMPTY"
    assert asked == [(str(root / OLD), str(kept.ref.path), ())]
    # Rows of a run whose commit never came are found again by the run that repeats it.
    kept.done(20, commit(of("run", **{RUN_ID_KEY: "killed"}), numInserts=2))
    with pytest.raises(StateError):
        migrate_load.load(one, TimelineState(), lambda event: None, lambda: pytest.fail("it is loaded"))
    assert asked[-1][2] == ("killed",)

    make_new(root, "compared", copied=True)
    if named == "old":
        name_new(root)
    words = ("migrate", "payments", "--drop-old", "--output", "json")
    assert parsed(freshet(*words))["error"]["code"] == "QUARANTINE_NOT_EMPTY"
    assert Path(old.ref.path).exists()
    assert parsed(freshet(*words, "--yes"))["deleted"] == [str(old.ref.path), str(kept.ref.path)]


def test_what_was_computed_anew_has_a_quarantine_of_its_own(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    HandMade(root / "data/derived/payments_quarantine", OF_A_QUARANTINE).done(9, commit(numInserts=2))
    change_key(root)
    name_new(root)
    make_new(root, "compared")
    assert len(parsed(freshet("migrate", "payments", "--drop-old", "--output", "json"))["deleted"]) == 2


def test_another_ones_table_at_the_quarantines_path_stays(freshet: Freshet, root: Path) -> None:
    """Kind: a table that only lies where the pipeline's own would, deleted with the one beside it: of the old table, and of
    the new one that is given up.
    """
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    foreign = [HandMade(root / f"data/derived/payments_quarantine{end}", OF_A_PIPELINE) for end in ("", "__m2")]
    foreign[1].done(9, commit(numInserts=2))
    change_key(root)
    make_new(root, "loaded")
    deleted = parsed(freshet("migrate", "payments", "--abandon", "--output", "json"))["deleted"]
    assert deleted == [str(root / NEW)]
    make_new(root, "compared")
    name_new(root)
    assert parsed(freshet("migrate", "payments", "--drop-old", "--output", "json"))["deleted"] == [str(root / OLD)]
    assert all(Path(table.ref.path).exists() for table in foreign)
