"""A schema registry's schemas, by id and by subject, over the REST interface that Confluent published.

Schemas never change under their id, so that each is asked for once. What refers to other schemas comes with them inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

from freshet.errors import DataError, FreshetError, StateError
from freshet.registry.address import Address
from freshet.registry.http import Absent, ask, wrong_answer
from freshet.registry.inline import inlined

_UNTOUCHED = "Nothing was read or written."


@dataclass(frozen=True, kw_only=True)
class Schema:
    """One schema.

    Args:
        id: Its id, which stands in front of values; 0 where it was asked for by subject and the registry names none.
        kind: ``AVRO``, ``JSON`` or ``PROTOBUF``.
        text: The schema; an Avro one with all that it refers to inside.
        guid: Its GUID, which stands in headers, as 32 digits of hexadecimal in capitals; empty where the registry tells none.
    """

    id: int
    kind: str
    text: str
    guid: str = ""


def _guid(told: object) -> str:
    try:
        return UUID(told).hex.upper() if isinstance(told, str) else ""
    except ValueError:
        return ""


class Registry:
    """Asks one registry, and remembers the schemas that it told.

    Args:
        address: Where it is.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._by_id: dict[int, Schema | None] = {}
        self._by_version: dict[tuple[str, str], Mapping[str, Any]] = {}

    def schemas(self, ids: Iterable[int]) -> dict[int, Schema | None]:
        """Return schemas by id, and None for each id that the registry does not have.

        Args:
            ids: Ids as they stand in front of values; what is no id of a registry is not asked for.

        Raises:
            FreshetError: As ``ask``.
        """
        wanted = sorted(set(ids))
        for one in wanted:
            if one in self._by_id:
                continue
            found = ask(self._address, f"/schemas/ids/{one}") if 0 < one < 1 << 31 else Absent(40403)
            self._by_id[one] = None if isinstance(found, Absent) else self._schema(one, found)
        return {one: self._by_id[one] for one in wanted}

    def schema(self, schema_id: int) -> Schema:
        """Return a schema by its id.

        Raises:
            DataError: REGISTRY_ID_UNKNOWN.
            FreshetError: As ``ask``.
        """
        found = self.schemas([schema_id])[schema_id]
        if found is None:
            raise DataError(
                "REGISTRY_ID_UNKNOWN",
                f"the schema registry at {self._address.urls[0]} has no schema with the id {schema_id}.",
                _UNTOUCHED,
                "Look whether the topic's producers write to this registry.",
                id=schema_id,
            )
        return found

    def latest(self, subject: str) -> Schema:
        """Return the newest schema of a subject; asked anew each time.

        Raises:
            StateError: REGISTRY_SUBJECT_UNKNOWN.
            FreshetError: As ``ask``.
        """
        found = self._version(subject, "latest")
        if isinstance(found, Absent):
            raise self._unknown(subject)
        number = found.get("id", 0)
        return self._schema(number if isinstance(number, int) else 0, found)

    def versions(self, subject: str) -> tuple[Schema, ...]:
        """Return every schema that a subject has or had, the oldest first: values of one that was deleted stay.

        Raises:
            StateError: REGISTRY_SUBJECT_UNKNOWN.
            FreshetError: As ``ask``.
        """
        told = ask(self._address, f"/subjects/{quote(subject, safe='')}/versions?deleted=true")
        if isinstance(told, Absent):
            raise self._unknown(subject)
        if not isinstance(told, list) or not all(isinstance(one, int) for one in told):
            raise self._wrong("it tells no versions")
        found = []
        for number in told:
            one = self._version(subject, str(number))
            if isinstance(one, Absent) or not isinstance(one.get("id"), int):
                raise self._wrong(f"it names version {number} of '{subject}', and does not have it")
            found.append(self._schema(one["id"], one))
        return tuple(found)

    def compatibility(self, subject: str) -> str:
        """Return which changes of a subject's schema the registry allows, such as ``BACKWARD`` or ``NONE``.

        Raises:
            FreshetError: As ``ask``.
        """
        found = ask(self._address, f"/config/{quote(subject, safe='')}?defaultToGlobal=true")
        if isinstance(found, Absent):
            found = ask(self._address, "/config")
        level = found.get("compatibilityLevel") if isinstance(found, dict) else None
        if not isinstance(level, str):
            raise self._wrong("it names no level of compatibility")
        return level

    def _version(self, subject: str, version: str) -> Mapping[str, Any] | Absent:
        kept = self._by_version.get((subject, version))
        if kept is not None:
            return kept
        # What was deleted softly is there for those who ask for it.
        also = "?deleted=true" if version != "latest" else ""
        found = ask(self._address, f"/subjects/{quote(subject, safe='')}/versions/{quote(version, safe='')}{also}")
        if isinstance(found, Absent):
            return found
        if not isinstance(found, dict):
            raise self._wrong("it tells no schema")
        if version != "latest":
            self._by_version[subject, version] = found
        return found

    def _schema(self, schema_id: int, told: Any) -> Schema:
        text = told.get("schema") if isinstance(told, dict) else None
        if not isinstance(text, str):
            raise self._wrong("it tells no schema")
        kind = told.get("schemaType") or "AVRO"
        references = self._references(told, (), {})
        if kind == "AVRO":
            try:
                text = inlined(text, references)
            except ValueError as error:
                raise self._wrong(f"the schema {schema_id} is none of Avro's: {error}") from error
        return Schema(id=schema_id, kind=kind, text=text, guid=_guid(told.get("guid")))

    def _references(self, told: Mapping[str, Any], path: tuple[tuple[str, str], ...], found: dict[str, str]) -> dict[str, str]:
        """Add the schemas that a schema refers to, by name, each after those that it needs itself."""
        for reference in told.get("references") or ():
            name, subject, version = (str(reference.get(part)) for part in ("name", "subject", "version"))
            if (subject, version) in path:
                raise self._wrong(f"'{subject}', version {version}, refers to itself")
            if name in found:
                continue
            other = self._version(subject, version)
            if isinstance(other, Absent) or not isinstance(other.get("schema"), str):
                raise self._wrong(f"it refers to '{subject}', version {version}, and does not have that")
            self._references(other, (*path, (subject, version)), found)
            found[name] = other["schema"]
        return found

    def _unknown(self, subject: str) -> StateError:
        return StateError(
            "REGISTRY_SUBJECT_UNKNOWN",
            f"the schema registry at {self._address.urls[0]} has no subject '{subject}'.",
            _UNTOUCHED,
            "Correct the topic or the strategy of subjects, or register the schema.",
            subject=subject,
        )

    def _wrong(self, what: str) -> FreshetError:
        return wrong_answer(self._address.urls[0], what)
