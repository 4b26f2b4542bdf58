"""Sources of records: each comes once, and neither changes nor goes afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from freshet.project.model.pipeline import SourceSpec
from freshet.types.columns import Atomic, Column

#: The column of a row that deletes another one.
_IS_DELETED = "_hoodie_is_deleted"


@dataclass(frozen=True, kw_only=True)
class RecordsSpec(SourceSpec, ABC):
    """A source of records, read incrementally as ``<SRC>``: a row for each record.

    Args:
        columns: Of the records, where they have several.
        is_strict: True where a record may have no field that ``columns`` lacks.
        tombstones: What a record without a value is: a row that deletes, a row of nulls, or none that can be decoded (empty).
    """

    columns: tuple[Column, ...] = ()
    is_strict: bool = False
    tombstones: Literal["", "delete", "row"] = ""

    @property
    def begins_late(self) -> bool:
        """Return True where a first run leaves out the records that are there."""
        return False

    @property
    @abstractmethod
    def origin(self) -> Column:
        """Return the column of <SRC> that says where a record came from."""

    @property
    def value_columns(self) -> tuple[Column, ...]:
        """Return the columns that a record's value becomes."""
        return self.columns

    @property
    def row_columns(self) -> tuple[Column, ...]:
        """Return the columns of <SRC>: the value's, what it deletes, and where the record came from."""
        deletes = (Column(name=_IS_DELETED, type=Atomic("boolean")),) if self.tombstones == "delete" else ()
        return (*self.value_columns, *deletes, self.origin)

    @property
    def matters(self) -> list[Any]:
        """Return what of it decides about rows, besides where it is."""
        return [self.is_strict, self.tombstones]


def told(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Return columns as what decides about rows names them."""
    return [(column.name, str(column.type)) for column in columns]


def of_records(spec: SourceSpec) -> list[Any]:
    """Return what of records decides about rows, besides where they are; nothing of another source."""
    return spec.matters if isinstance(spec, RecordsSpec) else []
