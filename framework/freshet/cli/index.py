"""``freshet index``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output, reporting
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import HBaseSpec

Command = TypeVar("Command", bound=Callable[..., Any])
_name = click.argument("name")


def _layout(command: Command) -> Command:
    for option in (
        click.option(
            "--encoding",
            type=click.Choice(["none", "prefix", "diff", "fast_diff"]),
            default="fast_diff",
            show_default=True,
            help="HBase's encoding of a block of keys.",
        ),
        click.option(
            "--compression",
            type=click.Choice(["none", "gz", "snappy", "lz4"]),
            default="gz",
            show_default=True,
            help="Compression of the index; its region servers must have it, as all have gz.",
        ),
        click.option(
            "--hfile-mb",
            type=click.IntRange(min=1),
            default=512,
            show_default=True,
            help="About how large an HFile, and so a region, is; their number follows.",
        ),
    ):
        command = option(command)
    return command


@click.group(short_help="Make, verify, rebuild or change the global index of a target.")
def index() -> None:
    """Make, verify, rebuild or change the global index of a target.

    A global index maps a record key to its partition and file group, so that an update finds its row wherever it lies: an
    HBase table (hoodie.index.type: HBASE), or a part of the table itself (RECORD_INDEX).

    \b
    Examples:
      freshet index bootstrap trip_earnings
      freshet index verify trip_earnings --sample 0.01
      freshet index rebuild trip_earnings --to zk1,zk2:2181:/hbase
    """


@index.command(short_help="Load a target for the first time, then make its index.")
@_name
@_layout
@wait_option
@project_options
@reporting_events
def bootstrap(
    output: Output,
    name: str,
    hfile_mb: int,
    compression: str,
    encoding: str,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Load a target for the first time by bulk insert, then make its index from the rows.

    The load goes through the pipeline's SQL and checks like any first run, and looks no key up: of rows with one key the
    ordering field decides before they are written. An HBASE index is then made as sorted HFiles and loaded whole; a table
    with buckets needs no more than the load, which a first run would do row by row. One that was killed anywhere is
    repeated by the same command.

    \b
    Examples:
      freshet index bootstrap trip_earnings
      freshet index bootstrap trip_earnings --hfile-mb 1024 --compression snappy
    """
    from freshet.index.hbase.building import Layout
    from freshet.index.ops.make import bootstrap_index

    project = load(root, env, overrides, (name,))
    layout = Layout(hfile_mb << 20, compression.upper(), encoding.upper())
    with progress(output) as listen:
        found = bootstrap_index(project, project.pipelines[0], TimelineState(), listen, layout)
    output.result(_made(found.as_json()), found.as_json())
    return Exit.OK


@index.command(short_help="Make an HBase index anew from the table's rows.")
@_name
@click.option("--to", metavar="QUORUM[:PORT[:ZNODE]]", help="Make it on this cluster instead of the one in the files.")
@_layout
@wait_option
@project_options
@reporting_events
def rebuild(
    output: Output,
    name: str,
    to: str | None,
    hfile_mb: int,
    compression: str,
    encoding: str,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Make an HBASE index anew from the table's rows alone, after a loss of the cluster or for another one.

    The old index stands until the new one is written, and is replaced by it at the end. Until then runs of the target are
    refused. With --to, write the new cluster into the YAML afterwards: runs on the old one are refused from then on.

    \b
    Examples:
      freshet index rebuild trip_earnings
      freshet index rebuild trip_earnings --to zk1.example.com,zk2.example.com:2181:/hbase
    """
    from freshet.index.hbase.building import Layout
    from freshet.index.ops.make import rebuild_index

    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    other = _cluster(to, spec.index.hbase) if to and spec.index.hbase is not None else None
    with progress(output) as listen:
        found = rebuild_index(
            project, spec, TimelineState(), listen, Layout(hfile_mb << 20, compression.upper(), encoding.upper()), other
        )
    output.result(_made(found.as_json()), found.as_json())
    return Exit.OK


@index.command(short_help="Compare an index with its table.")
@_name
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


@index.command(short_help="Give a table the index that the files name now.")
@_name
@click.option("--to", required=True, type=click.Choice(["record_index", "bucket", "hbase"]), help="The new index.")
@_layout
@wait_option
@project_options
@reporting_events
def migrate(
    output: Output,
    name: str,
    to: str,
    hfile_mb: int,
    compression: str,
    encoding: str,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Give a table that stands the index that the pipeline's files name now.

    Write the new hoodie.index.type and what it needs into the YAML first. HBASE and RECORD_INDEX are made from the rows as
    they lie; BUCKET decides where a row lies, so that the table is written again, and its readers see all rows once more.

    \b
    Examples:
      freshet index migrate trip_earnings --to hbase
      freshet index migrate trip_earnings --to bucket
    """
    from freshet.index.hbase.building import Layout
    from freshet.index.ops.migrate import migrate_index

    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        found = migrate_index(
            project,
            project.pipelines[0],
            TimelineState(),
            listen,
            Layout(hfile_mb << 20, compression.upper(), encoding.upper()),
            to.upper(),
        )
    output.result(_made(found.as_json()), found.as_json())
    return Exit.OK


@index.command(short_help="Measure what one region server holds.")
@_name
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


def _cluster(text: str, now: HBaseSpec) -> HBaseSpec:
    quorum, _, rest = text.partition(":")
    port, _, znode = rest.partition(":")
    if not quorum or (port and not port.isdigit()):
        raise click.BadParameter(f"'{text}' is not QUORUM[:PORT[:ZNODE]].", param_hint="--to")
    return replace(now, quorum=quorum, port=int(port or now.port), znode=znode or now.znode)


def _made(found: dict[str, Any]) -> str:
    parts = [
        f"{found['rows']:,} rows loaded" if found["rows"] else "",
        f"{found['entries']:,} entries in {found['hfiles']:,} HFiles ({found['bytes'] / 1e6:,.1f} MB)"
        if found["hfiles"]
        else "",
        ", ".join(f"{step} {seconds:.1f} s" for step, seconds in found["seconds"].items()),
    ]
    words = "; ".join(part for part in parts if part)
    return f"{found['pipeline']}: {found['index']}: {found['done']}" + (f": {words}" if words else "")
