"""The command: ``python -m tests.demo``, which is what ``make demo`` runs."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import date, timedelta
from pathlib import Path

from freshet.errors import FreshetError
from freshet.hudi.keys.options import AVRO_IN_SESSION, HBASE_IN_SESSION, KAFKA_IN_SESSION
from freshet.jvm.session import start_session
from freshet.project.load.project import load_project
from tests.demo.flights import land_and_run
from tests.demo.hbase import global_index
from tests.demo.kafka import topics
from tests.demo.place import DEFAULT_FOLDER, ENV, ROOT, DemoFailed, Place
from tests.demo.rides import Rides
from tests.feeds.flights import FIRST_DAY, LAST_DAY

_YEAR = (LAST_DAY - FIRST_DAY).days + 1


def main() -> int:
    """Run the demo; 0 when the incremental result equals the full recompute."""
    options = _options()
    # The commands it shows are relative to the project.
    os.chdir(ROOT)
    try:
        place = Place(options.folder)
        if not options.keep:
            place.wipe()
        place.say("Starting Spark ...")
        conf = load_project(ROOT, ENV).pipelines[0].spark_conf
        wanted = {HBASE_IN_SESSION: options.hbase, KAFKA_IN_SESSION: options.kafka, AVRO_IN_SESSION: options.kafka}
        place.use(start_session({**conf, **{key: "true" for key, is_wanted in wanted.items() if is_wanted}}))
        try:
            if options.hbase:
                global_index(place, options.trips)
            elif options.kafka:
                topics(place, options.trips)
            elif options.flights:
                land_and_run(place, options.first_day, options.flights)
            else:
                Rides(place).tell(options.trips)
        finally:
            place.spark.stop()
    except (DemoFailed, FreshetError) as failure:
        print(f"\nThe demo failed: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    parser.add_argument(
        "--folder",
        type=lambda text: Path(text).resolve(),
        default=DEFAULT_FOLDER,
        help="where the demo makes its tables (default: warehouse/demo)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="go on from the tables of the last demo there; without it they are deleted first"
    )
    parser.add_argument("--trips", type=int, default=1000, metavar="N", help="trips of the first load (default: 1000)")
    parser.add_argument(
        "--flights",
        type=int,
        default=0,
        metavar="DAYS",
        help="instead of rides: land DAYS days of real flights of 2013, with a run after each",
    )
    parser.add_argument(
        "--hbase",
        action="store_true",
        help="instead: the global index on a real HBase, which is fetched and started, lost and made anew",
    )
    parser.add_argument(
        "--kafka",
        action="store_true",
        help="instead: trips come as changes of a database, in Avro, through a real Kafka, which is fetched and started",
    )
    parser.add_argument(
        "--first-day",
        type=date.fromisoformat,
        default=FIRST_DAY,
        metavar="YYYY-MM-DD",
        help="first day of --flights (default: 2013-01-01)",
    )
    options = parser.parse_args()
    if options.trips < 100:
        parser.error("--trips: at least 100, so that every day has some")
    if options.kafka and options.keep:
        parser.error("--kafka: its topics end with it, so that nothing can be gone on with")
    if not 0 <= options.flights <= _YEAR:
        parser.error(f"--flights: at most the {_YEAR} days of 2013")
    if options.first_day < FIRST_DAY or options.first_day + timedelta(days=max(options.flights, 1) - 1) > LAST_DAY:
        parser.error("--first-day: the flights are those of 2013")
    return options


if __name__ == "__main__":
    sys.exit(main())
