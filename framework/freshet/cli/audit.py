"""``freshet audit``: hold a target against a recompute of what its checkpoint says."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.audit.request import DEFAULT_SHARE, AuditRequest, share_of, since_of
from freshet.audit.run import run_audit
from freshet.cli.audit_text import text_of
from freshet.cli.options import load, project_options
from freshet.cli.output import Output
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState


@click.command(short_help="Prove on real data that a target equals a recompute.")
@click.argument("name")
@click.option("--sample", default="", metavar="SHARE", help="Share of the rows to draw: 1% or 0.01.  [default: 1%]")
@click.option("--keys", type=click.IntRange(min=1), default=None, metavar="N", help="About how many rows to draw.")
@click.option("--all", "everything", is_flag=True, help="Compare all rows.")
@click.option(
    "--since", default="", metavar="TIME", help="Only rows that the target got since: 3d, 6h, or 2026-11-25 23:54:37."
)
@click.option("--seed", default="", metavar="TEXT", help="Draw the same rows as the audit that names it.")
@click.option("--repair", is_flag=True, help="Publish the right rows, and delete what should not be there, in one commit.")
@project_options
@reporting_events
def audit(
    output: Output,
    name: str,
    sample: str,
    keys: int | None,
    everything: bool,
    since: str,
    seed: str,
    repair: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Compute anew what a sample of a target's rows should be, and compare.

    Reads the source as of the target's own checkpoint, goes through the SQL, the Python steps and the checks as a run does, and
    compares by key: rows that are missing, that should not be there, that differ. Says how many wrong rows the rest may have at
    most, and where differences come from where that can be told. Without --repair it writes nothing, and no run waits for it.
    Ends with 7 where rows differ and are not repaired.

    \b
    Examples:
      freshet audit trip_earnings
      freshet audit trip_earnings --keys 100000 --since 3d
      freshet audit trip_earnings --all --repair
      freshet audit trip_earnings --sample 5% --output json
    """
    if sum((bool(sample), keys is not None, everything)) > 1:
        raise click.UsageError("Say --sample, --keys or --all: one of them.")
    share = share_of(sample) if sample else DEFAULT_SHARE
    if share is None:
        raise click.BadParameter(f"{sample!r} is no share: write one such as 1%, 0.5% or 0.01.", param_hint="--sample")
    begin = since_of(since) if since else ""
    if since and not begin:
        raise click.BadParameter(
            f"{since!r} is no time: write 3d, 6h or 90min ago, or one such as 2026-11-25 23:54:37.", param_hint="--since"
        )
    request = AuditRequest(share=share, keys=keys or 0, everything=everything, since=begin, seed=seed, repair=repair)
    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        found = run_audit(project, project.pipelines[0], TimelineState(), request, listen)
    output.result(text_of(found), found.as_json())
    return Exit.CHECK if found.outcome == "differs" else Exit.OK
