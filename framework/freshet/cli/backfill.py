"""``freshet backfill``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import click

from freshet.backfill.chunks import BackfillRequest, Reprocess
from freshet.backfill.preview import preview_backfill
from freshet.backfill.run import BackfillResult, run_backfill, window_of
from freshet.cli.options import project_options, wait_option
from freshet.cli.output import Output, trace
from freshet.cli.progress import progress, reporting_events
from freshet.cli.serve_client import call_server, checked_address
from freshet.cli.serve_token import TOKEN, read_token
from freshet.errors import Exit, SyncError
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.metrics.out import send_after
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import Project
from freshet.sources.hudi.reads import counted

_MAX_CONFLICTS = 20
_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


@click.command(short_help="Compute a range of dates again, beside the live writer.")
@click.argument("name")
@click.option("--start", type=_MOMENT, required=True, help="Begin of the range of event times, inclusive, UTC.")
@click.option("--end", type=_MOMENT, required=True, help="End of the range, exclusive, UTC.")
@click.option(
    "--chunk",
    default="",
    metavar="LENGTH",
    help="Length of a chunk: 6h, 1d, 1w or 1mo.  [default: one partition of the target, or a day]",
)
@click.option(
    "--reprocess",
    type=click.Choice(get_args(Reprocess)),
    default="none",
    show_default=True,
    help="Which of the chunks that were tried already to do again.",
)
@click.option(
    "--max-conflicts",
    type=click.IntRange(min=0),
    default=_MAX_CONFLICTS,
    show_default=True,
    metavar="N",
    help="How often one chunk is repeated when another writer was faster.",
)
@click.option("--accept-changes", is_flag=True, help="Go on although the pipeline's logic changed since the backfill began.")
@click.option("--dry-run", is_flag=True, help="Only show the chunks, and the plan of the first.")
@click.option(
    "--serve",
    "address",
    default=None,
    callback=checked_address,
    metavar="URL",
    help="Let the `freshet serve` at this address do it, between its runs, and return at once.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    default=None,
    help=f"File with the token of that process.  [default: {TOKEN}]",
)
@wait_option
@project_options
@reporting_events
def backfill(
    output: Output,
    name: str,
    start: datetime,
    end: datetime,
    chunk: str,
    reprocess: Reprocess,
    max_conflicts: int,
    accept_changes: bool,
    dry_run: bool,
    address: str | None,
    token_file: Path | None,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Compute a range of dates again from snapshots, chunk by chunk, while the pipeline's own runs go on.

    The same command resumes a backfill that was stopped or killed: each chunk's commit says that it is done. The
    checkpoint of the incremental runs is not touched. With --serve a process that stays does it instead, with its own files
    and settings, one chunk in each gap between its runs.

    \b
    Examples:
      freshet backfill driver_daily_earnings --start 2026-01-01 --end 2026-02-01
      freshet backfill driver_daily_earnings --start 2026-01-01 --end 2026-02-01 --dry-run
      freshet backfill driver_daily_earnings --start 2026-01-01 --end 2027-01-01 --reprocess failed
      freshet backfill driver_daily_earnings --start 2026-01-01 --end 2027-01-01 --serve http://127.0.0.1:8340
    """
    if address is not None:
        if dry_run or overrides or max_conflicts != _MAX_CONFLICTS:
            raise click.UsageError(
                "--dry-run, --set, --wait and --max-conflicts are of a backfill of one's own, without --serve."
            )
        asked = {
            "start": f"{start:%Y-%m-%dT%H:%M:%S}",
            "end": f"{end:%Y-%m-%dT%H:%M:%S}",
            "reprocess": reprocess,
            "accept_changes": str(int(accept_changes)),
            **({"chunk": chunk} if chunk else {}),
            **({"env": env} if env else {}),
        }
        answer = call_server(address, read_token(token_file), "backfill", name, asked)
        output.result(_handed_over(address, answer), answer)
        return Exit.OK
    if token_file is not None:
        raise click.UsageError("--token-file goes with --serve.")

    lineage = Lineage()

    def load(window: tuple[str, str] | None) -> Project:
        return lineage.know(load_project(root, env, overrides, names=(name,), environ=os.environ, window=window))

    request = BackfillRequest(start=start, end=end, chunk=chunk, reprocess=reprocess, accept_changes=accept_changes)
    if dry_run:
        found = preview_backfill(load, request, TimelineState())
        output.result(str(found), found.as_json())
        return Exit.OK
    with progress(output, lineage=lineage) as listen:
        result = run_backfill(load, request, TimelineState(), listen, max_conflicts)
        window = window_of(start, end)
        send_after(
            lambda: load(window), lambda names: load_project(root, env, overrides, names=names, environ=os.environ), listen
        )
    output.result(_in_words(result), result.as_json())
    if result.error is not None:
        trace(result.error)
        return result.error.exit_code
    return Exit.FAILED if result.failed else Exit.OK


def _handed_over(address: str, answer: Mapping[str, Any]) -> str:
    chunks = answer.get("steps")
    number = f" ({counted(chunks, 'chunk')})" if isinstance(chunks, int) else ""
    return (
        f"{answer.get('pipeline')}: the process at {address} does {answer.get('words')}{number} between its runs\n"
        f"  How far it is: {address}/api/status, or its pages"
    )


def _in_words(result: BackfillResult) -> str:
    words = (
        f"{result.pipeline}: {result.done} of {counted(result.chunks, 'chunk')} done"
        f" ({result.skipped} before), {counted(result.rows, 'row')}, {counted(result.conflicts, 'conflict')},"
        f" {result.seconds:.0f} s"
    )
    if result.failed:
        words += "\n" + "\n".join(f"  failed: {label}: {code}" for label, code in result.failed.items())
        words += "\n  To do those again: the same command with --reprocess failed"
    stopped = "" if isinstance(result.error, SyncError) else "stopped: "
    return words + (f"\n  {stopped}{result.error}" if result.error else "")
