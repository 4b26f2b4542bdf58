"""Facts without secrets: every text of them passes the one redaction before it reaches a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from freshet.secrets import redact, redact_tree

Facts = TypeVar("Facts")
# Words of freshet's own that pages are made by; see ``secrets``.
_OWN_WORDS = {"code": "code", "state": "state", "outcome": "outcome", "result": "status", "tone": "status", "kind": "kind"}
# By these links are made: whoever makes them takes care that they hold no secret.
_KEPT = ("slug", "pipeline", "upstream")


def shown(facts: Facts) -> Facts:
    """Return facts with every secret that this process has read replaced by ``${env.NAME}``.

    Args:
        facts: A value of plain values: frozen data classes, tuples, mappings, texts and numbers.
    """
    # Pages repeat few texts, and to look at one costs more than to remember it.
    seen: dict[str, str] = {}
    found: Facts = _shown(facts, seen)
    return found


def _shown(value: Any, seen: dict[str, str]) -> Any:
    match value:
        case str():
            return seen[value] if value in seen else seen.setdefault(value, redact(value))
        case tuple():
            return tuple(_shown(one, seen) for one in value)
        case Mapping():
            return {_shown(key, seen): _shown(one, seen) for key, one in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value)(**{one.name: _field(one.name, getattr(value, one.name), seen) for one in fields(value)})
        case _:
            return value


def _field(name: str, value: Any, seen: dict[str, str]) -> Any:
    if name in _KEPT:
        return value
    if name in _OWN_WORDS and isinstance(value, str):
        return redact_tree({_OWN_WORDS[name]: value})[_OWN_WORDS[name]]
    return _shown(value, seen)
