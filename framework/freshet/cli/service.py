"""``freshet service``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from freshet.cli.options import project_options, wait_option
from freshet.cli.output import Output
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.metrics.out import send_after
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import Project
from freshet.run.service import run_services
from freshet.run.services_due import SERVICES, Service


@click.command(short_help="Compact, cluster, clean and archive a table, beside its writers.")
@click.argument("name")
@click.option(
    "--only",
    "only",
    type=click.Choice(SERVICES),
    multiple=True,
    help="Which services; repeatable.  [default: compact, clean, archive]",
)
@wait_option
@project_options
@reporting_events
def service(
    output: Output,
    name: str,
    only: tuple[Service, ...],
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Run the table services of a pipeline's target, for a scheduler that keeps them out of the runs.

    Turn them off in the runs by Hudi's own keys: hoodie.clean.automatic, hoodie.archive.automatic and
    hoodie.compact.inline: false. What a pipeline of the project has not read yet is neither cleaned nor archived.

    \b
    Examples:
      freshet service trip_earnings
      freshet service trip_earnings --only compact
      freshet service trip_earnings --only cluster --output json
    """

    def more(names: tuple[str, ...]) -> Project:
        return load_project(root, env, overrides, names=names, environ=os.environ)

    project = more((name,))
    with progress(output) as listen:
        try:
            result = run_services(project.pipelines[0], TimelineState(), only or ("compact", "clean", "archive"), listen)
        finally:
            send_after(lambda: project, more, listen)
    lines = [f"{result.pipeline}: {what}: {done}" for what, done in result.done.items()]
    output.result("\n".join([*lines, *result.held]), result.as_json())
    return Exit.OK
