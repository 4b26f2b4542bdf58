"""The patterns of ``freshet init --pattern``: working pipelines with sample data, checks and cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from freshet.cli.samples import files_of

if TYPE_CHECKING:
    from importlib.abc import Traversable


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A pattern.

    Args:
        says: What it is for, in a few words.
        target: The table that it writes.
        landings: What ``freshet land`` is told of each raw table of sample data, by its name without database.
        seeds: True where it has a seed, too.
    """

    says: str
    target: str
    landings: Mapping[str, str]
    seeds: bool = False


#: By name.
PATTERNS = {
    "fact": Pattern(
        says="one row an event, corrected and deleted as its source is",
        target="derived.sale_facts",
        landings={"sales": '--key sale_id --ordering updated_at --columns "amount DECIMAL(10,2)"'},
        seeds=True,
    ),
    "dimension": Pattern(
        says="one row a thing, with columns that two pipelines own",
        target="derived.dim_customer",
        landings={"customers": "--key customer_id --ordering profile_at", "points": "--key customer_id --ordering points_at"},
    ),
    "daily_aggregate": Pattern(
        says="sums of each group and day, exact when a row changes its day",
        target="derived.daily_deliveries",
        landings={
            "deliveries": '--key delivery_id --ordering updated_at --partition-by day --columns "day STRING, fee DECIMAL(10,2)"'
        },
    ),
    "late_join": Pattern(
        says="two tables joined, either of which may come late, change or go",
        target="derived.ride_income",
        landings={
            "rides": '--key ride_id --ordering updated_at --columns "fare DECIMAL(10,2)"',
            "tips": '--key tip_id --ordering tipped_at --columns "amount DECIMAL(10,2)"',
        },
    ),
    "moving_rows": Pattern(
        says="rows that go from partition to partition",
        target="derived.team_tickets",
        landings={"tickets": "--key ticket_id --ordering updated_at"},
    ),
    "history": Pattern(
        says="every version of a row, with the days from and until which it holds",
        target="derived.price_history",
        landings={"prices": '--key product_id,valid_from --ordering recorded_at --columns "price DECIMAL(10,2)"'},
    ),
}


def contents_of(pattern: str) -> dict[str, str]:
    """Return the files of a pattern, by path relative to the project; ``@RAW@`` stands for where raw tables lie."""
    found: dict[str, str] = {}
    _read(resources.files("freshet.cli") / "scaffold" / "patterns" / pattern, "", found)
    return {**found, **files_of(pattern)}


def steps_of(patterns: Sequence[str]) -> list[str]:
    """Return the commands that make the tables of patterns, change them, and show what becomes of them."""
    every = [PATTERNS[name] for name in patterns]
    landings = [landing for one in every for landing in one.landings.items()]
    return [
        "freshet test",
        *(["freshet land --seeds"] if any(one.seeds for one in every) else []),
        *(f"freshet land raw.{table} data/{table}.csv {options}" for table, options in landings),
        "freshet run --all",
        *(f"freshet land raw.{table} data/{table}_changes.csv" for table, _ in landings),
        "freshet run --all",
        *(f"freshet show {one.target} --limit 5" for one in every),
    ]


def _read(folder: Traversable, path: str, found: dict[str, str]) -> None:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            _read(entry, f"{path}{entry.name}/", found)
        else:
            found[path + entry.name] = entry.read_text("utf-8")
