"""What a test case of a pipeline is: rows given and expected, of tables whose columns are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet.cases.shape import FixtureFile
from freshet.cases.values import RowSet
from freshet.project.model.checks import ReferenceRule
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.syntax.files import Place
from freshet.project.syntax.yaml_nodes import MapNode
from freshet.types.columns import Column

#: Not beside the pipelines themselves, where every YAML file is one.
FOLDER = "pipelines/tests"
SOURCE = "SRC"
TARGET = "target"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the rows of a table look like, and what finds them.

    Args:
        columns: Its columns, in order.
        record_key, partition_by: Columns; empty where nobody says.
        ordering: Ordering field; empty where nobody says.
    """

    columns: tuple[Column, ...]
    record_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    ordering: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case of a pipeline.

    Args:
        name: Its name in the file.
        place: Where it stands.
        given: Rows by the name that the SQL uses; ``SRC`` is the increment.
        target: Rows that the target holds before; None where nothing is said of it.
        variables: ``vars`` of this case.
        source_instant: What ``<SRC_INSTANT>`` stands for.
        rows: The rows that the transformation must return; None where they are not compared.
        after: The rows that the target must hold afterwards; None where they are not compared.
        error: Code by which the run must fail; empty where it must not.
        checks: What must become of checks, by name: ``failed``, ``passed``, ``dropped`` ...
    """

    name: str
    place: Place
    given: Mapping[str, RowSet]
    target: RowSet | None
    variables: Mapping[str, str]
    source_instant: str
    rows: RowSet | None
    after: RowSet | None
    error: str = ""
    checks: Mapping[str, str] = field(default_factory=dict)

    @property
    def on_tables(self) -> bool:
        """Say whether the case needs real tables: something is said of the target, or of checks, which may ask it."""
        return self.target is not None or self.after is not None or bool(self.checks)


@dataclass(frozen=True)
class FixtureText:
    """A file whose structure is right; its rows are not looked at yet.

    Args:
        tree: The file, with its lines.
        content: The same, typed.
        tables: The tables that the file declares, by the name that the SQL uses.
    """

    tree: MapNode
    content: FixtureFile
    tables: Mapping[str, Shape]


def fixture_file(pipeline: str) -> str:
    """Return where a pipeline's cases stand, relative to the project."""
    return f"{FOLDER}/{pipeline}.yml"


def tables_of(spec: PipelineSpec) -> dict[str, TableRef]:
    """Return every table that a case may give rows of, by the name that it has in the file.

    These are ``SRC``, the inputs, and the tables that checks refer to.
    """
    found = {SOURCE: spec.source.table, **{item.name: item.table for item in spec.inputs}}
    known = {ref.path for ref in found.values()} | {spec.target.ref.path}
    for check in spec.checks:
        if isinstance(check.rule, ReferenceRule) and check.rule.path not in known:
            found[check.rule.table] = TableRef(check.rule.table, check.rule.path)
    return found


def schema_unknown(case: str, table: str) -> tuple[str, str]:
    """Return what is said, and advised, of a table that a case reads and nobody knows."""
    return (
        f"{case}: nobody says what columns {table} has: there is no DDL of that table, and no table yet.",
        f"Write 'tables: {{{table}: {{schema: \"<column> <type>, ...\"}}}}' at the top of the file.",
    )
