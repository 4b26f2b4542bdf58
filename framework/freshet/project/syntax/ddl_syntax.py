"""Reading of CREATE TABLE with sqlglot."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.ddl import DdlTable, Setting
from freshet.types.columns import PLAIN_NAME, Atomic, Column, DataType, field_names
from freshet.types.from_json import DELETE_MARK, META_PREFIX, OWN_PREFIX
from freshet.types.from_sql import DIALECT, TypeProblem, type_of

_PROPERTIES = ("primaryKey", "preCombineField", "type")
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
    return _Reader(file, problems, tokens).table(create)


class _Reader:
    def __init__(self, file: str, problems: Problems, tokens: list[Token]) -> None:
        self.file = file
        self.problems = problems
        self.tokens = tokens
        self.line = tokens[0].line
        self.columns: list[Column] = []
        self.column_lines: dict[str, int] = {}
        self.partition_by: Setting | None = None
        self.location: Setting | None = None
        self.settings: dict[str, Setting] = {}
        self.uses_hudi = False
        words = ("TBLPROPERTIES", "OPTIONS")
        self.next_property = next((n for n, t in enumerate(tokens) if t.text.upper() in words), len(tokens))

    def table(self, create: exp.Create) -> DdlTable:
        name = create.this.this
        if name.catalog:
            self._add(
                self.line,
                "DDL_NAME",
                f"The name '{name.catalog}.{name.db}.{name.name}' has three parts.",
                "Write database.table.",
            )
        for column in create.this.expressions:
            self._column(column)
        properties = create.args.get("properties")
        for entry in properties.expressions if properties else ():
            self._property(entry)
        if not self.uses_hudi:
            self._add(self.line, "DDL_NOT_HUDI", "The table is not declared as a Hudi table.", "Add 'USING hudi'.")
        if not self.columns:
            self._add(self.line, "DDL_NOT_A_TABLE", "The table has no columns.")
        return DdlTable(
            name=f"{name.db}.{name.name}" if name.db else name.name,
            file=self.file,
            line=self.line,
            columns=tuple(self.columns),
            column_lines=self.column_lines,
            partition_by=self.partition_by,
            location=self.location,
            settings=self.settings,
        )

    def _column(self, node: exp.Expression) -> None:
        line = _line(node, self.line)
        if not isinstance(node, exp.ColumnDef) or node.args.get("kind") is None:
            what = (
                f"column '{node.name}' has no type"
                if isinstance(node, (exp.ColumnDef, exp.Identifier))
                else (f"'{node.sql(dialect=DIALECT)[:60]}' is not a column")
            )
            self._add(line, "DDL_SYNTAX", f"The {what}.", "Keys are declared with TBLPROPERTIES (primaryKey = '...').")
            return
        nullable, comment = True, ""
        for constraint in node.args.get("constraints") or ():
            match constraint.kind:
                case exp.NotNullColumnConstraint() as null:
                    nullable = bool(null.args.get("allow_null"))
                case exp.CommentColumnConstraint() as text:
                    comment = text.this.name
                case other:
                    self._add(
                        line,
                        "DDL_NOT_SUPPORTED",
                        f"Column '{node.name}': {other.sql(dialect=DIALECT)[:60]} is not supported.",
                        "Only NOT NULL and COMMENT are.",
                    )
        try:
            kind = type_of(node.args["kind"])
        except TypeProblem as problem:
            self._add(line, "UNSUPPORTED_TYPE", f"Column '{node.name}': {problem}", problem.hint)
            # The name still counts: without it each key made of this column would be reported as unknown too.
            kind = Atomic("string")
        known = {column.name.lower() for column in self.columns}
        if node.name.lower() in known:
            self._add(line, "DUPLICATE_COLUMN", f"Column '{node.name}' stands twice in the table.", "Remove one of them.")
        elif node.name.lower().startswith((META_PREFIX, OWN_PREFIX)) and (node.name, kind) != (DELETE_MARK, Atomic("boolean")):
            self._add(
                line,
                "RESERVED_COLUMN",
                f"Column '{node.name}': names starting '{META_PREFIX}' or '{OWN_PREFIX}' belong to Hudi and freshet.",
                f"Only '{DELETE_MARK} BOOLEAN' may be declared.",
            )
        else:
            self._check_names(node.name, kind, line)
            # As above: a bad name still counts.
            self.columns.append(Column(name=node.name, type=kind, nullable=nullable, comment=comment))
            self.column_lines[node.name] = line

    def _check_names(self, column: str, kind: DataType, line: int) -> None:
        names = [(f"Column '{column[:80]}'", column)]
        names += [(f"Column '{column[:80]}': the struct field '{field[:80]}'", field) for field in field_names(kind)]
        for what, name in names:
            if not PLAIN_NAME.fullmatch(name):
                self._add(
                    line,
                    "BAD_NAME",
                    f"{what} has a name that Avro, and so Hudi, cannot hold.",
                    "Use the letters A to Z, digits and '_'; no digit first.",
                )

    def _property(self, node: exp.Expression) -> None:
        match node:
            case exp.FileFormatProperty():
                self.uses_hudi = True
                if node.name.lower() not in ("hudi", "org.apache.hudi"):
                    self._add(
                        self._clause_line("USING"),
                        "DDL_NOT_HUDI",
                        f"USING {node.name}: the target must be a Hudi table.",
                        "Write 'USING hudi'.",
                    )
            case exp.PartitionedByProperty():
                self._partitioned_by(node)
            case exp.LocationProperty():
                self.location = Setting(value=node.this.name, file=self.file, line=self._clause_line("LOCATION"))
            case exp.SchemaCommentProperty():
                pass
            case exp.OptionsProperty():
                for entry in node.expressions:
                    self._setting(entry)
            case exp.Property():
                self._setting(node)
            case _:
                self._add(
                    self.line,
                    "DDL_NOT_SUPPORTED",
                    f"'{node.sql(dialect=DIALECT)[:60]}' is not supported.",
                    "Known: USING, PARTITIONED BY, LOCATION, COMMENT, TBLPROPERTIES, OPTIONS.",
                )

    def _partitioned_by(self, node: exp.PartitionedByProperty) -> None:
        names = []
        for part in node.this.expressions:
            match part:
                case exp.ColumnDef():
                    # Hive's way: the partition column's type stands here and not among the columns.
                    self._column(part)
                    names.append(part.name)
                case exp.Identifier() | exp.Column():
                    names.append(part.name)
                case _:
                    self._add(
                        _line(part, self.line),
                        "DDL_NOT_SUPPORTED",
                        f"PARTITIONED BY {part.sql(dialect=DIALECT)[:60]}: Hudi partitions by columns.",
                        "Add a column that holds the value, and name it.",
                    )
        self.partition_by = Setting(value=",".join(names), file=self.file, line=self._clause_line("PARTITIONED"))

    def _setting(self, node: exp.Expression) -> None:
        key = node.this.sql(dialect=DIALECT).replace("`", "") if isinstance(node.this, exp.Dot) else node.this.name
        line = self._property_line(key)
        value = node.args.get("value")
        text = value.name if isinstance(value, exp.Literal) else value.sql(dialect=DIALECT).lower() if value else ""
        known = {name.lower(): name for name in _PROPERTIES}
        name = known.get(key.lower(), key)
        if name in self.settings:
            self._add(
                line,
                "DUPLICATE_KEY",
                f"The property '{name}' stands already in line {self.settings[name].line}.",
                "Remove one of them.",
            )
        elif name in _PROPERTIES or name.startswith("hoodie."):
            self.settings[name] = Setting(value=text, file=self.file, line=line)
        else:
            self._add(
                line,
                "UNKNOWN_PROPERTY",
                f"The table property '{key}' is not known.",
                did_you_mean(key, _PROPERTIES) + " Hudi's own start with 'hoodie.'.",
            )

    def _clause_line(self, word: str) -> int:
        words = (t for t in self.tokens if t.token_type is not TokenType.STRING)
        # 'PARTITIONED BY' is one token.
        return next((t.line for t in words if t.text.upper().startswith(word)), self.line)

    def _property_line(self, key: str) -> int:
        # The syntax tree keeps no line of a property, so the tokens are followed in step with it.
        for position in range(self.next_property, len(self.tokens)):
            if self.tokens[position].text in (key, key.partition(".")[0]):
                self.next_property = position + 1
                return int(self.tokens[position].line)
        return self.line

    def _add(self, line: int, code: str, message: str, hint: str = "") -> None:
        self.problems.add(self.file, line, code, message, hint)


def _line(node: exp.Expression, default: int) -> int:
    return next(_lines(node), default)


def _lines(node: exp.Expression) -> Iterator[int]:
    for part in node.find_all(exp.Identifier, exp.Var, exp.Literal):
        if "line" in part.meta:
            yield int(part.meta["line"])


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
