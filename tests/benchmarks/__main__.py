"""``make bench``: ratios measured in one run on one machine. Exit code 1 where a bound is missed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from tests.benchmarks import (
    control_plane,
    engines,
    expectations,
    fixed_cost,
    growth,
    incremental,
    index_load,
    index_upserts,
    main_job,
    profiles,
    scale_out,
    topic,
    tuning,
)
from tests.benchmarks.timing import machine, save

Part = Callable[[argparse.Namespace], dict[str, object]]
_PARTS: Mapping[str, Part] = {
    "control-plane": lambda o: control_plane.measure(),
    "fixed-cost": lambda o: fixed_cost.measure(o.repetitions),
    "main-job": lambda o: main_job.compare(o.rows, o.repetitions),
    "expectations": lambda o: expectations.compare(o.rows, o.repetitions),
    "dimension": lambda o: incremental.compare(incremental.DIMENSION, o.table_rows, o.repetitions),
    "fact": lambda o: incremental.compare(incremental.FACT, o.table_rows, o.repetitions),
    "index-load": lambda o: index_load.compare(o.index_rows, o.repetitions, o.index_rows_by_hudi),
    "index-upserts": lambda o: index_upserts.measure(o.index_rows, o.repetitions),
    "engines": lambda o: engines.compare(o.engine_rows, o.engine_rounds, o.engine_names),
    "growth": lambda o: growth.measure(o.growth_rows, o.repetitions, o.growth_indexes, o.growth_region_servers),
    "tuning": lambda o: tuning.measure(o.tuning_rows, o.repetitions, o.tuning_cases),
    "profiles": lambda o: profiles.measure(o.profile_rows),
    "scale-out": lambda o: scale_out.measure(o.scale_rows, o.repetitions),
    "topic": lambda o: topic.measure(o.topic_records, o.repetitions),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", choices=_PARTS, nargs="+", default=list(_PARTS), help="some of the parts")
    parser.add_argument("--repetitions", type=int, default=5, help="measured rounds, the control plane's aside")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the main job's source before the first increment")
    parser.add_argument("--table-rows", type=int, default=10_000_000, help="rows of the dimension and of the fact")
    parser.add_argument(
        "--index-rows",
        type=int,
        nargs="+",
        default=[1_000_000, 4_000_000, 16_000_000],
        help="rows of the tables that are indexed",
    )
    parser.add_argument(
        "--index-rows-by-hudi",
        type=int,
        default=1_000_000,
        help="of them the largest of which Hudi makes the index by its own ways, too",
    )
    parser.add_argument("--engine-rows", type=int, default=10_000_000, help="rows of the engines' tables")
    parser.add_argument("--engine-rounds", type=int, default=5, help="rounds of the engines, a compaction among them")
    known = (*engines.OURS, *engines.OTHERS)
    parser.add_argument("--engine-names", choices=known, nargs="+", default=list(known), help="the engines")
    parser.add_argument(
        "--growth-rows",
        type=int,
        nargs="+",
        default=[1_000_000, 4_000_000, 16_000_000, 64_000_000],
        help="rows of the tables that grow",
    )
    parser.add_argument(
        "--growth-indexes",
        choices=growth.AT_MOST,
        nargs="+",
        default=list(growth.AT_MOST),
        help="indexes of the tables that grow",
    )
    parser.add_argument("--growth-region-servers", type=int, default=1, help="region servers of their HBase")
    # Fewer than 3 million in 30 partitions lie in files below 4 MB, which are small by either limit of small files.
    parser.add_argument("--tuning-rows", type=int, default=4_000_000, help="rows of the tables whose settings are taken back")
    parser.add_argument(
        "--tuning-cases",
        choices=tuning.CASES,
        nargs="+",
        default=list(tuning.CASES),
        metavar="CASE",
        help=f"runs whose settings are taken back: {', '.join(map(repr, tuning.CASES))}",
    )
    parser.add_argument("--profile-rows", type=int, default=4_000_000, help="rows of the table whose runs are profiled")
    parser.add_argument("--scale-rows", type=int, default=8_000_000, help="rows of the table of the cluster")
    parser.add_argument("--topic-records", type=int, default=1_000_000, help="records of the topic")
    options = parser.parse_args()
    if not all(set(options.engine_names) & set(which) for which in (engines.INDEXES, engines.OTHERS)):
        parser.error("--engine-names: name one of freshet's indexes and one of the others to hold it against")
    print(json.dumps(machine()), flush=True)
    kept = True
    for name in options.only:
        figures = _PARTS[name](options)
        print(f"configuration: {json.dumps(figures['configuration'])}")
        print(f"kept as {save(name, figures)}", flush=True)
        kept = kept and bool(figures.get("kept", True))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
