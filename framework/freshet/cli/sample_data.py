"""A raw table to begin with: a few thousand orders as a shop would export them, the same on every machine."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

#: Columns whose types do not follow from their texts.
COLUMNS = "amount DECIMAL(10,2), datestr STRING"
KEY, ORDERING = "id", "updated_at"
_ORDERS, _CHANGED, _NEW = 3000, 150, 100
_BEGIN, _DAYS = datetime(2026, 1, 5), 10
_CUSTOMERS = 400


def order_files() -> tuple[str, str]:
    """Return two CSV files: 3,000 orders of ten days; then 100 new ones, 150 whose amount was corrected, and one deleted."""
    drawn = random.Random(20260105)
    orders = [_order(drawn, number, drawn.randrange(_DAYS * 86400)) for number in range(1, _ORDERS + 1)]
    first = ["id,customer,amount,updated_at,datestr", *(",".join(_row(order)) for order in orders)]
    changed = drawn.sample(orders, _CHANGED + 1)
    later = [
        (number, customer, amount + drawn.choice((-500, 500, 1250)), _DAYS * 86400 + drawn.randrange(86400), second)
        for number, customer, amount, _, second in changed
    ]
    added = [_order(drawn, number, _DAYS * 86400 + drawn.randrange(86400)) for number in range(_ORDERS + 1, _ORDERS + _NEW + 1)]
    gone, *corrected = later
    second = [
        "id,customer,amount,updated_at,datestr,_hoodie_is_deleted",
        *(",".join((*_row(order), "false")) for order in (*corrected, *added)),
        ",".join((*_row(gone), "true")),
    ]
    return "\n".join(first) + "\n", "\n".join(second) + "\n"


def _order(drawn: random.Random, number: int, second: int) -> tuple[int, int, int, int, int]:
    """Return an order: its number, customer, cents, and the seconds at which it was changed and made."""
    return number, drawn.randint(1, _CUSTOMERS), drawn.randint(600, 25000), second, second


def _row(order: tuple[int, int, int, int, int]) -> tuple[str, ...]:
    number, customer, cents, changed, made = order
    at, day = _BEGIN + timedelta(seconds=changed), _BEGIN + timedelta(seconds=made)
    return f"o{number:05d}", f"c{customer:03d}", f"{cents / 100:.2f}", f"{at:%Y-%m-%d %H:%M:%S}", f"{day:%Y-%m-%d}"
