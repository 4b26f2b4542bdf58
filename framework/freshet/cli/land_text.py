"""What ``freshet land`` tells of landed files, and the command that goes on with them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.cli.rows import table
from freshet.cli.terminal import are_one_place
from freshet.events.event import Event, Listener
from freshet.events.kinds import Notice
from freshet.hudi.instants import readable

if TYPE_CHECKING:
    from freshet.landing.outcome import Landed

# What `init` takes for a pipeline's name, and for a source's.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def outcome_of(landed: Landed) -> str:
    """Return what became of files, in one line."""
    from freshet.landing.outcome import in_words

    if not landed.columns:
        # A seed of which no more than its digest was looked at.
        return f"{landed.table}: nothing to do: the file is as it was when it was landed"
    return f"{landed.table}: {f'committed {readable(landed.commit)}' if landed.commit else 'nothing to do'}: {in_words(landed)}"


def noting(listen: Listener, told: set[str]) -> Listener:
    """Return a listener that keeps the notices that were printed.

    Args:
        listen: Told everything.
        told: Receives the notices.
    """

    def heard(event: Event) -> None:
        if isinstance(event, Notice):
            told.add(event.message)
        listen(event)

    return heard


def untold(landed: Landed, told: Collection[str]) -> list[str]:
    """Return the notices that the result has to say.

    Args:
        landed: The result.
        told: Those that were printed while the files were landed.
    """
    # What was printed while it went on stands above the result where both go to one place.
    is_seen = are_one_place(sys.stdout, sys.stderr)
    return [notice for notice in landed.notices if not (is_seen and notice in told)]


def text_of(landed: Landed, following: str, told: Collection[str] = ()) -> str:
    """Return what became of files, for people.

    Args:
        landed: The result.
        following: The next command.
        told: Notices that were printed while the files were landed.
    """
    lines = [outcome_of(landed), *untold(landed, told)]
    if landed.made:
        lines += [
            f"made {landed.path}",
            f"  record key {', '.join(landed.key)}, ordering field {landed.ordering}"
            + (f", partitioned by {', '.join(landed.partition_by)}" if landed.partition_by else ""),
            *(f"  {line}" for line in table(("COLUMN", "TYPE"), list(landed.columns)).splitlines()),
        ]
    return "\n".join([*lines, f"next: {following}"])


def next_step(landed: Landed, root: Path, pipelines: Collection[str] = ()) -> str:
    """Return the command that goes on with a landed table.

    Args:
        landed: The result.
        root: The project's folder, as it was given.
        pipelines: Those of the project.
    """
    place = "" if root == Path() else f" -C {shlex.quote(str(root))}"
    if landed.readers:
        return f"freshet run {' '.join(landed.readers)}{place}"
    database, _, name = landed.table.partition(".")
    if not _NAME.fullmatch(database) or not _NAME.fullmatch(name):
        return f"freshet show {landed.table} --limit 5{place}"
    free = next(one for one in (name, f"{name}_facts", *(f"{name}_{n}" for n in range(2, 99))) if one not in pipelines)
    folder = "" if root == Path() else f" {shlex.quote(str(root))}"
    return f"freshet init{folder} --pipeline {free} --source {landed.table}"
