"""What people look for among the metrics and do not find: for the page of the docs."""

from __future__ import annotations

#: What it is, and why.
NOT_AVAILABLE: tuple[tuple[str, str], ...] = (
    (
        "latency by event time of a pipeline without `event_times`",
        "Its commits do not tell the event times of their rows, but for a changelog's.",
    ),
    ("what ran before the sums were kept", "The counters begin with the first run of the release that has them."),
    ("lag of a table whose timeline is not in UTC", "Nobody can tell in which zone its writers name commits."),
    ("rows filtered", "The SQL drops them before anything counts them."),
    ("rows in the quarantine", "Its table has to be read: `freshet quarantine show`."),
    (
        "which check failed a run",
        "Nothing was committed that could tell it; `freshet history NAME --failed` shows the error, which does.",
    ),
    ("completeness of a pipeline without `event_times`", "Nobody says which windows its source's events are of."),
    ("estimated cost", "`freshet plan` estimates the next run; `budget:` holds runs to it."),
    ("bytes that a compaction would take in", "Commits do not tell how much of each log is new."),
    ("what the SQL, the schema or a missing file forbids", "`freshet status` plans each run for that; the run itself fails."),
)
