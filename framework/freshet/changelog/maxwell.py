"""Maxwell's messages as JSON, with ``output_binlog_position``, ``output_xoffset`` and ``output_commit_info`` set.

A new key comes as one update, whose ``old`` has the key that was; it becomes a delete and an insert.
"""

from __future__ import annotations

from freshet.changelog.adapter import (
    FROM,
    MESSAGE,
    SKIPPED,
    Adapter,
    Source,
    build,
    change,
    is_malformed,
    key_row,
    lacks_columns,
    moved,
    object_of,
    raw_row,
    read_json,
    words,
)
from freshet.changelog.reference import SNAPSHOT
from freshet.changelog.sql import first_reason, name, text

_READ = "bootstrap-insert"
_CHANGES = ("insert", "update", "delete", _READ)
_SILENT = ("bootstrap-start", "bootstrap-complete", "heartbeat", "table-create", "table-alter")
_EMPTIED = ("table-drop", "database-drop", "table-truncate")
_LAST = "99999999999999999999"


def maxwell(source: Source) -> Adapter:
    """Return the adapter of Maxwell's messages.

    Args:
        source: The table, the order of changes, and how values are written.

    Raises:
        ValueError: When the table or the order needs what the messages do not tell.
    """
    row = source.raw_fields()
    texts = ", ".join(f"{name(one)}: STRING" for one in ("type", "ts", "position", "gtid", "xoffset", "commit"))
    value = f"{FROM}.value"
    message = object_of(MESSAGE)
    kind, data, old = f"{message}.type", f"{message}.data", f"{message}.old"
    # Where a part of the key stays, ``old`` does not have it.
    was = key_row(source, old, data)
    both = f"array({change('true', was)}, {change('false', raw_row(source, data))})"
    is_delete = f"{kind} = 'delete'"
    one = f"array({change(is_delete, raw_row(source, data))})"
    refused = [
        (text(SKIPPED), f"{value} IS NULL"),
        ("'malformed'", is_malformed(value, MESSAGE)),
        (text(SKIPPED), f"{kind} IN ({words(_SILENT)})"),
        ("'truncated'", f"{kind} IN ({words(_EMPTIED)})"),
        ("'no_change'", f"coalesce({kind} NOT IN ({words(_CHANGES)}), true) OR {data} IS NULL"),
    ]
    if source.strict:
        refused.append(("'missing'", lacks_columns(source, value, "$.data")))
    is_read = f"({kind} = '{_READ}')"
    is_moved = f"{kind} = 'update' AND {old} IS NOT NULL AND ({moved(source, old, data)})"
    return build(
        source,
        reads={MESSAGE: read_json(value, f"{texts}, data: STRUCT<{row}>, old: STRUCT<{row}>")},
        refused=first_reason(refused),
        changes=f"CASE WHEN {is_moved} THEN {both} ELSE {one} END",
        fields={"source": "'mysql'", "timestamp": f"try_multiply(try_cast({message}.ts AS BIGINT), 1000L)"},
        parts={
            "file": f"substring_index({message}.position, ':', 1)",
            "pos": f"substring_index({message}.position, ':', -1)",
            # The last row of a transaction has no offset within it, and says that it commits.
            "row": f"CASE WHEN {message}.commit = 'true' THEN '{_LAST}' ELSE {message}.xoffset END",
            "gtid": f"{message}.gtid",
            SNAPSHOT: is_read,
            # A table is read while its log goes on, and no message says from where.
            "snapshot_has_position": "false",
        },
    )
