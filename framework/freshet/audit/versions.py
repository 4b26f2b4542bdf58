"""Which version of each table an audit reads: the one that the target's checkpoint names, or the present one. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.errors import StateError
from freshet.hudi.instants import readable
from freshet.hudi.table import TableState
from freshet.sources.hudi.look.late import completion_of, late_commits
from freshet.sources.hudi.look.versions import deletes_some, is_kept, version_at, version_now
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import Version, Window, counted

_UNTOUCHED = "Nothing was read or written."


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A version of a table.

    Args:
        version: The version.
        upto: Completion time of the last commit in it; empty where the table has none, or no position says.
        waiting: Completion times of the commits that came after it.
        cleaned: True where the version that was asked for is cleaned, and the present one is read.
    """

    version: Version
    upto: str = ""
    waiting: tuple[str, ...] = ()
    cleaned: bool = False


def present(table: TableState) -> Chosen:
    """Return the present version of a table of which no position is known."""
    return Chosen(version=Version(version_now(table)))


def as_of(name: str, pipeline: str, table: TableState, position: HudiPosition, idle: bool) -> Chosen:
    """Return the version of a table that a position names.

    Args:
        name: What the table is to the pipeline, for messages.
        pipeline: The pipeline's name.
        table: The table.
        position: How far the pipeline has read it.
        idle: True where nothing waits for the pipeline, so that all that it has read is what there is.

    Raises:
        StateError: VERSION_CLEANED or COMMIT_IN_THE_PAST.
        RetryableError: SOURCE_COMMIT_PENDING.
    """
    upto = completion_of(pipeline, table, position)
    late = late_commits(table, position, upto)
    if late:
        raise StateError(
            "COMMIT_IN_THE_PAST",
            f"{pipeline}: {counted(len(late), 'commit')} of {table.ref.name} ({name}) came after the checkpoint was taken and "
            "completed by times before it: no version of the table shows the rows without these.",
            _UNTOUCHED,
            f"Have them read first: freshet run {pipeline} --drain; then: freshet audit {pipeline}",
            table=table.ref.path,
            commits=[instant.requested for instant in late],
        )
    waiting = tuple(instant.completed for instant in table.commits_between(begin_exclusive=upto))
    if not waiting:
        # Table services may have come since, which move rows and change none.
        return Chosen(version=Version(version_now(table)), upto=upto)
    version = version_at(table, upto)
    overtook = Window(kind="increment", requested=version.overtakers)
    if is_kept(table, version) and not (version.overtakers and deletes_some(table, overtook)):
        return Chosen(version=version, upto=upto, waiting=waiting)
    if idle:
        return Chosen(version=Version(version_now(table)), upto=upto, waiting=waiting, cleaned=True)
    raise StateError(
        "VERSION_CLEANED",
        f"{pipeline}: the rows of {table.ref.name} ({name}) as of the checkpoint {readable(upto)} cannot be told any more, and "
        f"{counted(len(waiting), 'commit')} of it {'waits' if len(waiting) == 1 else 'wait'} for a run.",
        _UNTOUCHED,
        f"Have them read first: freshet run {pipeline} --drain; then: freshet audit {pipeline}. To prevent it, raise "
        "hoodie.clean.commits.retained of that table.",
        table=table.ref.path,
        version=version.as_of,
        retained_from=table.retained_from,
        waiting=len(waiting),
    )
