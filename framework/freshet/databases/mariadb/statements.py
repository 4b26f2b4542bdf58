"""Statements in MariaDB's binary log: which of them change rows without a row of the log that says so. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

_COMMENT = re.compile(r"/\*.*?\*/|(?:--\s|#).*?$", re.DOTALL | re.MULTILINE)
#: Statements that change rows, where rows should have been logged.
_CHANGES = re.compile(r"^\s*(?:insert|update|delete|replace|load)\b", re.IGNORECASE)
_EMPTIES = re.compile(
    r"^\s*(?:truncate\b|drop\s+(?:table|database|schema)\b|rename\s+table\b|create\s+or\s+replace\s+table\b"
    r"|alter\b.*\b(?:rename\s+(?:to\b|as\b)?(?!\s*(?:column|index|key))|(?:drop|truncate|exchange|discard|import)\s+(?:partition|tablespace)\b))",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE = re.compile(r"^\s*drop\s+(?:database|schema)\b", re.IGNORECASE)


def changes_rows(statement: str) -> bool:
    """Say whether a statement changes rows: where whole rows are logged, none is."""
    return bool(_CHANGES.match(_COMMENT.sub(" ", statement)))


def emptied_by(statement: str, schema: str, tables: Collection[str], current: str) -> list[str]:
    """Return the tables that a statement may have emptied, replaced or taken away; rather one too many.

    Args:
        statement: The statement.
        schema: The database that the tables are of.
        tables: Their names.
        current: The database that the statement was run in.
    """
    bare = _COMMENT.sub(" ", statement)
    if not _EMPTIES.match(bare):
        return []
    here = current == schema or re.search(rf"(?<!\w)`?{re.escape(schema)}`?\s*(?:\.|$|;)", bare, re.IGNORECASE)
    if not here:
        return []
    if _WHOLE.match(bare):
        return sorted(tables) if re.search(rf"(?<!\w){re.escape(schema)}(?!\w)", bare, re.IGNORECASE) else []
    return sorted(one for one in tables if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", bare, re.IGNORECASE))
