"""The shape of ``source: {bootstrap: ...}``: a backup that is loaded before the changes of its table are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from freshet.project.shape.strategies import Model, Name, refused

_DUMPS = ("dump", "pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mydumper", "sql")


def _no_dump(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in _DUMPS:
        raise refused(
            "a dump is statements of SQL, and freshet has no parser of its own for the rows in them.",
            "Restore it into a database beside this one, and copy the table out of that as CSV: docs/guides/databases.md, "
            "'From a dump'.",
            "NOT_SUPPORTED",
        )
    return value


class Backup(Model):
    """A backup of the source's table, loaded as the first commit; then come the changes since the position that it names."""

    from_: Annotated[Literal["files", "hudi", "delta", "iceberg"], BeforeValidator(_no_dump)] = Field(
        alias="from",
        description="What the backup is: files below a folder, or a table of Hudi; of Delta or Iceberg where its reader is on "
        "Spark's class path.",
    )
    path: Name = Field(description="Folder or URI of the files, or of the table.")
    format: Literal["parquet", "orc", "avro", "csv", "json"] | None = Field(
        None, description="from: files: what they are; json: an object a line."
    )
    pattern: Name | None = Field(
        None, description="from: files: which of them, by their paths below the folder: *, ? and ** for any folders."
    )
    csv: dict[Name, bool | int | str] = Field(
        default_factory=dict, description="format: csv: options of Spark's reader, such as header, sep, escape, multiLine."
    )
    position: Name | None = Field(
        None,
        description="Place in the database's log that the backup names: an LSN of PostgreSQL, a GTID of MariaDB. The backup "
        "has all that was committed up to there, and may have more. Left out while the backup is still to be made.",
    )
