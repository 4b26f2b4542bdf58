"""Laying settings over each other: configs/base.yml < configs/<env>.yml < the pipeline < ``--set``.

Merging works on located nodes, so that every value still knows the file and line it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from freshet.hudi.keys import streamer_keys
from freshet.problems import Problems
from freshet.project.shape.files import ConfigFile, PipelineFile, Settings, check_keys, unknown_key_hint
from freshet.project.shape.misspelt import fits, taken_for
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place
from freshet.project.syntax.template import TemplateContext, render
from freshet.project.syntax.yaml_nodes import ListNode, MapNode, Node, ScalarNode, scalar

OVERRIDE = "--set"
#: What is said of a key whose value is no mapping.
NO_MAPPING = "'{}' must be a mapping."
_MAPS = ("vars", "lease", "run", "slo", "event_times", "budget", "metrics", "lineage", "hoodie", "spark", "warehouse", "inputs")
# Under these keys the text counts as it was written: Hudi and Spark read texts, and 1.10 is not 1.1.
_TEXT_MAPS = ("hoodie", "spark", "warehouse")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_layer(tree: MapNode, model: type[ConfigFile] | type[PipelineFile], problems: Problems) -> MapNode:
    """Check one file's own keys and bring the names under ``hoodie`` into their canonical form.

    Args:
        tree: The file's top-level mapping.
        model: What kind of file it is.
        problems: Receives unknown and misplaced keys and maps that are none.

    Returns:
        The mapping without what was wrong, ready to be merged.
    """
    check_keys({key: node.line for key, node in tree.entries.items()}, model, tree.file, problems)
    kept: dict[str, Node] = {}
    meant = taken_for(tree.entries, model)
    for written, node in tree.entries.items():
        key = meant.get(written, written)
        if key != written and not fits(model, key, plain(node, as_text=key in _TEXT_MAPS)):
            # Then it is something else, or a mistake of its own behind the first.
            continue
        if key not in model.model_fields:
            continue
        if key in _MAPS and not isinstance(node, MapNode):
            if not (isinstance(node, ScalarNode) and node.value is None):
                problems.add(
                    tree.file,
                    node.line,
                    "WRONG_TYPE",
                    NO_MAPPING.format(key),
                    f"Write 'name: value' lines below '{key}:'"
                    + (", not 'name=value'." if isinstance(node, ScalarNode) and "=" in node.text else "."),
                )
            continue
        kept[key] = _canonical_hoodie(node, problems) if key == "hoodie" and isinstance(node, MapNode) else node
    variables = kept.get("vars")
    if isinstance(variables, MapNode):
        for name, node in variables.entries.items():
            if not _VARIABLE.fullmatch(name):
                problems.add(
                    node.file,
                    node.line,
                    "BAD_VALUE",
                    f"'{name[:80]}' cannot be the name of a variable.",
                    "Use letters, digits and '_', a letter first.",
                )
    return replace(tree, entries=kept)


def override_layer(overrides: Sequence[str], problems: Problems) -> MapNode:
    """Turn ``--set key=value`` texts into the topmost layer.

    Args:
        overrides: The texts in order; a later one wins. A place in them is line 1, 2, ...
        problems: Receives what is malformed or unknown.
    """
    layer = MapNode({}, OVERRIDE, 0)
    for line, text in enumerate(overrides, start=1):
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            problems.add(
                OVERRIDE,
                line,
                "INVALID_OVERRIDE",
                f"'{text.split('=')[0][:80]}' is not key=value.",
                "Write --set vars.name=value.",
            )
            continue
        path = _override_path(key)
        if path[0] not in Settings.model_fields:
            problems.add(
                OVERRIDE,
                line,
                "UNKNOWN_KEY",
                f"Unknown key '{key[:80]}'.",
                unknown_key_hint(path[0], Settings.model_fields),
            )
        elif path[0] in _MAPS and (len(path) == 1 or not all(path)):
            problems.add(OVERRIDE, line, "INVALID_OVERRIDE", f"'{path[0]}' is a mapping.", f"Write --set {path[0]}.name=value.")
        else:
            node: Node = scalar(value, OVERRIDE, line)
            for part in reversed(path):
                node = MapNode({part: node}, OVERRIDE, line)
            layer = merge(layer, node) if isinstance(node, MapNode) else layer
    return layer


def merge(*layers: MapNode) -> MapNode:
    """Merge mappings, later ones over earlier ones; a value that is no mapping replaces all that is below it."""
    result = layers[0]
    for layer in layers[1:]:
        entries = dict(result.entries)
        for key, node in layer.entries.items():
            below = entries.get(key)
            entries[key] = merge(below, node) if isinstance(below, MapNode) and isinstance(node, MapNode) else node
        result = MapNode(entries, layer.file, layer.line)
    return result


def render_node(node: Node, context: TemplateContext, problems: Problems) -> Node:
    """Render every text below a node; what cannot be rendered becomes an empty text beside its problem."""
    match node:
        case ScalarNode(value=str()):
            result = render(node.text, context, node.file, node.content_line, problems)
            return node if result == node.text else replace(node, value=result or "", text=result or "", template=node.text)
        case MapNode():
            return replace(node, entries={key: render_node(entry, context, problems) for key, entry in node.entries.items()})
        case ListNode():
            return replace(node, items=tuple(render_node(item, context, problems) for item in node.items))
        case _:
            return node


def variables(tree: MapNode, context: TemplateContext, problems: Problems) -> dict[str, object]:
    """Return the values of ``vars``, rendered; they may read env.* only.

    Args:
        tree: The merged settings.
        context: What these values may see.
        problems: Receives templates that cannot be rendered.
    """
    node = tree.entries.get("vars")
    if not isinstance(node, MapNode):
        return {}
    rendered = {key: render_node(entry, context, problems) for key, entry in node.entries.items()}
    # One that is no single value is a problem of its own, and whoever uses it makes none.
    return {
        key: "" if (value := plain(entry)) is None or isinstance(value, dict | list) else value
        for key, entry in rendered.items()
    }


def plain(node: Node, *, as_text: bool = False) -> Any:
    """Return a node's value as plain Python; ``as_text`` keeps scalars as they were written."""
    match node:
        case ScalarNode():
            return node.text if as_text and node.value is not None else node.value
        case ListNode():
            return [plain(item, as_text=as_text) for item in node.items]
        case MapNode():
            return {key: plain(entry, as_text=as_text) for key, entry in node.entries.items()}


