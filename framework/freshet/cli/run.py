"""``freshet run``."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from freshet.cli.options import full_refresh_option, load, project_options, selection_options, wait_option
from freshet.cli.output import Output, trace
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.metrics.out import Sender
from freshet.project.model.pipeline import Project
from freshet.run.result import exit_code_of, in_words
from freshet.run.several import PARALLEL, run_project


@click.command(short_help="Read what is new, transform it and commit it.")
@selection_options
@click.option("--drain", is_flag=True, help="Repeat until the source has no commit left.")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@full_refresh_option
@click.option("--yes", is_flag=True, help="Needed for --full-refresh of pipelines that are not named one by one.")
@wait_option
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    default=PARALLEL,
    show_default=True,
    metavar="N",
    help="How many pipelines may run at a time where none reads what another writes.",
)
@project_options
@reporting_events
def run(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    drain: bool,
    dry_run: bool,
    full_refresh: bool,
    yes: bool,
    parallel: int,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Run pipelines: read what is new, transform it, and publish rows and checkpoint in one commit.

    Several pipelines run upstream first within one Spark session, two at a time where none reads what the other writes
    (with an HBASE index, or into the same table, one after the other). One that fails skips those that read what it
    writes; the others run. Where nothing is new, no Spark starts.

    With --full-refresh the whole source is read, whether something is new or not, and the result replaces every row of the
    target, in one commit that holds the checkpoint too. Checks run before it. It asks nothing.

    \b
    Examples:
      freshet run trip_earnings            one pipeline
      freshet run --all --env prod         every pipeline, with configs/prod.yml
      freshet run --all --parallel 8       on a cluster with cores to spare
      freshet run --tag hourly --drain     until the sources have nothing left
      freshet run trip_earnings --wait 600 --output json
      freshet run trip_earnings --full-refresh
      freshet run --tag hourly --full-refresh --yes
    """
    project = load(root, env, overrides, names, tags, everything, required=True)

    def more(wanted: tuple[str, ...]) -> Project:
        return load(root, env, overrides, wanted)

    if dry_run:
        # A tick shows no plan.
        from freshet.cli.plan import show_plans

        return show_plans(project, output, more, full_refresh)
    if full_refresh and (tags or everything) and not yes:
        listed = ", ".join(spec.name for spec in project.pipelines)
        raise click.UsageError(f"--full-refresh would replace every row of {listed}. Name them one by one, or add --yes.")
    lineage = Lineage()
    lineage.know(project)
    with progress(output, len(project.pipelines), lineage) as listen:
        sender = Sender(project, more, listen)
        results = run_project(project, TimelineState(), listen, drain, None, parallel, full_refresh, sender)
    for result in results:
        if result.error is not None:
            trace(result.error)
    now = datetime.now(timezone.utc)
    output.result("\n".join(f"{r.pipeline}: {in_words(r, now)}" for r in results), {"runs": [r.as_json() for r in results]})
    return exit_code_of(results)
