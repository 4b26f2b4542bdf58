"""What stands in front of a value that was written with a schema registry: a zero byte and the id of its schema, as Spark SQL.

Spark decodes Avro by a function that takes the writer's schema as a literal. Each id is therefore a branch of its own; which
ids a batch holds is asked first, and each is resolved once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from freshet.registry.client import Schema

_HEAD = 5


@dataclass(frozen=True, kw_only=True)
class Branch:
    """The values of one schema.

    Args:
        schema_id: The id.
        condition: Which rows these are, as SQL.
        payload: The value without what stands in front of it, as SQL.
        writer: The schema that they were written with, for ``pyspark.sql.avro.functions.from_avro``.
        options: Its options. A record that does not fit its schema becomes null, and is then known by ``is_undecoded``.
    """

    schema_id: int
    condition: str
    payload: str
    writer: str
    options: Mapping[str, str]


def is_framed(value: str) -> str:
    """Return whether bytes have the id of a schema in front."""
    return f"coalesce(length({value}) >= {_HEAD} AND substring({value}, 1, 1) = X'00', false)"


def schema_id(value: str) -> str:
    """Return the id in front of a value, of 32 bits without a sign, or null where there is none."""
    return f"CASE WHEN {is_framed(value)} THEN CAST(conv(hex(substring({value}, 2, 4)), 16, 10) AS BIGINT) END"


def payload(value: str) -> str:
    """Return a value without what stands in front of it."""
    return f"substring({value}, {_HEAD + 1})"


def reason(value: str, known: Iterable[int]) -> str:
    """Return why a value cannot be decoded, or null: a value that is null is not this module's matter.

    Args:
        value: The value, as SQL.
        known: The ids that the registry has.
    """
    ids = ", ".join(f"{one}L" for one in sorted(known))
    unknown = f"{schema_id(value)} NOT IN ({ids})" if ids else "true"
    unframed = f"{value} IS NOT NULL AND NOT {is_framed(value)}"
    return f"CASE WHEN {unframed} THEN 'no_schema_id' WHEN {value} IS NOT NULL AND {unknown} THEN 'unknown_schema_id' END"


def branches(value: str, schemas: Mapping[int, Schema | None], reader: str) -> tuple[Branch, ...]:
    """Return how the values of a batch are decoded.

    Args:
        value: The value, as SQL.
        schemas: What ``Registry.schemas`` told of the batch's ids; those that are None have no branch.
        reader: The schema that the rows shall have, as Avro; defaults and wider types are resolved by it.

    Raises:
        ValueError: When a schema is not Avro's: JSON needs no branch, and Protobuf is not decoded.
    """
    others = sorted({found.kind for found in schemas.values() if found is not None} - {"AVRO"})
    if others:
        raise ValueError(f"values of {', '.join(others)} have no branch of Avro's")
    return tuple(
        Branch(
            schema_id=one,
            condition=f"{schema_id(value)} = {one}L",
            payload=payload(value),
            writer=found.text,
            options={"mode": "PERMISSIVE", "avroSchema": reader},
        )
        for one, found in sorted(schemas.items())
        if found is not None
    )


def is_undecoded(value: str, record: str) -> str:
    """Return whether a value is there and its decoded record is not."""
    return f"{value} IS NOT NULL AND {record} IS NULL"
