"""Names that a table, its commits and a catalogue keep as they are: none may hold a secret.

A path that holds one is kept as what may be shown of it and a digest. A name has to be exact: a column of the table's schema, a
check in the metadata of each commit and in the quarantine, a table in ``hoodie.properties``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from freshet.problems import Problems
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.ddl import DdlTable
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.statements import identifiers
from freshet.project.syntax.template import TemplateContext, has_template, render
from freshet.project.syntax.yaml_nodes import ListNode, MapNode, Node, ScalarNode, find_node
from freshet.secrets import Redactor
from freshet.types.columns import field_names

_HINT = "Write what may be seen into 'vars:' of configs/<env>.yml as it is: what is read by env.* counts as a secret."
_NO_NAME = "\0"
# Settings that Hudi's sync hands to a catalogue, or that the table keeps.
_SYNC = "hoodie.datasource.hive_sync."
_KEPT = (
    *(f"{_SYNC}{name}" for name in ("database", "table", "table_properties", "serde_properties", "partition_fields")),
    "hoodie.payload.event.time.field",
)


class NamesKept:
    """Checks of one pipeline's names.

    Args:
        secrets: The secrets that its files read.
        context: What its SQL may see.
        tree: Its merged, rendered settings, with ``vars`` as they stand in the files.
        files: The project's files.
        problems: Receives SECRET_IN_NAME.
    """

    def __init__(
        self,
        secrets: Redactor,
        context: TemplateContext,
        tree: MapNode,
        files: ProjectFiles,
        problems: Problems,
    ) -> None:
        self._secrets, self._tree, self._files, self._problems = secrets, tree, files, problems
        variables = tree.entries.get("vars")
        nodes = variables.entries if isinstance(variables, MapNode) else {}
        read = {name for name, node in nodes.items() if isinstance(node, ScalarNode) and has_template(node.text)}
        clean = {name: _NO_NAME if name in read else value for name, value in (context.var or {}).items()}
        self._clean = replace(context, var=clean, env=None, on_secret=None)

    def check_ddl(self, ddl: DdlTable) -> None:
        """Refuse a secret in the names of the table, of its columns and of the fields in their types."""
        names = [("table", part, ddl.line) for part in ddl.name.split(".")]
        for column in ddl.columns:
            line = ddl.column_lines.get(column.name, ddl.line)
            names.append(("column", column.name, line))
            names += [(f"field in the type of column '{column.name}'", field, line) for field in field_names(column.type)]
        self._refuse(ddl.file, "DDL file", names)
        for key, setting in ddl.settings.items():
            if key in _KEPT and self._holds(setting.value) and setting.value not in self._clean_text(ddl.file, "DDL file"):
                self._tell(Place(setting.file, setting.line), f"'{key}'")

    def check_settings(self) -> None:
        """Refuse a secret in the names of checks, and in what a catalogue is told."""
        for what, node in _named(self._tree):
            if isinstance(node, ScalarNode) and self._holds(node.text) and self._rendered(node.template) not in ("", node.text):
                self._tell(Place(node.file, node.line), what)

    def check_columns(self, chain: Iterable[TransformSpec]) -> None:
        """Refuse a secret in the names of a SQL step, of whose columns a new one becomes a column of the table.

        Args:
            chain: The pipeline's steps.
        """
        for step in chain:
            names = [
                ("name", name, statement.line)
                for statement in step.statements
                if self._holds(statement.text)
                for name in identifiers(statement.text)
            ]
            self._refuse(step.file, "transformer", names)

    def _refuse(self, file: str, what_file: str, names: Iterable[tuple[str, str, int]]) -> None:
        found = [(what, name, line) for what, name, line in names if self._holds(name)]
        written = set(re.findall(rf"[\w{_NO_NAME}]+", self._clean_text(file, what_file))) if found else set()
        for what, name, line in found:
            if name not in written:
                self._tell(Place(file, line), f"a {what}")

    def _clean_text(self, file: str, what_file: str) -> str:
        return self._rendered(self._files.read(file, Place(file, 0), what_file, Problems()) or "")

    def _rendered(self, template: str) -> str:
        """Return what a template makes of all that is no secret: by that a name only happens to be like one.

        What is read by ``env``, and the variables that it makes, are a sign that no name has.
        """
        found = render(template, self._clean, "", 1, Problems())
        return _NO_NAME if found is None else found

    def _holds(self, text: str) -> bool:
        return self._secrets.hidden(text) != text

    def _tell(self, at: Place, what: str) -> None:
        said = f"{what[:1].upper()}{what[1:]} has a secret in its name, which the table's commits would keep."
        if what.startswith("'"):
            said = f"{what} holds a secret, which the table or its catalogue would keep."
        self._problems.add(at.file, at.line, "SECRET_IN_NAME", said, _HINT)


def _named(tree: MapNode) -> Iterator[tuple[str, Node | None]]:
    checks = tree.entries.get("checks")
    for check in checks.items if isinstance(checks, ListNode) else ():
        yield "a check", find_node(check, "name")
    yield "a column (write.changed_columns)", find_node(tree, "write", "changed_columns")
    for key in _KEPT:
        yield f"'{key}'", find_node(tree, "hoodie", key)
