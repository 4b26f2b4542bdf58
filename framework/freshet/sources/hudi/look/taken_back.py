"""Refuse to go on from commits that a source has taken back: a restore or a rollback leaves no trace of their rows. Pure."""

from __future__ import annotations

from collections.abc import Collection

from freshet.errors import StateError
from freshet.hudi.table import Instant, TableState
from freshet.sources.hudi.look.late import MARGIN
from freshet.sources.hudi.position import HudiPosition


def refuse_taken_back(name: str, source: TableState, read_upto: str) -> None:
    """Refuse a position that knows no commits where the source no longer has the one that it names.

    Args:
        name: The pipeline's name, for messages.
        source: The source's timeline now.
        read_upto: Completion time of the last commit read.

    Raises:
        StateError: SOURCE_RESTORED or SOURCE_ROLLED_BACK: commits that were read before were taken back since.
    """
    # Every failed write is rolled back, too. One that was read had completed by then.
    taken = [
        i for i in _since(source, read_upto) if i.action == "restore" or any(r < read_upto for r in source.load_taken_back(i))
    ]
    if not taken or any(i.completed == read_upto for i in (*source.commits, *source.archived(_just_below(read_upto)))):
        return
    raise _taken_back(name, source, read_upto, (), any(i.action == "restore" for i in taken))


def refuse_known_taken_back(name: str, source: TableState, position: HudiPosition) -> None:
    """Refuse a position of whose commits the source has taken one back, whichever it is.

    The position's own may stay: where several writers clean failed writes lazily Hudi takes back any commit, and one that
    was overtaken had completed before it and was requested after it.

    Args:
        name: The pipeline's name, for messages.
        source: The source's timeline now.
        position: How far it was read; without commits that it knows nothing is refused.

    Raises:
        StateError: SOURCE_RESTORED or SOURCE_ROLLED_BACK.
    """
    known = position.known.commits
    if not known:
        return
    since = _since(source, position.instant)
    restored = any(i.action == "restore" for i in since)
    named = {request for i in since if i.action == "rollback" for request in source.load_taken_back(i)}
    # A full list has dropped older ones: nothing tells these from a failed write that was left for so long.
    dropped = {r for r in named if r < known[0][1]} - {r for r, _ in known} if len(known) >= MARGIN else set()
    dropped -= {i.requested for i in source.commits}
    if dropped:
        dropped -= {i.requested for i in source.archived(_just_below(min(dropped)))}
    gone = dropped | _gone(source, position, named, restored)
    if gone:
        raise _taken_back(name, source, position.instant, gone, restored)


def _gone(source: TableState, position: HudiPosition, named: Collection[str], restored: bool) -> set[str]:
    """Return the request times of the known commits that were taken back."""
    active = {i.requested for i in source.commits}
    missing = {r: completed for r, completed in position.known.commits if r not in active}
    # Most of these are archived, and an idle tick, which moves nothing, must not pay for a look there.
    moves = any(i.completed > position.instant for i in source.data_commits)
    if not missing or not (moves or restored or not missing.keys().isdisjoint(named)):
        return set()
    archived = source.archived(_just_below(min(missing)))
    gone = missing.keys() - {i.requested for i in archived}
    own = {r for r, completed in position.known.commits if completed == position.instant}
    if own and own <= gone and not restored and own.isdisjoint(named):
        # The last commit read is gone without a trace: that is another table, see replaced.
        return set()
    # A rollback goes to the archive with commits that were requested after it, and so after what was read. Where there are
    # none, and nothing in the timeline tells, the archive itself was deleted.
    untold = restored or any(i.requested > position.instant for i in archived)
    return gone if untold else gone & set(named)


def _since(source: TableState, read_upto: str) -> list[Instant]:
    return [i for i in source.instants if i.action in ("restore", "rollback") and i.completed > read_upto]


def _just_below(instant: str) -> str:
    # What completed at that time, or was requested then, comes after this text.
    return instant[:-1]


def _taken_back(name: str, source: TableState, read_upto: str, gone: Collection[str], restored: bool) -> StateError:
    standing = max((i.completed for i in source.commits if i.completed <= read_upto), default="")
    what = f"the commit of the checkpoint {read_upto} is"
    if gone:
        listed = f"{', '.join(sorted(gone)[:3])}{', ...' * (len(gone) > 3)}"
        what = f"of the commits up to the checkpoint {read_upto} {len(gone)} ({listed}) {'is' if len(gone) == 1 else 'are'}"
    return StateError(
        "SOURCE_RESTORED" if restored else "SOURCE_ROLLED_BACK",
        f"{name}: {source.ref.path} was {'restored to an earlier time' if restored else 'rolled back'}, and {what} gone: the "
        "target holds rows that the source no longer has, and nothing tells which.",
        "Nothing was read or written.",
        f"To have them gone: freshet run {name} --full-refresh. To go on and keep them: "
        f"freshet checkpoint set {name} {standing or 'INSTANT'}; to read the whole table again over them: "
        f"freshet checkpoint reset {name}",
        checkpoint=read_upto,
        standing=standing,
        commits=sorted(gone),
    )
