"""``transactional: true``: no table reads beyond the place that all are to reach, and the place moves when all are there.

Of the kind: a transaction over two tables of which one table shows its part, and the other not, for as long as that one fails.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from freshet.cli.options import load
from freshet.databases.model import Change, DbTable, Emptied, End, Told, Transaction
from freshet.errors import FreshetError, RetryableError
from freshet.hudi.checkpoint import MAIN, PIPELINE_KEY, Checkpoint, encode
from freshet.hudi.table import TableState
from freshet.ingest import run as run_module
from freshet.ingest.begun import Wanted
from freshet.ingest.capture import capture
from freshet.ingest.landing import Landing
from freshet.ingest.run import Ingested, capture_new
from freshet.ingest.spec import load_ingest
from freshet.ingest.together import Together, publish_together
from freshet.plan.positions import checkpoint_of
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.run.result import RunResult
from freshet.sources.files.look.ready import ready_of
from freshet.sources.files.look.upto import NAME, Upto, read_upto
from freshet.sources.files.look.window import choose
from freshet.sources.registry import find_source
from tests.kit.files import MINUTE, NOW, a_file, a_files_spec, a_listing
from tests.kit.memory import a_commit, a_table_state
from tests.unit.ingest.test_ingest import ORDERS, Data, a_column, a_table, freshet, initialised

BOTH = ("shop_items", "shop_orders")


def named(begin: int, copy: str = "") -> str:
    return f"{begin:020d}{copy}.json.gz"


# --- which files are before a place ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "is_before"),
    [
        (named(8), True),
        # A file is named by where it begins: the one that begins there lies behind it.
        (named(9), False),
        (named(10), False),
        # A copy is older than what the log has from its own number on.
        (named(9, "-copy-00000001"), True),
        (named(10, "-copy-00000001"), False),
        ("by-hand.json.gz", False),
    ],
)
def test_what_lies_before_a_place(path: str, is_before: bool) -> None:
    upto = Upto(position="0/9", number=9, folders=["public.orders"])
    assert upto.has("public.orders", path) is is_before
    assert not upto.has("public.later", path), "of a table that comes later nothing is read before all are there"
    assert not Upto().has("public.orders", path)


def test_bounds_cut_between_files_and_the_place_is_told_when_all_are_read() -> None:
    spec = a_files_spec(max_bytes=15, quiet_seconds=0)
    files = [a_file(named(number), modified=MINUTE - number, size=10) for number in (1, 2, 3, 9)]
    listing = a_listing(files)
    listing = type(listing)(files=listing.files, asked_ms=NOW, folder="t", upto=Upto(position="0/9", number=9, folders=["t"]))
    ready = ready_of(spec, listing)
    assert "beyond 0/9" in ready.words
    read, held, position = [], [], None
    for _ in range(4):
        choice = choose("p", spec, ready, position)
        read += [file.path for file in choice.read]
        position = choice.after
        held.append(position.captured)
    assert read == [named(1), named(2), named(3)]
    assert held == ["", "", "0/9", "0/9"]
    # What lies behind the place is there all the same when it moves, however old its file is by then.
    after = choose("p", spec, ready_of(spec, type(listing)(files=listing.files, asked_ms=NOW)), position)
    assert [file.path for file in after.read] == [named(9)]


def test_a_transaction_that_is_larger_than_the_bound_goes_whole_and_is_told() -> None:
    choice = choose("p", a_files_spec(max_bytes=15), ready_of(a_files_spec(), a_listing(a_file("a", size=40))), None)
    assert ([file.path for file in choice.read], "is not cut" in choice.words) == (["a"], True)


def test_a_log_that_ends_within_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    class Torn(Data):
        def now(self) -> Any:
            return type(super().now())(position="9", number=9)

        def changes(self, after: Any, upto: Any, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
            yield Transaction(number=7, millis=1)
            yield Change(table="public.orders", row={"id": 1}, within=1)
            yield End(position="7", number=7)
            yield Transaction(number=8, millis=1)
            yield Change(table="public.orders", row={"id": 2}, within=1)

    landing = Landing(tmp_path)
    with landing.held(), pytest.raises(RetryableError) as error:
        capture(Torn(ORDERS), landing, [Wanted(table=ORDERS, groups={})], lambda words: None)
    assert error.value.code == "DATABASE_UNREACHABLE"
    assert list(tmp_path.glob("public.orders/*")) == []


# --- a database of two tables, and what is published of it ----------------------------------------------------------------


class Lake:
    """Tables that runs commit to; a run reads what it may, and commits how far that is."""

    def __init__(self) -> None:
        self.tables: dict[str, TableState] = {}
        self.failing = set[str]()
        self.commits = 0

    def table(self, ref: TableRef) -> TableState | None:
        return self.tables.get(ref.path)

    def run(self, pipelines: Collection[PipelineSpec]) -> tuple[RunResult, ...]:
        return tuple(self._run(one) for one in pipelines)

    def _run(self, spec: PipelineSpec) -> RunResult:
        if spec.name in self.failing:
            return RunResult(pipeline=spec.name, outcome="failed", error=RetryableError("COMMIT_CONFLICT", "", "", ""))
        target, source = self.table(spec.target.ref), find_source(spec, self)
        checkpoint = checkpoint_of(spec, target) if target else None
        before = checkpoint.main if checkpoint else None
        assert source is not None
        window = source.look(before)
        if window.kind == "idle":
            return RunResult(pipeline=spec.name, outcome="idle")
        self.commits += 1
        extra = {PIPELINE_KEY: spec.name, **encode(Checkpoint({MAIN: source.position_after(window, before)}))}
        self.tables[spec.target.ref.path] = a_table_state([a_commit(self.commits, extra=extra)], ref=spec.target.ref)
        return RunResult(pipeline=spec.name, outcome="committed", commits=(str(self.commits),))


class Shop:
    """An ingest of two tables that go on together."""

    def __init__(self, data: Data, folder: Path) -> None:
        self.data, self.folder, self.lake = data, folder, Lake()
        initialised(folder)
        for file in folder.glob("pipelines/*.yml"):
            text = file.read_text()
            file.write_text(text[: text.index("checks:")] + text[text.index("hoodie:") :])
        file = folder / "configs/ingest/shop.yml"
        file.write_text(f"{file.read_text()}transactional: true\n")

    def capture(self) -> Ingested:
        self.spec = load_ingest(self.folder, "shop", None, ())
        project = load(self.folder, None, (), tuple(self.spec.tables.values()))
        self.found = capture_new(self.spec, project, lambda words: None)
        return self.found

    def publish(self, runs: bool = True) -> tuple[dict[str, str], Together]:
        found = self.found
        may_run = found.may_run.pipelines if runs else ()
        results, together = publish_together(
            self.spec, found.pipelines, found.blocked, self.lake, lambda: self.lake.run(may_run)
        )
        return {one.pipeline: one.outcome for one in results}, together

    def commit(self, number: int, *tables: str) -> None:
        changes = [Change(table=f"public.{one}", row={"id": number}, within=n + 1) for n, one in enumerate(tables)]
        self.data.commit(number, *changes)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shop:
    data = Data(ORDERS, a_table("items", a_column("what")))
    monkeypatch.setattr("freshet.cli.init_database.open_source", lambda *words: data)
    monkeypatch.setattr(run_module, "open_source", lambda *words: data)
    return Shop(data, tmp_path)


def test_all_tables_are_at_one_place_when_all_commits_succeeded(shop: Shop) -> None:
    shop.commit(9, "orders", "items")
    shop.capture()
    outcomes, together = shop.publish()
    assert set(outcomes.values()) == {"committed"}
    assert (together.is_whole, together.tables) == (True, dict.fromkeys(BOTH, "9"))
    assert set(together.commits) == set(BOTH)
    # A table without news has no commit, and is there all the same.
    shop.commit(12, "orders")
    shop.capture()
    outcomes, together = shop.publish()
    assert outcomes == {"shop_orders": "committed", "shop_items": "idle"}
    assert (together.words, together.tables) == ("all tables hold 12", dict.fromkeys(BOTH, "12"))


def test_no_table_goes_further_while_one_is_behind(shop: Shop) -> None:
    shop.commit(9, "orders", "items")
    shop.capture()
    shop.lake.failing = {"shop_items"}
    _, together = shop.publish()
    assert (together.behind, together.tables) == (("shop_items",), {"shop_items": "", "shop_orders": "9"})
    shop.commit(12, "orders", "items")
    shop.capture()
    outcomes, together = shop.publish()
    assert outcomes == {"shop_items": "failed", "shop_orders": "idle"}, "what is captured since waits in its files"
    assert (together.published, together.captured) == ("9", "12")
    error = together.apart()
    assert error is not None
    assert (error.code, "waiting for shop_items" in str(error)) == ("TABLES_APART", True)
    shop.lake.failing = set()
    outcomes, together = shop.publish()
    assert outcomes == dict.fromkeys(outcomes, "committed")
    assert (together.is_whole, together.tables) == (True, dict.fromkeys(BOTH, "12"))


def test_a_table_that_may_not_run_holds_all(shop: Shop) -> None:
    shop.commit(9, "orders", "items")
    shop.capture()
    shop.publish()
    # The part of the transaction before the table was emptied is in its file, and nobody reads it.
    shop.data.commit(
        12,
        Change(table="public.items", row={"id": 7}, within=1),
        Change(table="public.orders", row={"id": 7}, within=2),
        Emptied(table="public.orders"),
    )
    assert set(shop.capture().blocked) == {"shop_orders"}
    outcomes, together = shop.publish()
    assert (outcomes, together.published) == ({"shop_items": "idle"}, "9")
    assert together.as_json()["waits_for"] == ["shop_orders"]


def test_a_table_that_comes_later_is_read_with_the_others(shop: Shop) -> None:
    shop.commit(9, "orders", "items")
    file = shop.folder / "configs/ingest/shop.yml"
    whole = file.read_text()
    file.write_text(whole.replace('  "public.items": shop_items\n', ""))
    shop.capture()
    assert shop.publish()[1].tables == {"shop_orders": "9"}
    file.write_text(whole)
    shop.data.rows["public.items"] = [{"id": 1, "what": "x"}]
    shop.capture()
    shop.lake.failing = {"shop_orders"}
    shop.commit(12, "items")
    shop.capture()
    # The copy was made at 9 as the database's clock has it, and the log has not gone on: nothing of it shows before the others.
    assert shop.lake.run(shop.found.may_run.pipelines)[0].outcome == "idle"
    assert shop.publish()[1].tables == dict.fromkeys(BOTH, "12")


def test_a_copy_that_is_not_whole_is_read_by_nobody(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shop.folder / "configs/ingest/shop.yml"
    whole = file.read_text()
    file.write_text(whole.replace('  "public.items": shop_items\n', ""))
    shop.capture()
    shop.publish()
    file.write_text(whole)

    def killed(*words: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(shop.data, "piece", killed)
    with pytest.raises(KeyboardInterrupt):
        shop.capture()
    # Another command, which captured before, is at its runs.
    shop.publish()
    upto = read_upto(str(shop.folder / "changes/shop"))
    assert upto is not None
    assert upto.folders == {"public.orders"}


def test_capturing_alone_moves_the_place_on_only_where_all_tables_are_there(shop: Shop) -> None:
    shop.commit(9, "orders", "items")
    shop.capture()
    assert shop.publish(runs=False)[1].published == "9", "before anything is read, nothing is half read"
    shop.commit(12, "orders", "items")
    shop.capture()
    assert shop.publish(runs=False)[1].published == "9"
    assert [one.outcome for one in shop.lake.run(shop.found.may_run.pipelines)] == ["committed", "committed"]
    assert shop.publish(runs=False)[1].published == "12"


def test_what_was_read_before_it_was_wanted_is_caught_up_first(shop: Shop) -> None:
    file = shop.folder / "configs/ingest/shop.yml"
    own = file.read_text()
    file.write_text(own.replace("transactional: true\n", ""))
    shop.commit(9, "orders", "items")
    shop.capture()
    shop.lake.run([shop.found.pipelines["public.orders"]])
    shop.commit(12, "orders", "items")
    file.write_text(own)
    shop.capture()
    shop.lake.failing = {"shop_items"}
    assert shop.publish()[1].tables == {"shop_items": "", "shop_orders": "9"}
    shop.lake.failing = set()
    assert shop.publish()[1].tables == dict.fromkeys(BOTH, "12")
    assert (shop.folder / "changes/shop" / NAME).exists()
    file.write_text(own.replace("transactional: true\n", ""))
    shop.capture()
    assert read_upto(str(shop.folder / "changes/shop")) is None, "without it each goes on by itself"


def test_the_place_is_read_as_it_was_written_or_not_at_all(tmp_path: Path) -> None:
    upto = Upto(position="0-1-9", number=9, folders=("a", "b"))
    (tmp_path / NAME).write_text(json.dumps(upto.as_json()))
    found = read_upto(str(tmp_path))
    assert found is not None
    assert found.as_json() == upto.as_json()
    for text in ("", "[]", '{"version": 2}', '{"version": 1, "number": "x"}'):
        (tmp_path / NAME).write_text(text)
        with pytest.raises(FreshetError) as error:
            read_upto(str(tmp_path))
        assert error.value.code == "INGEST_RECORD_UNREADABLE"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hoodie:\n", "checks:\n  - {name: conforms, severity: drop, malformed: true}\nhoodie:\n", "drop rows, as its check"),
        ("quiet: 0s", "quiet: 5s", "wait before it reads a file"),
        ("quiet: 0s", "quiet: 0s, too_late: warn", "leave files unread"),
        ('"*.json.gz"', '"0*.json.gz"', "read the files 0*.json.gz alone"),
    ],
)
def test_a_pipeline_that_would_leave_a_part_of_a_transaction_is_refused(shop: Shop, old: str, new: str, said: str) -> None:
    file = shop.folder / "pipelines/shop_orders.yml"
    file.write_text(file.read_text().replace(old, new))
    done = freshet("ingest", "shop", "--capture-only", "-C", str(shop.folder), "--output", "json", code=1)
    error = json.loads(done.stdout)["error"]
    assert (error["code"], said in error["message"]) == ("INGEST_UNFIT", True), error


def test_an_empty_table_has_a_folder_so_that_its_pipeline_finds_nothing_new(shop: Shop) -> None:
    shop.capture()
    tables: list[DbTable] = list(shop.data.found)
    assert all((shop.folder / "changes/shop" / one.full_name).is_dir() for one in tables)
    assert shop.publish()[1].tables == dict.fromkeys(BOTH, "5")
