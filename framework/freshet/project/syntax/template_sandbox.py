"""Jinja in a process of its own, which memory and time are taken from: a template chooses text and reaches nothing else.

Run by ``freshet.project.syntax.template_process`` as the text of a program, without the framework: it reads requests from stdin
and answers on stdout, one JSON document a line. What exceeds its limits ends the process, and the asker starts another.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from traceback import extract_tb
from types import TracebackType
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range

MAX_OUTPUT_CHARACTERS = 1024 * 1024
MAX_MEMORY_BYTES = 512 * 1024 * 1024
#: Of the processor; a template of a pipeline takes a thousandth of it.
MAX_SECONDS = 1.0
_FILE = "<freshet template>"
# Without these every text that a template writes comes from an expression, whose names are known.
_REFUSED: Mapping[type[nodes.Node], str] = {
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "filter",
    nodes.AssignBlock: "set block",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.With: "with",
}
# What these find out of a value holds nothing of it.
_ANSWERS = (nodes.Compare, nodes.Test, nodes.Not)
_COUNTS = ("length", "count")

Name = tuple[str, str]


class Variables:
    """A read-only set of names for templates: ``var.x`` or ``var['x']``.

    Args:
        label: The name it has in templates: ``var``, ``env``.
        values: The values by name.
    """

    __slots__ = ("label", "read", "values")

    def __init__(self, label: str, values: Mapping[str, object]) -> None:
        self.label = label
        self.values = values
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> object:
        value = self.values[name]
        self.read.add(name)
        return value


class NamedUndefined(StrictUndefined):
    """A missing name whose error text is exactly that name, as ``var.x`` or ``x``."""

    @property
    def _undefined_message(self) -> str:
        if isinstance(self._undefined_obj, Variables):
            return f"{self._undefined_obj.label}.{self._undefined_name}"
        return str(self._undefined_name)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's own sandbox, strict, which notes what each expression wrote and what it was made of."""

    def __init__(self) -> None:
        super().__init__(
            undefined=NamedUndefined,
            keep_trailing_newline=True,
            optimized=False,
            finalize=text_of,
            loader=FunctionLoader(lambda name: None),
        )
        self.globals = {"range": safe_range}
        # The same files give the same text.
        del self.filters["random"]
        self.filters["_noted"] = self._note
        self.written: list[tuple[str, list[Name]]] = []

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Look a name up; a Variables object has no attributes beside its names."""
        return self.getitem(obj, attribute) if isinstance(obj, Variables) else super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Look an item up, without falling back to attributes of a Variables object."""
        if not isinstance(obj, Variables):
            return super().getitem(obj, argument)
        try:
            return obj[str(argument)]
        except KeyError:
            return self.undefined(obj=obj, name=str(argument))

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
        """Stop a template that reaches for Python.

        Raises:
            SecurityError: Always, naming the attribute.
        """
        raise SecurityError(f"'{attribute}' of a {type(obj).__name__} is not available")

    def _note(self, value: Any, *made_of: Name) -> Any:
        text = text_of(value)
        self.written.append((text, list(made_of)))
        return text

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all(nodes.Node):
            if type(node) in _REFUSED:
                raise TemplateSyntaxError(f"'{_REFUSED[type(node)]}' is not available", node.lineno, filename=_FILE)
        sources = _sources(tree)
        for output in tree.find_all(nodes.Output):
            output.nodes = [self._noting(one, sources) for one in output.nodes]
        return tree

    def _noting(self, node: nodes.Expr, sources: Mapping[str, set[Name]]) -> nodes.Expr:
        found = sorted(_made_of(node, sources))
        if isinstance(node, nodes.TemplateData) or not found:
            return node
        names: list[nodes.Expr] = [nodes.Const(one, lineno=node.lineno, environment=self) for one in found]
        return nodes.Filter(node, "_noted", names, [], None, None, lineno=node.lineno, environment=self)


def _sources(tree: nodes.Template) -> dict[str, set[Name]]:
    """Return what the template's own names are made of, wherever it sets them."""
    bound: list[tuple[nodes.Node, nodes.Node]] = [(node.target, node.node) for node in tree.find_all(nodes.Assign)]
    bound += [(node.target, node.iter) for node in tree.find_all(nodes.For)]
    sources: dict[str, set[Name]] = {}
    changed = True
    while changed:
        changed = False
        for target, value in bound:
            found = _made_of(value, sources)
            for name in [target, *target.find_all(nodes.Name)]:
                if isinstance(name, nodes.Name) and not found <= sources.setdefault(name.name, set()):
                    sources[name.name] |= found
                    changed = True
    return sources


