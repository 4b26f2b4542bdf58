"""Records that cannot be read, where nothing takes them aside: such a one fails the job that reads any column of it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.quality.refusals import refuse, row_in_words
from freshet.types.columns import Atomic


def guarded(decoded: DataFrame, why: str, place: Mapping[str, str]) -> DataFrame:
    """Return rows without ``why``, of which one that has it fails the job.

    Args:
        decoded: The rows.
        why: Column that says why a row cannot be read; null of one that can.
        place: What tells where a row came from: names, each with a field of a column.
    """
    # Flat, as the words of a refusal name columns.
    flat = {name: f"__freshet_{name}" for name in place}
    placed = decoded.withColumns({flat[name]: F.col(of) for name, of in place.items()})
    error = refuse("RECORD_UNREADABLE", why, Atomic("string"), row_in_words(flat))
    return placed.select(
        *(
            F.when(F.col(why).isNotNull(), error.cast(field.dataType)).otherwise(F.col(f"`{field.name}`")).alias(field.name)
            for field in decoded.schema.fields
            if field.name != why
        )
    )
