"""``freshet status`` and ``freshet checkpoint``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from framework.cli.options import load, project_options, selection_options
from framework.cli.output import Output, progress, reporting, table
from framework.errors import Exit, StateError
from framework.plan.status import PipelineStatus, pipeline_status
from framework.runtime.runner import in_words, set_checkpoint
from framework.state.checkpoint import ORIGIN_KEY, RUN_ID_KEY
from framework.state.timeline import TimelineState


@click.command()
@selection_options
@project_options
@reporting
def status(
    output: Output, names: tuple[str, ...], tags: tuple[str, ...], everything: bool, root: Path, env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show where every pipeline stands: last commit, checkpoint, how far behind, how much history is left.

    Starts no Spark. BEHIND counts source commits since the checkpoint and the minutes from it to the newest of them;
    LEFT is the time before the checkpoint falls out of what the source still has.

    \b
    Examples:
      freshet status
      freshet status trip_earnings --output json
    """
    project = load(root, env, overrides, names, tags, everything)
    state = TimelineState()
    found = [pipeline_status(spec, state) for spec in project.pipelines]
    headers = ("PIPELINE", "STATE", "LAST COMMIT", "CHECKPOINT", "BEHIND", "LEFT")
    output.result(table(headers, [_row(s) for s in found]), {"pipelines": [asdict(s) for s in found]})
    return Exit.OK


@click.group()
def checkpoint() -> None:
    """Show, set or reset where a pipeline stands in its source."""


_name = click.argument("name")


@checkpoint.command()
@_name
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many of the newest to show.")
@project_options
@reporting
def show(output: Output, name: str, limit: int, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    """Show the checkpoint and its history, from the target's commits alone.

    \b
    Example:
      freshet checkpoint show trip_earnings
    """
    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    target = TimelineState().table(spec.target.ref)
    history = []
    for instant, info, found in target.checkpoints() if target else ():
        if len(history) == limit:
            break
        history.append({
            "commit": instant.completed, "position": found.main.instant if found.main else "", "checkpoint": found.as_json(),
            "origin": info.extra.get(ORIGIN_KEY, "HoodieStreamer"), "run_id": info.extra.get(RUN_ID_KEY, ""), "rows": info.rows,
        })
    rows = [(str(h["commit"]), str(h["position"]) or "none", str(h["origin"]), str(h["rows"]), str(h["run_id"])) for h in history]
    text = table(("COMMIT", "CHECKPOINT", "ORIGIN", "ROWS", "RUN"), rows) if rows else f"{name}: no checkpoint yet"
    output.result(text, {"pipeline": name, "current": history[0] if history else None, "history": history})
    return Exit.OK


@checkpoint.command("set")
@_name
@click.argument("instant")
@project_options
@reporting
def set_(output: Output, name: str, instant: str, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    """Make the next run start after INSTANT, a completion time of the source (yyyyMMddHHmmssSSS).

    Publishes one commit without rows on the target. It counts once: the next run's own checkpoint goes on from there.

    \b
    Example:
      freshet checkpoint set trip_earnings 20260801101500000
    """
    if not (instant.isdigit() and 14 <= len(instant) <= 17):
        raise click.BadParameter("an instant is 14 to 17 digits: yyyyMMddHHmmss and milliseconds.", param_hint="INSTANT")
    return _override(output, name, instant.ljust(17, "0"), root, env, overrides)


@checkpoint.command()
@_name
@project_options
@reporting
def reset(output: Output, name: str, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    """Forget the checkpoint: the next run begins as the first one did.

    Rows stay. With READ_UPTO_LATEST_COMMIT the whole source is read and upserted again.

    \b
    Example:
      freshet checkpoint reset trip_earnings
    """
    return _override(output, name, None, root, env, overrides)


def _override(
    output: Output, name: str, instant: str | None, root: Path, env: str | None, overrides: tuple[str, ...],
) -> Exit:
    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    state = TimelineState()
    source = state.table(spec.source.table)
    if instant is not None and source is not None and source.data_commits:
        newest = source.data_commits[-1].completed
        if instant > newest:
            raise StateError(
                "CHECKPOINT_AHEAD", f"{name}: {instant} is newer than the source's last commit {newest}.",
                "The checkpoint stays.", f"The latest that can be set: freshet checkpoint set {name} {newest}",
            )
    with progress() as listen:
        result = set_checkpoint(project, spec, state, listen, instant)
    if result.error:
        raise result.error
    output.result(f"{name}: {in_words(result)}", result.as_json())
    return Exit.OK


def _row(s: PipelineStatus) -> tuple[str, ...]:
    behind = f"{s.commits_behind} commits, {s.rows_behind:,} rows, {s.minutes_behind:g} min" if s.commits_behind else "-"
    left = "-" if s.minutes_to_horizon is None else f"{s.minutes_to_horizon:g} min"
    return (s.pipeline, s.state, s.last_commit or "-", s.checkpoint or "-", behind, left)
