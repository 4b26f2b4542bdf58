"""Let Spark analyse pipelines over tables without rows: what the SQL and the Python steps make of the schemas alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from freshet.cases.case import SOURCE, Shape
from freshet.cases.registries import hold_against_registry
from freshet.changelog.frames import mergeable
from freshet.errors import DataError, Problem, foreign_text, unforeseen
from freshet.hudi.table import MemoryState
from freshet.jvm.session import start_session, use_settings
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.row_stages import AdaptEvents, EnforceSchema
from freshet.plan.stages import Notice, RunPython, RunSql
from freshet.problems import Problems, did_you_mean
from freshet.project.model.checks import RowRule, SqlRule
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.quality.contract import enforce_schema
from freshet.sinks.commit import empty_batch
from freshet.sources.changelog.events import marked_events
from freshet.transform.python import Context, run_python
from freshet.transform.sql import run_sql

_COLUMN = re.compile(r"column (\S+)")
_TARGET_VIEW = "freshet_target"


@dataclass(frozen=True)
class Analysed:
    """What Spark says of a project.

    Args:
        problems: Everything that is wrong, with its place.
        notices: What could not be looked at, and why.
        pipelines: Names of the pipelines that were analysed to their end.
    """

    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...]
    pipelines: tuple[str, ...]


def analyse(project: Project, shapes: Mapping[str, Mapping[str, Shape]]) -> Analysed:
    """Analyse every pipeline of a project.

    Args:
        project: The pipelines.
        shapes: By pipeline, the columns of ``SRC`` and of the inputs, as far as they are known.

    Returns:
        Every problem of every pipeline. Within one, the steps after the first that fails are not looked at: what they
        would complain of follows from it.
    """
    problems, notices, done = Problems(), list[Notice](), []
    for spec in project.pipelines:
        notices += hold_against_registry(spec, problems)
        known = shapes[spec.name]
        unknown = [name for name in (SOURCE, *(item.name for item in spec.inputs)) if name not in known]
        if unknown:
            notices.append(
                Notice(
                    "SCHEMA_UNKNOWN",
                    f"{spec.name}: not analysed: nobody says what columns {', '.join(unknown)} "
                    f"{'has' if len(unknown) == 1 else 'have'}: no DDL, no table yet, and no 'tables:' in "
                    f"pipelines/tests/{spec.name}.yml.",
                )
            )
            continue
        # A session of its own keeps one pipeline's views from the next.
        spark = start_session(spec.spark_conf).newSession()
        use_settings(spark, spec.spark_conf)
        before = len(problems)
        try:
            _Analysis(spark, project, spec, known, problems).run()
        except Exception as error:  # one pipeline must not hide the others' problems
            problems.add(spec.file, 0, "NOT_ANALYSED", unforeseen(error, spec.name).message)
        finally:
            spark.catalog.clearCache()
        if len(problems) == before:
            done.append(spec.name)
    return Analysed(tuple(problems.found), tuple(notices), tuple(done))


class _Analysis:
    def __init__(
        self,
        spark: SparkSession,
        project: Project,
        spec: PipelineSpec,
        shapes: Mapping[str, Shape],
        problems: Problems,
    ) -> None:
        self.spark, self.project, self.spec, self.problems = spark, project, spec, problems
        self.inputs = {name: empty_batch(spark, shape.columns) for name, shape in shapes.items()}

    def run(self) -> None:
        for name, rows in self.inputs.items():
            rows.createOrReplaceTempView(name)
        self._settings()
        spec, instant = self.spec, "0"
        context = Context(
            spark=self.spark, pipeline=spec.name, env=self.project.env, vars=spec.variables, source_instant=instant
        )
        # Of the last step: where a column comes from that the DDL does not know.
        file, line = "", 0
        for stage in compile_plan(spec, MemoryState({}), RunRequest(look_at_tables=False)).stages:
            try:
                match stage:
                    case RunSql():
                        file, line = stage.file, stage.statements[-1].line
                        self._next(run_sql(self.spark, stage, instant))
                    case RunPython():
                        file, line = stage.file, 0
                        self._next(run_python(self.project.root, stage.file, self.inputs, context))
                    case AdaptEvents():
                        marked = marked_events(stage.changelog, self.inputs[SOURCE], spec.name)
                        self._next(mergeable(marked))
                    case EnforceSchema():
                        self._checks(enforce_schema(self.inputs[SOURCE], stage, spec.target.file))
                        return
                    case _:
                        continue
            except DataError as error:
                self._note(error, file, line)
                return

    def _next(self, rows: DataFrame) -> None:
        self.inputs[SOURCE] = rows
        rows.createOrReplaceTempView(SOURCE)

    def _settings(self) -> None:
        """Analyse what the YAML says of columns: expressions of ``on``, columns of ``drives`` and of the backfill."""
        source = self.inputs[SOURCE]
        for item in self.spec.inputs:
            table = self.inputs[item.name]
            for column, texts in item.on:
                self._has(table, column, f"inputs.{item.name}.on", item.line)
                for text in texts:
                    try:
                        source.selectExpr(text)
                    except (AnalysisException, ParseException) as error:
                        self.problems.add(
                            self.spec.file, item.line, "PARTITIONS_NOT_FOUND", f"inputs.{item.name}.on: {foreign_text(error)}"
                        )
            for theirs, ours in item.drives:
                self._has(table, theirs, f"inputs.{item.name}.drives", item.line)
                self._has(source, ours, f"inputs.{item.name}.drives", item.line)
        for name, column in (self.spec.backfill.event_time if self.spec.backfill else {}).items():
            self._has(self.inputs[name], column, f"backfill of {name}", 0)

    def _checks(self, batch: DataFrame) -> None:
        """Analyse the SQL of checks: conditions over the batch, and queries over the target."""
        empty_batch(self.spark, self.spec.target.columns).createOrReplaceTempView(_TARGET_VIEW)
        for check in self.spec.checks:
            try:
                match check.rule:
                    case RowRule(where):
                        batch.where(where)
                    case SqlRule(query=query):
                        self.spark.sql(query.replace("<TABLE_NAME>", _TARGET_VIEW))
                    case _:
                        continue
            except (AnalysisException, ParseException) as error:
                said = foreign_text(error).replace(_TARGET_VIEW, "<TABLE_NAME>")
                self.problems.add(self.spec.file, check.line, "CHECK_NOT_EVALUATED", f"check {check.name}: {said}")

    def _has(self, table: DataFrame, column: str, where: str, line: int) -> None:
        if column.lower() not in {name.lower() for name in table.columns}:
            self.problems.add(
                self.spec.file,
                line,
                "UNKNOWN_COLUMN",
                f"{where}: there is no column '{column}'.",
                did_you_mean(column, table.columns),
            )

    def _note(self, error: DataError, file: str, line: int) -> None:
        differences = error.details.get("differences")
        if error.code != "BATCH_MISMATCH" or not isinstance(differences, list):
            at = error.details.get("line")
            place = str(error.details.get("file") or file)
            # The place stands in front of the problem, and need not stand in its words too.
            said = re.sub(rf"^{re.escape(place)}[:\d]*:\s*", "", error.message)
            self.problems.add(place, at if isinstance(at, int) else line, error.code, said)
            return
        lines = {name.lower(): at for name, at in self.spec.target.column_lines.items()}
        for difference in map(str, differences):
            found = _COLUMN.match(difference)
            at = lines.get(found[1].lower()) if found else None
            if at is None:
                self.problems.add(file, line, error.code, f"{difference} ({self.spec.target.file}).")
            else:
                self.problems.add(self.spec.target.file, at, error.code, f"{difference}.", f"Last step: {file}.")
