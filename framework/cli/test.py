"""``freshet test``: cases of given and expected rows, beside the pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.options import load, project_options, selection_options
from framework.cli.output import Output, message, progress, reporting, trace
from framework.errors import Exit, SpecError
from framework.metrics.events import Event
from framework.runtime.shapes import declared_tables, shapes_of
from framework.spec.fixture_reads import check_reads_of_cases
from framework.spec.fixtures import (
    Case,
    FixtureText,
    Shape,
    build_cases,
    check_owners,
    fixture_file,
    read_fixture,
    tables_of,
)
from framework.spec.model import PipelineSpec, Project, TableSpec
from framework.spec.paths import same_place
from framework.spec.suggest import Problems
from framework.state.timeline import TimelineState

if TYPE_CHECKING:
    from framework.runtime.fixtures import CaseResult


@dataclass(frozen=True)
class _Suite:
    spec: PipelineSpec
    text: FixtureText | None
    shapes: Mapping[str, Shape]
    cases: tuple[Case, ...]


@click.command(short_help="Run the test cases of pipelines: given rows, expected rows.")
@selection_options
@click.option("--from-data", is_flag=True, help="Make a case out of a few rows of the real tables.")
@click.option("--rows", type=click.IntRange(min=1, max=1000), default=5, show_default=True,
              help="With --from-data: how many rows of the source.")
@click.option("--case", "case", default="from_data", show_default=True, help="With --from-data: the new case's name.")
@project_options
@reporting
def test(
    output: Output, names: tuple[str, ...], tags: tuple[str, ...], everything: bool, from_data: bool, rows: int, case: str,
    root: Path, env: str | None, overrides: tuple[str, ...],
) -> Exit:
    """Run the cases in pipelines/tests/<pipeline>.yml; without names, those of every pipeline.

    Each case gives rows of SRC and of the inputs, and says what the transformation must return. A case that says something
    of the target, or of checks, runs the whole pipeline on tables of its own in a temporary folder. No table of the project
    is read or written. Ends with 1 when a case fails, and with 3 when a file of cases is wrong.

    --from-data adds a case to the pipeline's file: the newest rows of the real source, the rows of the inputs that share
    their keys, and what the transformation makes of them. These are real values in a file that is committed: look at it first.

    \b
    Examples:
      freshet test
      freshet test trip_earnings
      freshet test --tag rides --output json
      freshet test trip_earnings --from-data --rows 3 --case two_tips --env prod
    """
    project = load(root, env, overrides, names, tags, everything)
    if from_data and len(project.pipelines) != 1:
        raise click.UsageError("--from-data makes a case of one pipeline: name it.")
    problems = Problems()
    if not names and not tags:
        check_owners(Path(project.root), problems)
    declared = declared_tables(project, overrides)
    suites = [_suite(project, spec, declared, problems) for spec in project.pipelines]
    if problems.found:
        raise SpecError(problems.found)
    if from_data:
        return _make(project, suites[0], declared, case, rows, output)
    return _run(project, suites, overrides, output)


def _suite(project: Project, spec: PipelineSpec, declared: Mapping[str, TableSpec], problems: Problems) -> _Suite:
    text = read_fixture(Path(project.root), spec, problems)
    shapes = shapes_of(spec, declared, text.tables if text else {}, TimelineState())
    cases = build_cases(Path(project.root), spec, text, shapes, problems) if text else ()
    if text:
        check_reads_of_cases(spec, text, cases, shapes, problems)
    return _Suite(spec, text, shapes, cases)


def _run(project: Project, suites: list[_Suite], overrides: tuple[str, ...], output: Output) -> Exit:
    lines: list[str] = []
    found: list[dict[str, object]] = []
    every = _results(project, suites, overrides, output)
    for suite in suites:
        name, file = suite.spec.name, fixture_file(suite.spec.name)
        if not suite.cases:
            lines.append(f"{name}: no cases; write {file}, or: freshet test {name} --from-data")
            found.append({"pipeline": name, "file": file, "cases": []})
            continue
        results = every[name]
        lines += [name, *(line for result in results for line in _lines(result))]
        found.append({"pipeline": name, "file": file, "cases": [result.as_json() for result in results]})
        for result in results:
            if not result.passed and result.error is not None:
                trace(result.error)
    total = sum(map(len, every.values()))
    failed = sum(not result.passed for results in every.values() for result in results)
    lines.append(f"{total} case{'s' * (total != 1)} of {len(every)} of {len(suites)} "
                 f"pipeline{'s' * (len(suites) != 1)}: {total - failed} passed, {failed} failed")
    output.result("\n".join(lines), {"pipelines": found, "passed": total - failed, "failed": failed})
    return Exit.FAILED if failed else Exit.OK


def _results(
    project: Project, suites: list[_Suite], overrides: tuple[str, ...], output: Output,
) -> dict[str, list[CaseResult]]:
    cases = [(suite, case) for suite in suites for case in suite.cases]
    every: dict[str, list[CaseResult]] = {}
    if not cases:
        return every
    with progress(output) as listen:
        listen(Event("phase", cases[0][0].spec.name, "starting Spark"))
        # PySpark takes a second to import: wrong files are told before that.
        from framework.runtime.fixtures import run_case

        for number, (suite, case) in enumerate(cases, 1):
            name = suite.spec.name
            listen(Event("phase", name, case.name, {"unit": "case", "number": number, "of": len(cases)}))
            every.setdefault(name, []).append(run_case(project, suite.spec, case, suite.shapes, overrides))
            listen(Event("done", name, case.name))
    return every


def _lines(result: CaseResult) -> list[str]:
    where = "" if result.passed else f" ({result.case.place.file}:{result.case.place.line})"
    said = [result.reason] if result.reason else []
    said += [str(difference) for difference in result.differences]
    verdict = "ok    " if result.passed else "FAILED"
    return [f"  {verdict}  {result.case.name}{where}", *(f"            {line}" for line in said)]


def _make(
    project: Project, suite: _Suite, declared: Mapping[str, TableSpec], case: str, rows: int, output: Output,
) -> Exit:
    from framework.runtime.fixture_maker import make_case

    known = {name for name, ref in tables_of(suite.spec).items() if same_place(ref.path) in declared}
    known |= set(suite.text.tables) if suite.text else set()
    with progress(output) as listen:
        listen(Event("phase", suite.spec.name, "starting Spark, and reading real rows"))
        file = make_case(project, suite.spec, suite.shapes, known, case, rows, TimelineState())
    message(f"{file} holds real values now: look at them before you commit the file.")
    output.result(f"wrote case {case} to {file}", {"file": file, "case": case, "pipeline": suite.spec.name})
    return Exit.OK
