"""The page of the keys of the YAML files, from their models and the catalogue of Hudi's keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from freshet.cases.shape import FixtureFile, Rows
from freshet.hudi.keys.hudi_keys import HUDI_VERSION
from freshet.landing.seeds import SeedFile
from freshet.project.shape.checks import RULES, Limit, Share
from freshet.project.shape.files import ConfigFile, PipelineFile
from freshet.project.shape.json_schema import json_schema
from freshet.project.shape.strategies import Duration, one_as_list
from tests.reference.text import MADE, plain, table

_HEAD = ("key", "type", "default", "what it says")
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
# Of a description that marks nothing itself: templates, YAML, placeholders and names in capitals.
_IN_CODE = re.compile(r"\{\{.*?\}\}|\{[a-z_.]+: .*\}|<\w+>(?:/\w+)*|\b[A-Z]+_[A-Z_]+\b")
# Types that are texts or numbers to YAML, and more to freshet.
_NAMED = (
    (Duration, "duration, as 24h or 7d"),
    (Limit, "number or percentage"),
    (Share, "percentage"),
    (Rows, "list of rows, or name of a CSV file"),
)
_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "mapping"}
_FILES: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("Pipelines", "`pipelines/<name>.yml`. Each file is one target table and how it is computed.", PipelineFile),
    (
        "Configs",
        "`configs/base.yml` and `configs/<env>.yml`. A pipeline may hold the same keys, except for `warehouse`, and "
        "its values win.",
        ConfigFile,
    ),
    ("Test cases", "`pipelines/tests/<pipeline>.yml`, see [Tests for pipelines](../tests.md).", FixtureFile),
    ("Seeds", "`seeds/<database>.<table>.yml`, beside the file with the rows, see [Reading](../reading.md).", SeedFile),
)
_INTRO = f"""# YAML keys

Every key of the project's YAML files. freshet refuses a key that is not here, and names the nearest one.
`freshet schema --write` writes the same as a JSON Schema, by which an editor completes and checks pipelines and configs.

