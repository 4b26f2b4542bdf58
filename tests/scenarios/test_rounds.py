"""Each write strategy over rounds of new, late, repeated, out-of-order and deleted rows: the target is what all of them say."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import pytest

from tests.kit.lake import DDL, Lake, Row

ROUNDS = 3  # the first of which only inserts
DAYS = ("2026-01-05", "2026-01-06")
# `ts` is the order of arrival, by which the raw table keeps the last image; `at` and `noted_at` say when a value became true.
SCHEMA = (
    "id string, ts bigint, at bigint, amount decimal(10,2), note string, noted_at bigint, changed array<string>, "
    "day string, _hoodie_is_deleted boolean"
)
CDC = {"hoodie.table.cdc.enabled": "true"}
FORMAT = "hoodie.datasource.query.incremental.format"
GONE = ", _hoodie_is_deleted BOOLEAN"
NOTES = "write: {strategy: merge, columns: [note, noted_at], ordering: noted_at%s}\n"
KEYED = "SELECT id, ts, %s, day FROM <SRC>"


def of(first: str, other: str) -> pytest.MarkDecorator:
    """Return both table types, the other for ``make nightly``: a strategy's rows are made in front of either."""
    return pytest.mark.parametrize("table_type", [first, pytest.param(other, marks=pytest.mark.nightly)])


@dataclass(frozen=True)
class Change:
    """What one landed row says; ``gone`` for a delete."""

    id: str
    ts: int
    at: int
    amount: Decimal | None
    note: str | None
    noted_at: int
    changed: tuple[str, ...]
    gone: bool = False

    @property
    def day(self) -> str:
        return DAYS[int(self.id[1:]) % 2]

    def row(self) -> Row:
        return (self.id, self.ts, self.at, self.amount, self.note, self.noted_at, list(self.changed), self.day, self.gone)


class Feed:
    """Draws rounds of changes: new rows in the first, every kind of change in each of the others.

    Args:
        late_deletes: Also delete rows whose last image is older than one before it.
    """

    def __init__(self, seed: int, late_deletes: bool) -> None:
        self.random, self.late_deletes = random.Random(seed), late_deletes
        self.alive: dict[str, Change] = {}
        self.newest: dict[str, int] = {}
        self.last: list[Change] = []
        self.keys, self.clock = 0, 0

    def round(self) -> list[Change]:
        self.clock += 100
        # The first row of each day stays, so that no day is ever without one.
        old = sorted(self.alive.keys() - {"k0", "k1"})
        self.random.shuffle(old)
        dead = sorted({f"k{number}" for number in range(self.keys)} - self.alive.keys())
        made = [self.draw(f"k{self.keys + number}", 0) for number in range(3 if self.last else 8)]
        self.keys += len(made)
        if self.last:
            gone = [key for key in old if self.late_deletes or self.alive[key].at == self.newest[key]][:2]
            rest = [key for key in old if key not in gone]
            made += [self.delete(key) for key in gone]
            made += [self.draw(key, 0) for key in rest[:2]]
            made += [self.draw(key, 150) for key in rest[2:4]]
            again = [one for one in self.last if one.id not in {m.id for m in made} and self.alive.get(one.id) == one]
            made += [*again[:2], *(self.draw(key, 0) for key in dead[:1])]
        for one in made:
            if one.gone:
                self.newest.pop(one.id)
                self.alive.pop(one.id)
            else:
                self.newest[one.id] = max(one.at, self.newest.get(one.id, 0))
                self.alive[one.id] = one
        self.last = made
        return made

    def draw(self, key: str, late: int) -> Change:
        self.clock += 1
        amount, note = Decimal(self.random.randrange(1, 10_000)) / 100, f"note {self.clock}"
        carried = self.random.choice([("amount",), ("note",), ("amount", "note")])
        # A null that is a value, where the row says that it carries the column.
        emptied = "note" in carried and self.random.random() < 0.3
        return Change(
            key,
            self.clock,
            self.clock - late,
            amount if "amount" in carried else None,
            note if "note" in carried and not emptied else None,
            self.clock - self.random.choice([0, 150]),
            ("at", *carried),
        )

    def delete(self, key: str) -> Change:
        self.clock += 1
        return Change(key, self.clock, 0, None, None, 0, (), gone=True)


