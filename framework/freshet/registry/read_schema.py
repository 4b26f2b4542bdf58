"""An Avro schema with only those fields of its record that are read: the others may be of types that no column can have.

The types are those of the schema, so that nothing is resolved: what becomes of a value is ``freshet.registry.fitted``'s matter.
Only a decimal is read with more digits than it declares, because Avro holds nobody to them, and Spark cuts those that are more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from freshet.registry.inline import NAMED, PRIMITIVE, full_name, parsed

_MOST_DIGITS = 38
# Those that Spark 3.5 acts upon, and on which type; the others it reads as the type below them.
_LOGICAL = {
    "date": "int",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
}


def fields_of(text: str) -> tuple[str, ...]:
    """Return the names of a record's fields.

    Raises:
        ValueError: When it is no schema of a record.
    """
    return tuple(field["name"] for field in _record(text)["fields"])


def read_schema(text: str, names: Collection[str], as_declared: bool = False) -> dict[str, Any]:
    """Return a record's schema with some of its fields only.

    Args:
        text: The schema, with all that it refers to inside.
        names: Names of the fields.
        as_declared: True keeps the digits of decimals.

    Raises:
        ValueError: When it is no record, or one of the fields has a type that no column can have.
    """
    record = _record(text)
    known: dict[str, Any] = {}
    _collect(record, "", known)
    if _is_endless(record, "", known, ()):
        raise ValueError("it has a list whose elements take no byte, so that a garbled record could have thousands of millions")
    full = full_name(record, "")
    space, _, name = full.rpartition(".")
    walk = _Walk(known, full, as_declared)
    fields = []
    for field in record["fields"]:
        if field["name"] in names:
            try:
                fields.append({"name": field["name"], "type": walk.kind(field["type"], space)})
            except ValueError as error:
                raise ValueError(f"'{field['name']}': {error}") from error
    return {"type": "record", "name": name, "namespace": space, "fields": fields}


def _record(text: str) -> Mapping[str, Any]:
    found = parsed(text)
    if not isinstance(found, dict) or found.get("type") != "record":
        raise ValueError("it is no record")
    return found


def _collect(schema: Any, namespace: str, known: dict[str, Any]) -> None:
    """Find every definition of a named type."""
    if isinstance(schema, list):
        for one in schema:
            _collect(one, namespace, known)
    elif isinstance(schema, dict):
        if schema.get("type") in NAMED:
            full = full_name(schema, namespace)
            known[full] = schema
            space = full.rpartition(".")[0]
            names = [field["name"] for field in schema.get("fields", ())]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"its record '{full}' has two fields '{twice}'")
            for field in schema.get("fields", ()):
                _collect(field["type"], space, known)
        else:
            for part in ("type", "items", "values"):
                _collect(schema.get(part), namespace, known)


def _is_endless(schema: Any, namespace: str, known: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Say whether a type holds a list whose elements take no byte: Avro passes over as many of them as a record says."""
    match schema:
        case list():
            return any(_is_endless(one, namespace, known, path) for one in schema)
        case {"type": "array", "items": items}:
            return _is_empty(items, namespace, known, ()) or _is_endless(items, namespace, known, path)
        case {"type": "record" | "error", "fields": fields}:
            full = full_name(schema, namespace)
            space = full.rpartition(".")[0]
            return full not in path and any(_is_endless(one["type"], space, known, (*path, full)) for one in fields)
        case {"type": "map", "values": inner} | {"type": inner}:
            return not isinstance(inner, str) and _is_endless(inner, namespace, known, path)
    return False


