"""``freshet dag``: which pipelines run when, and after which others, for people and for schedulers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.project.model.cron import UTC
from freshet.status.dag import dag_of


@click.command(short_help="Show which pipelines run when, and after which others.")
@selection_options
@project_options
@reporting
def dag(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show which pipelines run when, after which others, and for whom; upstream before downstream.

    As JSON it is what a scheduler needs: for each pipeline its schedule, its upstream, its owner, and the command that runs
    it; and the exit codes after which another attempt can help. `freshet.airflow` makes Airflow's DAGs of it. Starts no
    Spark, and reads no table.

    \b
    Examples:
      freshet dag
      freshet dag --tag hourly
      freshet dag --output json > dag.json
    """
    found = dag_of(load(root, env, overrides, names, tags, everything), overrides)
    lines = [line for one in found["pipelines"] for line in _lines(one)]
    output.result("\n".join(lines), found)
    return Exit.OK


def _lines(one: dict[str, Any]) -> list[str]:
    unscheduled = "after what it reads" if one["upstream"] else "when it is called"
    every = f"again after {one['interval_seconds']} s, under freshet serve" if one["interval_seconds"] else unscheduled
    zone = "" if one["schedule_zone"] == UTC else f" ({one['schedule_zone']})"
    when = f"{one['schedule']}{zone}" if one["schedule"] else every
    lines = [one["name"], f"  runs        {when}"]
    for label, values in (
        ("after", one["upstream"]),
        ("reads", one["reads"]),
        ("writes", [one["target"]]),
        ("owner", [one["owner"]] * bool(one["owner"])),
        ("tags", one["tags"]),
    ):
        if values:
            lines.append(f"  {label:<11} {', '.join(values)}")
    return lines
