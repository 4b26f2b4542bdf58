"""A backup of the table whose changes a pipeline reads: it is loaded first, and the changes are merged into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from freshet.changelog.log_place import LogPlace

BackupKind = Literal["files", "hudi", "delta", "iceberg"]


@dataclass(frozen=True, kw_only=True)
class BackupSpec:
    """A backup, and the place in the database's log that it names.

    Args:
        kind: What it is: files below a folder, or a table of that format.
        path: Absolute path or URI of the folder or table.
        place: Up to here it has all that was committed; None while nobody has made it.
        format: ``files``: what they are.
        pattern: ``files``: which of them, by their paths below the folder; empty for all.
        csv: Options of Spark's reader of CSV.
    """

    kind: BackupKind
    path: str
    place: LogPlace | None
    format: Literal["json", "csv", "parquet", "orc", "avro"] | None = None
    pattern: str = ""
    csv: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Return what it is, in words."""
        if self.kind == "files":
            return f"the files of {self.format} below {self.path}"
        return f"the {self.kind.capitalize()} table {self.path}"
