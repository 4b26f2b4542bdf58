"""Cut a SQL file into statements without parsing SQL: Spark's own parser decides what each one means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What <SRC> becomes: as long as the mark, so that the columns Spark names in its errors are those of the file.
SOURCE_VIEW = "`SRC`"
# What <SRC_INSTANT> becomes: the completion time up to which a run has read its main source; the run puts its digits, a
# bigint, in the place's stead.
INSTANT_PLACE = "`SRC_INSTANT`"

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*)
      | (?P<quoted>(?<!\w)[rR](?:'[^']*(?:'|\Z)|"[^"]*(?:"|\Z))
          |'(?:\\.|[^'\\])*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|`(?:``|[^`])*(?:`|\Z))
      | (?P<mark><SRC>)
      | (?P<instant><SRC_INSTANT>)
      | (?P<end>;)
      | (?P<space>\s+)
      | (?P<other>\w+|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSED = re.compile(
    r"""[rR]'[^']*'|[rR]"[^"]*"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`""",
    re.DOTALL,
)
_PLACEHOLDERS = {"mark": SOURCE_VIEW, "instant": INSTANT_PLACE}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
# A transformer reads; what it may leave behind lives in the run's own session and goes with it.
_ALLOWED = re.compile(
    r"[\s(]*(select|with|from|values|table|map|reduce"
    r"|create\s+(or\s+replace\s+)?temp(orary)?\s+view|cache|uncache|set)\b",
    re.IGNORECASE,
)
_LAST = re.compile(r"[\s(]*(select|with|from|values|table)\b", re.IGNORECASE)
# Spark also writes by what begins like a query: WITH ... INSERT, DELETE, UPDATE or MERGE, and FROM ... INSERT.
_WRITES = re.compile(
    r"(with|from)\b.*\binsert\s+(into|overwrite)\b"
    r"|with\s+(?:\w+\s*(?:\(\)\s*)?(?:\bas\b\s*)?\(\)\s*,?\s*)+(delete|update|merge)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class Statement:
    """One SQL statement.

    Args:
        text: Its text, ``<SRC>`` and ``<SRC_INSTANT>`` replaced by names of the same length; the first line is
            padded to its column in the file.
        line: 1-based line of the file that it starts on.
    """

    text: str
    line: int


@dataclass(frozen=True)
class StatementProblem:
    """A statement that a transformer may not hold."""

    line: int
    code: str
    message: str


def split_statements(text: str) -> tuple[Statement, ...]:
    """Cut ``text`` at each ``;`` that stands outside literals, quoted names and comments.

    Args:
        text: A SQL file after Jinja.

    Returns:
        The statements that hold more than comments, in order.
    """
    statements: list[Statement] = []
    parts: list[str] = []
    start: int | None = None
    for token in [*_tokens(text), None]:
        if token is None or token.kind == "end":
            if start is not None:
                statements.append(_statement(text, start, "".join(parts)))
            parts, start = [], None
            continue
        if start is None:
            if token.kind in ("comment", "space"):
                continue
            start = token.start
        parts.append(_PLACEHOLDERS.get(token.kind, token.text))
    return tuple(statements)


def mentions_source(text: str) -> bool:
    """Say whether ``<SRC>`` stands in the text outside literals and comments."""
    return any(token.kind == "mark" for token in _tokens(text))


def without_comments(text: str) -> str:
    """Return a text with one blank in place of spaces and comments, outside of quotes; a template's tags stay as they are."""
    parts: list[str] = []
    for token in _tokens(text):
        part = " " if token.kind in ("comment", "space") else token.text
        if part != " " or parts[-1:] != [" "]:
            parts.append(part)
    return "".join(parts).strip()


def identifiers(text: str) -> list[str]:
    """Return the names and keywords of a text, those in backticks whole; neither literals nor comments."""
    found: list[str] = []
    bare = ""
    for token in _tokens(text):
        if token.kind == "quoted" and token.text.startswith("`"):
            found.append(token.text.strip("`").replace("``", "`"))
        bare += token.text if token.kind == "other" else " "
    return found + re.findall(r"[A-Za-z_]\w*", bare)


def leaves_view(statement: Statement) -> bool:
    """Say whether a statement makes a view that later steps can name."""
    return re.match(r"[\s(]*(create|cache)\b", _bare(statement), re.IGNORECASE) is not None


def unclosed(text: str) -> StatementProblem | None:
    """Return the quote, quoted name or comment that the text opens and does not close."""
    for token in _tokens(text):
        opens = token.kind == "quoted" or (token.kind == "other" and token.text in "'\"`")
        if opens and not _CLOSED.fullmatch(token.text):
            return _unclosed(text, token, "a quote")
        if token.text.startswith("/*") and token.start + len(token.text) == len(text) and _comment_end(text, token.start) < 0:
            return _unclosed(text, token, "a comment")
    return None


def _unclosed(text: str, token: _Token, what: str) -> StatementProblem:
    return StatementProblem(text.count("\n", 0, token.start) + 1, "SQL_UNCLOSED", f"{what} that opens here is not closed.")


def check_statements(statements: tuple[Statement, ...]) -> list[StatementProblem]:
    """Return what a transformer's statements may not be: empty, changing tables, or ending without rows."""
    if not statements:
        return [StatementProblem(1, "EMPTY_SQL", "the file holds no statement.")]
    problems = [
        StatementProblem(
            s.line,
            "SQL_NOT_ALLOWED",
            f"a transformer only reads, by select, with, values, table, create "
            f"temporary view, cache table and set; {_head(s)!r} begins something else.",
        )
        for s in statements
        if not _ALLOWED.match(_bare(s)) or _WRITES.match(_flat(s))
    ]
    last = statements[-1]
    if not problems and not _LAST.match(_bare(last)):
        problems.append(
            StatementProblem(last.line, "SQL_NO_RESULT", f"the last statement must be a query, and {_head(last)!r} is none.")
        )
    return problems


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while match := _TOKEN.match(text, position):
        end = _comment_end(text, position) if match.group() == "/*" else match.end()
        end = end if end > 0 else len(text)
        yield _Token(match.lastgroup or "other", text[position:end], position)
        position = end


def _comment_end(text: str, start: int) -> int:
    # Spark's comments nest, which no regular expression can follow.
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return -1


def _statement(text: str, start: int, body: str) -> Statement:
    column = start - (text.rfind("\n", 0, start) + 1)
    return Statement(" " * column + body.rstrip(), text.count("\n", 0, start) + 1)


def _bare(statement: Statement) -> str:
    return "".join(" " if token.kind in ("comment", "space") else token.text for token in _tokens(statement.text)).strip()


def _flat(statement: Statement) -> str:
    """Return what stands outside parentheses, each quoted text as one letter."""
    parts, depth = [], 0
    for token in _tokens(_bare(statement)):
        text = "q" if token.kind == "quoted" else token.text
        depth -= text == ")"
        if depth <= 0:
            parts.append(text)
        depth += text == "("
    return "".join(parts).strip()


def _head(statement: Statement) -> str:
    return " ".join(_bare(statement).split()[:3])
