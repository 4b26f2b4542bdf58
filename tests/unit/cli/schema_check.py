"""As much of JSON Schema as the project's own schema uses; a keyword that it does not know is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NOTES = frozenset(("$schema", "$defs", "title", "description", "default", "examples", "deprecated"))
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def mistakes(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """Return what of the value does not fit, each with its path."""
    return _check(value, schema, schema, "")


def _check(value: Any, schema: Mapping[str, Any], top: Mapping[str, Any], path: str) -> list[str]:
    found: list[str] = []
    for word, rule in schema.items():
        if word in _NOTES or word in ("then", "else", "additionalProperties", "propertyNames"):
            continue
        found += _rule(value, word, rule, schema, top, path)
    if isinstance(value, dict):
        found += _further(value, schema, top, path)
    return found


def _rule(value: Any, word: str, rule: Any, schema: Mapping[str, Any], top: Mapping[str, Any], path: str) -> list[str]:
    def fits(other: Mapping[str, Any]) -> bool:
        return not _check(value, other, top, path)

    good = True
    match word:
        case "$ref":
            return _check(value, top["$defs"][rule.removeprefix("#/$defs/")], top, path)
        case "if":
            return _check(value, schema.get("then" if fits(rule) else "else", {}), top, path)
        case "anyOf":
            good = any(fits(other) for other in rule)
        case "type":
            good = any(_is(value, kind) for kind in ([rule] if isinstance(rule, str) else rule))
        case "enum":
            good = value in rule
        case "const":
            good = value == rule
        case "required":
            good = isinstance(value, dict) and set(rule) <= set(value)
        case "minLength":
            good = not isinstance(value, str) or len(value) >= rule
        case "minItems":
            good = not isinstance(value, list) or len(value) >= rule
        case "minimum":
            good = not _is(value, "number") or value >= rule
        case "maximum":
            good = not _is(value, "number") or value <= rule
        case "pattern":
            good = not isinstance(value, str) or re.search(rule, value) is not None
        case "items":
            listed = value if isinstance(value, list) else []
            return [m for i, item in enumerate(listed) for m in _check(item, rule, top, f"{path}{i}.")]
        case "properties":
            known = {k: v for k, v in value.items() if k in rule} if isinstance(value, dict) else {}
            return [m for k, v in known.items() for m in _check(v, rule[k], top, f"{path}{k}.")]
        case _:
            raise NotImplementedError(word)
    return [] if good else [f"{path.rstrip('.')}: {word} {rule}"]


def _further(value: Mapping[str, Any], schema: Mapping[str, Any], top: Mapping[str, Any], path: str) -> list[str]:
    found: list[str] = []
    other = schema.get("additionalProperties", True)
    for key, item in value.items():
        found += _check(key, schema.get("propertyNames", {}), top, f"{path}{key}.")
        if key in schema.get("properties", {}) or other is True:
            continue
        found += [f"{path}{key}: unknown key"] if other is False else _check(item, other, top, f"{path}{key}.")
    return found


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))
