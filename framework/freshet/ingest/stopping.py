"""Which tables stop, because no change says what became of their rows; and what of a log is before a table's copy. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from freshet.databases.model import DbTable, Emptied, End, Transaction
from freshet.ingest.landing import Standing


def why_stopped(standing: Standing, table: DbTable | None) -> str:
    """Return why a table that was captured is not captured any further; empty where it is.

    Args:
        standing: How far it was captured.
        table: As the catalogue has it; None where it is not looked at.
    """
    if table is None:
        return "it is gone from the database, or was left out of the ingest's file, and what changed since is in no file"
    if table.number != standing.table:
        return "another table has its name by now, and no change says which rows the old one had"
    return ""


@dataclass(kw_only=True)
class Stopping:
    """What of a log is passed over while it is read, and which tables it stops.

    Args:
        tables: How far each table was captured; changed as the log tells.
        transaction: The one that is read.
    """

    tables: dict[str, Standing]
    transaction: Transaction = field(default_factory=lambda: Transaction(number=0, millis=0))
    _emptied: Mapping[str, str] = field(default_factory=dict)

    def begins(self, transaction: Transaction) -> None:
        """Be told that a transaction begins."""
        self.transaction, self._emptied = transaction, {}

    def passes_over(self, name: str) -> bool:
        """Say whether what comes of a table is of no account: it has stopped, or its copy has it."""
        standing = self.tables[name]
        return bool(standing.stopped) or name in self._emptied or self.transaction.number < standing.base

    def empties(self, told: Emptied) -> None:
        """Be told that a table was emptied."""
        why = f"the table was {told.words} (at {self.transaction.number}), which no change of a row says"
        self._emptied = {**self._emptied, told.table: why}

    def ends(self, end: End) -> None:
        """Be told that the transaction ends; its place tells whether it is before a copy, whatever numbers it goes by."""
        for name, why in self._emptied.items():
            standing = self.tables[name]
            if end.number > standing.base and not standing.stopped:
                self.tables[name] = replace(standing, stopped=why)
