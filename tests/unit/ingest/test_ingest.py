"""``freshet init --from`` and ``freshet ingest`` over a database that is data: files, what is noticed, what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from freshet.changelog.fields import EVENT
from freshet.cli import init_database
from freshet.cli.main import main
from freshet.databases.backup import too_old
from freshet.databases.model import Base, Change, DbColumn, DbTable, Emptied, End, Shape, Told, Transaction
from freshet.errors import FreshetError
from freshet.ingest import run as run_module
from freshet.types.columns import Array, Atomic, DataType, Decimal


def a_column(name: str, kind: DataType = Atomic("int"), **more: Any) -> DbColumn:  # noqa: B008
    return DbColumn(name=name, declared=str(kind), type=kind, **more)


def a_table(name: str, *columns: DbColumn, schema: str = "public", key: tuple[str, ...] = ("id",), **more: Any) -> DbTable:
    return DbTable(schema=schema, name=name, columns=(a_column("id"), *columns), key=key, **more)


ORDERS = a_table(
    "orders",
    a_column("status", Atomic("string"), large=True),
    a_column("amount", Decimal(10, 2)),
    a_column("at", Atomic("timestamp"), note="it has no zone, and is taken as UTC"),
    a_column("order", Array(Atomic("int"))),
)


class Data:
    """A database that is data; see ``databases.source.DatabaseSource``."""

    kind = "postgresql"

    def __init__(self, *tables: DbTable) -> None:
        self.found, self.log, self.released = tables, list[Told](), list[int]()
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.kept_from = 0

    def tables(self) -> tuple[DbTable, ...]:
        return self.found

    def identity(self) -> str:
        return "1/shop"

    def keeps_log(self) -> bool:
        return False

    def begin(self, tables: Collection[DbTable], again: bool) -> Base:
        return Base(position="5", number=5)

    def begin_from(self, place: Base, tables: Collection[DbTable]) -> None:
        if place.number < self.kept_from:
            raise too_old(place.position, "it begins later")

    def add(self, tables: Collection[DbTable]) -> Base:
        return self.now()

    def check(self, position: Base, tables: Collection[DbTable]) -> None:
        pass

    def now(self) -> Base:
        number = max((one.number for one in self.log if isinstance(one, End)), default=5)
        return Base(position=str(number), number=number)

    def piece(self, table: DbTable, after: Sequence[Any] | None, most: int) -> tuple[list[dict[str, Any]], list[Any] | None]:
        rows = [] if after else self.rows.get(table.full_name, [])
        names = {column.name for column in table.columns}
        return [{name: value for name, value in row.items() if name in names} for row in rows], ["last"] if rows else None

    def changes(self, after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        number = 0
        for told in self.log:
            number = told.number if isinstance(told, Transaction) else number
            if number > after.number and getattr(told, "table", next(iter(wanted))) in wanted:
                yield told

    def release(self, upto: Base) -> None:
        self.released.append(upto.number)

    def close(self) -> None:
        pass

    def commit(self, number: int, *told: Told) -> None:
        self.log += [Transaction(number=number, millis=1000 * number), *told, End(position=str(number), number=number)]


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Data:
    found = Data(ORDERS, a_table("items", a_column("what")), a_table("log", refused="it has no primary key"))
    monkeypatch.setattr(init_database, "open_source", lambda *words: found)
    monkeypatch.setattr(run_module, "open_source", lambda *words: found)
    return found


def freshet(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == code, done.output
    return done


def initialised(folder: Path, *words: str) -> Any:
    return json.loads(freshet("init", str(folder), "--from", "postgresql://cdc@db/shop", *words, "--output", "json").stdout)


def ingested(folder: Path, *words: str, code: int = 0) -> Any:
    return json.loads(
        freshet("ingest", "shop", "--capture-only", "-C", str(folder), "--output", "json", *words, code=code).stdout
    )


def events(folder: Path, table: str = "public.orders") -> list[dict[str, Any]]:
    files = sorted((folder / "changes/shop" / table).glob("[!.]*.json.gz"))
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_what_is_written_of_a_database_validates(data: Data, tmp_path: Path) -> None:
    made = initialised(tmp_path, "--partition-size", "1GB")
    assert [one for one in made["files"] if "shop" in one] == [
        "configs/ingest/shop.yml",
        "ddl/shop_items.sql",
        "ddl/shop_orders.sql",
        "pipelines/shop_items.yml",
        "pipelines/shop_orders.yml",
    ]
    assert any("public.log cannot be captured: it has no primary key" in note for note in made["notes"])
    assert any("REPLICA IDENTITY FULL" in note and "status" in note for note in made["notes"])
    assert "2 pipelines: no problems" in freshet("validate", "-C", str(tmp_path)).stdout
    text = (tmp_path / "ddl/shop_orders.sql").read_text()
    assert "  id INT NOT NULL,\n" in text
    assert "  at TIMESTAMP,  -- timestamp: it has no zone, and is taken as UTC\n" in text
    assert "  order ARRAY<INT>\n" in text
    again = freshet("init", str(tmp_path), "--from", "postgresql://cdc@db/shop", code=1)
    assert "FILE_EXISTS" in again.output


def test_whatever_tables_are_called_each_has_files_of_its_own(data: Data, tmp_path: Path) -> None:
    status = a_column("status", note="it is\nkept")
    data.found = tuple(
        a_table(name, status, computed=("total",)) for name in ("a-b", "a_b", "A_B", "x\nowner: somebody\rhoodie: {}\u2028y")
    )
    made = initialised(tmp_path)
    assert [one for one in made["files"] if one.startswith("pipelines/shop")] == [
        *("pipelines/shop_a_b.yml", "pipelines/shop_a_b_2.yml", "pipelines/shop_a_b_3.yml"),
        "pipelines/shop_x_owner__somebody_hoodie_____y.yml",
    ]
    assert sum("total is computed by the database" in note for note in made["notes"]) == 4
    assert "4 pipelines: no problems" in freshet("validate", "-C", str(tmp_path)).stdout
    assert ingested(tmp_path)["noticed"] == {}


def test_a_password_is_named_and_never_written(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "s3cret-word")
    initialised(tmp_path, "--password-env", "SHOP_PASSWORD", "--include", "public.ord*", "--exclude", "items")
    text = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "s3cret-word" not in text
    assert 'password: "{{ env.SHOP_PASSWORD }}"' in text
    assert ingested(tmp_path)["noticed"] == {}, "what is excluded is not noticed"
    monkeypatch.delenv("SHOP_PASSWORD")
    assert (
        "NO_SUCH_VARIABLE"
        in freshet("init", str(tmp_path), "--from", "postgresql://a@b/c", "--password-env", "SHOP_PASSWORD", code=1).output
    )


def test_a_copy_then_the_log_and_the_server_may_forget_what_is_safe(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    data.rows["public.orders"] = [{"id": 1, "status": "new"}]
    data.commit(3, Change(table="public.orders", row={"id": 1}, deleted=True, within=1))
    data.commit(
        9,
        Change(table="public.orders", row={"id": 1, "status": "paid"}, within=1),
        Change(table="public.orders", row={"id": 2}, deleted=True, within=2),
    )
    found = ingested(tmp_path)
    assert (found["copied"], found["changed"], found["position"]) == (
        {"public.orders": 1, "public.items": 0},
        {"public.orders": 2},
        "9",
    )
    assert [one[EVENT]["ref_key"] for one in events(tmp_path)] == [f"{n:020d}.{w:020d}" for n, w in ((5, 0), (9, 1), (9, 2))]
    assert [one[EVENT]["is_deleted"] for one in events(tmp_path)] == [False, False, True]
    assert set(events(tmp_path)[0][EVENT]) == {
        *("row_key", "ref_key", "changelog_columns", "source", "timestamp", "is_deleted", "error_exception"),
        *("error_source_data", "force_update", "data_center"),
    }
    assert set(data.released) == {5, 9}
    assert ingested(tmp_path)["changed"] == {}


def test_a_new_table_is_noticed_and_a_new_column_holds_its_table_back(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    data.found = (*data.found, a_table("later", a_column("what")))
    assert ingested(tmp_path)["noticed"] == {"public.later": "", "public.log": data.found[2].refused}
    data.commit(
        9,
        Shape(table="public.orders", columns=("id", "status", "city")),
        Change(table="public.orders", row={"id": 1, "city": "Oslo"}, within=1),
    )
    blocked = ingested(tmp_path, code=5)["blocked"]
    assert {name: error["code"] for name, error in blocked.items()} == {"shop_orders": "COLUMNS_NOT_IN_DDL"}
    assert "city" in blocked["shop_orders"]["message"]
    assert ingested(tmp_path, code=5)["blocked"].keys() == {"shop_orders"}, "it is known from then on"
    file = tmp_path / "configs/ingest/shop.yml"
    file.write_text(file.read_text() + "leave_out: {public.orders: city}\n")
    assert ingested(tmp_path)["blocked"] == {}
    data.commit(10, Change(table="public.orders", row={"id": 2, "city": "Rom"}, within=1))
    ingested(tmp_path)
    assert "city" not in events(tmp_path)[-1], "from then on its values are in no file"


def test_a_table_that_was_emptied_is_stopped(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    data.commit(9, Emptied(table="public.orders"), Change(table="public.orders", row={"id": 7}, within=1))
    assert ingested(tmp_path, code=5)["blocked"]["shop_orders"]["code"] == "TABLE_STOPPED"
    assert events(tmp_path) == []


def only(folder: Path, *tables: str) -> None:
    """Let the ingest capture these tables alone."""
    file = folder / "configs/ingest/shop.yml"
    head = file.read_text().partition("tables:")[0]
    file.write_text(head + "tables:\n" + "".join(f"  public.{one}: shop_{one}\n" for one in tables))


def test_what_was_before_a_copy_is_in_the_copy(data: Data, tmp_path: Path) -> None:
    """A table that comes later may have been dropped, made and filled in a log that is not read yet."""
    initialised(tmp_path)
    only(tmp_path, "orders")
    ingested(tmp_path)
    data.commit(7, Emptied(table="public.items", words="replaced"))
    data.commit(8, Shape(table="public.items", columns=("id", "gone")), Change(table="public.items", row={"id": 1}, within=1))
    data.commit(9, Emptied(table="public.items", words="replaced"))
    data.rows["public.items"] = [{"id": 2, "what": "copied"}]
    only(tmp_path, "orders", "items")
    assert ingested(tmp_path)["blocked"] == {}
    assert [one["id"] for one in events(tmp_path, "public.items")] == [2]
    data.commit(10, Change(table="public.items", row={"id": 3}, within=1), Emptied(table="public.items"))
    assert ingested(tmp_path, code=5)["blocked"].keys() == {"shop_items"}, "and what comes after is not"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_table_that_was_replaced_or_is_gone_stops_alone(data: Data, tmp_path: Path, is_there: bool) -> None:
    data.found = tuple(replace(one, number=7 + at) for at, one in enumerate(data.found))
    initialised(tmp_path)
    ingested(tmp_path)
    orders, items, *rest = data.found
    checked: list[str] = []
    data.check = lambda position, tables: checked.extend(one.full_name for one in tables)  # type: ignore[method-assign]
    data.found = (replace(orders, number=99), items) if is_there else (items, *rest)
    data.commit(
        9, Change(table="public.items", row={"id": 1}, within=1), Change(table="public.orders", row={"id": 1}, within=2)
    )
    found = ingested(tmp_path, code=5)
    assert {name: one["code"] for name, one in found["blocked"].items()} == {"shop_orders": "TABLE_STOPPED"}
    assert (found["changed"], checked) == ({"public.items": 1}, ["public.items"]), "nobody asks for the log of what is stopped"


def test_what_never_began_is_of_no_database_yet(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    initialised(tmp_path)

    def fails(*words: object) -> Base:
        raise FreshetError("DATABASE_UNFIT", "nothing was written to its log yet.", "Nothing was captured.", "Write a row.")

    with monkeypatch.context() as patch:
        patch.setattr(data, "begin", fails)
        patch.setattr(data, "identity", lambda: "mariadb, domain , shop")
        ingested(tmp_path, code=1)
    assert ingested(tmp_path)["blocked"] == {}
    with monkeypatch.context() as patch:
        patch.setattr(data, "identity", lambda: "2/shop")
        assert ingested(tmp_path, code=5)["error"]["code"] == "ANOTHER_DATABASE"


def test_what_was_captured_before_a_kill_is_let_go_first(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server gives so much of its log at a time: all of it may be what is in the files already."""
    initialised(tmp_path)
    for number in (9, 10):
        data.commit(number, Change(table="public.orders", row={"id": number}, within=1))
    release = data.release

    def killed(upto: Base) -> None:
        if upto.number > 5:
            raise FreshetError("DATABASE_UNREACHABLE", "it was killed.", "Nothing.", "Again.")
        release(upto)

    def changes(after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        kept = max(data.released, default=0)
        number = 0
        for told in data.log:
            number = told.number if isinstance(told, Transaction) else number
            first = next(one.number for one in data.log if isinstance(one, End) and one.number > kept)
            if number == first > after.number:
                yield told

    monkeypatch.setattr(data, "changes", changes)
    with monkeypatch.context() as patch:
        patch.setattr(data, "release", killed)
        ingested(tmp_path, code=1)
    assert ingested(tmp_path)["position"] == "10"
    assert [one["id"] for one in events(tmp_path)] == [9, 10]


def test_large_values_that_stay_are_told_by_group(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    change = Change(
        table="public.orders", row={"id": 1, "amount": "1.00", "at": None, "order": None}, within=1, left_out=("status",)
    )
    data.commit(9, change)
    ingested(tmp_path)
    assert "REPLICA IDENTITY FULL" in events(tmp_path)[0][EVENT]["error_exception"], "its group has other columns, too"
    file = tmp_path / "pipelines/shop_orders.yml"
    file.write_text(file.read_text().replace("    adapter: freshet\n", "    adapter: freshet\n    groups: {texts: [status]}\n"))
    data.commit(10, change)
    ingested(tmp_path)
    event = events(tmp_path)[1][EVENT]
    assert event["error_exception"] is None
    assert event["changelog_columns"] == [{"name": "row", "ref_key": None, "changed_fields": ["amount", "at", "order"]}]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("adapter: freshet", "adapter: plain", "does not read them as"),
        ("form: text", "form: number", "needs 'reference_key"),
        ("public.orders", "public.items", "does not read the files of"),
    ],
)
def test_a_pipeline_that_reads_something_else_is_refused(data: Data, tmp_path: Path, old: str, new: str, said: str) -> None:
    initialised(tmp_path)
    file = tmp_path / "pipelines/shop_orders.yml"
    file.write_text(
        file.read_text()
        .replace(old, new)
        .replace(
            "{kind: given, form: text}",
            "{kind: columns, columns: [at]}" if new == "adapter: plain" else "{kind: given, form: text}",
        )
    )
    error = ingested(tmp_path, code=1)["error"]
    assert (error["code"], said in error["message"]) == ("INGEST_UNFIT", True), error
    assert not (tmp_path / "changes/shop/.freshet-ingest.json").exists()


