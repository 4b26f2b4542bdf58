"""Tell by a table's commits alone which files hold the rows of one of its versions."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from freshet.hudi.actions import file_group
from freshet.hudi.table import Instant, TableState
from freshet.sources.hudi.reads import Version

# Older ones are left: each has metadata to read. Hudi's defaults keep 30 in the active timeline.
_MOST_COMMITS, _AT_ONCE = 50, 8
_OVERWRITES = ("INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE", "DELETE_PARTITION")


def newest_files(table: TableState, version: Version, groups: Collection[str] | None = None) -> tuple[tuple[str, int], ...]:
    """Return path and size of the files that a version's rows lie in, those of the newest commits first.

    Args:
        table: The table. What commits wrote that are archived by now, or older than the version's newest 50, is not told.
        version: The version.
        groups: The file groups that are asked for; None for all.
    """
    shown = [i for i in table.commits if _is_shown(i, version)][-_MOST_COMMITS:]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        infos = list(zip(shown, pool.map(table.info, shown), strict=True))
    replaced = {group for _, info in infos for group in info.replaced_ids}
    # A file that had been lost by then was listed by nobody, and is named by no overwrite as replaced.
    anew = {partition: i.requested for i, info in infos if info.operation in _OVERWRITES for partition in info.partitions}
    all_anew = max((i.requested for i, info in infos if info.operation == "INSERT_OVERWRITE_TABLE"), default="")
    written = [
        (i, path, size, found[0])
        for i, info in infos
        for path, size in info.files
        if (found := file_group(path))
        and found[0] not in replaced
        and (groups is None or found[0] in groups)
        and i.requested >= max(all_anew, anew.get(path.rpartition("/")[0], ""))
    ]
    bases: dict[str, str] = {}
    for instant, path, _, group in written:
        if not is_log(path):
            bases[group] = max(bases.get(group, ""), instant.requested)
    # A log lies over the newest base file that was requested before the log's commit completed. Older ones may be cleaned.
    return tuple(
        (path, size)
        for instant, path, size, group in reversed(written)
        if (instant.completed > bases.get(group, "") if is_log(path) else instant.requested == bases[group])
    )


def _is_shown(instant: Instant, version: Version) -> bool:
    return not version.as_of or instant.requested <= version.as_of or instant.requested in version.overtakers


def is_log(path: str) -> bool:
    """Say whether a file of a table is a log, and no base file."""
    return ".log." in path.rpartition("/")[2]
