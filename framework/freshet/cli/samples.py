"""Sample data of the patterns: the same files every time, each table's rows and then a file of what became of them."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta, timezone

Row = tuple[object, ...]
_FIRST = datetime(2026, 3, 2, 6, 0, tzinfo=timezone.utc)
_DAYS, _STORES = 5, 8
_CITIES = ("Utrecht", "Ghent", "Lille", "Aachen")
# What a row of a second file says of one that is to be deleted; `freshet land` knows the column.
_DELETED = "_hoodie_is_deleted"


def files_of(pattern: str) -> dict[str, str]:
    """Return the sample files of a pattern.

    Args:
        pattern: Its name.

    Returns:
        Contents by path relative to the project.
    """
    return _MAKERS[pattern](random.Random(pattern))


def _fact(draw: random.Random) -> dict[str, str]:
    head = ("sale_id", "store_id", "status", "amount", "sold_at", "updated_at")
    sales: dict[str, Row] = {}
    for number in range(1200):
        at = _moment(draw)
        # Three are wrong: a check keeps them out of the target, and they wait in the quarantine.
        amount = -1 if number in (100, 500, 900) else draw.randint(300, 9000)
        sales[f"s{number:05}"] = (_store(draw), "paid", _money(amount), at, at)
    touched = draw.sample(sorted(sales), 215)
    changed: list[Row] = [(key, *_later(draw, sales[key], "shipped"), "") for key in touched[15:]]
    changed += [(key, *_later(draw, sales[key], "cancelled"), "true") for key in touched[:15]]
    changed += [
        (f"s{number:05}", _store(draw), "paid", _money(draw.randint(300, 9000)), at, at, "")
        for number in range(1200, 1300)
        for at in [_moment(draw)]
    ]
    stores = [(f"x{number}", _CITIES[number % len(_CITIES)], 21 if number % 2 else 6) for number in range(_STORES)]
    return {
        "data/sales.csv": _csv(head, ((key, *row) for key, row in sales.items())),
        "data/sales_changes.csv": _csv((*head, _DELETED), changed),
        "seeds/raw.stores.csv": _csv(("store_id", "city", "vat_percent"), stores),
    }


def _dimension(draw: random.Random) -> dict[str, str]:
    profile, points = ("customer_id", "name", "city", "profile_at"), ("customer_id", "points", "tier", "points_at")
    keys = [f"c{number:04}" for number in range(400)]

    def named(key: str, later: int) -> Row:
        return key, f"Customer {key[1:]}", draw.choice(_CITIES), _text(_FIRST + timedelta(hours=later))

    def scored(key: str, later: int) -> Row:
        count = draw.randint(0, 900)
        return key, count, "gold" if count > 700 else "blue", _text(_FIRST + timedelta(hours=later))

    # Some have points before anybody knows them, others are known and have none.
    known, with_points = keys[:350], keys[100:]
    changed = [(*named(key, 30), "") for key in (*draw.sample(known, 40), *keys[350:380])]
    changed += [(*named(key, 30), "true") for key in known[90:110]]
    rescored = [(*scored(key, 31), "") for key in draw.sample(with_points, 60)]
    rescored = [row for row in rescored if row[0] not in keys[105:120]] + [(*scored(key, 31), "true") for key in keys[105:120]]
    changed = list({row[0]: row for row in changed}.values())
    return {
        "data/customers.csv": _csv(profile, (named(key, 0) for key in known)),
        "data/customers_changes.csv": _csv((*profile, _DELETED), changed),
        "data/points.csv": _csv(points, (scored(key, 1) for key in with_points)),
        "data/points_changes.csv": _csv((*points, _DELETED), rescored),
    }


def _daily_aggregate(draw: random.Random) -> dict[str, str]:
    head = ("delivery_id", "store_id", "day", "parcels", "fee", "updated_at")

    def row(key: str, later: int) -> Row:
        day = (_FIRST + timedelta(days=draw.randrange(_DAYS))).date()
        fee = _money(draw.randint(100, 900))
        return key, _store(draw), day, draw.randint(1, 9), fee, _text(_FIRST + timedelta(hours=later))

    keys = [f"d{number:05}" for number in range(1000)]
    first = [row(key, 0) for key in keys]
    # Other days, other stores, other amounts; the second store's are all withdrawn, and so are its days.
    changed = [(*row(key, 40), "") for key in draw.sample(keys, 120)]
    moved = {one[0] for one in changed}
    changed += [
        (*one[:5], _text(_FIRST + timedelta(hours=41)), "true")
        for one in first
        if one[0] not in moved and (one[1] == "x1" or draw.random() < 0.02)
    ]
    changed += [(*row(f"d{number:05}", 42), "") for number in range(1000, 1080)]
    return {"data/deliveries.csv": _csv(head, first), "data/deliveries_changes.csv": _csv((*head, _DELETED), changed)}


def _late_join(draw: random.Random) -> dict[str, str]:
    head, tips = ("ride_id", "driver_id", "fare", "started_at", "updated_at"), ("tip_id", "ride_id", "amount", "tipped_at")
    rides: dict[str, Row] = {}
    for number in range(900):
        at = _moment(draw)
        rides[f"r{number:05}"] = (f"driver{draw.randrange(40):02}", _money(draw.randint(500, 6000)), at, at)

    def tip(number: int, ride: str, days: int) -> Row:
        return f"t{number:05}", ride, _money(draw.randint(50, 900)), _text(_FIRST + timedelta(days=days, minutes=number))

    given = [tip(number, draw.choice(sorted(rides)), 2) for number in range(300)]
    # Of rides that are not there yet, as one system is often ahead of the other.
    given += [tip(number, f"r{number + 600:05}", 2) for number in range(300, 310)]
    late = [(*tip(number, draw.choice(sorted(rides)), 20), "") for number in range(310, 400)]
    late += [(*one[:2], _money(1), _text(_FIRST + timedelta(days=21)), "") for one in given[:20]]
    late += [(*one[:3], _text(_FIRST + timedelta(days=21)), "true") for one in given[20:35]]
    touched = draw.sample(sorted(rides), 72)
    changed = [(key, *_later(draw, rides[key], _money(draw.randint(500, 6000))), "") for key in touched[12:]]
    changed += [(key, *_later(draw, rides[key], "0.00"), "true") for key in touched[:12]]
    for number in range(900, 930):
        at = _moment(draw)
        changed.append((f"r{number:05}", f"driver{draw.randrange(40):02}", _money(draw.randint(500, 6000)), at, at, ""))
    return {
        "data/rides.csv": _csv(head, ((key, *row) for key, row in rides.items())),
        "data/rides_changes.csv": _csv((*head, _DELETED), changed),
        "data/tips.csv": _csv(tips, given),
        "data/tips_changes.csv": _csv((*tips, _DELETED), late),
    }


def _moving_rows(draw: random.Random) -> dict[str, str]:
    head, teams = ("ticket_id", "team", "priority", "opened_at", "updated_at"), ("intake", "billing", "fraud", "done")

    def row(number: int, later: int, team: str) -> Row:
        opened = _text(_FIRST + timedelta(minutes=number))
        return f"k{number:05}", team, draw.randint(1, 4), opened, _text(_FIRST + timedelta(days=2, hours=later))

    first = [row(number, 0, draw.choice(teams)) for number in range(800)]
    changed = [(*row(number, 5, draw.choice(teams)), "") for number in draw.sample(range(700), 150)]
    changed += [(*row(number, 6, "done"), "true") for number in range(700, 720)]
    changed += [(*row(number, 6, "intake"), "") for number in range(800, 860)]
    return {"data/tickets.csv": _csv(head, first), "data/tickets_changes.csv": _csv((*head, _DELETED), changed)}


def _history(draw: random.Random) -> dict[str, str]:
    head = ("product_id", "valid_from", "price", "recorded_at")

    def row(product: int, day: int, later: int) -> Row:
        at = _text(_FIRST + timedelta(days=30, hours=later))
        return f"p{product:03}", date(2026, 1, 1) + timedelta(days=day), _money(draw.randint(100, 5000)), at

    known = {(product, day) for product in range(100) for day in draw.sample(range(90), 6)}
    first = [row(product, day, 0) for product, day in sorted(known)]
    # Later prices, prices that were forgotten and begin between two others, corrected ones, and ones that never were.
    added = {(product, day) for product in range(0, 110, 3) for day in (draw.randrange(90), 95)} - known
    listed = sorted(known)
    changed = [(*row(product, day, 5), "") for product, day in sorted(added)]
    changed += [(*row(*listed[number], 5), "") for number in range(0, len(listed), 15)]
    changed += [(*row(*listed[number], 5), "true") for number in range(7, len(listed), 31) if number % 15]
    return {"data/prices.csv": _csv(head, first), "data/prices_changes.csv": _csv((*head, _DELETED), changed)}


def _moment(draw: random.Random) -> str:
    return _text(_FIRST + timedelta(days=draw.randrange(_DAYS), seconds=draw.randrange(57_600)))


def _later(draw: random.Random, row: Row, value: str) -> Row:
    """Return a row with another second value, and a later time of change, its last."""
    return row[0], value, *row[2:-1], _text(_FIRST + timedelta(days=_DAYS + 1, seconds=draw.randrange(57_600)))


def _store(draw: random.Random) -> str:
    return f"x{draw.randrange(_STORES)}"


def _money(cents: int) -> str:
    return f"{cents / 100:.2f}"


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _csv(head: tuple[str, ...], rows: Iterable[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


_MAKERS: Mapping[str, Callable[[random.Random], dict[str, str]]] = {
    "fact": _fact,
    "dimension": _dimension,
    "daily_aggregate": _daily_aggregate,
    "late_join": _late_join,
    "moving_rows": _moving_rows,
    "history": _history,
}
