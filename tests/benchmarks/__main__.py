"""``make bench``: ratios measured in one run on one machine. Exit code 1 where a bound is missed."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import version

from tests.benchmarks import control_plane, engines, expectations, fixed_cost, growth, incremental, index, main_job
from tests.benchmarks.timing import save


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the source before the first increment")
    parser.add_argument("--repetitions", type=int, default=5, help="measured rounds, the control plane's aside")
    parts = ["engines", "growth", "main-job", "control-plane", "fixed-cost", "expectations", "dimension", "fact", "index"]
    parser.add_argument("--only", choices=parts, help="one of the parts")
    parser.add_argument("--table-rows", type=int, default=1_000_000, help="rows of the dimension and of the fact")
    parser.add_argument("--index-rows", type=int, nargs="+", default=[1_000_000, 4_000_000, 16_000_000],
                        help="rows of the tables that are indexed")
    parser.add_argument("--engine-rows", type=int, default=10_000_000, help="rows of the tables of the engines")
    parser.add_argument("--engine-rounds", type=int, default=10, help="rounds of the engines")
    parser.add_argument("--growth-rows", type=int, nargs="+", default=[1_000_000, 4_000_000, 16_000_000, 64_000_000],
                        help="rows of the tables that grow")
    options = parser.parse_args()
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "system": platform.platform(),
               **{name: version(name) for name in ("pyspark", "fastavro", "pydantic", "sqlglot")}}
    print(", ".join(f"{k} {v}" for k, v in machine.items()))
    results: dict[str, object] = {"machine": machine}
    kept = True
    if options.only in (None, "control-plane"):
        found = control_plane.measure()
        results["control_plane"] = found
        kept = all(v["kept"] for v in found.values() if isinstance(v, dict)) and not found["idle tick starts a JVM"]
    if options.only in (None, "fixed-cost"):
        results["fixed_cost"] = fixed_cost.measure(options.repetitions)
    if options.only in (None, "main-job"):
        compared = main_job.compare(options.rows, options.repetitions)
        results["main_job"] = compared
        kept = kept and bool(compared["kept"])
    if options.only in (None, "expectations"):
        results["expectations"] = judged = expectations.compare(options.rows)
        kept = kept and bool(judged["kept"])
    for name, case in (("dimension", incremental.DIMENSION), ("fact", incremental.FACT)):
        if options.only in (None, name):
            results[name] = compared = incremental.compare(case, options.table_rows, options.repetitions)
            kept = kept and bool(compared["kept"])
    if options.only in (None, "engines"):
        results["engines"] = compared = engines.compare(options.engine_rows, options.engine_rounds)
        kept = kept and bool(compared["kept"])
    if options.only in (None, "growth"):
        results["growth"] = grown = growth.measure(options.growth_rows, options.repetitions)
        kept = kept and bool(grown["kept"])
    if options.only in (None, "index"):
        results["index"] = indexed = index.compare(options.index_rows, options.repetitions)
        kept = kept and bool(indexed["kept"])
    print(f"kept as {save(results)}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
