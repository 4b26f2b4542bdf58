"""The JSON Schema of pipeline and config files, for editors: from the models and the catalogue of Hudi's keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from freshet.hudi.keys import hudi_keys, options, stances, streamer_keys
from freshet.hudi.keys.kafka_keys import CLIENT_KEYS
from freshet.project.shape.files import ConfigFile, PipelineFile
from freshet.project.shape.strategies import Model

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Mapping[str, list[str]] = {
    "boolean": ["boolean", "string"],
    "int": ["integer", "string"],
    "long": ["integer", "string"],
    "double": ["number", "string"],
    "string": ["string", "number", "boolean"],
}


def json_schema(kind: Literal["pipeline", "config", "both"] = "both") -> dict[str, Any]:
    """Return the JSON Schema of the project's YAML files.

    Args:
        kind: The files of pipelines/, those of configs/, or one schema that both fit.

    Returns:
        A schema of draft 2020-12. Numbers and flags may also be texts, because a template is one.
    """
    shapes: dict[str, type[Model]] = {"pipeline": PipelineFile, "config": ConfigFile}
    definitions: dict[str, Any] = {"hoodie": _hoodie()}
    for name, model in shapes.items():
        if kind in (name, "both"):
            shape = model.model_json_schema(ref_template="#/$defs/{model}")
            definitions |= shape.pop("$defs", {})
            definitions[name] = _adapted(shape, name)
    if "Write" in definitions:
        of_events: dict[str, Any] = {"properties": {"strategy": {"enum": ["history", "append"]}}}
        definitions["Write"]["anyOf"] = [{"required": ["columns"]}, of_events]
    top: dict[str, Any] = {"$schema": DIALECT, "title": "freshet", "$defs": definitions}
    if kind != "both":
        return top | {"$ref": f"#/$defs/{kind}"}
    # A pipeline names its DDL and a config never does: an editor then shows the problems of one shape only.
    return top | {
        "if": {"anyOf": [{"required": ["ddl"]}, {"required": ["transform"]}]},
        "then": {"$ref": "#/$defs/pipeline"},
        "else": {"anyOf": [{"$ref": "#/$defs/config"}, {"$ref": "#/$defs/pipeline"}]},
    }


def _adapted(shape: dict[str, Any], name: str) -> dict[str, Any]:
    properties = shape["properties"]
    properties["hoodie"] = {"$ref": "#/$defs/hoodie", "description": properties["hoodie"]["description"]}
    properties["spark"] |= {
        "additionalProperties": {"type": ["string", "number", "boolean"]},
        "propertyNames": {"pattern": r"^spark\."},
    }
    for key in ("transform", "tags"):
        if key in properties:
            listed = {k: v for k, v in properties[key].items() if k not in ("description", "title", "default")}
            properties[key] = {"description": properties[key]["description"], "anyOf": [{"type": "string"}, listed]}
    if "transform" in properties:
        is_log = {"required": ["format"], "properties": {"format": {"const": "changelog"}}}
        # Of a changelog there are no steps.
        shape["anyOf"] = [{"required": ["transform"]}, {"required": ["source"], "properties": {"source": is_log}}]
    return shape | {"title": f"freshet {name}"}


def _hoodie() -> dict[str, Any]:
    properties = {
        key.name: _property(key.type, key.default, key.valid_values) | ({"deprecated": True} if key.deprecated else {})
        for key in hudi_keys.catalogue().values()
        if key.name.startswith("hoodie.") and stances.takes_values(key.name)
    }
    for honoured in streamer_keys.HONOURED.values():
        shown = _property(honoured.type, honoured.default, honoured.valid_values) | {"description": honoured.effect}
        older = streamer_keys.OLD_PREFIX + honoured.name.removeprefix(streamer_keys.PREFIX)
        properties |= {honoured.name: shown, older: shown | {"deprecated": True}}
    for key in hudi_keys.catalogue().values():
        for older in key.alternatives:
            if older.startswith("hoodie.") and key.name in properties:
                properties.setdefault(
                    older, properties[key.name] | {"deprecated": True, "description": f"Older name of {key.name}."}
                )
    for name, values in CLIENT_KEYS.items():
        properties[name] = _property("string", None, values) | {"description": "Property of Kafka's client."}
    # What freshet takes is less than what Hudi does, and its defaults are its own.
    properties[options.OPERATION] = {"enum": ["upsert", "insert", "delete", "insert_overwrite"], "default": "upsert"}
    properties[options.INDEX_TYPE] = {"enum": ["BUCKET", "RECORD_INDEX", "HBASE"], "default": "BUCKET"}
    properties[options.BUCKET_COUNT].pop("default", None)
    return {"type": "object", "properties": dict(sorted(properties.items())), "additionalProperties": False}


def _property(kind: str, default: str | None, valid_values: tuple[str, ...]) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": _TYPES[kind]}
    if valid_values:
        shown["examples"] = list(valid_values)
    if default is not None:
        shown["default"] = _typed(kind, default)
    return shown


def _typed(kind: str, text: str) -> Any:
    try:
        match kind:
            case "boolean":
                return text.lower() == "true"
            case "int" | "long":
                return int(text)
            case "double":
                return float(text)
    except ValueError:
        return text
    return text
