"""``freshet status`` and ``freshet checkpoint``."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path

import click

from freshet.audit.kept import last_audit, standing_words
from freshet.cli.options import load, project_options, selection_options, wait_option
from freshet.cli.output import Output, reporting, trace
from freshet.cli.progress import progress, reporting_events
from freshet.cli.rows import table
from freshet.errors import Exit, StateError
from freshet.hudi.checkpoint import ORIGIN_KEY, RUN_ID_KEY
from freshet.hudi.instants import is_instant, readable
from freshet.hudi.timeline import TimelineState
from freshet.plan.positions import checkpoints_of
from freshet.run.result import in_words
from freshet.run.runner import set_checkpoint
from freshet.sources.hudi.reads import counted
from freshet.sources.registry import find_source
from freshet.status.logic_report import logic_in_short
from freshet.status.standing import status_of
from freshet.status.status import PipelineStatus


@click.command(short_help="Show where every pipeline stands.")
@selection_options
@project_options
@reporting
def status(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show where every pipeline stands: last commit, checkpoint, how far behind, how much history is left.

    Starts no Spark. BEHIND counts source commits since the checkpoint and the minutes from it to the newest of them;
    LEFT is the time before the checkpoint falls out of what the source still has. STATE is new, waiting, up_to_date, behind,
    or the code of what forbids the next run, such as CHECKPOINT_EXPIRED; its words follow on stderr. Ends with 0 either way.
    Below are the runs and table services at work, backfills that run or are unfinished, what a pipeline waits for whose
    upstream has not run, and what the last audit found. Where a target's buckets are far too small or too large, stderr says
    so (BUCKETS_SMALL, BUCKETS_LARGE).

    \b
    Examples:
      freshet status
      freshet status trip_earnings --output json
    """
    project = load(root, env, overrides, names, tags, everything)
    found = [
        status_of(project, spec, lambda more: load(root, env, overrides, more), trace, last_audit) for spec in project.pipelines
    ]
    headers = ("PIPELINE", "STATE", "LAST COMMIT", "CHECKPOINT", "BEHIND", "LEFT")
    more = [
        words
        for s in found
        for words in (_waiting(s), _running(s), _backfill(s), _logic(s), standing_words(s.pipeline, s.audit))
        if words
    ]
    lines = [table(headers, [_row(s) for s in found]), *more]
    output.result("\n".join(lines), {"pipelines": [s.as_json() for s in found]})
    for s in found:
        if s.message:
            output.aside(s.message if s.message.startswith(s.state) else f"{s.state}: {s.pipeline}: {s.message}")
        for advice in s.advice.splitlines():
            output.aside(advice)
    return Exit.OK


@click.group(short_help="Show, set or reset where a pipeline stands in its source.")
def checkpoint() -> None:
    """Show, set or reset where a pipeline stands in its source.

    The checkpoint lies in the commits of the target; nothing else holds it.

    \b
    Examples:
      freshet checkpoint show trip_earnings
      freshet checkpoint set trip_earnings 20260801101500000
      freshet checkpoint reset trip_earnings
    """


_name = click.argument("name")


