"""Jinja with a budget: a template chooses text, and cannot reach Python, loop for ever or fill memory.

Jinja's own sandbox guards attributes. This one also leaves out what could multiply work (macros, blocks, includes,
``namespace``), lets only a list of filters through, and charges every loop step, call, filter and operator to a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS

from framework.spec import template

MAX_OUTPUT_CHARACTERS = 1024 * 1024
MAX_WORK = 10 * 1024 * 1024
_MAX_INT_BITS = 256
_FILTERS = (
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
    "int",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "reverse",
    "round",
    "sort",
    "string",
    "sum",
    "title",
    "trim",
    "unique",
    "upper",
)
_TESTS = (
    "boolean",
    "defined",
    "divisibleby",
    "eq",
    "equalto",
    "even",
    "false",
    "float",
    "ge",
    "gt",
    "in",
    "integer",
    "le",
    "lt",
    "ne",
    "none",
    "number",
    "odd",
    "string",
    "true",
    "undefined",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
)
_TEXT_METHODS = frozenset(("lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "split", "title"))
_MAP_METHODS = frozenset(("items", "keys", "values", "get"))
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
    nodes.EvalContextModifier: "autoescape",
}


class Variables:
    """A read-only set of names for templates: ``var.x`` or ``var['x']``.

    Args:
        label: The name it has in templates: ``var``, ``env``.
        values: The values by name.
        on_read: Called with name and value at each read.
    """

    __slots__ = ("label", "on_read", "values")

    def __init__(
        self, label: str, values: Mapping[str, object], on_read: Callable[[str, str], None] | None = None
    ) -> None:
        self.label = label
        self.values = values
        self.on_read = on_read

    def __getitem__(self, name: str) -> object:
        value = self.values[name]
        if self.on_read is not None:
            self.on_read(name, str(value))
        return value


class NamedUndefined(StrictUndefined):
    """A missing name whose error text is exactly that name, as ``var.x`` or ``x``."""

    @property
    def _undefined_message(self) -> str:
        if isinstance(self._undefined_obj, Variables):
            return f"{self._undefined_obj.label}.{self._undefined_name}"
        return str(self._undefined_name)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment that renders every template; one per process, used by one thread."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "**", "%"))

    def __init__(self) -> None:
        super().__init__(undefined=NamedUndefined, keep_trailing_newline=True, optimized=False, finalize=text_of)
        self.work_left = MAX_WORK
        self.filters = {name: self._charged(FILTERS[name]) for name in _FILTERS}
        self.filters |= {
            "join": self._join,
            "replace": self._replace,
            "_concat": self._concat,
            "_bounded": self._bounded,
        }
        self.tests = {name: TESTS[name] for name in _TESTS}
        self.globals = {"range": self._range}

    def spend(self, work: int) -> None:
        """Charge some work to the running template.

        Raises:
            SecurityError: When the budget is used up.
        """
        self.work_left -= work
        if self.work_left < 0:
            raise SecurityError("the template does too much work")

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Look a name up; a Variables object has no attributes beside its names."""
        if isinstance(obj, Variables):
            return self.getitem(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Look an item up, without falling back to attributes of a Variables object."""
        if isinstance(obj, Variables):
            try:
                return obj[str(argument)]
            except KeyError:
                return self.undefined(obj=obj, name=str(argument))
        return super().getitem(obj, argument)

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
        """Stop a template that reaches for Python.

        Raises:
            SecurityError: Always, naming the attribute.
        """
        raise SecurityError(f"'{attribute}' of a {type(obj).__name__} is not available")

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Let only harmless methods of texts and mappings, and ``loop``'s counters, through."""
        if isinstance(obj, str):
            return attr in _TEXT_METHODS
        if isinstance(obj, dict):
            return attr in _MAP_METHODS
        return type(obj).__name__ == "LoopContext" and attr in ("index", "index0", "first", "last", "length")

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls, at the template's cost."""
        __self.spend(10 + sum(map(_size, args)) + _size(getattr(__obj, "__self__", None)))
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator whose result is bounded."""
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return super().call_binop(context, operator, left, right)
        size = _size(left) + _size(right)
        numbers = all(isinstance(value, (int, float)) for value in (left, right))
        if operator == "**" and (not numbers or abs(right) > _MAX_INT_BITS or abs(left) > 2**_MAX_INT_BITS):
            raise SecurityError("the power is too large")
        if operator == "%" and not numbers:
            raise SecurityError("'%' is for numbers; use '~' to put text together")
        if operator == "*" and not numbers:
            times = [value for value in (left, right) if isinstance(value, int)]
            size = size * max(1, *times, 1)
        if operator in ("*", "**") and any(
            isinstance(v, int) and abs(v).bit_length() > _MAX_INT_BITS for v in (left, right)
        ):
            raise SecurityError("the number is too large")
        self.spend(size)
        return super().call_binop(context, operator, left, right)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in list(tree.find_all(nodes.Node)):
            _refuse_unbounded(node)
            if isinstance(node, nodes.For):
                node.iter = _filtered(node.iter, "_bounded")
        _replace_concat(tree)
        return tree

    def _charged(self, function: Callable[..., Any]) -> Callable[..., Any]:
        # Jinja marks filters that want the environment or context on the function itself.
        marker = getattr(function, "jinja_pass_arg", None)

        def charged(*args: Any, **kwargs: Any) -> Any:
            self.spend(10 + sum(map(_size, args)))
            return function(*args, **kwargs)

        if marker is not None:
            charged.jinja_pass_arg = marker  # type: ignore[attr-defined]
        return charged

    def _range(self, *bounds: int) -> range:
        counted = range(*bounds)
        if len(counted) > 100_000:
            raise SecurityError("the range is too large")
        return counted

    def _bounded(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.spend(100)
            yield value

    def _concat(self, parts: list[Any]) -> str:
        texts = [text_of(part) for part in parts]
        self.spend(sum(map(len, texts)))
        return "".join(texts)

    def _join(self, values: Iterable[Any], separator: str = "") -> str:
        texts = []
        for value in values:
            texts.append(text_of(value))
            self.spend(len(texts[-1]) + len(separator) + 1)
        return str(separator).join(texts)

    def _replace(self, text: Any, old: str, new: str) -> str:
        whole = text_of(text)
        self.spend(len(whole) + whole.count(old) * len(new))
        return whole.replace(str(old), str(new))


def text_of(value: Any) -> str:
    """Turn a template's value into text: SQL's and YAML's ``true``, ``false`` and ``null``; a list is not text.

    Raises:
        SecurityError: For a list, a mapping or an object.
    """
    if value is None or isinstance(value, bool):
        return template.text_of(value)
    if isinstance(value, (Undefined, str, int, float)):
        return str(value)
    raise SecurityError(f"a {type(value).__name__} cannot be written as text; use '| join'")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (str, list, tuple, dict, range)) else 1


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(
        cast(nodes.Expr, node), name, [], [], None, None, lineno=node.lineno, environment=node.environment
    )


def _refusal(words: str, node: nodes.Node) -> SecurityError:
    error: Any = SecurityError(words)
    error.lineno = node.lineno
    return cast(SecurityError, error)


def _refuse_unbounded(node: nodes.Node) -> None:
    refused = _REFUSED.get(type(node))
    if refused is not None or (isinstance(node, nodes.For) and node.recursive):
        raise _refusal(f"'{refused or 'recursive'}' is not available", node)
    if isinstance(node, (nodes.List, nodes.Tuple, nodes.Dict)) and getattr(node, "ctx", "load") == "load":
        # Lists of lists of lists of one list would print as more text than memory holds.
        names = {n.name for n in node.find_all(nodes.Name)} - {"var", "env"}
        if names or node.find(nodes.Call) or node.find(nodes.Filter):
            raise _refusal("a list may hold constants, var.* and env.* only", node)


def _replace_concat(node: nodes.Node) -> None:
    for field, value in node.iter_fields():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, nodes.Node):
                _replace_concat(child)
        if isinstance(value, nodes.Concat):
            setattr(node, field, _concat_call(value))
        elif isinstance(value, list):
            setattr(node, field, [_concat_call(v) if isinstance(v, nodes.Concat) else v for v in value])


def _concat_call(node: nodes.Concat) -> nodes.Filter:
    parts = nodes.List(node.nodes, lineno=node.lineno, environment=node.environment)
    return _filtered(parts, "_concat")
