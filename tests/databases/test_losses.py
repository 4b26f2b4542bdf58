"""What a copy or a log has less of than a query: captured whole, or refused; nothing of it is silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from freshet.databases.model import DbTable
from freshet.databases.source import open_source
from freshet.errors import FreshetError, RetryableError
from tests.databases.shops import PostgresShop, Shop
from tests.databases.test_capture import captured, expected, filled, rows_of
from tests.kit.databases import events_of, replayed

MARIADB, POSTGRES = (pytest.mark.parametrize("shop", [kind], indirect=True) for kind in ("mariadb", "postgres"))


def tables(shop: Shop) -> dict[str, DbTable]:
    source = shop.source()
    try:
        return {one.name: one for one in source.tables() if one.schema == shop.schema}
    finally:
        source.close()


def unfit(shop: Shop, root: Path) -> str:
    with pytest.raises(FreshetError) as error:
        captured(shop, root)
    assert error.value.code == "DATABASE_UNFIT"
    return error.value.message


@MARIADB
def test_a_foreign_key_that_changes_rows_is_seen_by_a_user_who_may_only_read(shop: Shop) -> None:
    user = f"u_{shop.name}"
    shop.run(
        "create table shops (id int primary key)",
        "create table plain (id int primary key, shop int, foreign key (shop) references shops (id))",
        "create table gone (id int primary key, shop int, foreign key (shop) references shops (id) on delete cascade)",
        "create table empty (id int primary key, shop int, foreign key (shop) references shops (id) on delete set null)",
        "create table moved (id int primary key, shop int, foreign key (shop) references shops (id) on update cascade)",
        *(f"create user {user}", f"grant replication slave on *.* to {user}", f"grant select on {shop.name}.* to {user}"),
    )
    shop.address = replace(shop.address, user=user)
    try:
        refused = {name: "foreign key" in one.refused for name, one in tables(shop).items()}
    finally:
        shop.run(f"drop user {user}", "drop table gone, empty, moved, plain")
    assert refused == {"shops": False, "plain": False, "gone": True, "empty": True, "moved": True}


@MARIADB
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        # Beyond the digits of a number with a point.
        ("decimal(30,0)", [str(12345678901234567890 + n) for n in range(20)]),
        ("time", [f"'-0{9 - n % 9}:{n:02d}:00'" for n in range(20)]),
        ("bit(12)", [f"b'{n:b}'" for n in range(20)]),
        ("year", [str(2000 + n) for n in range(20)]),
        ("varchar(9) collate utf8mb4_general_ci", [f"'{'aB'[n % 2]}{n}'" for n in range(20)]),
    ],
)
def test_a_copy_by_keys_of_every_kind_is_whole(shop: Shop, tmp_path: Path, kind: str, values: list[str]) -> None:
    shop.run(
        f"create table things (a {kind}, b int, what int, primary key (a, b))",
        *(f"insert into things values ({value}, {b}, 1)" for value in values for b in (1, 2)),
    )
    assert captured(shop, tmp_path).copied == {f"{shop.schema}.things": 40}
    assert len(replayed(events_of(tmp_path, f"{shop.schema}.things"))) == 40
    shop.run("update things set what = 2 where b = 1", "delete from things where b = 2")
    captured(shop, tmp_path)
    found = replayed(events_of(tmp_path, f"{shop.schema}.things"))
    assert [row["what"] for row in found.values()] == [2] * 20, "copy and log write a key alike"


@MARIADB
def test_zeros_and_what_a_server_fills_are_in_the_copy_as_in_the_log(shop: Shop, tmp_path: Path) -> None:
    shop.run(
        "set sql_mode = 'ALLOW_INVALID_DATES'",
        "create table zeros (id int primary key, at timestamp null, fine timestamp(6) null, y year, day date, dt datetime, "
        "fixed char(5))",
    )
    values = "'0000-00-00', '0000-00-00', 0, '0000-00-00', '0000-00-00', 'ab'"
    shop.run(f"insert into zeros values (1, {values})")
    shop.run("set @before = @@global.sql_mode", "set global sql_mode = concat(@@global.sql_mode, ',PAD_CHAR_TO_FULL_LENGTH')")
    try:
        captured(shop, tmp_path)
    finally:
        shop.run("set global sql_mode = @before")
    shop.run(f"insert into zeros values (2, {values})")
    captured(shop, tmp_path)
    found = replayed(events_of(tmp_path, f"{shop.schema}.zeros"))
    texts = {name: value for name, value in found["1"].items() if name not in ("id", "at", "fine", "dt")}
    assert texts == {name: found["2"][name] for name in texts}
    # Of times the text differs, and neither is one that a column takes.
    assert {found[key][name][:10] for key in "12" for name in ("at", "fine", "dt")} == {"0000-00-00"}


@MARIADB
@pytest.mark.parametrize(
    ("before", "statement", "said"),
    [
        ("set binlog_row_image = 'MINIMAL'", "update orders set status = 'paid'", "binlog_row_image"),
        ("set binlog_format = 'STATEMENT'", "update orders set status = 'paid'", "binlog_format"),
        ("set global log_bin_compress = 1", "update orders set note = repeat('ab', 5000)", "log_bin_compress"),
    ],
)
def test_what_a_session_takes_from_the_log_is_no_silence(
    shop: Shop, tmp_path: Path, before: str, statement: str, said: str
) -> None:
    filled(shop, 3)
    captured(shop, tmp_path)
    try:
        shop.run(before, statement)
    finally:
        shop.run("set global log_bin_compress = 0")
    assert said in unfit(shop, tmp_path)


@MARIADB
def test_what_is_rolled_back_beside_a_table_without_transactions_is_no_change(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 3)
    shop.run("create table notes (id int primary key) engine = MyISAM")
    captured(shop, tmp_path, only="orders")
    shop.run(
        *("begin", "update orders set status = 'never' where id = 1", "insert into notes values (1)", "savepoint a"),
        *("update orders set status = 'never' where id = 2", "insert into notes values (2)", "rollback to a", "rollback"),
        "update orders set status = 'paid' where id = 0",
    )
    captured(shop, tmp_path, only="orders")
    assert rows_of(shop, tmp_path, "orders", "id", "status") == expected(shop, "orders", "id", "status")


@POSTGRES
def test_a_policy_of_rows_is_no_silence(shop: Shop, tmp_path: Path) -> None:
    user = f"u_{shop.name}"
    filled(shop, 3)
    shop.run(
        "alter table orders enable row level security",
        f"create role {user} login replication",
        f"grant select on orders to {user}",
        f"create publication {shop.name} for table orders",
        f"create policy few on orders to {user} using (id = 1)",
    )
    shop.address = replace(shop.address, user=user)
    try:
        with pytest.raises(FreshetError) as error:
            captured(shop, tmp_path)
        assert error.value.code == "DATABASE_DENIED"
    finally:
        shop.run(f"drop owned by {user}", f"drop role {user}")


@POSTGRES
def test_a_value_with_a_null_in_it_is_in_the_copy(shop: Shop, tmp_path: Path) -> None:
    shop.run(
        "create type pair as (a int, b text)",
        "create table pairs (id int primary key, p pair, q pair[])",
        "insert into pairs values (1, row(1, null), array[row(null, 'x')::pair]), (2, row(null, null), null), (3, null, null)",
    )
    captured(shop, tmp_path)
    shop.run("insert into pairs select id + 10, p, q from pairs")
    captured(shop, tmp_path)
    found = replayed(events_of(tmp_path, "public.pairs"))
    assert [found[str(n)]["p"] for n in (1, 2, 3)] == [found[str(n)]["p"] for n in (11, 12, 13)] == ["(1,)", "(,)", None]
    assert found["1"]["q"] == found["11"]["q"] == '{"(,x)"}'


@POSTGRES
def test_tables_whose_rows_are_elsewhere_are_refused_and_a_key_is_its_key_alone(shop: Shop) -> None:
    shop.run(
        "create table parent (id int primary key)",
        "create table child (primary key (id)) inherits (parent)",
        "create table more (id int, mail text, primary key (id) include (mail))",
        "create table made (id int, twice int generated always as (id * 2) stored, primary key (id, twice))",
        'create table "a.b" (id int primary key)',
    )
    found = tables(shop)
    assert {name: one.refused[:12] for name, one in found.items() if one.refused} == {
        "parent": "other tables",
        "made": "its key has ",
        "a.b": "its name or ",
    }
    assert found["more"].key == ("id",)
    assert found["made"].computed == ("twice",)


@POSTGRES
def test_an_open_transaction_is_waited_for_as_long_as_was_said(shop: Shop, tmp_path: Path) -> None:
    filled(shop, 3)
    other = shop.connect()
    with other.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("update orders set status = 'open' where id = 1")
        source = open_source(shop.address, shop.name, 0.2)
        try:
            with pytest.raises(RetryableError) as error:
                source.begin([one for one in source.tables() if one.name == "orders"], again=True)
            assert error.value.code == "OPEN_TRANSACTIONS"
        finally:
            source.close()
        cursor.execute("commit")
    other.close()
    captured(shop, tmp_path)
    assert rows_of(shop, tmp_path, "orders", "id", "status") == expected(shop, "orders", "id", "status")


@POSTGRES
@pytest.mark.parametrize("then", ["", "create table orders (id int primary key, status varchar(20), note text)"])
def test_a_table_that_is_dropped_or_made_anew_stops_alone(shop: Shop, tmp_path: Path, then: str) -> None:
    assert isinstance(shop, PostgresShop)
    filled(shop, 3)
    shop.run("create table other (id int primary key)", f"create publication {shop.name} for all tables")
    captured(shop, tmp_path)
    shop.run("drop table orders", *([then, "insert into orders values (1, 'a', 'b')"] if then else []))
    shop.run("insert into other values (1)")
    found = captured(shop, tmp_path)
    assert (list(found.stopped), found.changed) == (["public.orders"], {"public.other": 1})
