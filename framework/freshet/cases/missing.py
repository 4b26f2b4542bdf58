"""Columns of a DDL that the SQL does not give, as far as its text tells: without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshet.errors import Problem
from freshet.plan.row_parts import enforce_schema_stage
from freshet.problems import did_you_mean
from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.result import Output, Verdict


def missing_columns(pipelines: Iterable[PipelineSpec], verdicts: Mapping[str, Verdict]) -> list[Problem]:
    """Return a problem for each column that a pipeline's last step does not give, and that its batch must have.

    Args:
        pipelines: The pipelines.
        verdicts: What is said of each; of a result whose columns are not sure, as behind a Python step, nothing is returned.
    """
    found: list[Problem] = []
    for spec in pipelines:
        output = verdicts[spec.name].output
        found += _missing(spec, output) if output is not None else []
    return found


def _missing(spec: PipelineSpec, output: Output) -> list[Problem]:
    stage, target = enforce_schema_stage(spec), spec.target
    last = spec.transform[-1].file
    declared = {column.name.lower() for column in stage.columns}
    others = [name for name in output.names if name and name not in declared]
    lines = {name.lower(): line for name, line in target.column_lines.items()}
    problems = []
    for column in stage.columns:
        name = column.name.lower()
        if name in output.names or column.name in stage.optional:
            continue
        comma = next((one for one in output.renamed if one.column == name), None)
        hint = did_you_mean(name, others)
        if comma is not None:
            said = f"{comma.column} {comma.alias}"
            hint = f"{comma.file}:{comma.line} has '{said}', which names it {comma.alias}: is a comma missing?"
        problems.append(
            Problem(
                file=target.file,
                line=lines.get(name, 0),
                code="BATCH_MISMATCH",
                message=f"column {column.name} ({column.type}) is missing from the batch: {last} does not give it.",
                hint=hint or f"Select it in {last}, or take it out of the DDL.",
            )
        )
    return problems
