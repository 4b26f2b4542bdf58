"""Whether a connector's config lets Debezium write what the adapter reads right. It asks nobody: ``rest`` lets Connect say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from freshet.connect.rules import ABSENT, DECLARE, JSON_CONVERTER, KINDS, LOSES, NEEDS, RULES, UNREAD, Kind, Rule, Verdict
from freshet.connect.unwrapped import ROUTER, UNWRAP, check_unwrapped
from freshet.connect.wrong import Wrong
from freshet.problems import nearest

_SECRET = re.compile("password|secret|passphrase|jaas|credential", re.IGNORECASE)
_TRUNCATED = re.compile(r"column[.]truncate[.]to[.]\d+[.]chars")
_POLICY = re.compile(r"topic[.]creation[.].+[.]cleanup[.]policy")
_PLACEHOLDER = "__debezium_unavailable_value"


def check(config: Mapping[str, str]) -> tuple[Wrong, ...]:
    """Return everything by which the messages of a connector would not be read right, or not be all of the changes.

    Args:
        config: The connector's config.
    """
    kind = KINDS.get(config.get("connector.class", ""))
    if kind is None:
        named = config.get("connector.class", "")
        said = f"connector.class is {named[:120]!r}, whose messages are not read." if named else "connector.class is missing."
        return (Wrong(key="connector.class", code="CONNECTOR_UNKNOWN", said=said, write=f"Write one of {', '.join(KINDS)}."),)
    return (
        *_secrets(config),
        *(found for rule in RULES if kind in rule.of for found in _by_rule(rule, config)),
        *_absent(config),
        *_converters(config),
        *_transforms(kind, config),
        *_declared(kind, config),
        *_misspelt(config),
    )


def _by_rule(rule: Rule, config: Mapping[str, str]) -> Iterator[Wrong]:
    value = config.get(rule.key, rule.default)
    hint = f'Write "{rule.key}": "{rule.write}".' if rule.write else f'Write "{rule.key}" with a name of its own.'
    if value is None or (not value.strip() and rule.default is None):
        yield Wrong(key=rule.key, code=NEEDS, said=f"{rule.key} is missing.", write=hint)
        return
    plain = value.strip().lower()
    if plain in rule.good:
        return
    verdict = rule.verdicts.get(plain, rule.otherwise)
    if verdict is None:
        return
    is_said = rule.key in config
    is_or_means = f"{rule.key} is {value[:80]!r}" if is_said else f"{rule.key} is left out, which means {value!r}"
    yield _wrong(rule.key, verdict, is_or_means, hint)


def _wrong(key: str, verdict: Verdict, what: str, hint: str) -> Wrong:
    code, words = verdict
    if code == DECLARE:
        return Wrong(key=key, code=code, said=f"{what}.", write=f"A pipeline needs: {words}.")
    return Wrong(key=key, code=code, said=f"{what}: {words}.", write=hint)


def _secrets(config: Mapping[str, str]) -> Iterator[Wrong]:
    for key, value in config.items():
        if _SECRET.search(key) and value and "${" not in value:
            hint = f'Write "{key}": "${{env:NAME}}", and let Connect\'s environment have it (config.providers=env).'
            yield Wrong(key=key, code="SECRET_IN_FILE", said=f"{key} stands in the file.", write=hint)


def _absent(config: Mapping[str, str]) -> Iterator[Wrong]:
    for key in config:
        verdict = ABSENT.get(key)
        if _TRUNCATED.fullmatch(key):
            verdict = (LOSES, "texts would be cut")
        if verdict is not None and config[key]:
            yield _wrong(key, verdict, f"{key} is there", "Remove it.")


def _converters(config: Mapping[str, str]) -> Iterator[Wrong]:
    schemas = {}
    for side in ("key", "value"):
        key = f"{side}.converter"
        found = config.get(key)
        hint = f'Write "{key}": "{JSON_CONVERTER}".'
        if not found:
            yield Wrong(key=key, code=NEEDS, said=f"{key} is missing, so that the worker's own decides.", write=hint)
        elif found != JSON_CONVERTER:
            hint += " Of Avro see docs/guides/changelog.md: Debezium in Avro."
            yield Wrong(key=key, code=UNREAD, said=f"{key} is {found[:80]!r}, and a changelog is JSON.", write=hint)
        schemas[side] = config.get(f"{key}.schemas.enable", "true").lower()
    key = "value.converter.schemas.enable"
    if schemas["key"] != schemas["value"]:
        said = "Keys and values do not have their schemas alike."
        yield Wrong(key=key, code=UNREAD, said=said, write='Write "false" for both key.converter and value.converter.')
    elif schemas["value"] != "false":
        yield _wrong(key, (DECLARE, "with_schema: true; or write false"), "Messages have their schemas with them", "")
    key = "value.converter.replace.null.with.default"
    if config.get(key, "true").lower() != "false":
        said = f"{key} is true: a null would come as the column's default."
        yield Wrong(key=key, code=LOSES, said=said, write=f'Write "{key}": "false".')


def _transforms(kind: Kind, config: Mapping[str, str]) -> Iterator[Wrong]:
    for name in filter(None, map(str.strip, config.get("transforms", "").split(","))):
        key = f"transforms.{name}.type"
        found = config.get(key, "")
        if found == UNWRAP:
            yield from check_unwrapped(kind, f"transforms.{name}", config)
        elif found != ROUTER:
            said = f"{key} is {found[:80]!r}: what it makes of messages is not known."
            yield Wrong(key=key, code=UNREAD, said=said, write="Remove it.")


def _declared(kind: Kind, config: Mapping[str, str]) -> Iterator[Wrong]:
    """Yield what a pipeline has to know where it is not as usual."""
    placeholder = config.get("unavailable.value.placeholder", _PLACEHOLDER)
    if kind == "postgresql" and placeholder != _PLACEHOLDER:
        words = f"unavailable: {placeholder[:80]!r}"
        yield _wrong("unavailable.value.placeholder", (DECLARE, words), "It is not Debezium's own", "")
    if config.get("message.key.columns"):
        words = "a target whose record key are these columns"
        yield _wrong("message.key.columns", (DECLARE, words), "Messages have other keys than the tables", "")
    for key, value in config.items():
        if _POLICY.fullmatch(key) and "compact" in value:
            yield _wrong(key, (DECLARE, "tombstones: delete"), "A compacted topic may have lost the message of a delete", "")


def _misspelt(config: Mapping[str, str]) -> Iterator[Wrong]:
    known = {rule.key for rule in RULES} | set(ABSENT)
    for key in config:
        meant = nearest(key, known, 0.85) if key not in known else None
        if meant and meant not in config:
            said = f"'{key[:80]}' is no setting, and Connect says nothing of that."
            yield Wrong(key=key, code=NEEDS, said=said, write=f"Did you mean '{meant}'?")


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found, apart by what it means.

    Args:
        wrong: What has to be changed.
        declare: What pipelines have to declare.
    """

    wrong: tuple[Wrong, ...]
    declare: tuple[Wrong, ...]


def sorted_out(found: tuple[Wrong, ...]) -> Checked:
    """Return what has to be changed in the config, and what is only to be declared in pipelines."""
    return Checked(
        wrong=tuple(one for one in found if one.code != DECLARE), declare=tuple(one for one in found if one.code == DECLARE)
    )
