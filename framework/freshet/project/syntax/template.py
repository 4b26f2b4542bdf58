"""Jinja in YAML values and SQL files: strict, sandboxed, bounded; every mistake is a problem with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.template_process import PROCESS

# Nearly every template of a pipeline is this plain; loading Jinja for it would double the time of an idle run.
_PLAIN = re.compile(r"\{\{\s*(var|env)\.([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
_MARK = re.compile(r"\{[{%#]")
#: Codes of the problems that render reports.
TEMPLATE_CODES = frozenset(("UNDEFINED_VARIABLE", "TEMPLATE_SYNTAX", "TEMPLATE_UNSAFE", "TEMPLATE_ERROR"))


@dataclass(frozen=True, kw_only=True)
class TemplateContext:
    """What a template can see.

    Args:
        var: Variables of configs and pipeline, as ``var.name``.
        env: Environment variables, as ``env.NAME``; None where a template may not read them.
        names: Further names, such as ``start`` and ``end``.
        on_secret: Called with name and value whenever an environment variable is read.
        unknown_hints: What to say when one of these names is used but not defined.
        origin: Returns the name of the environment variable that a value holds, empty where it holds none.
    """

    var: Mapping[str, object] | None
    env: Mapping[str, str] | None
    names: Mapping[str, object] = field(default_factory=dict)
    on_secret: Callable[[str, str], None] | None = None
    unknown_hints: Mapping[str, str] = field(default_factory=dict)
    origin: Callable[[str], str] = lambda value: ""

    def known(self, label: str) -> list[str]:
        """Return the names that ``label.`` offers, or the top-level names for an empty label."""
        groups = {"var": self.var, "env": self.env}
        if label:
            return sorted(groups.get(label) or {})
        return sorted([*self.names, *(name for name, group in groups.items() if group is not None)])


def text_of(value: object) -> str:
    """Turn a variable's value into text: SQL's and YAML's ``true``, ``false`` and ``null``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def has_template(text: str) -> bool:
    """Say whether a text holds anything for Jinja."""
    return _MARK.search(text) is not None


def render(text: str, context: TemplateContext, file: str, line: int, problems: Problems) -> str | None:
    """Render one template.

    Lines of the result are lines of the template wherever no tag spans lines, because nothing is trimmed.

    Args:
        text: The template.
        context: What it can see.
        file: Its file, for problems.
        line: Line of the file on which the text begins.
        problems: Receives UNDEFINED_VARIABLE, TEMPLATE_SYNTAX, TEMPLATE_UNSAFE or TEMPLATE_ERROR.

    Returns:
        The rendered text, or None where it could not be rendered.
    """
    if not has_template(text):
        return text
    if not _MARK.search(_PLAIN.sub("", text)):
        return _render_plain(text, context, file, line, problems)
    return _render_jinja(text, context, file, line, problems)


def _render_plain(text: str, context: TemplateContext, file: str, line: int, problems: Problems) -> str | None:
    before = len(problems)

    def value_of(match: re.Match[str]) -> str:
        label, name = match.groups()
        values: Mapping[str, object] | None = context.var if label == "var" else context.env
        if values is None or name not in values:
            at = line + text.count("\n", 0, match.start())
            _undefined(label if values is None else f"{label}.{name}", context, file, at, problems)
            return ""
        value = values[name]
        if label == "env" and context.on_secret is not None:
            context.on_secret(name, str(value))
        return text_of(value)

    result = _PLAIN.sub(value_of, text)
    return result if len(problems) == before else None


def _render_jinja(text: str, context: TemplateContext, file: str, line: int, problems: Problems) -> str | None:
    reads_env = context.env is not None and "env" in text
    answer = PROCESS.ask(
        {
            "text": text,
            "names": dict(context.names),
            "var": None if context.var is None else dict(context.var),
            "env": dict(context.env or {}) if reads_env else None if context.env is None else {},
        }
    )
    if "error" not in answer:
        _note_secrets(answer, context)
        return str(answer["text"])
    code, at, said = str(answer["error"]), line + int(answer["line"]) - 1, str(answer["message"])
    match code:
        case "UNDEFINED_VARIABLE":
            _undefined(said, context, file, at, problems)
        case "TEMPLATE_SYNTAX":
            problems.add(file, at, code, f"Not a valid template: {said.rstrip('.')}.")
        case "TEMPLATE_UNSAFE":
            problems.add(
                file,
                at,
                code,
                f"The template was stopped: {said}.",
                "A template may use var.*, env.* (YAML only), filters, if, for and set.",
            )
        case _:
            problems.add(file, at, "TEMPLATE_ERROR", f"The template failed: {said[:200]}.")
    return None


def _note_secrets(answer: Mapping[str, Any], context: TemplateContext) -> None:
    # A filter or a method makes something else of a secret, by which the secret would not be known again.
    if context.on_secret is None:
        return
    env, var = context.env or {}, context.var or {}
    for name in answer["env"]:
        context.on_secret(name, str(env[name]))
    for text, made_of in answer["written"]:
        for label, name in made_of:
            if label == "env":
                context.on_secret(name or "?", text)
                continue
            values = [str(value) for key, value in var.items() if name in ("", key)]
            origin = next((found for value in values if (found := context.origin(value))), "")
            if origin and text not in values:
                context.on_secret(origin, text)


def _undefined(name: str, context: TemplateContext, file: str, line: int, problems: Problems) -> None:
    label, _, attribute = name.rpartition(".")
    hint = context.unknown_hints.get(label or name)
    if hint is None and label == "env":
        # The names of this machine's variables are nobody else's business, so only a near one is offered.
        near = did_you_mean(attribute, context.known("env"))
        hint = near if near.startswith("Did") else f"Set it: export {attribute}=..."
    elif hint is None:
        hint = did_you_mean(attribute if label else name, context.known(label))
        if label == "var":
            hint += " Variables come from 'vars:' in configs and the pipeline, or --set vars.name=value."
    problems.add(file, line, "UNDEFINED_VARIABLE", f"'{name}' is not defined.", hint.strip())
