"""Which texts Hudi 1.0.2 cannot keep as a partition's value, as the condition over a column.

A value is a folder's name. Some fail the write in the middle, some are read as another value, and some are never read again
(each tried, tests/integration/test_partition_values.py).
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from freshet.plan.stages import Paths
from freshet.sources.hudi.look.partitions import NULL_PARTITION

# Most file systems take no longer name.
_LONGEST_BYTES = 255
_PLAIN = "^[A-Za-z0-9_-]{1,80}$"


def cannot_be_kept(column: str, value: Column, paths: Paths) -> Column:
    """Return the condition that a partition column's text would not be read as it was written.

    Args:
        column: The partition column.
        value: Its value, a text.
        paths: How the table's paths are written.
    """
    wrong = [value == ""]
    head = f"{column}=" if paths.hive_style else ""
    within = value.contains("/")
    if paths.encoded:
        wrong.append(F.octet_length(F.url_encode(value)) + len(head) > _LONGEST_BYTES)
        if not paths.hive_style:
            wrong.append(value.isin(".", ".."))
    else:
        wrong.append(value.contains(":") | value.contains("\0"))
        # Steps that a path loses, or takes.
        wrong.append(value.rlike(r"//|/$|/\.\.?(/|$)" + ("" if paths.hive_style else r"|^/|^\.\.?(/|$)")))
        # Read as what they stand for in a path.
        wrong.append(~within & value.rlike("%[0-9A-Fa-f]{2}"))
        if not paths.hive_style:
            wrong.append(~within & value.contains("="))
        if len(paths.columns) > 1:
            wrong.append(within)
        wrong.append(~within & (F.octet_length(value) + len(head) > _LONGEST_BYTES))
    # Nearly every value is a plain one, and needs no more than this look.
    odd = ~value.rlike(_PLAIN) & reduce(lambda one, other: one | other, wrong)
    # This one, as the empty text, is how Hudi writes a null.
    return F.coalesce((value == NULL_PARTITION) | odd, F.lit(False))
