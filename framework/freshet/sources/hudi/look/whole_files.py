"""Tell whether Spark may read the rows of commits out of the files that these wrote, without Hudi's reader. Pure.

Hudi 1.0.2 reads an increment row by row, and Spark the same Parquet files column by column.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from freshet.hudi.table import Instant, TableState
from freshet.sources.hudi.look.partitions import is_plain
from freshet.sources.hudi.look.versions import version_at_end

# Hudi's "schema on read": columns may have other names in the files.
_RENAMES = "latest_schema"


def in_whole_files(source: TableState, taken: Sequence[Instant]) -> bool:
    """Return True where the rows stand whole, and as Hudi would show them, in the files that some commits wrote.

    Args:
        source: The table.
        taken: The commits, one after the other.
    """
    between = [i for i in source.commits if taken[0].completed <= i.completed <= taken[-1].completed]
    if not source.config.whole_files or between != list(taken) or any(i.action != "commit" for i in taken):
        return False
    if was_overtaken(source, taken):
        return False
    if not version_at_end(source, taken[-1].completed):
        # What else is read of the table with these rows is as it is now, and has what was written over them since.
        return False
    return of_one_schema(source, taken) is not None


def was_overtaken(source: TableState, taken: Sequence[Instant]) -> bool:
    """Say whether a commit that was requested after one of some commits completed before it: its rows may lie over theirs.

    Args:
        source: The table.
        taken: The commits.
    """
    return any(i.requested > one.requested and i.completed < one.completed for one in taken for i in source.commits)


def of_one_schema(source: TableState, taken: Sequence[Instant]) -> dict[str, Any] | None:
    """Return the table's Avro schema where some commits wrote by it, to paths that are their columns' values; else None.

    Args:
        source: The table.
        taken: The commits.
    """
    # Hudi shows all rows by the newest schema; the files of an older one would have to be cast.
    extras = [source.info(i).extra for i in (*taken, source.commits[-1])]
    schemas = {extra.get("schema", "") for extra in extras}
    if len(schemas) > 1 or "" in schemas or any(extra.get(_RENAMES) for extra in extras) or source.has_schema_history():
        return None
    schema: Any = json.loads(schemas.pop())
    if not isinstance(schema, dict):
        return None
    return schema if all(is_plain(path, source.config) for i in taken for path in source.info(i).partitions) else None
