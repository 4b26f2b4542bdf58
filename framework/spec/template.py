"""Jinja in YAML values and SQL files: strict, sandboxed, bounded; every mistake is a problem with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

from framework.errors import foreign_text
from framework.spec.suggest import Problems, did_you_mean

if TYPE_CHECKING:
    from framework.spec.template_sandbox import Sandbox

# Nearly every template of a pipeline is this plain; loading Jinja for it would double the time of an idle run.
_PLAIN = re.compile(r"\{\{\s*(var|env)\.([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
_MARK = re.compile(r"\{[{%#]")
#: Codes of the problems that render reports.
TEMPLATE_CODES = frozenset(("UNDEFINED_VARIABLE", "TEMPLATE_SYNTAX", "TEMPLATE_UNSAFE", "TEMPLATE_ERROR"))
_FILE = "<freshet template>"


@dataclass(frozen=True)
class TemplateContext:
    """What a template can see.

    Args:
        var: Variables of configs and pipeline, as ``var.name``.
        env: Environment variables, as ``env.NAME``; None where a template may not read them.
        names: Further names, such as ``start`` and ``end``.
        on_secret: Called with name and value whenever an environment variable is read.
        unknown_hints: What to say when one of these names is used but not defined.
    """

    var: Mapping[str, object] | None
    env: Mapping[str, str] | None
    names: Mapping[str, object] = field(default_factory=dict)
    on_secret: Callable[[str, str], None] | None = None
    unknown_hints: Mapping[str, str] = field(default_factory=dict)

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
    from jinja2 import TemplateSyntaxError, UndefinedError
    from jinja2.exceptions import SecurityError

    from framework.spec.template_sandbox import MAX_OUTPUT_CHARACTERS, MAX_WORK, Variables

    read: list[str] = []

    def on_secret(name: str, value: str) -> None:
        read.append(name)
        if context.on_secret is not None:
            context.on_secret(name, value)

    sandbox = _sandbox()
    sandbox.work_left = MAX_WORK
    values: dict[str, Any] = dict(context.names)
    if context.var is not None:
        values["var"] = Variables("var", context.var)
    if context.env is not None:
        values["env"] = Variables("env", context.env, on_secret)
    parts: list[str] = []
    length = 0
    try:
        for part in _compiled(text).generate(values):
            length += len(part)
            if length > MAX_OUTPUT_CHARACTERS:
                raise SecurityError(f"the result is longer than {MAX_OUTPUT_CHARACTERS} characters")
            parts.append(part)
    except TemplateSyntaxError as error:
        problems.add(
            file, line + error.lineno - 1, "TEMPLATE_SYNTAX", f"Not a valid template: {str(error.message).rstrip('.')}."
        )
    except SecurityError as error:
        at = getattr(error, "lineno", None) or _line_of(error.__traceback__)
        problems.add(
            file,
            line + at - 1,
            "TEMPLATE_UNSAFE",
            f"The template was stopped: {error}.",
            "A template may use var.*, env.* (YAML only), plain filters, if and for.",
        )
    except UndefinedError as error:
        _undefined(str(error), context, file, line + _line_of(error.__traceback__) - 1, problems)
    except (RecursionError, MemoryError, SyntaxError):
        problems.add(file, line, "TEMPLATE_UNSAFE", "The template is nested too deep.")
    except Exception as error:
        # A template is user code: whatever it raises (a division by zero, a filter on a wrong type) is its author's.
        problems.add(
            file,
            line + _line_of(error.__traceback__) - 1,
            "TEMPLATE_ERROR",
            f"The template failed: {type(error).__name__}: {foreign_text(error)}.",
        )
    else:
        whole = "".join(parts)
        # A filter or a method makes something else of a secret, by which the secret would not be known again.
        if read and context.on_secret is not None and re.search(r"\benv\b", _PLAIN.sub("", text)):
            context.on_secret(read[0], whole)
        return whole
    return None


@cache
def _sandbox() -> Sandbox:
    from framework.spec.template_sandbox import Sandbox

    return Sandbox()


@cache
def _compiled(text: str) -> Any:
    sandbox = _sandbox()
    code = sandbox.compile(text, filename=_FILE)
    return sandbox.template_class.from_code(sandbox, code, dict(sandbox.globals))


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


def _line_of(trace: TracebackType | None) -> int:
    line = 1
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
