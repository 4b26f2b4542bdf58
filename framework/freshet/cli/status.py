"""``freshet status``: where every pipeline stands, for people, as JSON and as metrics."""

from __future__ import annotations

import time
from pathlib import Path

import click

from freshet.account.complete import completeness_of
from freshet.audit.kept import last_audit, standing_words
from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting, trace
from freshet.cli.rows import json_of, table
from freshet.cli.state_text import (
    backfill_words,
    captured_words,
    latency_words,
    logic_words,
    row_of,
    running_words,
    waiting_words,
)
from freshet.errors import Exit
from freshet.events.event import Event
from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.metrics.slo import in_words, judged
from freshet.project.model.pipeline import Project
from freshet.sources.hudi.reads import counted
from freshet.sources.registry import look_together
from freshet.status.standing import More, status_of
from freshet.status.status import PipelineStatus


@click.command(short_help="Show where every pipeline stands.")
@selection_options
@click.option(
    "--metrics", "as_metrics", is_flag=True, help="Print the metrics of docs/reference/metrics.md instead, as OpenMetrics."
)
@click.option(
    "--completeness",
    "by_window",
    is_flag=True,
    help="Print instead how much of each window of `event_times` was taken: the newest 24 that are due, and the open ones.",
)
@click.option("--send", is_flag=True, help="Send the metrics as `metrics:` of the environment says, instead of printing them.")
@project_options
@reporting
def status(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    as_metrics: bool,
    by_window: bool,
    send: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show where every pipeline stands: last commit, checkpoint, how far behind, how much history is left.

    Starts no Spark. BEHIND counts source commits since the checkpoint and the minutes from it to the newest of them;
    LEFT is the time before the checkpoint falls out of what the source still has. STATE is new, waiting, up_to_date, behind,
    or the code of what forbids the next run, such as CHECKPOINT_EXPIRED; its words follow on stderr. Ends with 0 either way.
    Below are the runs and table services at work, backfills that run or are unfinished, what a pipeline waits for whose
    upstream has not run, a run that was due by `schedule` and has not begun, what of a pipeline's `slo` is kept, at risk or
    broken, and what the last audit found. Where a target's buckets are far too small or too large, stderr says so
    (BUCKETS_SMALL, BUCKETS_LARGE).

    With --metrics it prints every metric of the pipelines, also of those that never ran, as OpenMetrics, which Prometheus
    reads; with --output json as JSON. A hundred pipelines whose tables lie on this machine take less than a second.

    With --completeness it prints for each window of event times how many events the source holds, how many of them were taken,
    and how many the target's own commits have published; a window that is due and lacks some is short, with the reason. No row
    is read: a table's commits tell it, or a topic's time index. A window of which nobody can tell is unknown.

    \b
    Examples:
      freshet status
      freshet status trip_earnings --output json
      freshet status trip_earnings --completeness
      freshet status --metrics
      freshet status --metrics --send      every minute, by cron: what never ran is seen too
    """
    project = load(root, env, overrides, names, tags, everything)

    def more(wanted: tuple[str, ...]) -> Project:
        return load(root, env, overrides, wanted)

    if by_window and (as_metrics or send):
        raise click.UsageError("--completeness goes with neither --metrics nor --send.")
    if send:
        return _sent(output, project, more, as_metrics)
    if as_metrics:
        from freshet.metrics.collect import collect
        from freshet.metrics.text import text_of

        samples = collect(project, more)
        # They hold no secret, and to look at half a megabyte once more takes longer than to make it.
        output.document(
            json_of({"metrics": [one.as_json() for one in samples]}) if output.as_json else text_of(samples).rstrip()
        )
        return Exit.OK
    state = OneLook(TimelineState())
    if by_window:
        from freshet.cli.completeness_text import completeness_words

        windows = [told for spec in project.pipelines if (told := completeness_of(spec, state, time.time())) is not None]
        output.result(completeness_words(windows), {"pipelines": [one.as_json() for one in windows]})
        return Exit.OK
    look_together(project.pipelines, state)
    found = [status_of(project, spec, more, trace, last_audit, judged, state) for spec in project.pipelines]
    headers = ("PIPELINE", "STATE", "LAST COMMIT", "CHECKPOINT", "BEHIND", "LEFT")
    below = [
        words
        for s in found
        for words in (
            waiting_words(s),
            running_words(s),
            _overdue(s),
            backfill_words(s),
            _promises(s),
            latency_words(s),
            captured_words(s),
            logic_words(s),
            standing_words(s.pipeline, s.audit),
        )
        if words
    ]
    lines = [table(headers, [row_of(s) for s in found]), *below]
    output.result("\n".join(lines), {"pipelines": [s.as_json() for s in found]})
    for s in found:
        if s.message:
            output.aside(s.message if s.message.startswith(s.state) else f"{s.state}: {s.pipeline}: {s.message}")
        for advice in s.advice.splitlines():
            output.aside(advice)
    return Exit.OK


def _sent(output: Output, project: Project, more: More, as_metrics: bool) -> Exit:
    if not as_metrics:
        raise click.UsageError("--send goes with --metrics.")
    if not any(spec.metrics.is_any for spec in project.pipelines):
        raise click.UsageError(f"configs/{project.env}.yml names no place for metrics: write one under 'metrics:'.")
    from freshet.metrics.out import Sender

    lost: list[Event] = []
    sender = Sender(project, more, lost.append)
    for spec in project.pipelines:
        sender(spec)
    for event in lost:
        output.aside(event.message)
    told = {"pipelines": len(project.pipelines), "not_sent": [event.message for event in lost]}
    output.result("" if lost else f"metrics of {counted(len(project.pipelines), 'pipeline')} sent", told)
    return Exit.FAILED if lost else Exit.OK


def _overdue(s: PipelineStatus) -> str:
    seconds = s.overdue_seconds or 0.0
    if not seconds:
        return ""
    from freshet.metrics.troubles import LATE_SECONDS

    return f"{s.pipeline}: no run has begun since one was due {in_words(seconds)} ago" if seconds > LATE_SECONDS else ""


def _promises(s: PipelineStatus) -> str:
    words = (f"{one['objective']} {str(one['result']).replace('_', ' ')}: {one['reason']}" for one in s.slo)
    return f"{s.pipeline}: {'; '.join(words)}" if s.slo else ""
