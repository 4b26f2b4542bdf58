"""Second step of trip_earnings: what an hour of the trip paid, and how late its last tip came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SECONDS_PER_DAY = 86_400


def transform(inputs: Mapping[str, DataFrame], context: Any) -> DataFrame:
    """Add ``earnings_per_hour`` and ``tip_delay_band`` to the rows of the SQL step.

    Args:
        inputs: ``SRC`` holds the rows of the SQL step.
        context: Not used.

    Returns:
        The same rows with two more columns.
    """
    tip_delay_s = F.unix_timestamp("last_tip_at") - F.unix_timestamp("requested_at")
    per_hour = F.when(
        F.col("duration_s") > 0, (F.col("driver_earnings") * 3600 / F.col("duration_s")).cast("decimal(12,2)")
    )
    band = (
        F.when(F.col("last_tip_at").isNull(), "none")
        .when(tip_delay_s < SECONDS_PER_DAY, "same_day")
        .otherwise("late")
    )
    return inputs["SRC"].withColumns({"earnings_per_hour": per_hour, "tip_delay_band": band})
