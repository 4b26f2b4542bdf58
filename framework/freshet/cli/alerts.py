"""``freshet alerts``: what watches over the pipelines, made from the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import yaml

from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.metrics.alerts import routes_of, rules_of
from freshet.metrics.dashboard import dashboard
from freshet.project.shape.strategies import seconds_of

_HEADS = {
    "prometheus": "# Alert rules of freshet's pipelines: `freshet alerts --format prometheus` makes them anew.\n",
    "alertmanager": "# Routes by owner: `freshet alerts --format alertmanager`. Fill in what each receiver is.\n",
}


class _Plain(yaml.SafeDumper):
    """Writes the same list twice, and no references to it, which not every reader follows."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@click.command(short_help="Make alert rules, routes and a dashboard.")
@selection_options
@click.option(
    "--format",
    "kind",
    type=click.Choice(("prometheus", "alertmanager", "grafana")),
    default="prometheus",
    show_default=True,
    help="Alert rules, an Alertmanager's routes by owner, or the Grafana dashboard.",
)
@click.option(
    "--stale-after",
    default="15m",
    show_default=True,
    metavar="DURATION",
    help="After so long metrics are old: more than how often `freshet status --metrics` is asked.",
)
@project_options
@reporting
def alerts(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    kind: str,
    stale_after: str,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Make alert rules for Prometheus from the project, and what goes with them.

    Each pipeline has rules for what it promises under `slo`, for runs that fail, are refused or never began, for a checkpoint
    that is about to expire, for quarantined rows, and for metrics that nobody tells any longer. Each alert carries the
    pipeline's owner, by which `--format alertmanager` routes it, and the command that looks into it. `--format grafana` prints
    the dashboard, which is the same for every project. Prints only; reads no table.

    \b
    Examples:
      freshet alerts --env prod > freshet.rules.yml
      freshet alerts --format alertmanager --env prod
      freshet alerts --format grafana > freshet.dashboard.json
    """
    stale = seconds_of(stale_after)
    if not stale:
        raise click.BadParameter("a duration is a number and s, m, h, d or w, as 15m.", param_hint="--stale-after")
    project = load(root, env, overrides, names, tags, everything)
    made = dashboard() if kind == "grafana" else routes_of(project) if kind == "alertmanager" else rules_of(project, stale)
    in_yaml = yaml.dump(made, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1000)
    output.result(json.dumps(made, indent=2) if kind == "grafana" else f"{_HEADS[kind]}{in_yaml}".rstrip(), made)
    return Exit.OK
