"""What stands in front of a value that was written with a schema registry: a zero byte and a schema's id, as Spark SQL."""

from __future__ import annotations

_HEAD = 5


def is_framed(value: str) -> str:
    """Return whether bytes have the id of a schema in front."""
    return f"coalesce(length({value}) >= {_HEAD} AND substring({value}, 1, 1) = X'00', false)"


def schema_id(value: str) -> str:
    """Return the id in front of a value, of 32 bits without a sign, or null where there is none."""
    return f"CASE WHEN {is_framed(value)} THEN CAST(conv(hex(substring({value}, 2, 4)), 16, 10) AS BIGINT) END"


def payload(value: str) -> str:
    """Return a value without what stands in front of it."""
    return f"substring({value}, {_HEAD + 1})"
