"""The schemas that the records of a window may have been written with, asked for once, before Spark reads any."""

from __future__ import annotations

from collections.abc import Sequence

from freshet.registry.address import Address
from freshet.registry.client import Registry, Schema
from freshet.sources.kafka.reads import ReadTopics


def schemas_of(stage: ReadTopics) -> dict[int, Schema]:
    """Return the schemas of a window's records by id, 0 for that of a file; none for other formats than Avro.

    Those of a registry are all that its subjects have, or had: which of them a window holds only its records tell, and to look
    would take a second pass over them. The window's end is fixed by now, so that no record in it has a schema of later.

    Args:
        stage: What is read.

    Raises:
        StateError: REGISTRY_SUBJECT_UNKNOWN.
        FreshetError: As ``freshet.registry.http.ask``.
    """
    if stage.format != "avro":
        return {}
    if stage.registry is None:
        return {0: Schema(id=0, kind="AVRO", text=stage.avro_schema)}
    return _all_of(stage.registry, stage.subjects)


def key_schemas_of(stage: ReadTopics) -> dict[int, Schema]:
    """Return the schemas of a window's keys by id, as ``schemas_of``; none where keys are not decoded.

    Args:
        stage: What is read.

    Raises:
        StateError: REGISTRY_SUBJECT_UNKNOWN.
        FreshetError: As ``freshet.registry.http.ask``.
    """
    return _all_of(stage.key_registry, stage.key_subjects) if stage.key_registry is not None else {}


def _all_of(address: Address, subjects: Sequence[str]) -> dict[int, Schema]:
    registry = Registry(address)
    return {schema.id: schema for subject in subjects for schema in registry.versions(subject)}
