"""``freshet plan``, and ``freshet run --dry-run``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from freshet.cli.options import full_refresh_option, load, project_options, selection_options
from freshet.cli.output import Output, reporting, trace
from freshet.errors import Exit
from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import Project
from freshet.run.plans import plan_run
from freshet.sources.registry import look_together


@click.command(short_help="Show what the next run will read and write.")
@selection_options
@full_refresh_option
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
    return show_plans(project, output, lambda more: load(root, env, overrides, more), full_refresh)


def show_plans(
    project: Project,
    output: Output,
    more: Callable[[tuple[str, ...]], Project],
    full_refresh: bool,
) -> Exit:
    """Print what the next run of each pipeline will do, or why it cannot run.

    Args:
        project: The pipelines.
        output: Prints them.
        more: Loads others of the project by their names.
        full_refresh: Of runs that compute the targets anew.
    """
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