Values may be [templates](../configuration.md), so that a number or a flag may be written as a text. A default in *italics*
follows from something else. `hoodie` holds the [keys under hoodie](#keys-under-hoodie). A check has exactly one rule:
{", ".join(f"`{rule}`" for rule in RULES)}.
"""
_HOODIE = f"""## Keys under hoodie

Properties of HoodieStreamer and of Hudi {HUDI_VERSION} that freshet takes, by their own names.
[Hudi's documentation](https://hudi.apache.org/docs/configurations) says what its own do. A DDL may hold those of a table, in
TBLPROPERTIES. freshet sets some others itself, and refuses those that would break a guarantee, each with the reason. The
defaults are Hudi's; `freshet compile NAME` shows what freshet sets in their place.
"""
Schema = Mapping[str, Any]


def _words(shape: Schema) -> str:
    """Return a type of the JSON Schema in words."""
    if "enum" in shape or "const" in shape:
        return ", ".join(f"`{json.dumps(one) if one is True else one}`" for one in shape.get("enum", [shape.get("const")]))
    if "anyOf" in shape:
        return _either([_words(one) for one in shape["anyOf"] if one.get("type") != "null"])
    if "$ref" in shape:
        return f"[keys](#{_anchor(_paths()[shape['$ref'].rpartition('/')[2]])})"
    match shape.get("type"):
        case "array":
            return f"list of {_words(shape['items'])}"
        case "object":
            values = shape.get("additionalProperties")
            return f"name: {_words(values)}" if isinstance(values, dict) and values else "mapping"
        case list(names):
            return _either([_WORDS[name] for name in names])
        case str(name):
            return _WORDS[name]
    return "any value"


def _either(words: list[str]) -> str:
    """Return alternatives, once each; a whole number is a number."""
    wanted = [one for one in dict.fromkeys(words) if not (one == "whole number" and "number" in words)]
    return " or ".join(sorted(wanted, key=lambda one: (one != "text", "true" in one)) if len(wanted) > 1 else wanted)


def _named(annotation: Any, metadata: list[Any]) -> str:
    """Return what freshet calls a type; empty where YAML's word says it all."""
    if any(getattr(mark, "func", None) is one_as_list for mark in metadata):
        return "text or list of text"
    inner = set(get_args(annotation))
    for kind, words in _NAMED:
        marks = getattr(kind, "__metadata__", ())
        if kind in (annotation, *inner) or any(mark in metadata for mark in marks) or inner >= set(get_args(kind)) != set():
            return words
    return ""


def _rows(model: type[BaseModel]) -> Iterator[tuple[str, str, str, str]]:
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key not in schema["properties"]:
            # It is named only to be refused in words.
            continue
        shape = schema["properties"][key]
        said = field.description or ""
        implied = _DEFAULT.search(said)
        default = "required" if field.is_required() else f"*{plain(implied[1])}*" if implied else _default(shape.get("default"))
        yield (
            f"`{key}`",
            _named(field.annotation, field.metadata) or _words(shape),
            default,
            re.sub(r"docs/(\w+)\.md", r"[\1](../\1.md)", _code(_DEFAULT.sub("", said))),
        )


def _code(text: str) -> str:
    return plain(text if "`" in text else _IN_CODE.sub(r"`\g<0>`", text))


def _default(value: Any) -> str:
    return "" if value in (None, "", [], {}) or isinstance(value, dict) else f"`{json.dumps(value).strip(chr(34))}`"


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _below(model: type[BaseModel], path: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the models below one, each with the path by which it is written."""
    for name, field in model.model_fields.items():
        kind = str(field.annotation)
        mark = ".<name>" if kind.startswith("dict[") else "[]" if kind.startswith("list[") else ""
        for found in _models(field.annotation):
            here = f"{path}{field.alias or name}{mark}"
            yield found, here
            yield from _below(found, f"{here}.")


@cache
def _paths() -> Mapping[str, str]:
    # Configs hold keys of pipelines, which come first.
    return {below.__name__: path for _, _, model in reversed(_FILES) for below, path in reversed(list(_below(model)))}


def _anchor(path: str) -> str:
    return re.sub(r"[^\w-]", "", path.lower())


def _sections(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    """Yield the tables of the models below one that no other file has had."""
    for below, path in _below(model):
        if below not in seen:
            seen.add(below)
            yield f"### `{path}`\n\n{plain((below.__doc__ or '').strip())}\n"
            yield table(_HEAD, _rows(below)) + "\n"


def _hoodie() -> Iterator[str]:
    properties = json_schema("pipeline")["$defs"]["hoodie"]["properties"]
    current = {name: shape for name, shape in properties.items() if not shape.get("deprecated")}
    described = [
        (f"`{name}`", _of_hudi(shape), _default(shape.get("default")), plain(shape["description"]))
        for name, shape in current.items()
        if "description" in shape
    ]
    yield table(_HEAD, described) + "\n"
    yield "Of Hudi's own:\n"
    yield (
        table(
            _HEAD[:3],
            (
                (f"`{name}`", _of_hudi(shape), _default(shape.get("default")))
                for name, shape in current.items()
                if "description" not in shape
            ),
        )
        + "\n"
    )


def _of_hudi(shape: Schema) -> str:
    if "enum" in shape:
        return _words(shape)
    # A number or a flag may be a text, too: a template is one.
    kind = _WORDS[shape["type"][0]]
    return f"{kind}: {', '.join(f'`{one}`' for one in shape['examples'])}" if "examples" in shape else kind


def yaml_page() -> str:
    """Return the page of the keys of the YAML files."""
    parts, seen = [MADE, _INTRO], set[type[BaseModel]]()
    for title, words, model in _FILES:
        parts += [f"## {title}\n", f"{words}\n", table(_HEAD, _rows(model)) + "\n", *_sections(model, seen)]
    return "\n".join((*parts, _HOODIE, *_hoodie()))
