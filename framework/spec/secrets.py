"""Keeping secrets out of everything that is printed.

Every value that a file reads through ``env.NAME`` counts as a secret. It is replaced by ``${env.NAME}`` in all output,
also where it was escaped for JSON, a shell, a URL or base64 on its way. Values shorter than MIN_LENGTH characters are
not replaced: they would match inside ordinary words and numbers, and guessing them needs no log.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus

MIN_LENGTH = 3
_MIN_LINE_LENGTH = 8


class Redactor:
    """Replaces the values that were registered; longer ones first, in one pass."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._forms: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def register(self, name: str, value: str) -> None:
        """Treat ``value`` as secret from now on.

        Args:
            name: Name of the environment variable it came from.
            value: The secret; shorter than MIN_LENGTH characters it stays readable.
        """
        if len(value.strip()) < MIN_LENGTH or self._names.get(value) is not None:
            return
        self._names[value] = name
        for form in _forms(value):
            self._forms.setdefault(form, f"${{env.{name}}}")
        self._pattern = None

    def redact(self, text: str) -> str:
        """Return ``text`` with every registered secret replaced by ``${env.NAME}``."""
        if not self._forms:
            return text
        if self._pattern is None:
            longest_first = sorted(self._forms, key=lambda form: (-len(form), form))
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(lambda match: self._forms[match.group()], text)

    def redact_tree(self, tree: Any) -> Any:
        """Return a copy of a JSON-able tree with its texts, keys included, redacted; a number that is a secret too."""
        match tree:
            case str():
                return self.redact(tree)
            case dict():
                return {self.redact(str(key)): self.redact_tree(value) for key, value in tree.items()}
            case list() | tuple():
                return [self.redact_tree(item) for item in tree]
            case int() | float() if not isinstance(tree, bool) and str(tree) in self._forms:
                return self._forms[str(tree)]
            case _:
                return tree


def _forms(value: str) -> Iterator[str]:
    stripped = value.strip()
    for whole in {value, stripped}:
        yield whole
        yield json.dumps(whole)[1:-1]
        yield json.dumps(whole, ensure_ascii=False)[1:-1]
        yield repr(whole)[1:-1]
        yield shlex.quote(whole)
        # What stands between the quotes, for a shell text that was quoted as a part of a longer word.
        yield shlex.quote(whole).removeprefix("'").removesuffix("'")
        yield quote(whole, errors="replace")
        yield quote(whole, safe="", errors="replace")
        yield quote_plus(whole, errors="replace")
        yield base64.b64encode(whole.encode("utf-8", "surrogateescape")).decode("ascii")
    if "\n" in stripped:
        # A certificate or key is often logged line by line.
        yield from (line.strip() for line in stripped.splitlines() if len(line.strip()) >= _MIN_LINE_LENGTH)


#: The process's redactor: whatever prints goes through it.
REDACTOR = Redactor()


def redact(text: str) -> str:
    """Return ``text`` without any secret that this process has read."""
    return REDACTOR.redact(text)


def redact_tree(tree: Any) -> Any:
    """Return a JSON-able tree without any secret that this process has read."""
    return REDACTOR.redact_tree(tree)
