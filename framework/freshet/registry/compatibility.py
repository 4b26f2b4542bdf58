"""A table's DDL held against the schema that its topic's producers write: what would not fit is known before a message comes.

The rules are those by which records are decoded: each column is found by its name, and its type by what may be written into a
table's column without a loss (``freshet.registry.fitted``). Avro's resolution would let a reader narrow nothing and widen more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from freshet.registry.address import Address
from freshet.registry.client import Registry, Schema
from freshet.registry.fitted import fitted
from freshet.registry.read_schema import fields_of, read_schema
from freshet.types.columns import Column
from freshet.types.from_json import from_avro


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing in which a table and a subject differ.

    Args:
        kind: ``problem`` where rows could not be written; ``notice`` where they can, and somebody should know.
        column: The column or field; empty where the schema as a whole is meant.
        message: What differs, in a sentence.
    """

    kind: Literal["problem", "notice"]
    column: str
    message: str


def held_against(address: Address, subjects: Sequence[str], columns: Sequence[Column]) -> dict[str, tuple[Difference, ...]]:
    """Hold a table's columns against the newest schema of each of several subjects.

    Args:
        address: The registry.
        subjects: The subjects.
        columns: The columns that messages fill.

    Returns:
        What differs, by subject.

    Raises:
        StateError: REGISTRY_SUBJECT_UNKNOWN.
        FreshetError: As ``freshet.registry.http.ask``.
    """
    registry = Registry(address)
    return {one: differences(columns, registry.latest(one), registry.compatibility(one)) for one in subjects}


def differences(columns: Sequence[Column], schema: Schema, level: str = "BACKWARD") -> tuple[Difference, ...]:
    """Hold a table's columns against a subject's schema.

    Args:
        columns: The table's columns that messages fill.
        schema: The newest schema of the subject.
        level: What the registry allows of a later one, as it says it.

    Returns:
        What differs, the problems first.
    """
    found = list(_of_level(level))
    if schema.kind != "AVRO":
        return (*found, _problem("", f"only schemas of Avro can be compared, and this is one of {schema.kind}"))
    try:
        names = fields_of(schema.text)
        read = read_schema(schema.text, {column.name for column in columns}, as_declared=True)
        fields = {field.name: field for field in from_avro(read)}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return (_problem("", f"the schema is none that a table can be filled from: {error}"), *found)
    others = [name for name in names if name not in fields]
    for column in columns:
        field = fields.get(column.name)
        found += [_missing(column, others)] if field is None else _of_column(column, field)
    found += [_notice(name, f"'{name}' is in the messages and not in the table, and is left out") for name in others]
    return tuple(sorted(found, key=lambda one: one.kind != "problem"))


def _of_level(level: str) -> list[Difference]:
    if level != "NONE":
        return []
    return [_notice("", "the registry allows any later schema (compatibility NONE), so that this one says nothing of the next")]


def _missing(column: Column, others: Sequence[str]) -> Difference:
    near = next((name for name in others if name.lower() == column.name.lower()), "")
    hint = f"; '{near}' differs in case" if near else ""
    if near or not column.nullable:
        return _problem(column.name, f"'{column.name}' is not in the messages{hint}")
    return _notice(column.name, f"'{column.name}' is not in the messages, and is null in every row")


def _of_column(column: Column, field: Column) -> Iterator[Difference]:
    try:
        narrows = fitted(column.name, field.type, column.type).narrows
    except ValueError as error:
        yield _problem(column.name, f"'{column.name}' is {field.type} in the messages and {column.type} in the table: {error}")
    else:
        if narrows:
            words = f"'{column.name}' is {field.type} in the messages and {column.type} in the table: a value may not fit"
            yield _notice(column.name, words)
    if field.nullable and not column.nullable:
        yield _problem(column.name, f"'{column.name}' may be null in the messages, and is NOT NULL in the table")


def _problem(column: str, message: str) -> Difference:
    return Difference(kind="problem", column=column, message=message)


def _notice(column: str, message: str) -> Difference:
    return Difference(kind="notice", column=column, message=message)