@checkpoint.command()
@_name
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many of the newest to show.")
@project_options
@reporting
def show(output: Output, name: str, limit: int, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    """Show the checkpoint and its history, from the target's commits alone.

    \b
    Examples:
      freshet checkpoint show trip_earnings
      freshet checkpoint show trip_earnings --limit 50 --output json
    """
    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    target = TimelineState().table(spec.target.ref)
    history: list[dict[str, object]] = []
    for instant, info, found in checkpoints_of(spec, target) if target else ():
        if len(history) == limit:
            break
        history.append(
            {
                "commit": instant.completed,
                "position": found.main.text if found.main else "",
                "checkpoint": found.as_json(),
                "origin": info.extra.get(ORIGIN_KEY, "HoodieStreamer"),
                "run_id": info.extra.get(RUN_ID_KEY, ""),
                "rows": info.rows,
            }
        )
    rows = [tuple(str(h[part]) or "none" for part in ("commit", "position", "origin", "rows", "run_id")) for h in history]
    text = table(("COMMIT", "CHECKPOINT", "ORIGIN", "ROWS", "RUN"), rows) if rows else f"{name}: no checkpoint yet"
    output.result(text, {"pipeline": name, "current": history[0] if history else None, "history": history})
    return Exit.OK


@checkpoint.command("set")
@_name
@click.argument("instant")
@click.option("--create", is_flag=True, help="Make the target where there is none yet.")
@wait_option
@project_options
@reporting_events
def set_(
    output: Output,
    name: str,
    instant: str,
    create: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Make the next run start after INSTANT, a completion time of the source (yyyyMMddHHmmssSSS).

    Publishes one commit without rows on the target. It counts once: the next run's own checkpoint goes on from there.
    A target that is not there yet is made with --create only.

    \b
    Examples:
      freshet checkpoint set trip_earnings 20260801101500000
      freshet checkpoint set trip_earnings 20260801101500000 --create
    """
    if not is_instant(instant):
        raise click.BadParameter(
            "an instant is a time of 14 to 17 digits, yyyyMMddHHmmss and milliseconds; `freshet checkpoint show` and "
            "`freshet status --output json` print some.",
            param_hint="INSTANT",
        )
    return _override(output, name, instant.ljust(17, "0"), root, env, overrides, create)


@checkpoint.command()
@_name
@wait_option
@project_options
@reporting_events
def reset(output: Output, name: str, root: Path, env: str | None, overrides: tuple[str, ...]) -> Exit:
    """Forget the checkpoint: the next run begins as the first one did.

    Rows stay. With READ_UPTO_LATEST_COMMIT the whole source is read and upserted again.

    \b
    Example:
      freshet checkpoint reset trip_earnings
    """
    return _override(output, name, None, root, env, overrides)


def _override(
    output: Output,
    name: str,
    instant: str | None,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
    create: bool = False,
) -> Exit:
    project = load(root, env, overrides, (name,))
    spec = project.pipelines[0]
    state = TimelineState()
    source = find_source(spec, state)
    if instant is not None and source is not None:
        source.refuse_ahead(instant)
    if instant is not None and not create and state.table(spec.target.ref) is None:
        raise StateError(
            "TARGET_MISSING",
            f"{name}: there is no table {spec.target.ref.name} at {spec.target.ref.path} yet.",
            "Nothing was written.",
            f"To make it, without rows: freshet checkpoint set {name} {instant} --create",
            table=spec.target.ref.path,
        )
    with progress(output) as listen:
        result = set_checkpoint(project, spec, state, listen, instant)
    if result.error:
        raise result.error
    output.result(f"{name}: {in_words(result)}", result.as_json())
    return Exit.OK


def _waiting(s: PipelineStatus) -> str:
    return f"{s.pipeline}: waits for the first run of {', '.join(s.waits_for)}" if s.waits_for else ""


def _logic(s: PipelineStatus) -> str:
    words = logic_in_short(s.logic)
    return f"{s.pipeline}: {words}; what renews it: `freshet plan {s.pipeline}`" if words else ""


def _running(s: PipelineStatus) -> str:
    if s.running is None:
        return ""
    what, begun, doing = (s.running.get(key) for key in ("what", "begun", "doing"))
    since = f" since {_age(time.time() - begun)}" if isinstance(begun, float) else ""
    return f"{s.pipeline}: {'running' if what in (None, 'run') else what}{since}" + (f": {doing}" if doing else "")


def _age(seconds: float) -> str:
    if seconds < 60:
        return f"{max(0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _backfill(s: PipelineStatus) -> str:
    if not (s.backfill or s.backfill_running):
        return ""
    goes_on = "running" if s.backfill_running else "not running: the same `freshet backfill` goes on with it"
    return f"{s.pipeline}: backfill {s.backfill or 'begun'}, {goes_on}"


def _row(s: PipelineStatus) -> tuple[str, ...]:
    waiting = f"{counted(s.commits_behind, 'commit')}, {counted(s.rows_behind, 'row')}, {s.minutes_behind:g} min"
    behind = waiting if s.commits_behind else "-"
    left = "-" if s.minutes_to_horizon is None else f"{s.minutes_to_horizon:g} min"
    now = datetime.now(timezone.utc)
    last, position = readable(s.last_commit, now=now), readable(s.checkpoint, s.source_zone, now)
    return (s.pipeline, s.state, last or "-", position or "-", behind, left)
