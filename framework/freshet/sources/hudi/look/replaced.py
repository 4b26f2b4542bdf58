"""Another table under the path of one that was read: it does not know the commits that the position knows. Pure."""

from __future__ import annotations

from freshet.errors import StateError
from freshet.hudi.table import TableState
from freshet.sources.hudi.look.taken_back import refuse_known_taken_back
from freshet.sources.hudi.position import HudiPosition


def refuse_replaced(name: str, table: TableState, position: HudiPosition) -> None:
    """Refuse to go on in a table that does not know the commits up to which it was read.

    A position of HoodieStreamer's knows none. Request times name a commit for good: they outlast
    the archive and an upgrade of the table.

    Args:
        name: The pipeline's name, and the input's, for messages.
        table: The table.
        position: How far it was read.

    Raises:
        StateError: SOURCE_RESTORED, SOURCE_ROLLED_BACK or SOURCE_REPLACED.
    """
    refuse_known_taken_back(name, table, position)
    named = {requested for requested, completed in position.known.commits if completed == position.instant}
    if not named or any(i.requested in named for i in table.commits):
        return
    if any(i.requested in named for i in table.archived("")):
        return
    pipeline = name.partition(":")[0]
    raise StateError(
        "SOURCE_REPLACED",
        f"{name}: {table.ref.path} is another table than the one that was read, or was brought back from a copy: it "
        f"knows no commit {min(named)}, up to which the target holds its rows.",
        "Nothing was read or written. Rows that the table no longer has may stand in the target.",
        f"To have the target hold what the table holds now: freshet run {pipeline} --full-refresh; to read the table "
        f"again over what the target holds: freshet checkpoint reset {pipeline}",
        source=table.ref.path,
        commit=min(named),
    )
