"""``freshet checkpoint``: where a pipeline stands in its source."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output, reporting
from freshet.cli.progress import progress, reporting_events
from freshet.cli.rows import table
from freshet.errors import Exit, StateError
from freshet.hudi.checkpoint import ORIGIN_KEY, RUN_ID_KEY
from freshet.hudi.timeline import TimelineState
from freshet.plan.positions import checkpoints_of
from freshet.run.result import in_words
from freshet.run.runner import set_checkpoint
from freshet.sources.registry import find_source, kind_of


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

    Of topics of Kafka INSTANT is offsets, each of the next record (orders,0:12,1:40), a time from which on records are
    read (2026-08-01T10:15:00Z), earliest or latest. Of files it is a time after which they were modified, or one of the two.

    Publishes one commit without rows on the target. It counts once: the next run's own checkpoint goes on from there.
    A target that is not there yet is made with --create only.

    \b
    Examples:
      freshet checkpoint set trip_earnings 20260801101500000
      freshet checkpoint set trip_earnings 20260801101500000 --create
      freshet checkpoint set orders 2026-08-01T10:15:00Z
    """
    return _override(output, name, instant, root, env, overrides, create)


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
    if instant is not None:
        try:
            instant = kind_of(spec).text_by_hand(instant)
        except ValueError as wrong:
            raise click.BadParameter(str(wrong), param_hint="INSTANT") from wrong
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
