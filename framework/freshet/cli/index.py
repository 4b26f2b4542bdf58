"""``freshet index``: an index is made, made anew, or given to a table that stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from freshet.cli.index_measure import Command, benchmark, name_argument, verify
from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import HBaseSpec


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


index.add_command(verify)
index.add_command(benchmark)


@index.command(short_help="Load a target for the first time, then make its index.")
@name_argument
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
@name_argument
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


@index.command(short_help="Give a table the index that the files name now.")
@name_argument
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
