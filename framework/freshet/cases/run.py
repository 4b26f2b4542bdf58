"""Run the test cases of pipelines: the transformation over given rows, or a whole run on tables of the case's own."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.cases.case import SOURCE, Case, Shape
from freshet.cases.differences import Difference, differences
from freshet.cases.rows import frame
from freshet.cases.session import small, small_session
from freshet.cases.tables import Ran, failed_checks, run_on_tables
from freshet.errors import FreshetError, unforeseen
from freshet.hudi.table import MemoryState
from freshet.jvm.session import use_settings
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.row_stages import EnforceSchema
from freshet.plan.stages import RunPython, RunSql
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.quality.contract import enforce_schema
from freshet.sinks.failures import in_words
from freshet.transform.python import Context, run_python
from freshet.transform.sql import run_sql

# A completion time for cases that name none: the same one every time, so that results can be written down.
INSTANT = "20260101000000000"


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What became of one case.

    Args:
        case: The case.
        differences: Rows that are not as expected.
        reason: Why it failed otherwise; empty where it did not.
        error: What the run raised, expected or not.
        seconds: Wall time.
    """

    case: Case
    differences: tuple[Difference, ...]
    reason: str
    error: FreshetError | None
    seconds: float

    @property
    def passed(self) -> bool:
        """Say whether everything was as expected."""
        return not self.differences and not self.reason

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {
            "name": self.case.name,
            "file": self.case.place.file,
            "line": self.case.place.line,
            "passed": self.passed,
            "on_tables": self.case.on_tables,
            "reason": self.reason,
            "differences": [d.as_json() for d in self.differences],
            "error": self.error.as_json() if self.error else None,
            "seconds": self.seconds,
        }


def run_case(
    project: Project,
    spec: PipelineSpec,
    case: Case,
    shapes: Mapping[str, Shape],
    overrides: Sequence[str],
    folder: str,
) -> CaseResult:
    """Run one case; whatever it raises is its result.

    Args:
        project: The project.
        spec: The pipeline.
        case: The case.
        shapes: The columns of ``SRC`` and the inputs.
        overrides: ``--set`` values; the case's own variables win over them.
        folder: Where the case may make tables.
    """
    start = time.monotonic()
    ran: Ran | None = None
    try:
        spec = small(_with_variables(project, spec, case, overrides))
        if case.on_tables:
            ran = run_on_tables(project, spec, case, shapes, folder)
        else:
            rows = transformed(small_session(spec.spark_conf).newSession(), project, spec, case, shapes)
            # Every column is computed, those too that nobody compares: a value that is refused is refused in any of them.
            ran = Ran(rows=rows.collect(), columns=rows.columns)
        found, reason = _compare(spec, case, ran)
    except Exception as unknown:  # one case must not end the others
        ran = Ran(error=_in_words(spec, unknown))
        found, reason = _compare(spec, case, ran)
    finally:
        # What a transformer cached belongs to the application, and the next case has other rows under the same names.
        if (running := SparkSession.getActiveSession()) is not None:
            running.catalog.clearCache()
    return CaseResult(case=case, differences=found, reason=reason, error=ran.error, seconds=round(time.monotonic() - start, 3))


def transformed(
    spark: SparkSession,
    project: Project,
    spec: PipelineSpec,
    case: Case,
    shapes: Mapping[str, Shape],
) -> DataFrame:
    """Run the transformation over given rows, up to what the target's columns take.

    Args:
        spark: A session of the case's own.
        project: The project.
        spec: The pipeline.
        case: What is given; a table of which nothing is said is empty.
        shapes: The columns of ``SRC`` and the inputs.

    Returns:
        The rows that would be published.
    """
    use_settings(spark, spec.spark_conf)
    inputs: dict[str, DataFrame] = {}
    for name in (SOURCE, *(item.name for item in spec.inputs)):
        inputs[name] = frame(spark, shapes[name].columns, case.given.get(name), marked=name == SOURCE)
        inputs[name].createOrReplaceTempView(name)
    instant = case.source_instant or INSTANT
    context = Context(spark=spark, pipeline=spec.name, env=project.env, vars=spec.variables, source_instant=instant)
    # Only what makes the rows: reads are what the case gives, and what comes after needs tables.
    for stage in compile_plan(spec, MemoryState({}), RunRequest(look_at_tables=False)).stages:
        match stage:
            case RunSql():
                inputs[SOURCE] = run_sql(spark, stage, instant)
            case RunPython():
                inputs[SOURCE] = run_python(project.root, stage.file, inputs, context)
            case EnforceSchema():
                inputs[SOURCE] = enforce_schema(inputs[SOURCE], stage, spec.target.file)
                break
            case _:
                continue
        inputs[SOURCE].createOrReplaceTempView(SOURCE)
    return inputs[SOURCE]


def _with_variables(project: Project, spec: PipelineSpec, case: Case, overrides: Sequence[str]) -> PipelineSpec:
    if not case.variables:
        return spec
    # SQL and DDL are templates: other variables make another text.
    given = [*overrides, *(f"vars.{name}={value}" for name, value in case.variables.items())]
    return load_project(Path(project.root), project.env, given, names=[spec.name], environ=os.environ).pipelines[0]


def _compare(spec: PipelineSpec, case: Case, ran: Ran) -> tuple[tuple[Difference, ...], str]:
    wrong = {name: status for name, status in case.checks.items() if ran.checks.get(name) != status}
    if wrong:
        said = "; ".join(
            f"check {name}: expected {status}, found {ran.checks.get(name, 'no result')}" for name, status in wrong.items()
        )
        return (), said if ran.error is None else f"{said}; the run failed: {ran.error}"
    code = ran.error.code if ran.error else ""
    # A check that fails on purpose ends the run, and that need not be said twice.
    expected = case.error or ("CHECK_FAILED" if failed_checks(case.checks) else "")
    if code != expected:
        if ran.error is not None:
            return (), f"expected {f'error {expected}' if expected else 'no error'}, found {ran.error}"
        return (), f"expected error {expected}, and the run did not fail"
    wanted = case.rows if case.rows is not None else case.after
    if wanted is None or ran.rows is None:
        return (), ""
    columns = [c for c in spec.target.columns if c.name in ran.columns]
    absent = [name for name in wanted.columns if name not in {c.name for c in columns}]
    if absent:
        return (), f"the result has no column {', '.join(absent)}: this pipeline does not write it"
    return differences(wanted, ran.rows, columns, spec.target.record_key), ""


def _in_words(spec: PipelineSpec, error: Exception) -> FreshetError:
    if isinstance(error, Py4JJavaError | PySparkException):
        return in_words(spec.target.ref, str(error))
    return unforeseen(error, spec.name)
