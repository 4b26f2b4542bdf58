"""How a record names the schema that its value or its key was written with, as Spark SQL over Kafka's columns.

By a zero byte and the schema's id in front, or by a header, in front of which nothing stands: the byte 1 and the schema's GUID.
The header counts where there is one, as it does for the serialisers that write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Part = Literal["value", "key"]

#: The header that names a schema.
HEADERS: Mapping[Part, str] = {"value": "__value_schema_id", "key": "__key_schema_id"}
_HEAD = 5
_GUID = 17


def is_framed(value: str) -> str:
    """Return whether bytes have the id of a schema in front."""
    return f"coalesce(length({value}) >= {_HEAD} AND substring({value}, 1, 1) = X'00', false)"


def is_named(part: Part) -> str:
    """Return whether a header names the schema of a part."""
    return f"({_position(part)} > 0)"


def has_several(part: Part) -> str:
    """Return whether several headers do."""
    return f"coalesce(size(array_remove(headers.key, '{HEADERS[part]}')) < size(headers) - 1, false)"


def guid(part: Part) -> str:
    """Return the GUID that a header holds, in hexadecimal; null where it holds none."""
    held = f"get(headers.value, CAST({_position(part)} - 1 AS INT))"
    return (
        f"CASE WHEN {is_named(part)} AND length({held}) = {_GUID} AND substring({held}, 1, 1) = X'01' "
        f"THEN hex(substring({held}, 2)) END"
    )


def schema_id(part: Part, by_guid: Mapping[str, int]) -> str:
    """Return the id of a part's schema, of 32 bits without a sign, or null where none is named.

    Args:
        part: The column that has the part.
        by_guid: The ids of schemas by their GUIDs.
    """
    in_front = f"CASE WHEN {is_framed(part)} THEN CAST(conv(hex(substring({part}, 2, 4)), 16, 10) AS BIGINT) END"
    cases = " ".join(f"WHEN '{text}' THEN {number}L" for text, number in by_guid.items())
    named = f"CASE {guid(part)} {cases} END" if cases else "CAST(NULL AS BIGINT)"
    return f"CASE WHEN {is_named(part)} THEN {named} ELSE {in_front} END"


def payload(part: Part) -> str:
    """Return a part without what stands in front of it."""
    return f"CASE WHEN {is_named(part)} THEN {part} ELSE substring({part}, {_HEAD + 1}) END"


def _position(part: Part) -> str:
    return f"coalesce(array_position(headers.key, '{HEADERS[part]}'), 0)"
