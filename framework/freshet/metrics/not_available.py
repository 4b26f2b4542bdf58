"""What people look for among the metrics and do not find: for the page of the docs."""

from __future__ import annotations

#: What it is, and why.
NOT_AVAILABLE: tuple[tuple[str, str], ...] = (
    ("counters such as runs in total", "A command that ends has none to keep; records fold idle runs and are pruned."),
    ("commits in progress", "A run's window is known to the run: `window_planned` of `--events`. Here they still wait."),
    ("lag by event time", "Commits do not tell the event times of their rows."),
    ("lag of a table whose timeline is not in UTC", "Nobody can tell in which zone its writers name commits."),
    ("rows filtered", "The SQL drops them before anything counts them."),
    ("rows in the quarantine", "Its table has to be read: `freshet quarantine show`."),
    (
        "which check failed a run",
        "Nothing was committed that could tell it; `freshet history NAME --failed` shows the error, which does.",
    ),
    ("completeness", "Nothing counts yet which rows of each source commit reached the target."),
    ("estimated cost", "There is no estimate yet."),
    ("bytes that a compaction would take in", "Commits do not tell how much of each log is new."),
    ("what the SQL, the schema or a missing file forbids", "`freshet status` plans each run for that; the run itself fails."),
)