def plain_settings(tree: MapNode) -> dict[str, Any]:
    """Return merged settings as plain Python for validation."""
    return {key: plain(node, as_text=key in _TEXT_MAPS) for key, node in tree.entries.items()}


def text_settings(tree: MapNode, key: str) -> dict[str, Setting]:
    """Return the texts below a top-level key with their places; what is no single value is left out."""
    node = tree.entries.get(key)
    entries: Mapping[str, Node] = node.entries if isinstance(node, MapNode) else {}
    return {
        name: Setting(value=entry.text, file=entry.file, line=entry.line, name=entry.key)
        for name, entry in entries.items()
        if isinstance(entry, ScalarNode) and entry.value is not None
    }


def place_in(tree: MapNode, file: str, path: Iterable[str]) -> Place:
    """Return the place of a path of keys, or of the nearest thing above it that exists."""
    place = Place(file, 1)
    node: Node | None = tree
    for part in path:
        if isinstance(node, MapNode):
            node = node.entries.get(part)
        elif isinstance(node, ListNode) and part.isdigit() and int(part) < len(node.items):
            node = node.items[int(part)]
        else:
            break
        if node is None:
            break
        place = Place(node.file, node.line)
    return place


def canonical_key(key: str) -> str:
    """Return the one spelling of a Hudi or HoodieStreamer key that has aliases."""
    return streamer_keys.canonical(key)


def _canonical_hoodie(node: MapNode, problems: Problems) -> MapNode:
    entries: dict[str, Node] = {}
    for key, entry in node.entries.items():
        name = canonical_key(key)
        if name in entries:
            problems.add(
                node.file,
                entry.line,
                "DUPLICATE_KEY",
                f"'{key}' says the same as another key in line {entries[name].line}.",
                "Remove one of them.",
            )
        entries[name] = replace(entry, key=key) if name != key and isinstance(entry, ScalarNode) else entry
    for name, entry in tuple(entries.items()):
        meant = streamer_keys.meant_by(name)
        if meant and isinstance(entry, ScalarNode) and streamer_keys.check_hoodie_key(meant, entry.text) is None:
            # What is missing beside a misspelt key is no mistake of its own.
            entries.setdefault(meant, entry)
    return replace(node, entries=entries)


def _override_path(key: str) -> tuple[str, ...]:
    for group in ("hoodie", "spark"):
        if key.startswith(f"{group}."):
            rest = key.removeprefix(f"{group}.")
            # 'hoodie.hoodie.x' is the path into the map, 'hoodie.x' is Hudi's own name.
            name = rest if rest.startswith(f"{group}.") else key
            return group, canonical_key(name) if group == "hoodie" else name
    head, _, rest = key.partition(".")
    if head in ("vars", "warehouse") and rest:
        return head, rest
    return tuple(key.split("."))