@dataclass(frozen=True)
class Owner:
    """What a pipeline does to the target, said once more in plain words.

    Args:
        columns: The columns that it sets.
        ordering: The one by which an older row loses.
        deletes: What a deleted row takes away: the target's row, the owned columns, or nothing.
        carries: Which of the columns a row carries.
    """

    columns: tuple[str, ...]
    ordering: str
    deletes: Literal["row", "columns", "nothing"]
    carries: Callable[[Change, str], bool] = lambda change, column: True

    def apply(self, table: dict[str, dict[str, Any]], one: Change) -> None:
        if one.gone:
            if self.deletes == "row":
                table.pop(one.id, None)
            elif self.deletes == "columns" and one.id in table:
                table[one.id].update(dict.fromkeys(self.columns))
            return
        row = table.setdefault(one.id, dict.fromkeys(("at", "amount", "note", "noted_at")))
        if row[self.ordering] is None or getattr(one, self.ordering) >= row[self.ordering]:
            row.update({column: getattr(one, column) for column in self.columns if self.carries(one, column)})


def target(lake: Lake, table_type: str, columns: str = "", *writers: str, partitioned: bool = True) -> None:
    """Write the DDL of ``derived.copy``, for each pipeline that writes it."""
    for name in writers or ("copy",):
        text = DDL.format(
            name="copy", columns=f",\n at BIGINT, note STRING, noted_at BIGINT{columns}", type=table_type, properties=""
        )
        lake.write_file(f"ddl/{name}.sql", text if partitioned else text.replace("PARTITIONED BY (day)", ""))


def rounds(lake: Lake, seed: int, owners: dict[str, Owner], columns: tuple[str, ...], late_deletes: bool = True) -> None:
    """Land, run and compare, round by round; ``owners`` by the name of their pipeline."""
    feed, table = Feed(seed, late_deletes), dict[str, dict[str, Any]]()
    for number in range(ROUNDS):
        made = feed.round()
        lake.land([one.row() for one in made], schema=SCHEMA, **CDC)
        for name, owner in owners.items():
            assert lake.run_ok(name).outcome == "committed"
            for one in made:
                owner.apply(table, one)
        wanted = sorted((key, *(row[column] for column in columns)) for key, row in table.items())
        assert sorted(lake.rows("derived.copy", "id", *columns)) == wanted, f"round {number}: {made}"
    assert {lake.run_ok(name).outcome for name in owners} == {"idle"}


@of("mor", "cow")
def test_upsert(lake: Lake, table_type: str) -> None:
    lake.pipeline(sql="SELECT id, at AS ts, amount, at, note, noted_at, day, _hoodie_is_deleted FROM <SRC>")
    target(lake, table_type, GONE)
    columns = "at", "amount", "note", "noted_at"
    # A deleted row is as new as it last stood: where the target has a newer one, that stays.
    rounds(lake, 1, {"copy": Owner(columns, "at", "row")}, columns, late_deletes=False)


@of("cow", "mor")
def test_merge_of_two_owners(lake: Lake, table_type: str) -> None:
    # The one passes the source's deletes on, the other's notes outlive them.
    lake.pipeline(
        "copy",
        KEYED % "amount, at, _hoodie_is_deleted",
        hoodie={FORMAT: "cdc"},
        top="write: {strategy: merge, columns: [amount, at], ordering: at}\n",
    )
    lake.pipeline("notes", KEYED % "note, noted_at", hoodie={FORMAT: "latest_state"}, top=NOTES % "")
    target(lake, table_type, "", "copy", "notes")
    rounds(
        lake,
        2,
        {
            "copy": Owner(("amount", "at"), "at", "columns"),
            "notes": Owner(("note", "noted_at"), "noted_at", "nothing"),
        },
        ("at", "amount", "note", "noted_at"),
    )