def test_a_table_whose_key_changed_or_that_is_gone_is_refused(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    data.found = (replace(ORDERS, key=("id", "status")),)
    error = ingested(tmp_path, code=1)["error"]
    assert "has the key id, and public.orders has id, status" in error["message"]
    assert "no table public.items" in error["message"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("transactional: perhaps\n", "WRONG_TYPE"),
        ("colour: red\n", "UNKNOWN_KEY"),
        ("password: s3cret-word\n", "SECRET_IN_FILE"),
        ("slot: My-Slot\n", "BAD_NAME"),
        ("exclude: [public.orders]\n", "CONFLICTING_SETTING"),
        ("leave_out: {public.other: [a]}\n", "UNKNOWN_NAME"),
        ("wait: soon\n", "BAD_VALUE"),
    ],
)
def test_what_the_file_may_not_say(data: Data, tmp_path: Path, text: str, code: str) -> None:
    initialised(tmp_path)
    file = tmp_path / "configs/ingest/shop.yml"
    lines = file.read_text().count("\n")
    file.write_text(file.read_text() + text)
    error = ingested(tmp_path, code=3)["error"]
    problems = [(one["code"], one["file"]) for one in error["details"]["problems"]]
    assert problems == [(code, "configs/ingest/shop.yml")], error
    assert "s3cret-word" not in json.dumps(error)
    assert error["details"]["problems"][0]["line"] > lines or code == "CONFLICTING_SETTING"


def test_an_ingest_that_is_not_there_names_those_that_are(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    error = json.loads(freshet("ingest", "shp", "-C", str(tmp_path), "--output", "json", code=1).stdout)["error"]
    assert (error["code"], "shop" in error["next"]) == ("UNKNOWN_INGEST", True)


def test_a_log_that_was_begun_anew_is_no_silence(data: Data, tmp_path: Path) -> None:
    initialised(tmp_path)
    data.commit(9, Change(table="public.orders", row={"id": 1}, within=1))
    ingested(tmp_path)
    data.log.clear()
    error = ingested(tmp_path, code=5)["error"]
    assert error["code"] == "LOG_LOST"
