"""The metrics that only rise: what all recorded runs of a pipeline came to, which a small file beside the records sums."""

from __future__ import annotations

from freshet.metrics.metric import Metric

_TOTALS = "the sums beside the target, to which each recorded run adds itself"
COUNTERS: tuple[Metric, ...] = (
    Metric(
        name="freshet_runs_total",
        labels=("pipeline", "result"),
        help="Runs that ended, by their result.",
        derived=_TOTALS,
    ),
    Metric(
        name="freshet_run_duration_seconds_total",
        help="How long these runs took.",
        derived=_TOTALS,
    ),
    Metric(
        name="freshet_processed_rows_total",
        labels=("pipeline", "kind"),
        help="Rows of these runs: read, inserted, updated, deleted, moved, quarantined.",
        derived=_TOTALS,
    ),
    Metric(
        name="freshet_processed_commits_total",
        help="Commits of the main source that these runs have processed.",
        derived=_TOTALS,
    ),
    Metric(
        name="freshet_run_conflicts_total",
        help="How often another writer was faster in these runs.",
        derived=_TOTALS,
    ),
    Metric(
        name="freshet_lease_wait_seconds_total",
        help="How long these runs waited until they held their target.",
        derived=_TOTALS,
    ),
)
