"""The metrics that say how things stand."""

from __future__ import annotations

from freshet.metrics.metric import Metric

_OF_RECORDS = "the run's record"
_OF_COMMIT = "the commit's metadata"
_OF_SERVE = "the agenda of freshet serve, which alone tells it"
_OF_SOURCE = "the timelines of source and target"
_CHECKED = "the commit's metadata: what its checks found"
_INPUT, _KIND, _RESULT = ("pipeline", "input"), ("pipeline", "kind"), ("pipeline", "result")

GAUGES: tuple[Metric, ...] = (
    Metric(
        name="freshet_metrics_timestamp_seconds",
        help="When the pipeline was looked at: an old one says that nobody asks any longer.",
        derived="the clock",
    ),
    Metric(
        name="freshet_pipeline_info",
        labels=("pipeline", "owner", "target"),
        help="Always 1; its labels say whose the pipeline is and what it writes.",
        derived="the pipeline's files",
    ),
    Metric(
        name="freshet_pipeline_state",
        labels=_KIND,
        help="Always 1; kind is the state that freshet status shows: new, waiting, up_to_date, behind or an error's code.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_pipeline_refused",
        help="1 where the timelines forbid the next run, such as an expired checkpoint or a missing source; else 0.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_pipeline_has_run",
        help="1 where a run of the pipeline is recorded, or a commit of it is found; 0 where it never ran.",
        derived="the records of runs, the target's timeline",
    ),
    Metric(
        name="freshet_pipeline_running_seconds",
        labels=_KIND,
        help="How long what holds the target has been at work; kind is what freshet status calls it.",
        derived="the target's lease",
    ),
    Metric(
        name="freshet_schedule_overdue_seconds",
        help="How long ago a run should have begun by the pipeline's schedule that did not; 0 where none is missing.",
        derived="schedule, the records of runs and the lease",
    ),
    Metric(
        name="freshet_last_run_timestamp_seconds",
        help="When the last run began.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_run_result",
        labels=_RESULT,
        help="1 for the result of the last run, 0 for the others.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_run_duration_seconds",
        labels=("pipeline", "phase"),
        help="How long the last run took, in total and by phase as far as it came.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_serve_waiting_seconds",
        help="How long the pipeline has been due and waits for its turn; 0 where it runs, or is not due.",
        derived=_OF_SERVE,
    ),
    Metric(name="freshet_serve_paused", help="1 where the pipeline is paused, else 0.", derived=_OF_SERVE),
    Metric(
        name="freshet_last_run_lease_wait_seconds",
        help="How long the last run waited until it held its target.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_run_conflicts",
        help="How often another writer was faster in the last run, so that it repeated its work.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_success_timestamp_seconds",
        help="When the last run ended that committed or had nothing to do; its age is time() minus it.",
        derived="the records of runs; where there are none, the last commit's metadata",
    ),
    Metric(
        name="freshet_consecutive_failed_runs",
        help="How many runs in a row failed or were killed up to now, of the newest 50 records.",
        derived="the records of runs",
    ),
    Metric(
        name="freshet_last_commit_timestamp_seconds",
        help="When the last commit of the pipeline completed.",
        derived="the target's timeline",
    ),
    Metric(
        name="freshet_last_commit_duration_seconds",
        labels=("pipeline", "phase"),
        help="How long the last run took that committed, in total and by phase.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_commit_rows",
        labels=_KIND,
        help="Rows of the last commit: read, inserted, updated, deleted, moved, quarantined. "
        "Updated rows of a MERGE_ON_READ table with a bucket index hold inserted ones too.",
        derived=f"{_OF_COMMIT}; read: {_OF_RECORDS}",
    ),
    Metric(
        name="freshet_last_commit_events",
        labels=_KIND,
        help="Events of a changelog in the last commit: in, and of these published, older, aside and skipped.",
        derived=_OF_COMMIT,
    ),
    Metric(
        name="freshet_last_commit_source_commits",
        help="How many commits of the main source the last run that committed has processed.",
        derived=_OF_RECORDS,
    ),
    Metric(
        name="freshet_last_commit_files",
        labels=_KIND,
        help="Files that the last commit wrote: base or log.",
        derived=_OF_COMMIT,
    ),
    Metric(
        name="freshet_last_commit_size_bytes",
        labels=_KIND,
        help="Bytes of the files that the last commit wrote; of a log that it appended to, of all of that log.",
        derived=_OF_COMMIT,
    ),
    Metric(
        name="freshet_check_result",
        labels=("pipeline", "check", "result"),
        help="1 for what the check said of the last commit that it looked at, 0 for its other results.",
        derived=_CHECKED,
    ),
    Metric(
        name="freshet_check_rows",
        labels=("pipeline", "check"),
        help="Bad rows that the check found in that commit.",
        derived=_CHECKED,
    ),
    Metric(
        name="freshet_source_lag_seconds",
        labels=_INPUT,
        help="Age of the oldest commit that waits to be read, by its completion time; 0 where none waits.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_source_waiting_commits",
        labels=_INPUT,
        help="Commits that wait to be read, those in progress included.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_source_waiting_rows",
        labels=_INPUT,
        help="Rows of these commits.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_source_processed_timestamp_seconds",
        labels=_INPUT,
        help="The checkpoint: when the last commit of the main source completed that the target holds.",
        derived="the target's timeline",
    ),
    Metric(
        name="freshet_source_retention_left_seconds",
        labels=_INPUT,
        help="How much later than the oldest history that the source still has the checkpoint is; it expires at 0.",
        derived=_OF_SOURCE,
    ),
    Metric(
        name="freshet_target_compaction_debt_commits",
        help="Commits of a MERGE_ON_READ target since its last compaction, in its active timeline.",
        derived="the target's timeline",
    ),
    Metric(
        name="freshet_backfill_chunks",
        labels=_RESULT,
        help="Chunks of the newest backfill: done or missing.",
        derived="the target's timeline",
    ),
    Metric(
        name="freshet_source_in_progress_commits",
        labels=_INPUT,
        help="Commits of the main source that the run at work reads; 0 where none is at work.",
        derived="the target's lease",
    ),
    Metric(
        name="freshet_source_in_progress_rows",
        labels=_INPUT,
        help="Rows of these commits.",
        derived="the target's lease",
    ),
    Metric(
        name="freshet_target_event_timestamp_seconds",
        labels=("pipeline", "check"),
        help="Newest event time that a check of freshness saw in the last commit: the lag by event time is time() minus it.",
        derived=_CHECKED,
    ),
)
