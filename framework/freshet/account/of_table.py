"""What became of each commit of a Hudi table that a pipeline reads. Pure, from the timelines of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freshet.account.model import Fate, Fed
from freshet.account.steps import BY_HAND, LATEST, WHOLE, Step
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.sources.hudi.look.late import MARGIN
from freshet.sources.hudi.look.window import is_cleaned
from freshet.sources.hudi.position import HudiPosition

_SERVICES = ("CLUSTER", "COMPACT", "LOG_COMPACT")


@dataclass
class _Story:
    """A commit of the source on its way through the target's steps."""

    instant: Instant
    info: CommitInfo
    is_active: bool
    by: list[str] = field(default_factory=list)
    fate: Fate = "waiting"
    why: str = ""


def fed_by(source: TableState, steps: Sequence[Step], name: str, since: str = "") -> tuple[Fed, ...]:
    """Return what became of each commit of a table, oldest first, and then of those that it has taken back.

    Args:
        source: The table's timeline.
        steps: The target's steps, oldest first.
        name: The input's name in the checkpoint.
        since: Completion time; commits of the table of before are left out. Empty for all that its timeline tells.
    """
    stories = _stories(source, since)
    before: HudiPosition | None = None
    for number, step in enumerate(steps):
        position = step.position(name)
        if not isinstance(position, HudiPosition) or (position.table and not position.is_at(source.ref.path)):
            # Reset, or of another table: whatever comes now begins anew.
            before = None
            continue
        for story in stories:
            if not _covers(position, story):
                continue
            if step.origin == WHOLE:
                # All rows as they stood: what had been read is there once, and what had been passed over is there, too.
                story.by, story.fate, story.why = [step.instant.completed], "whole", ""
            elif before is None or not _covers(before, story):
                _taken(story, step, is_first=number == 0)
        before = position
    for story in stories:
        _left(story, source)
    return (*(_fed(story) for story in stories), *_gone(source, steps, name, since))


def _stories(source: TableState, since: str) -> list[_Story]:
    active = [_Story(i, source.info(i), True) for i in source.data_commits if i.completed > since]
    known = frozenset(i.requested for i in source.commits)
    archived = [_Story(i, info, False) for i, info in source.load_archived(since, known)]
    found = [story for story in (*archived, *active) if story.info.operation not in _SERVICES]
    return sorted(found, key=lambda story: story.instant)


def _covers(position: HudiPosition, story: _Story) -> bool:
    """Say whether a position counts a commit as read, as ``late_commits`` has it."""
    instant, known = story.instant, position.known
    if position.basis == "requested":
        return instant.requested <= position.instant
    if instant.completed > position.instant:
        return False
    if not known.commits or instant.requested in {requested for requested, _ in known.commits}:
        return True
    if len(known.commits) >= MARGIN and instant.completed <= known.commits[0][1]:
        return True
    # What had been archived by then no position names; what stands in the active timeline now stood there then.
    return not story.is_active and instant.completed <= known.since


def _taken(story: _Story, step: Step, is_first: bool) -> None:
    when = step.when
    if step.reads and is_first:
        story.fate = "before"
    elif step.reads:
        story.why = f"read again by {when}: the checkpoint had been set back before it" if story.by else ""
        story.by.append(step.instant.completed)
        story.fate = "taken"
    elif story.fate == "waiting":
        if step.origin == LATEST:
            story.fate, story.why = "skipped", f"READ_LATEST: the first run, {when}, began behind it"
        elif is_first:
            story.fate = "before"
        else:
            hand = "set by hand" if step.origin == BY_HAND else f"moved by a commit that reads nothing ({step.origin})"
            story.fate, story.why = "dropped", f"the checkpoint was {hand} at {when}, beyond it, and no run has read it"


def _left(story: _Story, source: TableState) -> None:
    if story.fate == "waiting" and (not story.is_active or is_cleaned(source, story.instant)):
        what = "archived" if not story.is_active else "cleaned"
        story.fate, story.why = "dropped", f"it was {what} before it was read"


def _fed(story: _Story) -> Fed:
    return Fed(what=story.instant.completed, rows=story.info.rows, fate=story.fate, by=tuple(story.by), why=story.why)


def _gone(source: TableState, steps: Sequence[Step], name: str, since: str) -> list[Fed]:
    """Return the commits that the newest position knows as read and that the source has no more."""
    position = steps[-1].position(name) if steps else None
    if not isinstance(position, HudiPosition) or not position.known.commits:
        return []
    standing = {i.requested for i in source.commits}
    missing = [(r, c) for r, c in position.known.commits if r not in standing and c > since]
    if not missing:
        return []
    archived = {i.requested for i in source.archived(min(c for _, c in missing)[:-1])}
    # An archive that was cut off begins later than what is missing.
    first = min((*standing, *archived), default="")
    return [
        Fed(what=c, rows=0, fate="gone", why="the source has taken it back: the target holds rows of it that nothing names")
        for r, c in missing
        if r not in archived and r > first
    ]


def repeats(earlier: Step, step: Step, name: str) -> bool:
    """Say whether a commit that should have read on counts nothing as read that an earlier one had not counted."""
    before, after = earlier.position(name), step.position(name)
    if step.origin != "increment" or not isinstance(before, HudiPosition) or not isinstance(after, HudiPosition):
        return False
    return (before.instant, before.known.commits) == (after.instant, after.known.commits)
