"""``freshet index verify`` and ``benchmark``: what an index holds, and how fast its cluster is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output, reporting
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState

Command = TypeVar("Command", bound=Callable[..., Any])
name_argument = click.argument("name")


@click.command(short_help="Compare an index with its table.")
@name_argument
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True, help="Share of the keys to compare."
)
@click.option("--repair", is_flag=True, help="Mend the entries that differ.")
@wait_option
@project_options
@reporting_events
def verify(
    output: Output,
    name: str,
    sample: float,
    repair: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Compare an index with its table both ways, while no run writes; ends with 7 where they differ.

    Reports entries that are missing, stale (they name another place than the row's) and orphaned (they have no row).

    \b
    Examples:
      freshet index verify trip_earnings
      freshet index verify trip_earnings --sample 0.01 --output json
      freshet index verify trip_earnings --repair
    """
    from freshet.index.ops.check import verify_index

    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        found = verify_index(project, project.pipelines[0], TimelineState(), listen, sample, repair)
    counts = ", ".join(f"{count:,} {damage}" for damage, count in found.found.items())
    mended = f"; {found.repaired:,} mended" if found.repaired else ""
    lines = [f"{name}: {found.index}: {found.rows:,} rows compared: {counts}{mended}", *found.samples]
    if not found.agrees:
        lines.append(f"Mend them: freshet index verify {name} --repair")
    output.result("\n".join(lines), found.as_json())
    return Exit.OK if found.agrees else Exit.CHECK


@click.command(short_help="Measure what one region server holds.")
@name_argument
@click.option("--seconds", type=click.FloatRange(min=1), default=20, show_default=True, help="About how long to measure.")
@project_options
@reporting
def benchmark(
    output: Output,
    name: str,
    seconds: float,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Measure how many requests a second the region servers of a pipeline's cluster hold, and print what to write.

    It asks as fast as it can, on a table of its own that is deleted again: run it where nobody else needs the cluster.

    \b
    Examples:
      freshet index benchmark trip_earnings
      freshet index benchmark trip_earnings --seconds 60 --output json
    """
    from freshet.index.ops.benchmark import benchmark_cluster

    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        found = benchmark_cluster(project, project.pipelines[0], listen, seconds)
    output.result(
        "\n".join(
            (
                f"{found.cluster}: {found.puts_per_second:,.0f} puts and {found.lookups_per_second:,.0f} look-ups a second by "
                f"{found.tasks} tasks, {found.servers} region servers",
                "Write into configs/<env>.yml:",
                "hoodie:",
                f"  hoodie.index.hbase.max.qps.per.region.server: {found.server_rate}",
            )
        ),
        found.as_json(),
    )
    return Exit.OK
