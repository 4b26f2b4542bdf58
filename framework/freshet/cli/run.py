"""``freshet plan`` and ``freshet run``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import click

from freshet.cli.options import load, project_options, selection_options, wait_option
from freshet.cli.output import Output, reporting, trace
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.metrics.out import Sender
from freshet.project.model.pipeline import Project
from freshet.run.plans import plan_run
from freshet.run.result import exit_code_of, in_words
from freshet.run.several import PARALLEL, run_project
from freshet.sources.registry import look_together

_full_refresh = click.option(
    "--full-refresh", is_flag=True, help="Compute the target anew from the whole source, and replace every row that stands."
)


@click.command(short_help="Show what the next run will read and write.")
@selection_options
@_full_refresh
@project_options
@reporting
def plan(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    full_refresh: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show what the next run will do: window, rows waiting, checkpoint before and after, schema changes.

    Where the SQL, the Python or what else makes the rows is another than that of the last commit, it says since when, which
    partitions still hold rows of an older one, and the command that computes them again.

    Reads only timelines, starts no Spark and writes nothing. The same as `run --dry-run`.

    \b
    Examples:
      freshet plan                         every pipeline
      freshet plan trip_earnings
      freshet plan --tag hourly --output json
      freshet plan trip_earnings --full-refresh
    """
    project = load(root, env, overrides, names, tags, everything)
    return _show_plans(project, output, lambda more: load(root, env, overrides, more), full_refresh)


@click.command(short_help="Read what is new, transform it and commit it.")
@selection_options
@click.option("--drain", is_flag=True, help="Repeat until the source has no commit left.")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@_full_refresh
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
        return _show_plans(project, output, more, full_refresh)
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


def _show_plans(
    project: Project,
    output: Output,
    more: Callable[[tuple[str, ...]], Project],
    full_refresh: bool,
) -> Exit:
    state = OneLook(TimelineState())
    look_together(project.pipelines, state)
    found = [plan_run(project, spec, more, full_refresh, state) for spec in project.pipelines]
    code = Exit.OK
    for error in (one.error for one in found if one.error is not None):
        output.aside(str(error))
        trace(error)
        code = code or error.exit_code
    output.result("\n\n".join(str(one) for one in found if one.error is None), {"plans": [one.as_json() for one in found]})
    return code
