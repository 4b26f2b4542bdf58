"""The page of the metrics, from their registry."""

from __future__ import annotations

from freshet.metrics.not_available import NOT_AVAILABLE
from freshet.metrics.registry import CHECK_RESULTS, ENV, LABELS, METRICS, RUN_RESULTS, SLO_RESULTS
from tests.reference.text import MADE, plain, table

_INTRO = """# Metrics

Every metric that `freshet status --metrics` prints and that `metrics:` of an environment sends. Those that end with
`_total` are counters, the others gauges. They are made from timelines, from the metadata of commits, from the records of runs
and from leases, without a JVM, so that a pipeline that never ran is seen too. A value that nobody knows is left out. The page
[Metrics and alerts](../guides/metrics.md) says how they reach Prometheus.
"""


def metrics_page() -> str:
    """Return the page of the metrics."""
    rows = [
        (
            f'<code id="{one.name}" style="white-space: nowrap">{one.name}</code>',
            ", ".join(f"`{label}`" for label in one.labels) or "none",
            plain(one.help),
            plain(one.derived[:1].upper() + one.derived[1:]) + ".",
        )
        for one in METRICS
    ]
    labels = [(f"`{label}`", plain(words)) for label, words in LABELS.items()]
    results = (("a run", RUN_RESULTS), ("a check", CHECK_RESULTS), ("a promise", SLO_RESULTS))
    return "\n".join(
        (
            MADE,
            _INTRO,
            "## All metrics\n",
            f"Each sample has the label `{ENV}` too.\n",
            table(("metric", "labels", "what it says", "derived from"), rows) + "\n",
            "## Labels\n",
            table(("label", "what it says"), labels) + "\n",
            "Results of "
            + "; of ".join(f"{what}: {', '.join(f'`{one}`' for one in known)}" for what, known in results)
            + ". A `busy` run found its target taken by another one.\n",
            "## What is not available\n",
            table(("what", "why"), [(plain(what), plain(why)) for what, why in NOT_AVAILABLE]) + "\n",
        )
    )