@of("mor", "cow")
def test_partial_update_of_what_is_not_null(lake: Lake, table_type: str) -> None:
    lake.pipeline(
        sql=KEYED % "amount, at, note, _hoodie_is_deleted",
        top="write: {strategy: partial_update, columns: [amount, at, note, _hoodie_is_deleted], ordering: at}\n",
    )
    target(lake, table_type, GONE)
    columns = "at", "amount", "note"
    rounds(
        lake,
        3,
        {
            "copy": Owner(columns, "at", "row", lambda change, column: getattr(change, column) is not None),
        },
        columns,
    )


def test_partial_update_of_what_a_row_names(lake: Lake) -> None:
    lake.pipeline(
        sql=KEYED % "amount, at, note, changed, _hoodie_is_deleted",
        hoodie={FORMAT: "cdc"},
        top="write: {strategy: partial_update, columns: [amount, at, note], ordering: at, changed_columns: changed}\n",
    )
    target(lake, "mor")
    columns = "at", "amount", "note"
    rounds(
        lake,
        4,
        {
            "copy": Owner(columns, "at", "columns", lambda change, column: column in change.changed),
        },
        columns,
    )


@of("cow", "mor")
def test_full_outer_join(lake: Lake, table_type: str) -> None:
    lake.pipeline(
        "copy",
        KEYED % "amount, at, _hoodie_is_deleted",
        top="write: {strategy: full_outer_join, columns: [amount, at, day, _hoodie_is_deleted], ordering: at}\n",
    )
    lake.pipeline(
        "notes",
        "SELECT id, ts, note, noted_at FROM <SRC>",
        hoodie={FORMAT: "latest_state"},
        top=NOTES % ", when_not_matched: ignore",
    )
    target(lake, table_type, GONE, "copy", "notes", partitioned=False)
    rounds(
        lake,
        5,
        {
            "copy": Owner(("amount", "at"), "at", "row"),
            "notes": Owner(("note", "noted_at"), "noted_at", "nothing"),
        },
        ("at", "amount", "note", "noted_at"),
    )
    overwritten = [commit.action for commit in lake.state().commits]
    assert overwritten.count("replacecommit") == ROUNDS


@of("mor", "cow")
def test_insert_overwrite_of_affected_partitions(lake: Lake, table_type: str) -> None:
    # Sums per day and size, of which one may lose its last row: it leaves the table by no delete of its own.
    lake.pipeline(
        sql="""WITH changed AS (SELECT DISTINCT day FROM <SRC>)
               SELECT concat(r.day, if(r.amount < 50, ' small', ' large')) AS id, <SRC_INSTANT> AS ts,
                      cast(sum(r.amount) AS decimal(10,2)) AS amount, r.day
               FROM rest r JOIN changed c ON c.day = r.day WHERE r.amount IS NOT NULL GROUP BY 1, r.day""",
        top="inputs: {rest: {table: raw.events, read: affected_partitions, on: {day: day}}}\n",
        hoodie={"hoodie.datasource.write.operation": "insert_overwrite"},
        table_type=table_type,
    )
    feed = Feed(6, late_deletes=True)
    for _ in range(ROUNDS):
        lake.land([one.row() for one in feed.round()], schema=SCHEMA, **CDC)
        assert lake.run_ok().outcome == "committed"
        sums: dict[str, Decimal] = {}
        for one in feed.alive.values():
            if one.amount is not None:
                name = f"{one.day} {'small' if one.amount < 50 else 'large'}"
                sums[name] = sums.get(name, Decimal(0)) + one.amount
        assert lake.rows("derived.copy", "id", "amount") == sorted(sums.items())
        written = lake.state().info(lake.state().commits[-1]).partitions
        assert set(written) == {one.day for one in feed.last}, "no other partition is replaced"
    assert lake.run_ok().outcome == "idle"
