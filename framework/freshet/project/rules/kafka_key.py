"""How the keys of records are decoded: by the schemas of a registry, into a struct."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from freshet.problems import Problems
from freshet.project.model.kafka import KafkaSpec, KeySpec
from freshet.project.rules.kafka_schema import registry_at
from freshet.project.rules.records import declared_columns
from freshet.project.shape.source import Source
from freshet.project.syntax.files import Place
from freshet.secrets import Redactor

PlaceOf = Callable[..., Place]


def with_key(spec: KafkaSpec, declared: Source | None, place: PlaceOf, secrets: Redactor, problems: Problems) -> KafkaSpec:
    """Return topics with how their keys are decoded.

    Args:
        spec: The topics, with what their values are decoded by.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        secrets: The secrets that the pipeline's files read.
        problems: Receives MISSING_KEY, BAD_NAME, BAD_VALUE, SECRET_IN_FILE and UNSUPPORTED_TYPE.
    """
    told = declared.key if declared is not None else None
    if told is None:
        return spec
    at = place("source", "key")
    columns = tuple(declared_columns(told.columns, place, problems, "source", "key", "columns"))
    names = [column.name.lower() for column in columns]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        hint = "Keep one of them: names that differ in case alone are one to Spark."
        problems.add(at.file, at.line, "BAD_NAME", f"source.key.columns: '{name[:80]}' stands twice.", hint)
    if not told.columns:
        hint = "Write 'columns: {<field>: <type>}'; of keys that are no record one field holds them."
        problems.add(at.file, at.line, "MISSING_KEY", "source.key.columns names no field.", hint)
    registry = spec.registry
    if told.registry is not None:
        registry = registry_at(told.registry, ("source", "key", "registry"), place, secrets, problems)
    elif registry is None:
        said = "Keys of Avro are decoded by the schemas of a registry, and none is named."
        problems.add(at.file, at.line, "MISSING_KEY", said, "Write 'registry: http://host:8081' under 'key:'.")
    if registry is None or not columns:
        return spec
    return replace(spec, key=KeySpec(columns=columns, registry=registry, subjects=tuple(dict.fromkeys(told.subjects))))
