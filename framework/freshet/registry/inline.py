"""An Avro schema with the schemas that it refers to inside: one text, which defines each name where it stands first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PRIMITIVE = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
NAMED = ("record", "error", "enum", "fixed")


def inlined(text: str, references: Mapping[str, str]) -> str:
    """Return a schema that needs no other one.

    Args:
        text: The schema.
        references: The schemas that it refers to, by full name, each after those that it needs itself.

    Raises:
        ValueError: When one of them is no Avro schema, or a name is defined nowhere.
    """
    known: dict[str, Any] = {}
    try:
        for name, other in references.items():
            one = parsed(other)
            known[full_name(one, "") if isinstance(one, dict) and one.get("type") in NAMED else name] = one
        return json.dumps(_Walk(known).schema(parsed(text), ""))
    except (KeyError, TypeError) as error:
        raise ValueError(f"a part of it is no type: {error}") from error


class _Walk:
    """Walks a schema in the order in which Avro reads it, and remembers which names are defined by then."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known
        self._defined: set[str] = set()

    def schema(self, schema: Any, namespace: str) -> Any:
        match schema:
            case str() if schema in PRIMITIVE:
                return schema
            case str():
                return self._named(schema, namespace)
            case list():
                return [self.schema(one, namespace) for one in schema]
            case {"type": kind} if kind in NAMED:
                return self._definition(schema, namespace)
            case {"type": "array"}:
                return {**schema, "items": self.schema(schema["items"], namespace)}
            case {"type": "map"}:
                return {**schema, "values": self.schema(schema["values"], namespace)}
            case {"type": inner}:
                # A logical type of a primitive one stays as it is.
                return {**schema, "type": self.schema(inner, namespace)}
        raise ValueError(f"{json.dumps(schema)[:80]} is no type")

    def _named(self, name: str, namespace: str) -> Any:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        for one in (full, name):
            if one in self._defined:
                return one
            if one in self._known:
                found = self._known[one]
                return self._definition(found, "") if isinstance(found, dict) and "name" in found else self.schema(found, "")
        raise ValueError(f"'{full}' is defined nowhere")

    def _definition(self, schema: Mapping[str, Any], namespace: str) -> Any:
        full = full_name(schema, namespace)
        if full in self._defined:
            # Two of the schemas that are referred to may both bring a third one.
            return full
        self._defined.add(full)
        own, _, name = full.rpartition(".")
        found = {**schema, "name": name, "namespace": own}
        if "fields" in schema:
            found["fields"] = [{**field, "type": self.schema(field["type"], own)} for field in schema["fields"]]
        return found


def full_name(schema: Mapping[str, Any], namespace: str) -> str:
    """Return the full name of a named type.

    Args:
        schema: The type.
        namespace: Of what stands around it.

    Raises:
        ValueError: It has no name.
    """
    name = schema.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("a named type without a name")
    space = schema.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def parsed(text: str) -> Any:
    """Return a schema as data.

    Raises:
        ValueError: When it is none.
    """
    try:
        return json.loads(text)
    except ValueError:
        # A primitive type may be registered as a bare word.
        if text.strip() in PRIMITIVE:
            return text.strip()
        raise ValueError("it is no JSON") from None
    except RecursionError:
        raise ValueError("it is too deep") from None