def _is_empty(schema: Any, namespace: str, known: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    match schema:
        case "null" | {"type": "null"} | {"type": "fixed", "size": 0}:
            return True
        case str() if schema not in PRIMITIVE:
            full = next((one for one in (f"{namespace}.{schema}", schema) if one in known), "")
            return bool(full) and full not in path and _is_empty(known[full], full.rpartition(".")[0], known, (*path, full))
        case {"type": "record" | "error", "fields": fields}:
            space = full_name(schema, namespace).rpartition(".")[0]
            return all(_is_empty(one["type"], space, known, path) for one in fields)
        case {"type": dict() as inner}:
            return _is_empty(inner, namespace, known, path)
    return False


class _Walk:
    """Writes types anew, each name defined where it stands first."""

    def __init__(self, known: Mapping[str, Any], record: str, as_declared: bool) -> None:
        self._known = known
        self._as_declared = as_declared
        self._defined: set[str] = set()
        self._open = [record]

    def kind(self, schema: Any, namespace: str) -> Any:
        match schema:
            case str() if schema in PRIMITIVE:
                return schema
            case str():
                return self._named(schema, namespace)
            case list():
                found = ["null" if one == {"type": "null"} else one for one in schema]
                others = len([one for one in found if one != "null"])
                if others != 1:
                    raise ValueError(f"a value of one of {others} types cannot be a column")
                return [self.kind(one, namespace) for one in found]
            case {"type": kind} if kind in NAMED:
                return self._definition(schema, namespace)
            case {"type": "array", "items": items}:
                return {"type": "array", "items": self.kind(items, namespace)}
            case {"type": "map", "values": values}:
                return {"type": "map", "values": self.kind(values, namespace)}
            case {"type": str() as kind} if kind in PRIMITIVE:
                return {"type": kind, **self._logical(schema, kind)}
            case {"type": inner}:
                return self.kind(inner, namespace)
        raise ValueError("a part of it is no type")

    def _named(self, name: str, namespace: str) -> Any:
        for full in dict.fromkeys((name if "." in name or not namespace else f"{namespace}.{name}", name)):
            if full in self._open:
                raise ValueError(f"a value that may hold another '{full}' cannot be a column")
            if full in self._defined:
                return full
            if full in self._known:
                return self._definition({**self._known[full], **_placed(full)}, "")
        raise ValueError(f"'{name}' is defined nowhere")

    def _definition(self, schema: Mapping[str, Any], namespace: str) -> Any:
        full = full_name(schema, namespace)
        if full in self._open:
            raise ValueError(f"a value that may hold another '{full}' cannot be a column")
        if full in self._defined:
            return full
        self._defined.add(full)
        found: dict[str, Any] = {"type": schema["type"], **_placed(full)}
        match schema["type"]:
            case "enum":
                return {**found, "symbols": schema["symbols"]}
            case "fixed":
                return {**found, "size": schema["size"], **self._logical(schema, "fixed")}
        space = full.rpartition(".")[0]
        self._open.append(full)
        found["fields"] = [{"name": field["name"], "type": self.kind(field["type"], space)} for field in schema["fields"]]
        self._open.pop()
        return found

    def _logical(self, schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
        logical = schema.get("logicalType")
        if logical == "decimal" and kind in ("bytes", "fixed"):
            return self._decimal(schema, _MOST_DIGITS if kind == "bytes" else min(_MOST_DIGITS, _digits(schema["size"])))
        return {"logicalType": logical} if isinstance(logical, str) and _LOGICAL.get(logical) == kind else {}

    def _decimal(self, schema: Mapping[str, Any], most: int) -> dict[str, Any]:
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if not (isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision and precision > 0):
            # As Avro reads one that breaks its rules.
            return {}
        if schema["type"] == "fixed" and precision > _digits(schema["size"]):
            return {}
        if scale > most:
            raise ValueError(f"a decimal with {scale} digits behind the point cannot be a column")
        return {"logicalType": "decimal", "precision": precision if self._as_declared else most, "scale": scale}


def _placed(full: str) -> dict[str, str]:
    space, _, name = full.rpartition(".")
    return {"name": name, "namespace": space}


def _digits(size: int) -> int:
    """Return how many digits a decimal of some bytes can have, as Avro counts them."""
    return math.floor(math.log10(2) * (8 * size - 1))
