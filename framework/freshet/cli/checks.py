"""``freshet checks`` and ``freshet quarantine``."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output, reporting
from freshet.cli.progress import phases, progress, reporting_events
from freshet.cli.rows import table
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.project.model.checks import kind_of
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.checks_history import checks_history
from freshet.run.result import in_words
from freshet.run.runner import replay_quarantine

_name = click.argument("name")


_where = click.option("--where", default="", metavar="SQL", help="Only rows for which this is true.")


@click.command(short_help="Show what a pipeline's checks found, or check the next batch.")
@_name
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many commits to show.")
@click.option("--next", "of_next", is_flag=True, help="Read and check the next batch, and publish nothing.")
@project_options
@reporting
def checks(
    output: Output,
    name: str,
    limit: int,
    of_next: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show what the checks of a pipeline found in its last commits, from the table alone and without Spark.

    With --next the next batch is read, transformed and checked, bad rows are shown, and nothing is published; ends with 7
    where a check would fail.

    \b
    Examples:
      freshet checks trip_earnings
      freshet checks trip_earnings --limit 100 --output json
      freshet checks trip_earnings --next
    """
    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    state = TimelineState()
    if of_next:
        return _next(output, project, spec)
    found = checks_history(spec, state, limit)
    lines: list[tuple[str, ...]] = [
        (
            h["commit"],
            h["origin"],
            check,
            *(str(seen.get(key, "")) for key in ("severity", "status")),
            str(seen.get("rows") or "-"),
            str(seen.get("seen", "")),
        )
        for h in found.history
        for check, seen in h.get("checks", {}).items()
    ]
    declared = ", ".join(f"{c.name} ({kind_of(c.rule)}, {c.severity})" for c in spec.checks) or "none"
    none = f"{name}: no commit with checks yet; declared: {declared}"
    headers = ("COMMIT", "ORIGIN", "CHECK", "SEVERITY", "STATUS", "BAD ROWS", "SEEN")
    text = table(headers, lines) if lines else none
    output.result(text, found.as_json())
    return Exit.OK


def _next(output: Output, project: Project, spec: PipelineSpec) -> Exit:
    from freshet.quarantine.commands import check_next

    with progress(output) as listen:
        found = check_next(project, spec, TimelineState(), phases(listen, spec.name))
    rows: list[tuple[str, ...]] = [(o.name, o.severity, o.status, str(o.rows or "-"), o.seen, o.expected) for o in found]
    headers = ("CHECK", "SEVERITY", "STATUS", "BAD ROWS", "SEEN", "EXPECTED")
    shown = [table(headers, rows) if rows else f"{spec.name}: nothing to check"]
    shown += [f"{o.name}: {row}" for o in found for row in o.sample]
    output.result("\n".join(shown), {"pipeline": spec.name, "checks": [o.as_json() for o in found]})
    return Exit.CHECK if any(o.status == "failed" for o in found) else Exit.OK


@click.group(short_help="Show, replay or drop the rows that checks kept out.")
def quarantine() -> None:
    """Show, replay or drop the rows that checks with severity 'drop' kept out of a pipeline's target.

    They wait in an ordinary Hudi table beside the target, <pipeline>_quarantine, and may be repaired there by any writer.

    \b
    Examples:
      freshet quarantine show trip_earnings
      freshet quarantine replay trip_earnings --repair "tip_amount=abs(tip_amount)"
      freshet quarantine drop trip_earnings --where "_quarantine_rule = 'no_negative_tip'" --yes
    """


@quarantine.command()
@_name
@_where
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many rows to show.")
@project_options
@reporting
def show(
    output: Output,
    name: str,
    where: str,
    limit: int,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show how many rows wait, by rule, and some of them as they were.

    \b
    Examples:
      freshet quarantine show trip_earnings
      freshet quarantine show trip_earnings --where "driver_id = 'd00042'" --output json
    """
    from freshet.quarantine.commands import show as look

    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        found = look(project, project.pipelines[0], TimelineState(), where, limit, phases(listen, name))
    rows: list[tuple[str, ...]] = [(row["run_id"], row["rule"], row["reason"], row["row"]) for row in found.rows]
    counts = ", ".join(f"{rule}: {count:,}" for rule, count in found.count.items())
    text = f"{name}: {counts}\n{table(('RUN', 'RULE', 'REASON', 'ROW'), rows)}" if rows else f"{name}: no row waits"
    path = project.pipelines[0].quarantine.path
    output.result(text, {"pipeline": name, "table": path, "count": found.count, "rows": found.rows})
    return Exit.OK


@quarantine.command()
@_name
@_where
@click.option("--repair", "repairs", multiple=True, metavar="COLUMN=SQL", help="Set a column of these rows first; repeatable.")
@wait_option
@project_options
@reporting_events
def replay(
    output: Output,
    name: str,
    where: str,
    repairs: tuple[str, ...],
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Send waiting rows through the checks again and publish those that keep them now.

    The others stay. The checkpoint stays too. A column without --repair has the value it had, also one that did not fit.

    \b
    Examples:
      freshet quarantine replay trip_earnings
      freshet quarantine replay trip_earnings --where "_quarantine_rule = 'no_negative_tip'" --repair "tip_amount=0"
    """
    pairs = []
    for text in repairs:
        column, equals, expression = text.partition("=")
        if not equals or not column.strip() or not expression.strip():
            raise click.BadParameter("write COLUMN=SQL, such as tip_amount=abs(tip_amount)", param_hint="--repair")
        pairs.append((column.strip(), expression.strip()))
    project = load(root, env, overrides, (name,))
    lineage = Lineage()
    lineage.know(project)
    with progress(output, lineage=lineage) as listen:
        result = replay_quarantine(project, project.pipelines[0], TimelineState(), listen, where, tuple(pairs))
    if result.error:
        raise result.error
    output.result(f"{name}: {in_words(result)}", result.as_json())
    return Exit.OK


@quarantine.command()
@_name
@_where
@click.option("--yes", is_flag=True, help="Do not ask.")
@project_options
@reporting_events
def drop(
    output: Output,
    name: str,
    where: str,
    yes: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Take rows out of the quarantine for good.

    \b
    Examples:
      freshet quarantine drop trip_earnings --yes
      freshet quarantine drop trip_earnings --where "_quarantine_position < '20260901'" --yes
    """
    from freshet.quarantine.commands import drop as take_out

    if not yes:
        raise click.UsageError(f"this deletes rows of {name}'s quarantine for good; say --yes.")
    project = load(root, env, overrides, (name,))
    with progress(output) as listen:
        count = take_out(project, project.pipelines[0], TimelineState(), where, phases(listen, name))
    path = project.pipelines[0].quarantine.path
    output.result(f"{name}: {count:,} rows dropped from {path}", {"pipeline": name, "dropped": count, "table": path})
    return Exit.OK
