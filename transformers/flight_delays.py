"""Second step of flight_delays: the band that dashboards group by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

VERY_LATE_AFTER_MINUTES = 60


def transform(inputs: Mapping[str, DataFrame], context: Any) -> DataFrame:
    """Add ``delay_band``, by the delay at arrival.

    Args:
        inputs: ``SRC`` holds the rows of the SQL step.
        context: ``context.vars["late_after_minutes"]`` is the delay, in minutes, from which a flight counts as late.

    Returns:
        The same rows with one more column.
    """
    late_after_minutes = int(context.vars["late_after_minutes"])
    delay = F.col("arr_delay")
    band = (
        F.when(F.col("cancelled"), "cancelled")
        # took off and has no delay at arrival: it came down elsewhere
        .when(delay.isNull(), "diverted")
        .when(delay < 0, "early")
        .when(delay < late_after_minutes, "on_time")
        .when(delay < VERY_LATE_AFTER_MINUTES, "late")
        .otherwise("very_late")
    )
    return inputs["SRC"].withColumn("delay_band", band)
