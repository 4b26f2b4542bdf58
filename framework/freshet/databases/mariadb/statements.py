"""Statements in MariaDB's binary log: which of them change rows without a row of the log that says so. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

# A comment of this form is run, from a version of the server on.
_RUN = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
_COMMENT = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|/\*.*?\*/|(?:--(?=\s|$)|\#)[^\n]*""", re.DOTALL
)
#: Statements that change rows, where rows should have been logged.
_CHANGES = re.compile(r"^\s*(?:insert|update|delete|replace|load)\b", re.IGNORECASE)
_EMPTIES = re.compile(
    r"^\s*(?:truncate\b|drop\s+(?:tables?|database|schema)\b|rename\s+tables?\b|create\s+or\s+replace\s+table\b"
    # Of rows that are twice under a new key it deletes one, and says so nowhere.
    r"|alter\s+(?:online\s+)?ignore\b"
    r"|alter\b.*\b(?:rename\s+(?:to\b|as\b)?(?!\s*(?:column|index|key)\b)"
    r"|(?:drop|truncate|exchange|discard|import|convert)\s+(?:partition|tablespace|table)\b))",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE = re.compile(r"^\s*drop\s+(?:database|schema)\b", re.IGNORECASE)


def changes_rows(statement: str, schema: str, current: str) -> bool:
    """Say whether a statement may change rows of a database: where whole rows are logged, none does.

    Args:
        statement: The statement.
        schema: The database.
        current: The database that the statement was run in.
    """
    bare = _bare(statement)
    return bool(_CHANGES.match(bare)) and _is_of(bare, schema, current)


def emptied_by(statement: str, schema: str, tables: Collection[str], current: str) -> list[str]:
    """Return the tables that a statement may have emptied, replaced or taken away; rather one too many.

    Args:
        statement: The statement.
        schema: The database that the tables are of.
        tables: Their names.
        current: The database that the statement was run in.
    """
    bare = _bare(statement)
    if not (_EMPTIES.match(bare) and _is_of(bare, schema, current)):
        return []
    if _WHOLE.match(bare):
        return sorted(tables) if re.search(rf"(?<!\w){re.escape(schema)}(?!\w)", bare, re.IGNORECASE) else []
    return sorted(one for one in tables if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", bare, re.IGNORECASE))


def _bare(statement: str) -> str:
    """Return a statement without comments: what stands in quotes is none."""
    return _COMMENT.sub(lambda found: found["quoted"] or " ", _RUN.sub(r" \1 ", statement))


def _is_of(bare: str, schema: str, current: str) -> bool:
    named = rf"(?<!\w)`?{re.escape(schema)}`?\s*(?:\.|$|;)"
    return current == schema or re.search(named, bare, re.IGNORECASE) is not None
