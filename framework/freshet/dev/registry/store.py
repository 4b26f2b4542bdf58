"""The subjects and schemas of the stub of a schema registry, kept in one file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import uuid
from pathlib import Path
from typing import Any

#: What the stub says of every subject until it is told otherwise: it checks no later schema against an earlier one.
_LEVEL = "NONE"


class Store:
    """Subjects with their versions, and schemas by id.

    Args:
        file: Where they are kept; None to forget them at the end.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lock = threading.Lock()
        kept = json.loads(file.read_text("utf-8")) if file is not None and file.exists() else {}
        self._schemas: list[dict[str, Any]] = kept.get("schemas", [])
        self._subjects: dict[str, list[int]] = kept.get("subjects", {})
        self._levels: dict[str, str] = kept.get("levels", {})

    def register(self, subject: str, told: dict[str, Any]) -> int:
        """Add a schema to a subject, and return its id; one that is known keeps its id and its version."""
        schema = {key: told[key] for key in ("schema", "schemaType", "references") if told.get(key)}
        with self._lock:
            place = next((n for n, one in enumerate(self._schemas) if _same(one, schema)), None)
            if place is None:
                self._schemas.append(schema)
                place = len(self._schemas) - 1
            versions = self._subjects.setdefault(subject, [])
            if place not in versions:
                versions.append(place)
            self._keep()
            return place + 1

    def guid(self, schema_id: int) -> str:
        """Return the GUID of a schema that is there: of what it says, so that it is the same in every registry."""
        with self._lock:
            return str(uuid.UUID(bytes=hashlib.md5(repr(_form(self._schemas[schema_id - 1])).encode()).digest()))

    def by_id(self, schema_id: int) -> dict[str, Any] | None:
        """Return a schema, or None."""
        with self._lock:
            return self._schemas[schema_id - 1] if 0 < schema_id <= len(self._schemas) else None

    def subjects(self) -> list[str]:
        """Return the subjects' names."""
        with self._lock:
            return sorted(self._subjects)

    def versions(self, subject: str) -> list[int] | None:
        """Return the numbers of a subject's versions, or None."""
        with self._lock:
            return list(range(1, len(self._subjects[subject]) + 1)) if subject in self._subjects else None

    def version(self, subject: str, version: str) -> dict[str, Any] | None:
        """Return a version of a subject, by its number or as ``latest``, or None."""
        with self._lock:
            places = self._subjects.get(subject, [])
            number = len(places) if version == "latest" else int(version) if version.isdecimal() else 0
            if not 0 < number <= len(places):
                return None
            place = places[number - 1]
            found = {"subject": subject, "version": number, "id": place + 1, **self._schemas[place]}
        return {**found, "guid": self.guid(place + 1)}

    def level(self, subject: str) -> str | None:
        """Return a subject's level of compatibility, or the common one for an empty name; None where none was set."""
        with self._lock:
            return self._levels.get(subject, _LEVEL if not subject else None)

    def set_level(self, subject: str, level: str) -> None:
        """Keep a level of compatibility, which is told again and not held."""
        with self._lock:
            self._levels[subject] = level
            self._keep()

    def _keep(self) -> None:
        if self._file is None:
            return
        handle, name = tempfile.mkstemp(prefix=".schemas-", dir=self._file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"schemas": self._schemas, "subjects": self._subjects, "levels": self._levels}, file, indent=1)
        os.replace(name, self._file)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return _form(one) == _form(other)


def _form(schema: dict[str, Any]) -> tuple[Any, ...]:
    try:
        text = json.dumps(json.loads(schema["schema"]), sort_keys=True)
    except ValueError:
        text = schema["schema"]
    return text, schema.get("schemaType", "AVRO"), schema.get("references", [])
