"""Load the test cases of a pipeline: ``pipelines/tests/<pipeline>.yml``, and CSV files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from freshet.cases.case import FOLDER, TARGET, Case, FixtureText, Shape, fixture_file, schema_unknown, tables_of
from freshet.cases.shape import FixtureCase, validate_fixture
from freshet.cases.values import RowSet, rows_of
from freshet.problems import Problems, did_you_mean
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.yaml_nodes import Node, find_node, node_below
from freshet.project.syntax.yaml_text import parse_yaml
from freshet.types.columns import Column, Struct


def check_owners(root: Path, problems: Problems) -> None:
    """Report files of cases that belong to no pipeline, because nothing would ever run them."""
    files = ProjectFiles(root)
    known = {PurePosixPath(name).stem for name in files.names("pipelines", ".yml", ".yaml")}
    for name in files.names(FOLDER, ".yml", ".yaml"):
        pure = PurePosixPath(name)
        if pure.stem not in known:
            problems.add(
                name, 0, "UNKNOWN_PIPELINE", f"There is no pipeline '{pure.stem[:80]}'.", did_you_mean(pure.stem, known)
            )
        elif pure.suffix != ".yml":
            problems.add(name, 0, "BAD_NAME", "The file would not be found.", f"Rename it to {pure.stem}.yml.")


def read_fixture(root: Path, spec: PipelineSpec, problems: Problems) -> FixtureText | None:
    """Read a pipeline's file of cases, and what it declares of tables.

    Args:
        root: The project's folder, resolved.
        spec: The pipeline.
        problems: Receives everything that is wrong.

    Returns:
        The file; None where there is none, or its structure is wrong.
    """
    name = fixture_file(spec.name)
    if not (root / name).is_file():
        return None
    if spec.source.changelog is not None:
        said = "Cases give rows to a transformation, and a changelog has none."
        hint = "Remove the file: docs/concepts/changelog.md says how events are merged."
        problems.add(name, 0, "NOT_SUPPORTED", said, hint)
        return None
    text = ProjectFiles(root).read(name, Place(name, 0), "file", problems)
    tree = parse_yaml(text, name, problems) if text is not None else None
    content = validate_fixture(tree, problems) if tree is not None else None
    if tree is None or content is None:
        return None
    tables: dict[str, Shape] = {}
    for table, declared in content.tables.items():
        node = node_below(tree, "tables", table)
        if table not in tables_of(spec):
            problems.add(
                name,
                node.line,
                "UNKNOWN_INPUT",
                f"The pipeline has no input '{table[:80]}'.",
                did_you_mean(table, tables_of(spec)),
            )
            continue
        columns = _columns(declared.columns, node_below(tree, "tables", table, "schema"), problems)
        known = {c.name for c in columns}
        for key, named in (("key", declared.key), ("partition", declared.partition), ("ordering", declared.ordering)):
            for one in [named] if isinstance(named, str) else named or ():
                if columns and one not in known:
                    problems.add(
                        name,
                        node_below(tree, "tables", table, key).line,
                        "UNKNOWN_COLUMN",
                        f"{table} has no column '{one[:80]}'.",
                        did_you_mean(one, known),
                    )
        tables[table] = Shape(
            columns=columns,
            record_key=tuple(declared.key or ()),
            partition_by=tuple(declared.partition or ()),
            ordering=declared.ordering or "",
        )
    return FixtureText(tree, content, tables)


def build_cases(
    root: Path,
    spec: PipelineSpec,
    text: FixtureText,
    shapes: Mapping[str, Shape],
    problems: Problems,
) -> tuple[Case, ...]:
    """Type the rows of a file's cases.

    Args:
        root: The project's folder, resolved.
        spec: The pipeline.
        text: Its file.
        shapes: ``SRC`` and the inputs, as far as they are known.
        problems: Receives UNKNOWN_INPUT, SCHEMA_UNKNOWN, UNKNOWN_COLUMN and BAD_VALUE, each with its line.
    """
    builder = _Cases(ProjectFiles(root), spec, text, shapes, problems)
    return tuple(builder.case(name, case) for name, case in text.content.cases.items())


class _Cases:
    def __init__(
        self,
        files: ProjectFiles,
        spec: PipelineSpec,
        text: FixtureText,
        shapes: Mapping[str, Shape],
        problems: Problems,
    ) -> None:
        self.files, self.spec, self.text, self.shapes, self.problems = files, spec, text, shapes, problems
        self.known = tables_of(spec)

    def case(self, name: str, case: FixtureCase) -> Case:
        place = node_below(self.text.tree, "cases", name)
        given = {key: rows for key in case.given if key != TARGET and (rows := self._given(name, key)) is not None}
        instant = str(case.source_instant or "")
        made = Case(
            name=name,
            place=Place(place.file, place.line),
            given=given,
            target=self._of_target(name, "given", TARGET),
            variables={key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in case.vars.items()},
            source_instant=instant,
            rows=self._of_target(name, "expect", "rows"),
            after=self._of_target(name, "expect", "target"),
            error=case.expect.error or "",
            checks=case.expect.checks,
        )
        for check in case.expect.checks:
            if check not in {one.name for one in self.spec.checks}:
                node = node_below(self.text.tree, "cases", name, "expect", "checks", check)
                self.problems.add(
                    node.file,
                    node.line,
                    "UNKNOWN_CHECK",
                    f"{name}: the pipeline has no check '{check[:80]}'.",
                    did_you_mean(check, [one.name for one in self.spec.checks]),
                )
        if instant and made.on_tables:
            self.problems.add(
                place.file,
                node_below(self.text.tree, "cases", name, "source_instant").line,
                "BAD_VALUE",
                f"{name}: on real tables the instant is that of the source's commit.",
                "Remove source_instant.",
            )
        return made

    def _given(self, case: str, key: str) -> RowSet | None:
        node = node_below(self.text.tree, "cases", case, "given", key)
        if key not in self.known:
            self.problems.add(
                node.file,
                node.line,
                "UNKNOWN_INPUT",
                f"{case}: the pipeline has no input '{key[:80]}'.",
                did_you_mean(key, [*self.known, TARGET]),
            )
            return None
        shape = self.shapes.get(key)
        if shape is None:
            self.problems.add(node.file, node.line, "SCHEMA_UNKNOWN", *schema_unknown(case, key))
            return None
        return rows_of(node, shape.columns, key, self.files, FOLDER, self.problems)

    def _of_target(self, case: str, *path: str) -> RowSet | None:
        node = find_node(self.text.tree, "cases", case, *path)
        if node is None:
            return None
        return rows_of(node, self.spec.target.columns, self.spec.target.ref.name, self.files, FOLDER, self.problems)


def _columns(text: str, node: Node, problems: Problems) -> tuple[Column, ...]:
    # sqlglot takes 0.15 s to import; where every table has a DDL nobody needs it here.
    from freshet.types.from_sql import TypeProblem, parse_type

    try:
        found = parse_type(f"struct<{text}>")
    except TypeProblem as error:
        problems.add(
            node.file, node.line, "BAD_VALUE", f"schema: {error}", error.hint or 'Write "id string, fare decimal(10,2)".'
        )
        return ()
    return tuple(Column(name=name, type=kind) for name, kind in found.fields) if isinstance(found, Struct) else ()
