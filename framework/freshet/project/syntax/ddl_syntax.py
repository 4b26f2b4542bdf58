"""Text of a DDL file to one CREATE TABLE, with sqlglot."""

from __future__ import annotations

import logging

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError

from freshet.problems import Problems
from freshet.project.syntax.ddl import DdlTable
from freshet.project.syntax.ddl_reader import DdlReader
from freshet.types.from_sql import DIALECT

# What sqlglot cannot parse it logs and wraps; here it becomes a problem with a line instead.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def read_create_table(text: str, file: str, problems: Problems) -> DdlTable | None:
    """Parse the text of a DDL file; see ``ddl.parse_ddl``."""
    dialect = Dialect.get_or_raise(DIALECT)
    try:
        tokens = dialect.tokenize(text)
        parsed = dialect.parser().parse(tokens, text)
    except TokenError:
        problems.add(file, _unclosed_line(text), "DDL_SYNTAX", "A quote or comment is not closed.")
        return None
    except ParseError as error:
        found = error.errors[0] if error.errors else {}
        problems.add(
            file,
            int(found.get("line") or 0),
            "DDL_SYNTAX",
            f"Not valid SQL near '{str(found.get('highlight') or '')[:40]}'.",
            "A column is written 'name TYPE [NOT NULL] [COMMENT '...']'; a name that is a word of SQL stands in backticks.",
        )
        return None
    except RecursionError:
        problems.add(file, 0, "DDL_SYNTAX", "The statement is nested too deep.")
        return None
    statements = [statement for statement in parsed if statement is not None]
    first = tokens[0].line if tokens else 0
    if len(statements) != 1:
        problems.add(
            file,
            first,
            "DDL_NOT_ONE_TABLE",
            f"The file holds {len(statements)} statements.",
            "Write exactly one CREATE TABLE per file.",
        )
        return None
    create = statements[0]
    if isinstance(create, exp.Command) and str(create.this).upper() == "CREATE":
        problems.add(
            file,
            first,
            "DDL_SYNTAX",
            "The CREATE statement has a clause that is not known.",
            "Known: USING, PARTITIONED BY, LOCATION, COMMENT, TBLPROPERTIES, OPTIONS.",
        )
        return None
    if not isinstance(create, exp.Create) or str(create.args.get("kind")).upper() != "TABLE":
        problems.add(file, first, "DDL_NOT_A_TABLE", "The file must hold a CREATE TABLE statement.")
        return None
    if not isinstance(create.this, exp.Schema) or create.expression is not None:
        problems.add(
            file,
            first,
            "DDL_NOT_A_TABLE",
            "The table's columns and types must be written out.",
            "Write CREATE TABLE db.name (column TYPE, ...) USING hudi.",
        )
        return None
    return DdlReader(file, problems, tokens).table(create)


def _unclosed_line(text: str) -> int:
    quote, opened, line, position = "", 0, 1, 0
    while position < len(text):
        char = text[position]
        if not quote and text.startswith("--", position):
            position = text.find("\n", position)
            if position < 0:
                break
            continue
        if not quote and text.startswith("/*", position):
            quote, opened = "*/", line
        elif quote and text.startswith(quote, position):
            quote = ""
        elif not quote and char in "'\"`":
            quote, opened = char, line
        line += char == "\n"
        position += 1
    return opened
