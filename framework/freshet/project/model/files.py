"""A folder or bucket where files land, as the main source of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from freshet.project.model.records import RecordsSpec, told
from freshet.types.columns import Atomic, Column, Struct

#: The kind of source that files are.
FILES = "files"
#: The column of <SRC> that says which file a row came from.
ORIGIN = "_file"
#: What ``_file`` holds: the path below the root, when it was modified, and its bytes.
ORIGIN_TYPE = Struct((("path", Atomic("string")), ("modified", Atomic("timestamp")), ("size", Atomic("bigint"))))

FileFormat = Literal["json", "csv", "parquet", "orc", "avro"]
FORMATS: tuple[FileFormat, ...] = ("json", "csv", "parquet", "orc", "avro")
#: Those whose files have a schema of their own.
WITH_SCHEMA: tuple[FileFormat, ...] = ("parquet", "orc", "avro")


@dataclass(frozen=True, kw_only=True)
class FilesSpec(RecordsSpec):
    """Files below a root, each of which is read once, as ``<SRC>``; ``table`` names the root. See ``RecordsSpec``, too.

    Args:
        format: What the files are.
        pattern: Which of them are read, by their paths below the root; empty for all.
        csv: Options of Spark's reader of CSV.
        max_files, max_bytes: Bounds on what a run reads: so many files, and so many bytes as they are stored.
        quiet_seconds: A file that was modified within them may still be written, and is left alone.
        late_seconds: How much older than the newest file that was read one may be that comes afterwards.
        too_late: What becomes of one that is older: an error, or a notice, and it is not read.
        rewritten: What becomes of a file that was read and has another size or time now.
        empty: What becomes of files without a byte: they are left alone, or count as read.
        marker: Name of the file with which a folder's files are complete; empty where there is none.
    """

    kind: ClassVar[str] = FILES

    format: FileFormat = "json"
    pattern: str = ""
    csv: Mapping[str, str] = field(default_factory=dict)
    max_files: int = 10_000
    max_bytes: int = 10 * 10**9
    quiet_seconds: int = 60
    late_seconds: int = 86_400
    too_late: Literal["fail", "warn"] = "fail"
    rewritten: Literal["fail", "read", "ignore"] = "fail"
    empty: Literal["wait", "skip"] = "wait"
    marker: str = ""

    @property
    def origin(self) -> Column:
        """Return ``_file``."""
        return Column(name=ORIGIN, type=ORIGIN_TYPE)

    @property
    def matters(self) -> list[Any]:
        """Return what of files decides about rows, besides where they are."""
        return [self.format, self.pattern, told(self.columns), self.is_strict, dict(self.csv), self.rewritten]
