"""Tell whether the rows of commits may be read out of the logs that these wrote, without the files below. Pure.

Hudi 1.0.2 merges each row of a MERGE_ON_READ base file with its logs, all columns of it: of 1% of 4 million rows the version
at the end takes 14 times what the logs alone take. A log's row that is whole is what a reader sees, unless another outranks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.sources.hudi.look.whole_files import of_one_schema, was_overtaken
from freshet.sources.hudi.reads import Logs

# What appends rows, or marks of deleted ones, and does nothing else.
_APPENDS = ("UPSERT", "UPSERT_PREPPED", "INSERT", "INSERT_PREPPED", "BULK_INSERT", "DELETE", "DELETE_PREPPED")
# Types that Spark orders as Hudi does, in Avro's words.
_ORDERED = ("int", "long", {"type": "long", "logicalType": "timestamp-micros"})


def in_logs(source: TableState, taken: Sequence[Instant]) -> Logs | None:
    """Return where the rows stand that some commits logged; None where a log may not tell what became of a row.

    Args:
        source: The table.
        taken: The commits, one after the other.
    """
    if not source.config.whole_logs or source.pending or was_overtaken(source, taken):
        return None
    by_time = source.config.properties.get("hoodie.record.merge.mode") == "EVENT_TIME_ORDERING"
    since = _first_logged(source, taken) if by_time else taken[0].completed
    end = taken[-1].completed
    read = [i for i in source.commits if since and since <= i.completed <= end]
    around = [i for i in source.commits if i not in read and i.requested <= end and i.completed >= since]
    if not read or around or not _one_after_the_other(read):
        return None
    infos = [source.info(i) for i in read]
    if any(i.action != "deltacommit" for i in read) or any(info.operation not in _APPENDS for info in infos):
        return None
    schema = of_one_schema(source, read)
    ordering = source.config.ordering_field if by_time else ""
    if schema is None or (by_time and not _is_ordered(schema, ordering)):
        return None
    return Logs(since, ordering)


def _first_logged(source: TableState, taken: Sequence[Instant]) -> str:
    """Return when the oldest log began to lie over the base files that the commits logged to; empty where that is archived."""
    groups = {group for i in taken for group in source.info(i).file_ids}
    upto = [(i, source.info(i)) for i in source.commits if i.completed <= taken[-1].completed]
    # A log lies over the newest base file that was requested before the log's commit completed.
    bases = dict.fromkeys(groups, "")

    def find_bases(commits: Sequence[tuple[Instant, CommitInfo]]) -> None:
        for instant, info in commits:
            for group in groups & (set(info.file_ids) - set(info.log_ids)):
                bases[group] = max(bases[group], instant.requested)

    def lies_over(instant: Instant, info: CommitInfo) -> bool:
        return any(instant.completed > bases[group] for group in groups & set(info.log_ids))

    find_bases(upto)
    archived = source.load_archived(min(bases.values(), default=""))
    find_bases(archived)
    if any(lies_over(*one) for one in archived):
        return ""
    return min(instant.completed for instant, info in upto if instant in taken or lies_over(instant, info))


def _one_after_the_other(read: Sequence[Instant]) -> bool:
    return all(before.completed < after.requested for before, after in pairwise(read))


def _is_ordered(schema: dict[str, Any], column: str) -> bool:
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    found = kinds.get(column)
    if isinstance(found, list):
        found = next((kind for kind in found if kind != "null"), None) if len(found) == 2 else None
    return found in _ORDERED
