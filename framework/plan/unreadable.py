"""Refuse tables of which Hudi 1.0.2 itself shows other rows than were written. Pure."""

from __future__ import annotations

from framework.errors import StateError
from framework.state.table import TableState


def refuse_unreadable(name: str, table: TableState) -> None:
    """Refuse a table whose partition columns Hudi shows as null.

    It does where it merges the logs of MERGE_ON_READ by a payload of the table's own, and the partition's path is not the
    columns' value: in snapshots and increments alike, of the rows of every file group that has a log.

    Args:
        name: The pipeline's name, for messages.
        table: A table that it reads.

    Raises:
        StateError: PARTITION_UNREADABLE.
    """
    config = table.config
    # A table of an older version names no mode, and Hudi infers its own.
    own_merge = config.own_merge and "hoodie.record.merge.mode" in config.properties
    if config.table_type == "MERGE_ON_READ" and own_merge and config.partition_by and not config.plain_paths:
        raise StateError(
            "PARTITION_UNREADABLE",
            f"{name}: Hudi 1.0.2 shows the partition columns of {table.ref.name} ({', '.join(config.partition_by)}) as null: "
            "its paths are computed by a key generator, and a payload or merger of its own merges its logs.",
            "Nothing was read or written.",
            "Make the table without such a payload, as COPY_ON_WRITE, or with the column's own value as its partition.",
            path=table.ref.path,
        )
