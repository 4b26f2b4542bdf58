"""Keeping secrets out of everything that is printed.

Every value that a file reads through ``env.NAME`` counts as a secret, and so does what a template makes of it. It is replaced
by ``${env.NAME}`` in all output, also where it was escaped for JSON, a shell, a URL or base64 on its way, and so is every run
of PART characters of it: a text may have been cut, or brought into a normal form, before it got here. Values shorter than
MIN_LENGTH characters are not replaced: they would match inside ordinary words and numbers, and guessing them needs no log.
For the same reason a value of fewer than PART digits and nothing else is replaced only as a word of its own, and no number of a
document. No part of a time is ever replaced: commands and files are named by it.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MIN_LENGTH = 3
PART = 8
# Of one spelling: a variable may hold 128 KB, and no message is as long.
_MOST_PARTS = 1 << 15
_NUMBER = re.compile(rf"[0-9]{{1,{PART - 1}}}")
_ALONE, _ENDS = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_DAY = r"20\d\d{0}(?:0[1-9]|1[0-2]){0}(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3]){0}[0-5]\d{0}[0-5]\d"
# As Hudi names a time, as ISO 8601 writes it, and as people read it.
_MOMENT = re.compile(
    f"{_ALONE}(?:{_DAY.format('')}{_TIME.format('')}(?:\\d{{3}})?{_ENDS}"
    f"|{_DAY.format('-')}[T ]{_TIME.format(':')}(?:\\.\\d+)?Z?)"
)
# What holds short numbers between signs and is no place for a secret of that kind: ids of files, write tokens, days, 1,000.
_NUMBERED = re.compile(
    f"{_ALONE}(?:[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}|\\d+-\\d+-\\d+|\\d{{1,3}}(?:,\\d{{3}})+){_ENDS}"
)
# Words of freshet's own that machines read; a part of a secret that happens to be one of them tells nothing.
_OWN_WORD = re.compile(r"[a-z]+(_[a-z]+)*|[A-Z]+(_[A-Z]+)*")
# Under these keys stand such words.
_OWN_WORDS = ("code", "state", "outcome", "status", "kind")


class Redactor:
    """Replaces the values that were registered, and parts of them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._forms: dict[str, str] = {}
        self._parts: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._strict: re.Pattern[str] | None = None

    def register(self, name: str, value: str) -> None:
        """Treat ``value`` as secret from now on.

        Args:
            name: Name of the environment variable it came from.
            value: The secret; shorter than MIN_LENGTH characters it stays readable.
        """
        if len(value.strip()) < MIN_LENGTH or self._names.get(value) is not None:
            return
        self._names[value] = name
        shown = f"${{env.{name}}}"
        for form in dict.fromkeys(_forms(value)):
            if len(form) < MIN_LENGTH:
                continue
            self._forms.setdefault(form, shown)
            for start in range(min(len(form) - PART + 1, _MOST_PARTS)):
                self._parts.setdefault(form[start : start + PART], shown)
        self._pattern = self._strict = None

    def origin(self, text: str) -> str:
        """Return the name of an environment variable whose value, or a part of it, stands in a text; else an empty text."""
        spans = [*self._wholes(text), *self._runs(text)]
        return spans[0][2].removeprefix("${env.").removesuffix("}") if spans else ""

    def redact(self, text: str) -> str:
        """Return ``text`` with every registered secret, and every part of one, replaced by ``${env.NAME}``."""
        moments = [match.span() for match in _MOMENT.finditer(text)]
        numbered = [*moments, *(match.span() for match in _NUMBERED.finditer(text))]
        spans = [
            span
            for span in (*self._words(text), *self._runs(text))
            if not _within(span, numbered if _NUMBER.fullmatch(text[span[0] : span[1]]) else moments)
        ]
        return _replaced(text, _merged(spans))

    def redact_whole(self, text: str) -> str:
        """Return ``text`` with every whole secret replaced: what is shown does not depend on the secret's own words."""
        return _replaced(text, _merged(self._wholes(text)))

    def hidden(self, text: str) -> str:
        """Return ``text`` as it may be kept: with every secret, and every part of one, replaced wherever it stands."""
        return _replaced(text, _merged([*self._wholes(text), *self._runs(text)]))

    def redact_tree(self, tree: Any) -> Any:
        """Return a copy of a JSON-able tree with its texts, keys included, redacted; a long number that is a secret too."""
        match tree:
            case str():
                return self.redact(tree)
            case dict():
                return {
                    self._key(str(key)): self._word(value) if key in _OWN_WORDS else self.redact_tree(value)
                    for key, value in tree.items()
                }
            case list() | tuple():
                return [self.redact_tree(item) for item in tree]
            case int() | float() if not isinstance(tree, bool) and len(str(tree)) >= PART and str(tree) in self._forms:
                return self._forms[str(tree)]
            case _:
                return tree

    def whole_tree(self, tree: Any) -> Any:
        """Return a JSON-able tree with the whole secrets of its texts replaced."""
        if not self._forms:
            return tree
        match tree:
            case str():
                return self.redact_whole(tree)
            case dict():
                return {self.redact_whole(str(key)): self.whole_tree(value) for key, value in tree.items()}
            case list() | tuple():
                return [self.whole_tree(item) for item in tree]
            case int() | float() if not isinstance(tree, bool) and str(tree) in self._forms:
                return self._forms[str(tree)]
            case _:
                return tree

    def _key(self, key: str) -> str:
        return self.redact_whole(key) if _OWN_WORD.fullmatch(key) else self.redact(key)

    def _word(self, value: Any) -> Any:
        return self.redact_whole(value) if isinstance(value, str) and _OWN_WORD.fullmatch(value) else self.redact_tree(value)

    def _wholes(self, text: str) -> list[_Span]:
        if not self._forms:
            return []
        if self._pattern is None:
            self._pattern = re.compile("|".join(map(re.escape, self._longest_first())))
        return [(match.start(), match.end(), self._forms[match.group()]) for match in self._pattern.finditer(text)]

    def _words(self, text: str) -> list[_Span]:
        """The same, with short numbers only where they are words of their own."""
        if not self._forms:
            return []
        if self._strict is None:
            self._strict = re.compile(
                "|".join(
                    f"{_ALONE}{form}{_ENDS}" if _NUMBER.fullmatch(form) else re.escape(form) for form in self._longest_first()
                )
            )
        return [(match.start(), match.end(), self._forms[match.group()]) for match in self._strict.finditer(text)]

    def _longest_first(self) -> list[str]:
        return sorted(self._forms, key=lambda form: (-len(form), form))

    def _runs(self, text: str) -> list[_Span]:
        parts = self._parts
        if not parts:
            return []
        found: list[_Span] = []
        for start in range(len(text) - PART + 1):
            shown = parts.get(text[start : start + PART])
            if shown is None:
                continue
            if found and start <= found[-1][1] and shown == found[-1][2]:
                found[-1] = (found[-1][0], start + PART, shown)
            else:
                found.append((start, start + PART, shown))
        # A blank beside a secret is not its own.
        return [
            (begin + len(run) - len(run.lstrip()), end - len(run) + len(run.rstrip()), shown)
            for begin, end, shown in found
            if (run := text[begin:end]).strip()
        ]


