"""Conditions by which Hudi opens only some partitions of a table."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructType

from freshet.sources.hudi.look.partitions import NULL_PARTITION, partition_values
from freshet.sources.hudi.reads import Partitions

# Of more a condition costs more than it spares.
_MOST_PARTITIONS = 10_000


def in_partitions(partitions: Partitions, schema: StructType) -> Column:
    """Return the condition that a row lies in some partitions; true where the paths do not tell for sure.

    Args:
        partitions: Which.
        schema: The table's.
    """
    paths = [partition_values(path, partitions.by, partitions.url_encoded) for path in partitions.paths]
    known = [values for values in paths if values is not None]
    found = F.lit(True)
    if not known or len(known) != len(paths) or len(known) > _MOST_PARTITIONS:
        return found
    kinds = {field.name: field.dataType for field in schema}
    for index, column in enumerate(partitions.by):
        # A path may show what is no text otherwise than SQL does, and a field of a struct is no column.
        if isinstance(kinds.get(column), StringType):
            found = found & is_one_of(column, sorted({values[index] for values in known}), StringType())
    return found


def is_one_of(column: str, values: Collection[str], kind: DataType) -> Column:
    """Return the condition that a partition column has one of these values, such that Hudi opens no other partition.

    Args:
        column: The partition column.
        values: As text; ``NULL_PARTITION`` for null.
        kind: The column's type.
    """
    named = F.col(f"`{column}`")
    # The values take the column's type, never the column theirs: 5 is in the partition 05.
    found = named.isin(*(F.lit(value).cast(kind) for value in values if value != NULL_PARTITION))
    if NULL_PARTITION not in values:
        return found
    found = found | named.isNull()
    return found | named.isin("", NULL_PARTITION) if isinstance(kind, StringType) else found
