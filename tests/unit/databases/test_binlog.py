"""MariaDB's binary log, by the events of mysql-replication: what they tell, and what is refused for what they do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymysqlreplication import event as events
from pymysqlreplication import row_event as rows
from pymysqlreplication.constants import NONE_SOURCE

from freshet.databases.address import read_address
from freshet.databases.mariadb.log import Binlog, _Reading
from freshet.databases.mariadb.values import NO_DATE, kind_of
from freshet.databases.model import Base, Change, End, Told
from freshet.errors import FreshetError

ADDRESS = read_address("mysql://cdc@db/shop")
KINDS = {
    "orders": {"id": kind_of("int", "int(11)"), "status": kind_of("varchar", "varchar(20)"), "day": kind_of("date", "date")}
}


def an_event(kind: type[Any], **told: Any) -> Any:
    """Return an event as it would be read of a packet."""
    found = type(kind.__name__, (kind,), {"rows": told.pop("rows", None), "__init__": lambda self: None})()
    for name, value in told.items():
        setattr(found, name, value)
    return found


def begins(number: int, flags: int = 0) -> Any:
    return an_event(
        events.MariadbGtidEvent, gtid=f"0-1-{number}", gtid_seq_no=number, domain_id=0, flags=flags, timestamp=1_700_000_000
    )


def says(query: str, schema: str = "shop") -> Any:
    return an_event(events.QueryEvent, query=query, schema=schema.encode())


def of_rows(kind: type[Any], *found: dict[str, Any], table: str = "orders") -> Any:
    columns = [an_event(object, name=name) for name in KINDS["orders"]]
    return an_event(kind, schema="shop", table=table, columns=columns, rows=list(found))


def inserts(values: dict[str, Any], **nothing: str) -> Any:
    return of_rows(rows.WriteRowsEvent, {"values": values, "none_sources": nothing})


def updates(before: dict[str, Any], after: dict[str, Any], **nothing: str) -> Any:
    told = {"before_values": before, "before_none_sources": {}, "after_values": after, "after_none_sources": nothing}
    return of_rows(rows.UpdateRowsEvent, told)


def ends() -> Any:
    return an_event(events.XidEvent)


def told(*stream: Any, upto: int = 2) -> list[Told]:
    reading = _Reading(ADDRESS, {"shop.orders": ("id",)}, KINDS, Base(position="0-1-1", number=1))
    return list(reading.told(iter(stream), Base(position=f"0-1-{upto}", number=upto), 100, events, rows))


A_ROW = {"id": 1, "status": "new", "day": None}


def refused(*stream: Any) -> str:
    with pytest.raises(FreshetError) as error:
        told(*stream)
    assert error.value.code == "DATABASE_UNFIT"
    return error.value.message


def test_a_transaction_is_its_changes_and_an_end() -> None:
    found = told(begins(2), says("BEGIN"), inserts(A_ROW, day=NONE_SOURCE.NULL), updates(A_ROW, {**A_ROW, "id": 2}), ends())
    assert [(one.row["id"], one.deleted, one.within) for one in found if isinstance(one, Change)] == [
        (1, False, 1),
        (1, True, 2),
        (2, False, 2),
    ]
    assert found[-1] == End(position="0-1-2", number=2)


def test_a_value_that_the_log_leaves_out_is_no_null() -> None:
    """A session may set binlog_row_image for itself: of its updates the log has the key and what changed."""
    after = {"id": None, "status": "paid", "day": None}
    stream = (begins(2), says("BEGIN"), updates(A_ROW, after, id=NONE_SOURCE.COLS_BITMAP, day=NONE_SOURCE.COLS_BITMAP), ends())
    assert "binlog_row_image" in refused(*stream)


@pytest.mark.parametrize("why", [NONE_SOURCE.OUT_OF_DATE_RANGE, NONE_SOURCE.OUT_OF_DATETIME_RANGE])
def test_a_date_of_no_calendar_is_no_null(why: str) -> None:
    found = told(begins(2), says("BEGIN"), inserts(A_ROW, day=why), ends())
    assert [one.row["day"] for one in found if isinstance(one, Change)] == [NO_DATE]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (an_event(events.NotImplementedEvent, event_type=166), "log_bin_compress"),
        (an_event(events.NotImplementedEvent, event_type=26), "of the kind 26"),
        (an_event(events.BeginLoadQueryEvent, event_type=17), "of the kind 17"),
    ],
)
def test_an_event_that_may_hold_rows_and_is_not_read_is_refused(event: Any, said: str) -> None:
    assert said in refused(begins(2), says("BEGIN"), event, ends())


def test_the_stream_gives_what_would_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself mysql-replication passes over what it does not know: rows would be missing, and nobody would say so."""
    asked: dict[str, Any] = {}

    class Stream:
        def __init__(self, **settings: Any) -> None:
            asked.update(settings)

        def __iter__(self) -> Iterator[Any]:
            return iter(())

        def close(self) -> None:
            pass

    monkeypatch.setattr("pymysqlreplication.BinLogStreamReader", Stream)
    with pytest.raises(FreshetError):
        list(Binlog(ADDRESS, "f").changes(Base(position="0-1-1", number=1), Base(position="0-1-2", number=2), 9, {}, {}))
    assert {events.NotImplementedEvent, events.BeginLoadQueryEvent} <= set(asked["only_events"])
    assert asked["filter_non_implemented_events"] is False


@pytest.mark.parametrize("word", ["ROLLBACK", "ROLLBACK TO `a`"])
def test_rows_that_were_rolled_back_are_no_changes(word: str) -> None:
    """Of a transaction that wrote to a table without transactions, too, the log has what was rolled back, and then says so."""
    assert "rolled back" in refused(begins(2), says("BEGIN"), inserts(A_ROW), says(word), ends())
    assert isinstance(told(begins(2), says("BEGIN"), says("ROLLBACK"))[-1], End), "nothing of it was told"


def test_a_statement_of_another_database_may_change_rows_of_this_one() -> None:
    stream = (begins(2), says("BEGIN", "other"), says("update shop.orders set status = 'x'", "other"), ends())
    assert "binlog_format" in refused(*stream)
    assert told(begins(2), says("BEGIN", "other"), says("update orders set status = 'x'", "other"), ends())


def test_a_value_that_cannot_be_read_is_told_in_words() -> None:
    class Bad(rows.WriteRowsEvent):
        def __init__(self) -> None:
            self.schema, self.table, self.columns = "shop", "orders", [an_event(object, name="id")]

        @property
        def rows(self) -> Any:
            return b"\x81".decode("cp1252")

    assert "shop.orders" in refused(begins(2), says("BEGIN"), Bad(), ends())
    raw = {**A_ROW, "status": b"\xff\x00"}
    assert "status" in refused(begins(2), says("BEGIN"), inserts(raw), ends()), "mysql-replication does not know its charset"
