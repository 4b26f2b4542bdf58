"""What is known of a table that a pipeline reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """What is known of a table.

    Args:
        columns: Its columns, lower case; empty where nobody says.
        record_key: Columns of its record key; empty where nobody says.
        ordering: Its ordering field; empty where nobody says.
        partition_by: Its partition columns; None where nobody says.
        never_null: Its columns that are never null; None where nobody says.
        moments: Its columns of type TIMESTAMP, lower case; None where nobody says.
        records_changes: True where it keeps change data, by which its deletes are seen; None where nobody says.
    """

    columns: tuple[str, ...] = ()
    record_key: tuple[str, ...] = ()
    ordering: str = ""
    partition_by: tuple[str, ...] | None = None
    never_null: tuple[str, ...] | None = None
    moments: tuple[str, ...] | None = None
    records_changes: bool | None = None

    def is_moment(self, column: str) -> bool | None:
        """Say whether a column is a TIMESTAMP; None where nobody says."""
        return None if self.moments is None else column.lower() in self.moments
