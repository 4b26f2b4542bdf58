"""Canal's flat messages as JSON: several rows of one statement in each, every value a text.

They tell no position in the binary log. The order is that of declared columns or of Kafka, and the rows of a message have
the order in which they stand there.
"""

from __future__ import annotations

from dataclasses import replace

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
from freshet.changelog.sql import first_reason, text

_CHANGES = ("INSERT", "UPDATE", "DELETE")
_EMPTIED = ("TRUNCATE", "ERASE")


def canal(source: Source) -> Adapter:
    """Return the adapter of Canal's flat messages.

    Args:
        source: The table, the order of changes, and how values are written; all of them as texts.

    Raises:
        ValueError: When the table or the order needs what the messages do not tell.
    """
    codings = {c.name: replace(source.coding_of(c), texts=True) for c in source.layout.columns}
    source = replace(source, codings=codings)
    row = source.raw_fields()
    fields = f"type: STRING, es: STRING, isDdl: STRING, data: ARRAY<STRUCT<{row}>>, old: ARRAY<STRUCT<{row}>>"
    message = object_of(MESSAGE)
    value, kind, data = f"{FROM}.value", f"{message}.type", f"{message}.data"
    old = f"get({message}.old, i)"
    both = f"array({change('true', key_row(source, old, 'd'), 'i')}, {change('false', raw_row(source, 'd'), 'i')})"
    is_delete = f"{kind} = 'DELETE'"
    one = f"array({change(is_delete, raw_row(source, 'd'), 'i')})"
    is_moved = f"{kind} = 'UPDATE' AND {old} IS NOT NULL AND ({moved(source, old, 'd')})"
    refused = [
        (text(SKIPPED), f"{value} IS NULL"),
        ("'malformed'", is_malformed(value, MESSAGE)),
        ("'truncated'", f"{kind} IN ({words(_EMPTIED)})"),
        (text(SKIPPED), f"{message}.isDdl = 'true'"),
        ("'no_change'", f"coalesce({kind} NOT IN ({words(_CHANGES)}), true) OR coalesce(size({data}), 0) < 1"),
    ]
    if source.strict:
        refused.append(("'missing'", lacks_columns(source, value, "$.data[0]")))
    return build(
        source,
        reads={MESSAGE: read_json(value, fields)},
        refused=first_reason(refused),
        changes=f"flatten(transform({data}, (d, i) -> CASE WHEN {is_moved} THEN {both} ELSE {one} END))",
        fields={"source": "'mysql'", "timestamp": f"try_cast({message}.es AS BIGINT)"},
        parts={},
    )
