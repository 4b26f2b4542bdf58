"""Refuse to go on from commits that a source has taken back: a restore or a rollback leaves no trace of their rows. Pure."""

from __future__ import annotations

from freshet.errors import StateError
from freshet.state.table import TableState


def refuse_taken_back(name: str, source: TableState, read_upto: str) -> None:
    """Refuse a position whose rows the source no longer has.

    Args:
        name: The pipeline's name, for messages.
        source: The source's timeline now.
        read_upto: Completion time of the last commit read.

    Raises:
        StateError: SOURCE_RESTORED or SOURCE_ROLLED_BACK: commits that were read before were taken back since.
    """
    since = [i for i in source.instants if i.action in ("restore", "rollback") and i.completed > read_upto]
    # Every failed write is rolled back, too. One that was read had completed by then; and commits are taken back from the
    # newest on, so that the one that the position names is among them.
    taken = [i for i in since if i.action == "restore" or any(r < read_upto for r in source.load_taken_back(i))]
    if not taken or any(i.completed == read_upto for i in source.commits) or _archived(source, read_upto):
        return
    restored = any(i.action == "restore" for i in taken)
    standing = max((i.completed for i in source.commits if i.completed < read_upto), default="")
    raise StateError(
        "SOURCE_RESTORED" if restored else "SOURCE_ROLLED_BACK",
        f"{name}: {source.ref.path} was {'restored to an earlier time' if restored else 'rolled back'}, and the commit of the "
        f"checkpoint {read_upto} is gone: the target holds rows that the source no longer has, and nothing tells which.",
        "Nothing was read or written.",
        f"To have them gone: freshet run {name} --full-refresh. To go on and keep them: "
        f"freshet checkpoint set {name} {standing or 'INSTANT'}; to read the whole table again over them: "
        f"freshet checkpoint reset {name}",
        checkpoint=read_upto, standing=standing,
    )


def _archived(source: TableState, read_upto: str) -> bool:
    # Hudi archives the oldest commits, and none that was taken back.
    oldest = min((i.completed for i in source.commits), default="")
    return read_upto < oldest and any(i.completed == read_upto for i, _ in source.load_archived(""))
