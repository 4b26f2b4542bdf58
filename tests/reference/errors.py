"""The page of the error codes, from their registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from freshet.cli import signals
from freshet.errors import Exit
from tests.reference.text import MADE, plain, table

REGISTRY = Path(__file__).parents[2] / "framework" / "freshet" / "error_codes.yml"
_GROUPS: Mapping[int, tuple[str, str]] = {
    Exit.FAILED: ("1: failed", "A command for several pipelines also ends with 1 where they failed for different reasons."),
    Exit.USAGE: ("2: wrong command line", ""),
    Exit.INVALID: (
        "3: the project's files are wrong",
        "freshet reports all problems of all files at once, each with its file "
        "and line. It read and wrote nothing. `freshet validate --deep` also reports here what Spark finds in a SQL "
        "or Python step, under the codes of exit code 6.",
    ),
    Exit.RETRY: ("4: try again", "Nothing is wrong with the files or the tables."),
    Exit.STATE: ("5: the state of the tables forbids the run", "The message names the command that helps."),
    Exit.DATA: (
        "6: the data, the SQL or the Python step is wrong",
        "Nothing was written, and the checkpoint stays. "
        "`freshet land` also reports here what is wrong with the columns, the key or the partitions of a new table, "
        "under the codes of exit code 3.",
    ),
    Exit.CHECK: ("7: a check failed", "Nothing was published."),
    Exit.SYNC: ("8: a catalogue was not told", "The rows are published."),
    signals.HUNG_UP: ("129: ended by SIGHUP", ""),
    signals.INTERRUPTED: ("130: interrupted by the keyboard", ""),
    signals.TERMINATED: ("143: ended by SIGTERM", ""),
    Exit.OK: ("Notices", "The command goes on."),
}
_HEAD = ("code", "meaning", "what to do")
_INTRO = """# Error codes

Every error, problem and notice has a code. The code stays the same when the wording changes, so scripts, alerts and test cases
(`expect.error`) can rely on it. On stderr it stands in front of the message:

```text
CHECKPOINT_EXPIRED: trip_earnings: the checkpoint is 20260801101500000, and ...
pipelines/orders.yml:14: UNKNOWN_KEY: unknown key 'hoodie.upsert.suffle.parallelism' ...
```

With `--output json` it is `error.code` on stdout; `error.next` is the command that helps, and `error.retryable` says whether
the same command may succeed later. Problems of files stand in `error.details.problems`, each with its code.
[Exit codes](../commands.md#exit-codes) lists what a shell sees.

`NAME` stands for the name of the pipeline, `INSTANT` for a completion time such as 20260801101500000. A code that can end a
command in several ways stands in several tables.
"""


@dataclass(frozen=True, kw_only=True)
class Code:
    """One row of the registry.

    Args:
        name: The code.
        exits: Exit codes that a command ends with; 0 for a notice.
        means: What has happened.
        remedy: What to do.
    """

    name: str
    exits: tuple[int, ...]
    means: str
    remedy: str


@cache
def registry() -> tuple[Code, ...]:
    """Return the rows of the registry, as they stand in the file.

    Raises:
        KeyError: A row lacks a key, or names an exit code that there is not.
        ValueError: A row has a key too many.
    """
    found = []
    for name, row in yaml.safe_load(REGISTRY.read_text("utf-8")).items():
        exits = row["exit"] if isinstance(row["exit"], list) else [row["exit"]]
        if set(row) != {"exit", "means", "do"}:
            raise ValueError(f"{name}: {', '.join(row)}")
        found.append(
            Code(
                name=name,
                exits=tuple(one if isinstance(one, int) else Exit[one].value for one in exits),
                means=row["means"],
                remedy=row["do"],
            )
        )
    return tuple(found)


def errors_page() -> str:
    """Return the page of the error codes."""
    parts, seen = [MADE, _INTRO], set()
    for number, (title, words) in _GROUPS.items():
        rows = []
        for code in registry():
            if number in code.exits:
                # The first table in which a code stands is where a link to it leads. The site would break a long one anywhere.
                anchor = "" if code.name in seen else f' id="{code.name.lower()}"'
                seen.add(code.name)
                name = f'<code{anchor} style="white-space: nowrap">{code.name}</code>'
                rows.append((name, plain(code.means), plain(code.remedy)))
        if rows:
            parts += [f"## {title}\n", *([words + "\n"] if words else []), table(_HEAD, rows) + "\n"]
    return "\n".join(parts)
