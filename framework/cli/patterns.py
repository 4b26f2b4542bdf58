"""The patterns of ``freshet init --pattern``: working pipelines with sample data, checks and cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from framework.cli.samples import files_of


@dataclass(frozen=True)
class Landing:
    """How one raw table of a pattern comes about.

    Args:
        table: Its name, without database.
        options: What `freshet land` is told of it.
        seed: True for a small table under ``seeds/``, which nothing changes.
    """

    table: str
    options: str
    seed: bool = False


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Args:
        name: Its name.
        says: What it is for, in a few words.
        target: The table that it writes.
        landings: Its raw tables.
    """

    name: str
    says: str
    target: str
    landings: tuple[Landing, ...]


PATTERNS = {one.name: one for one in (
    Pattern("fact", "one row an event, corrected and deleted as its source is", "order_facts", (
        Landing("orders", '--key order_id --ordering updated_at --columns "amount DECIMAL(10,2)"'),
        Landing("stores", "--key store_id --ordering updated_at", seed=True))),
    Pattern("dimension", "one row a thing, with columns that two pipelines own", "dim_customer", (
        Landing("customers", "--key customer_id --ordering profile_at"), Landing("points", "--key customer_id --ordering points_at"))),
    Pattern("daily_aggregate", "sums of each group and day, exact when a row changes its day", "daily_deliveries", (
        Landing("deliveries", '--key delivery_id --ordering updated_at --partition-by day '
                              '--columns "day STRING, fee DECIMAL(10,2)"'),)),
    Pattern("late_join", "two tables joined, either of which may come late, change or go", "ride_income", (
        Landing("rides", '--key ride_id --ordering updated_at --columns "fare DECIMAL(10,2)"'),
        Landing("tips", '--key tip_id --ordering tipped_at --columns "amount DECIMAL(10,2)"'))),
    Pattern("moving_rows", "rows that go from partition to partition", "team_tickets", (
        Landing("tickets", "--key ticket_id --ordering updated_at"),)),
    Pattern("history", "every version of a row, with the days from and until which it holds", "price_history", (
        Landing("prices", '--key product_id,valid_from --ordering recorded_at --columns "price DECIMAL(10,2)"'),)),
)}


def contents_of(pattern: str) -> dict[str, str]:
    """Return the files of a pattern, by path relative to the project; ``@RAW@`` stands for where raw tables lie."""
    found = dict(files_of(pattern))
    _read(resources.files("framework.cli") / "scaffold" / "patterns" / pattern, "", found)
    return found


def commands_of(patterns: Sequence[str]) -> list[str]:
    """Return what makes the tables of patterns, changes them, and shows what becomes of them."""
    every = [PATTERNS[name] for name in patterns]
    landings = [landing for one in every for landing in one.landings]
    first = [f"freshet land raw.{one.table} {'seeds' if one.seed else 'data'}/{one.table}.csv {one.options}" for one in landings]
    changes = [f"freshet land raw.{one.table} data/{one.table}_changes.csv" for one in landings if not one.seed]
    shown = [f"freshet show derived.{one.target} --limit 5" for one in every]
    return ["freshet test", *first, "freshet run --all", *changes, "freshet run --all", *shown]


def _read(folder: Traversable, path: str, found: dict[str, str]) -> None:
    for entry in folder.iterdir():
        place = f"{path}{entry.name}"
        if entry.is_dir():
            _read(entry, f"{place}/", found)
        elif entry.name.endswith((".yml", ".sql")):
            found[place] = entry.read_text("utf-8")
