"""What a Hudi table still tells of its past, for who looks at it, and what its services would take from a reader. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshet.errors import RetryableError, StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.instants import readable
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.paths import place_before
from freshet.project.model.pipeline import SourceSpec, TableRef
from freshet.sources.hudi.look.late import late_commits
from freshet.sources.hudi.look.partitions import touched_partitions
from freshet.sources.hudi.look.versions import is_kept, version_at, version_at_end, versions_held
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import ReadIncrement, Version
from freshet.sources.position import Position

_EVERY_COMMIT = 1_000_000
# Of a table without commits: before any.
_BEFORE_ALL = "19700101000000000"


@dataclass(frozen=True)
class Changes:
    """What reads the rows that changed.

    Args:
        read: Reads them, the deleted ones included.
        was: The version before them, by which new rows are told from changed ones; None where it is not kept.
    """

    read: ReadIncrement
    was: Version | None


def cuts_off(table: TableState, position: Position, first_kept: Instant) -> bool:
    """Say whether a reader would miss a commit, or the version from which it tells deletes and the rows before a change.

    Args:
        table: The table.
        position: How far the reader has read it.
        first_kept: The oldest commit that both services leave.
    """
    if not isinstance(position, HudiPosition):
        # Nobody here can tell what it needs.
        return True
    read_upto = position.instant
    unread = table.commits_between(begin_exclusive=read_upto)
    # The services go by request time: of what was begun early any may complete last, and one whose clock is behind came since.
    if any(i.requested < first_kept.requested for i in (*late_commits(table, position, read_upto), *unread)):
        return True
    # A table service's commit after the checkpoint holds the same rows. Where there is none, that version is gone already.
    if not any(read_upto <= i.completed and (not unread or i.completed < unread[0].completed) for i in table.commits):
        return False
    # One that has not completed keeps the cleaner from going past it, and may never complete.
    return version_at(replace(table, pending=()), read_upto).as_of < first_kept.requested


def version_to_show(table: TableState, at: str) -> Version:
    """Return a table's version as of a time.

    Args:
        table: The table.
        at: The time, as Hudi names instants.

    Raises:
        StateError: VERSION_CLEANED or BEFORE_FIRST_COMMIT.
        RetryableError: SOURCE_COMMIT_PENDING.
    """
    _hold_begun(table, at)
    version = version_at(table, at)
    if not is_kept(table, version):
        raise StateError(
            "VERSION_CLEANED",
            f"{table.ref.name}: its cleaner has kept no version as of {at}.",
            "Nothing is shown.",
            f"Name a time after {table.retained_from}.",
            retained_from=table.retained_from,
        )
    return version


def before_the_newest(table: TableState) -> str:
    """Return the time since which a table's newest commit that brought rows has changed it.

    Args:
        table: The table.
    """
    commits = table.data_commits
    newest = next((at for at in reversed(range(len(commits))) if _has_rows(table.info(commits[at]))), 0)
    return commits[newest - 1].completed if newest else commits[0].requested if commits else _BEFORE_ALL


def _has_rows(info: CommitInfo) -> bool:
    return bool(info.rows or info.replaced_ids)


def changes_since(table: TableState, since: str) -> Changes | None:
    """Return what reads the rows that changed after a time, the deleted ones included; None where none did.

    Args:
        table: The table.
        since: The time, as Hudi names instants.

    Raises:
        StateError: What keeps a pipeline from reading them.
    """
    ref = TableRef(table.ref.name, table.ref.path)
    # A checkpoint is the time of a commit: that of the last one before.
    begin = max((i.completed for i in table.commits if i.completed <= since), default="")
    position = HudiPosition(instant=begin or since, table=ref.path)
    source = SourceSpec(
        table=ref,
        max_commits=_EVERY_COMMIT,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
    )
    window = next_window(ref.name, table, source, position)
    if window.kind == "idle":
        return None
    held = versions_held(ref.name, table, window, Checkpoint({MAIN: position}))
    end = version_at_end(table, window.end_inclusive)
    partitions = touched_partitions(table, window)
    read = ReadIncrement(table=ref, window=window, with_deletes=True, before=held, as_of=end, partitions=partitions)
    try:
        was = version_at(table, position.instant)
    except RetryableError:
        return Changes(read, None)
    return Changes(read, was if is_kept(table, was) else None)


def _hold_begun(table: TableState, at: str) -> None:
    """Refuse a time before the table's first commit: that a table had no row is another answer than that there was none."""
    times = [i.completed for i in table.commits]
    if any(one <= at for one in times) or table.retained_from:
        return
    times += [i.completed for i, _ in table.load_archived("")]
    if not any(one <= at for one in times):
        before = place_before(table.ref.path)
        moved = f"; before its migration the table was {before}" if before else ""
        raise StateError(
            "BEFORE_FIRST_COMMIT",
            f"{table.ref.name} begins at {readable(min(times)) if times else 'its first commit, which has not come'}{moved}.",
            "Nothing is shown.",
            "Name a later time." if times else "Run its pipeline first.",
            at=at,
        )
