"""The target table as its DDL file declares it: what was written where, before it is compared with the pipeline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshet.problems import Problems
from freshet.types.columns import Column

_HEADER = re.compile(
    r"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>(?:`[^`]+`|[\w]+)(?:\s*\.\s*(?:`[^`]+`|[\w]+))*)",
    re.IGNORECASE,
)
_LOCATION = re.compile(r"\bLOCATION\s+(?:'(?P<one>[^']+)'|\"(?P<two>[^\"]+)\")", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_QUOTED_OR_COMMENT = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PROPERTIES = re.compile(r"\bTBLPROPERTIES\b", re.IGNORECASE)
_USING = re.compile(r"\bUSING\s+hudi\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One value and where it stands.

    Args:
        value: The value as text.
        file: File relative to the project, or ``--set``.
        line: 1-based line.
        name: The key as the file spells it, where that is an older name.
    """

    value: str
    file: str
    line: int
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class DdlTable:
    """What one CREATE TABLE says.

    Args:
        name: ``database.table``, or the bare name where no database is written.
        file: The DDL file.
        line: Line of the CREATE.
        columns: Columns in order.
        column_lines: Line of each column by its name.
        partition_by: Columns of PARTITIONED BY; None where the clause is absent.
        location: LOCATION, or None.
        settings: ``primaryKey``, ``preCombineField``, ``type`` and ``hoodie.*`` of TBLPROPERTIES.
    """

    name: str
    file: str
    line: int
    columns: tuple[Column, ...]
    column_lines: Mapping[str, int]
    partition_by: Setting | None
    location: Setting | None
    settings: Mapping[str, Setting]


def parse_ddl(text: str, file: str, problems: Problems) -> DdlTable | None:
    """Parse a DDL file: one ``CREATE TABLE ... USING hudi`` in Spark's SQL.

    Args:
        text: The file's text, templates rendered.
        file: Its name, relative to the project.
        problems: Receives everything that is wrong, each with its line.

    Returns:
        The table, or None where the text could not be understood well enough to go on checking.
    """
    # sqlglot costs 0.15 s to import: an idle run takes the parsed form from the cache instead.
    from freshet.project.syntax import ddl_cache

    cached = ddl_cache.load(text, file)
    if cached is not None:
        return cached
    from freshet.project.syntax.ddl_syntax import read_create_table

    before = len(problems)
    table = read_create_table(text, file, problems)
    if table is not None and len(problems) == before:
        ddl_cache.store(text, table)
    return table


def ddl_header(text: str) -> tuple[str, str | None] | None:
    """Find a DDL's table name and LOCATION without parsing it, for pipelines that only matter as neighbours.

    Args:
        text: The file's text, templates rendered.

    Returns:
        Name and location, or None where there is no CREATE TABLE.
    """
    bare = _COMMENT.sub(" ", text)
    header = _HEADER.search(bare)
    if header is None:
        return None
    location = _LOCATION.search(bare)
    return re.sub(r"[`\s]", "", header["name"]), (location["one"] or location["two"]) if location else None


def location_text(text: str) -> str | None:
    """Return what a DDL says behind LOCATION, templates and all; None where it says nothing.

    Args:
        text: The file's text, templates not rendered.
    """
    found = _LOCATION.search(_masked(text))
    return text[slice(*found.span("one" if found["one"] is not None else "two"))] if found else None


def with_location(text: str, location: str) -> str | None:
    """Return a DDL with another LOCATION, and else as it is.

    Args:
        text: The file's text, templates not rendered.
        location: What to say there, templates and all.

    Returns:
        The text; None where it has neither a LOCATION nor a clause that one can stand beside.
    """
    masked = _masked(text)
    found = _LOCATION.search(masked)
    if found is not None:
        start, end = found.span("one" if found["one"] is not None else "two")
        return f"{text[:start]}{location}{text[end:]}"
    properties, using = _PROPERTIES.search(masked), _USING.search(masked)
    if properties is not None:
        return f"{text[: properties.start()]}LOCATION '{location}'\n{text[properties.start() :]}"
    if using is not None:
        return f"{text[: using.end()]}\nLOCATION '{location}'{text[using.end() :]}"
    return None


def _masked(text: str) -> str:
    """Return a DDL in which comments are blank and texts hold nothing that looks like a clause, each sign in its place."""

    def mask(found: re.Match[str]) -> str:
        quote = found[0][0]
        return f"{quote}{'x' * (len(found[0]) - 2)}{quote}" if quote in "'\"" else re.sub(r"[^\n]", " ", found[0])

    return _QUOTED_OR_COMMENT.sub(mask, text)
