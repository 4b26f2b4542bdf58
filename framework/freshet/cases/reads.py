"""What test cases read, held against what is known of it before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from freshet.cases.case import SOURCE, Case, FixtureText, Shape, schema_unknown, tables_of
from freshet.problems import Problems
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.yaml_nodes import find_node, node_below


def with_key(shape: Shape, key: tuple[str, ...]) -> Shape | None:
    """Return a table's shape with its record key; None where nobody says what that is.

    Args:
        shape: The table's.
        key: The key of the pipeline's target: one that keeps its source's key needs not say so.
    """
    if shape.record_key:
        return shape
    return replace(shape, record_key=key) if set(key) <= {c.name for c in shape.columns} else None


def check_reads_of_cases(
    spec: PipelineSpec,
    text: FixtureText,
    cases: Sequence[Case],
    shapes: Mapping[str, Shape],
    problems: Problems,
) -> None:
    """Report what a case reads and nobody knows: it could not be run.

    Args:
        spec: The pipeline.
        text: Its file of cases.
        cases: The cases in it.
        shapes: ``SRC`` and the inputs, as far as they are known.
        problems: Receives SCHEMA_UNKNOWN and KEY_UNKNOWN, each with its line, and once for a table.
    """
    tables, told = tables_of(spec), set[str]()
    for case in cases:
        for name in tables if case.on_tables else (SOURCE, *(item.name for item in spec.inputs)):
            given = find_node(text.tree, "cases", case.name, "given", name)
            at = find_node(text.tree, "tables", name) or given or node_below(text.tree, "cases", case.name)
            shape = shapes.get(name)
            if name in told:
                continue
            if shape is None and given is None:
                # What is given of such a table was reported with its rows.
                told.add(name)
                problems.add(at.file, at.line, "SCHEMA_UNKNOWN", *schema_unknown(case.name, name))
            is_made = case.on_tables and tables[name].path != spec.target.ref.path
            if shape is not None and is_made and with_key(shape, spec.target.record_key) is None:
                told.add(name)
                problems.add(
                    at.file,
                    at.line,
                    "KEY_UNKNOWN",
                    f"nobody says what the record key of {name} is, and {case.name} makes a table of it.",
                    f"Write 'key:' beside the schema of {name}, at the top of the file.",
                )