# Begin and end in a text, and what is shown instead.
_Span = tuple[int, int, str]


def _within(span: _Span, places: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in places)


def _merged(spans: list[_Span]) -> list[_Span]:
    # Of two that overlap the longer one gives the name.
    found: list[_Span] = []
    for start, end, shown in sorted(spans):
        if found and start < found[-1][1]:
            before = found[-1]
            longer = shown if end - start > before[1] - before[0] else before[2]
            found[-1] = (before[0], max(before[1], end), longer)
        else:
            found.append((start, end, shown))
    return found


def _replaced(text: str, spans: list[_Span]) -> str:
    pieces, done = [], 0
    for start, end, shown in spans:
        pieces += [text[done:start], shown]
        done = end
    return "".join([*pieces, text[done:]])


def _forms(value: str) -> Iterator[str]:
    stripped = value.strip()
    spellings = {value, stripped, *(spelt for spelt in (_normal_spellings(stripped)) if len(spelt) >= MIN_LENGTH)}
    for whole in spellings:
        yield whole
        yield json.dumps(whole)[1:-1]
        yield json.dumps(whole, ensure_ascii=False)[1:-1]
        yield repr(whole)[1:-1]
        yield whole.encode("unicode_escape").decode("ascii")
        yield shlex.quote(whole)
        # What stands between the quotes, for a shell text that was quoted as a part of a longer word.
        yield shlex.quote(whole).removeprefix("'").removesuffix("'")
        yield quote(whole, errors="replace")
        yield quote(whole, safe="", errors="replace")
        yield quote_plus(whole, errors="replace")
    data = stripped.encode("utf-8", "surrogateescape")
    yield base64.b64encode(value.encode("utf-8", "surrogateescape")).decode("ascii")
    yield base64.b64encode(data).decode("ascii")
    for before in (1, 2):
        # In the middle of a longer text three bytes may be grouped otherwise; the characters at both ends hold its neighbours.
        inner = base64.b64encode(b"\0" * before + data).decode("ascii")[before + 1 :].rstrip("=")
        if len(inner) > PART:
            yield inner[:-1]
    if "\n" in stripped:
        # A certificate or key is often logged line by line.
        yield from (line.strip() for line in stripped.splitlines() if len(line.strip()) >= PART)


def _normal_spellings(value: str) -> Iterator[str]:
    # What paths, SQL, URLs and one-line messages make of it.
    yield value.lower()
    yield value.upper()
    yield re.sub("/+", "/", value)
    yield posixpath.normpath(value)
    yield " ".join(value.split())
    yield unquote(value)
    yield value.replace("'", "''")
    yield value.replace("\\", "")


#: The process's redactor: whatever prints goes through it.
REDACTOR = Redactor()


def redact(text: str) -> str:
    """Return ``text`` without any secret that this process has read."""
    return REDACTOR.redact(text)


def redact_tree(tree: Any) -> Any:
    """Return a JSON-able tree without any secret that this process has read."""
    return REDACTOR.redact_tree(tree)
