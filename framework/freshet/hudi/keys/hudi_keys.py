"""The catalogue of Hudi's own keys, and what is wrong with a key or a value that does not fit it.

Hudi accepts unknown keys in silence, so a misspelt one would simply have no effect. The catalogue is generated from the
pinned bundle (``generate_hudi_keys.py``); HoodieStreamer's keys are not in that jar and stand in ``streamer_keys.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from freshet.problems import did_you_mean

HUDI_VERSION = "1.0.2"
KeyType = Literal["boolean", "int", "long", "double", "string"]

_CATALOGUE_FILE = Path(__file__).with_name(f"hudi_keys_{HUDI_VERSION.replace('.', '_')}.json")
#: How like a name must be to be offered: among some thousand keys of one beginning nearly every word is a little like one.
NEAR = 0.8
_BITS = {"int": 32, "long": 64}
_WANTED = {
    "boolean": "true or false",
    "int": "a whole number of 32 bits",
    "long": "a whole number",
    "double": "a number",
}
# Keys of Hudi bundles that freshet does not load; longest useful prefixes, from Hudi's configuration reference.
_OTHER_BUNDLES = {
    "hoodie.aws.": "hudi-aws-bundle",
    "hoodie.write.lock.dynamodb.": "hudi-aws-bundle",
    "hoodie.datasource.meta.sync.glue.": "hudi-aws-bundle",
    "hoodie.gcp.bigquery.sync.": "hudi-gcp-bundle",
    "hoodie.meta.sync.datahub.": "hudi-datahub-sync-bundle",
    "hoodie.kafka.": "hudi-kafka-connect-bundle",
}


@dataclass(frozen=True, kw_only=True)
class HudiKey:
    """One key of the pinned Hudi version.

    Args:
        name: The key.
        type: Type of its values. ``long`` also where Hudi declares a whole number as text.
        default: Text of the default, None where Hudi has none.
        deprecated: Hudi version that deprecated it, None for a current key.
        alternatives: Older names that Hudi accepts for the same setting.
        valid_values: The only values it takes, compared without regard to case; empty where any of the type will do.
    """

    name: str
    type: KeyType
    default: str | None
    deprecated: str | None
    alternatives: tuple[str, ...]
    valid_values: tuple[str, ...]


@dataclass(frozen=True)
class KeyProblem:
    """What is wrong with a key or its value.

    Args:
        code: ``UNKNOWN_KEY``, ``BAD_VALUE``, ``NOT_SUPPORTED`` or, as advice, ``DEPRECATED_KEY``.
        message: A sentence that says what is wrong.
        hint: What to write instead; empty where there is nothing to suggest.
    """

    code: str
    message: str
    hint: str = ""


@cache
def catalogue() -> Mapping[str, HudiKey]:
    """Return every key of the pinned Hudi version by name; older names are in ``alternatives``."""
    content = json.loads(_CATALOGUE_FILE.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: HudiKey(
                name=name,
                type=facts["type"],
                default=facts["default"],
                deprecated=facts["deprecated"],
                alternatives=tuple(facts["alternatives"]),
                valid_values=tuple(facts["valid_values"]),
            )
            for name, facts in content["keys"].items()
        }
    )


def names() -> tuple[str, ...]:
    """Return the name of every key, the older names too."""
    return (*catalogue(), *_current_names())


def canonical(key: str) -> str:
    """Return the current name of a key given by an older one (``hoodie.cleaner.policy``); other keys unchanged."""
    return key if key in catalogue() else _current_names().get(key, key)


def check_key(key: str, value: str) -> KeyProblem | None:
    """Check a Hudi key's name and its value's text.

    Args:
        key: The key; an older name is accepted.
        value: The value as text, ``true`` and ``false`` for flags.

    Returns:
        An ``UNKNOWN_KEY`` or ``BAD_VALUE`` problem, or None. That a key is deprecated is no problem.
    """
    known = catalogue().get(canonical(key))
    if known is not None:
        return check_value(key, value, known.type, known.valid_values)
    for prefix, bundle in _OTHER_BUNDLES.items():
        if key.startswith(prefix):
            said = f"'{key}' is a key of {bundle}, which freshet does not load."
            return KeyProblem("UNKNOWN_KEY", said, "Remove it.")
    return KeyProblem(
        "UNKNOWN_KEY",
        f"unknown key '{key}': Hudi {HUDI_VERSION} has none of that name and would ignore it.",
        did_you_mean(key, names(), "", NEAR),
    )


def check_value(key: str, value: str, kind: KeyType, valid_values: tuple[str, ...]) -> KeyProblem | None:
    """Check a value's text against a type and, where there are any, the only valid values.

    Returns:
        A ``BAD_VALUE`` problem or None.
    """
    if valid_values:
        if value.lower() in {valid.lower() for valid in valid_values}:
            return None
        return KeyProblem(
            "BAD_VALUE",
            f"'{key}' does not take '{value}'.",
            did_you_mean(value, valid_values, f"It takes {', '.join(valid_values)}.", NEAR),
        )
    if _fits(value, kind):
        return None
    return KeyProblem("BAD_VALUE", f"'{key}' does not take '{value}'.", f"It takes {_WANTED[kind]}.")


@cache
def _current_names() -> Mapping[str, str]:
    return {older: key.name for key in catalogue().values() for older in key.alternatives}


def _fits(value: str, kind: KeyType) -> bool:
    match kind:
        case "boolean":
            return value.lower() in ("true", "false")
        case "int" | "long":
            half = 1 << (_BITS[kind] - 1)
            return re.fullmatch(r"[+-]?[0-9]{1,19}", value) is not None and -half <= int(value) < half
        case "double":
            return re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value) is not None
        case "string":
            return True
