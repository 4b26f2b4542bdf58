"""What a table's cleaning and archiving would take from one of its readers. Pure."""

from __future__ import annotations

from dataclasses import replace

from freshet.hudi.table import Instant, TableState
from freshet.sources.hudi.look.late import late_commits
from freshet.sources.hudi.look.versions import version_at
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.position import Position


def cuts_off(table: TableState, position: Position, first_kept: Instant) -> bool:
    """Say whether a reader would miss a commit, or the version from which it tells deletes and the rows before a change.

    Args:
        table: The table.
        position: How far the reader has read it.
        first_kept: The oldest commit that both services leave.
    """
    if not isinstance(position, HudiPosition):
        return False
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