def _made_of(node: nodes.Node, sources: Mapping[str, set[Name]]) -> set[Name]:
    if isinstance(node, _ANSWERS) or (isinstance(node, nodes.Filter) and node.name in _COUNTS):
        return set()
    if isinstance(node, nodes.Name):
        return sources.get(node.name, {(node.name, "")} if node.name in ("var", "env") else set())
    if isinstance(node, (nodes.Getattr, nodes.Getitem)) and isinstance(node.node, nodes.Name):
        label, key = node.node.name, node.attr if isinstance(node, nodes.Getattr) else node.arg
        name = key if isinstance(key, str) else key.value if isinstance(key, nodes.Const) else ""
        if label in ("var", "env") and label not in sources:
            return {(label, str(name))}
    parts = [node.expr1, node.expr2] if isinstance(node, nodes.CondExpr) else node.iter_child_nodes()
    return set().union(*(_made_of(part, sources) for part in parts if part is not None))


def text_of(value: Any) -> str:
    """Turn a template's value into text: SQL's and YAML's ``true``, ``false`` and ``null``; a list is not text.

    Raises:
        SecurityError: For a list, a mapping or an object.
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, (Undefined, str, int, float)):
        return str(value)
    raise SecurityError(f"a {type(value).__name__} cannot be written as text; use '| join'")


def rendered(sandbox: Sandbox, request: Mapping[str, Any]) -> dict[str, Any]:
    """Render one template.

    Args:
        sandbox: The environment.
        request: ``text``; ``names``; ``var`` and ``env``, None where the template may not read them.

    Returns:
        ``text``, ``env`` (names read) and ``written`` (what expressions wrote of which names); or ``error``, the code of the
        problem, with ``line`` and ``message``.
    """
    sandbox.written = []
    values: dict[str, Any] = dict(request["names"])
    values |= {label: Variables(label, request[label]) for label in ("var", "env") if request[label] is not None}
    try:
        text = "".join(_bounded(_compiled(sandbox, request["text"]).generate(values)))
    except TemplateSyntaxError as error:
        return _problem("TEMPLATE_SYNTAX", error.lineno, str(error.message))
    except (SecurityError, TemplateNotFound, OverflowError) as error:
        return _problem("TEMPLATE_UNSAFE", _line_of(error.__traceback__), str(error) or "not available")
    except UndefinedError as error:
        return _problem("UNDEFINED_VARIABLE", _line_of(error.__traceback__), str(error))
    except MemoryError:
        return _problem("TEMPLATE_UNSAFE", 1, f"it takes more than {MAX_MEMORY_BYTES >> 20} MB of memory")
    except (RecursionError, SyntaxError):
        return _problem("TEMPLATE_UNSAFE", 1, "it is nested too deep")
    except Exception as error:
        # A template is user code: whatever it raises (a division by zero, a filter on a wrong type) is its author's.
        return _problem("TEMPLATE_ERROR", _line_of(error.__traceback__), f"{type(error).__name__}: {error}")
    read = values["env"].read if "env" in values else ()
    return {"text": text, "env": sorted(read), "written": sandbox.written}


def _problem(code: str, line: int, message: str) -> dict[str, Any]:
    return {"error": code, "line": line, "message": message[:MAX_OUTPUT_CHARACTERS]}


def _bounded(parts: Iterator[str]) -> Iterator[str]:
    length = 0
    for part in parts:
        length += len(part)
        if length > MAX_OUTPUT_CHARACTERS:
            raise SecurityError(f"the result is longer than {MAX_OUTPUT_CHARACTERS} characters")
        yield part


@lru_cache(maxsize=256)
def _compiled(sandbox: Sandbox, text: str) -> Any:
    return sandbox.template_class.from_code(sandbox, sandbox.compile(text, filename=_FILE), dict(sandbox.globals))


def _line_of(trace: TracebackType | None) -> int:
    lines = [frame.lineno for frame in extract_tb(trace) if frame.filename == _FILE]
    return lines[-1] or 1 if lines else 1


def serve() -> None:
    """Answer requests until stdin ends."""
    # Ctrl-C goes to every process of the terminal; this one ends with its asker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sandbox = Sandbox()
    for line in sys.stdin.buffer:
        # The signal ends the process also within one call of Python's own, such as a power.
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
        answer = json.dumps(rendered(sandbox, json.loads(line)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
