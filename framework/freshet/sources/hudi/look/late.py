"""Commits that are named in the past: they came after a position was taken, and by their times before it. Pure.

A writer's clock is behind, the hour came twice in its time zone, or two commits completed in the other order than their times.
HoodieStreamer's V1 key holds a request time: what was requested after it has not been read, though it may have completed first.
"""

from __future__ import annotations

from freshet.errors import FreshetError, StateError
from freshet.hudi.table import Instant, StateReader, TableState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.position import NONE_KNOWN, HudiPosition, Known
from freshet.sources.hudi.reads import Window, counted

#: How many commits a position knows: what appears among them, or after them, is found.
MARGIN = 200


def position_at(table: TableState, instant: str, before: HudiPosition | None) -> HudiPosition:
    """Return a position that knows the commits up to it.

    Args:
        table: The table as it was looked at.
        instant: Completion time of the last commit that is read.
        before: Where the read began; None where it began anew.
    """
    held = before.known if before is not None and before.table == table.ref.path else NONE_KNOWN
    active = {(i.completed, i.requested) for i in table.commits if i.completed <= instant}
    found = sorted(active | {(completed, requested) for requested, completed in held.commits if completed <= instant})
    dropped, kept = found[:-MARGIN], found[-MARGIN:]
    # What had been archived before is unknown, so that no commit of the archive is new but after that. Nor does the archive's
    # order tell: with hoodie.archive.beyond.savepoint it goes past commits that stay.
    since = max(held.since or instant, dropped[-1][0] if dropped else "")
    known = Known(tuple((requested, completed) for completed, requested in kept), since)
    return HudiPosition(instant=instant, table=table.ref.path, known=known)


def position_by_hand(state: StateReader, table: TableRef, instant: str) -> HudiPosition:
    """Return a position that somebody sets: what the table has taken back by now, or gets named before it, is accepted.

    Args:
        state: Read-only view of the tables.
        table: The table.
        instant: Completion time up to which it counts as read; it need be no commit's.
    """
    try:
        found = state.table(table)
    except FreshetError:
        # That hinders the runs, and not who mends their checkpoint.
        found = None
    return position_at(found, instant, None) if found is not None else HudiPosition(instant=instant, table=table.path)


def completion_of(name: str, source: TableState, position: HudiPosition) -> str:
    """Return a position as a completion time; HoodieStreamer's V1 key holds a request time.

    Raises:
        StateError: CHECKPOINT_UNKNOWN_COMMIT: the request time is of no commit that the source still lists.
    """
    if position.basis == "completed":
        return position.instant
    active = {i.requested: i.completed for i in source.commits}
    if position.instant in active:
        return active[position.instant]
    for instant, _ in source.load_archived(""):
        if instant.requested == position.instant:
            return instant.completed
    raise StateError(
        "CHECKPOINT_UNKNOWN_COMMIT",
        f"{name}: HoodieStreamer's checkpoint names the commit requested at {position.instant}, "
        f"which {source.ref.path} does not list.",
        "Nothing was read or written.",
        f"Name a completion time instead: freshet checkpoint set {name} INSTANT",
        instant=position.instant,
    )


def late_commits(source: TableState, position: HudiPosition, read_upto: str) -> tuple[Instant, ...]:
    """Return the data commits of the active timeline that were not read, and completed by a position's time.

    Args:
        source: The table's timeline now.
        position: The position.
        read_upto: Its completion time.
    """
    known = position.known
    if not known.commits and position.basis == "completed":
        return ()
    names = {requested for requested, _ in known.commits}
    floor = known.commits[0][1] if len(known.commits) >= MARGIN else ""
    begun = position.instant if position.basis == "requested" else ""
    return tuple(
        i
        for i in source.data_commits
        # What only a commit's metadata tells is looked up of new ones alone.
        if floor < i.completed <= read_upto
        and i.requested > begun
        and i.requested not in names
        and source.info(i).operation != "LOG_COMPACT"
    )


def late_archived(source: TableState, position: HudiPosition, read_upto: str) -> tuple[Instant, ...]:
    """Return the commits of that kind that are in the archive already, and those that completed after the position.

    Args:
        source: The table's timeline now.
        position: The position.
        read_upto: Its completion time.
    """
    known = position.known
    names = frozenset(requested for requested, _ in known.commits)
    found = source.load_archived(min(read_upto, known.since), names) if names else source.load_archived(read_upto)
    overtook = position.basis == "requested" and {
        i.requested for i in source.archived("") if i.requested > position.instant and i.completed <= read_upto
    }
    if overtook:
        found = [*found, *(one for one in source.load_archived("") if one[0].requested in overtook)]
    return tuple(i for i, info in found if info.operation not in ("CLUSTER", "COMPACT", "LOG_COMPACT"))


def refuse_late(name: str, source: TableState, window: Window) -> None:
    """Refuse where the rows as they stood before commits that are named in the past would be needed.

    Hudi shows a version by the commits' times, so that it has none without these.

    Args:
        name: The pipeline's name, for messages.
        source: The table.
        window: What is read of it.

    Raises:
        StateError: COMMIT_IN_THE_PAST.
    """
    if window.late:
        raise StateError(
            "COMMIT_IN_THE_PAST",
            f"{name}: {what_is_late(source, window.late)}. They deleted or replaced rows, or the pipeline needs the rows as "
            "they stood before them: no version of the table shows these.",
            "Nothing was read or written.",
            f"To have the target hold what the table holds now: freshet run {name} --full-refresh; to go on without "
            f"what they deleted: freshet checkpoint reset {name}, with READ_UPTO_LATEST_COMMIT. Where the writer's clock is "
            "behind, set it, and let it write in UTC (hoodie.table.timeline.timezone or -Duser.timezone).",
            source=source.ref.path,
            commits=list(window.late),
        )


def what_is_late(source: TableState, late: tuple[str, ...]) -> str:
    """Say which commits are named in the past."""
    return (
        f"{counted(len(late), 'commit')} of {source.ref.name} ({', '.join(late[:3])}{', ...' * (len(late) > 3)}) had not "
        "been read when the checkpoint was taken, and completed by times before it"
    )
