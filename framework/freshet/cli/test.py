"""``freshet test``: cases of given and expected rows, beside the pipelines."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from freshet.cases.case import fixture_file, tables_of
from freshet.cli.options import project_options, selection_options
from freshet.cli.output import Output, message, reporting, trace
from freshet.cli.progress import progress
from freshet.cli.signals import BEFORE_LAST_WORDS
from freshet.cli.suites import Loaded, Suite, load_suites
from freshet.cli.watch import watch
from freshet.errors import Exit, FreshetError
from freshet.events.kinds import Done, Phase
from freshet.hudi.timeline import TimelineState
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import Project, TableSpec

if TYPE_CHECKING:
    from freshet.cases.run import CaseResult

# With these nothing of the command line is there to be watched.
_OF_THE_COMMAND = ("NO_PIPELINES", "UNKNOWN_PIPELINE", "UNKNOWN_TAG", "UNKNOWN_ENV")


@click.command(short_help="Run the test cases of pipelines: given rows, expected rows.")
@selection_options
@click.option("--from-data", is_flag=True, help="Make a case out of a few rows of the real tables.")
@click.option(
    "--rows",
    type=click.IntRange(min=1, max=1000),
    default=5,
    show_default=True,
    help="With --from-data: how many rows of the source.",
)
@click.option("--watch", "watching", is_flag=True, help="Run them again whenever a file of theirs is saved; Ctrl-C ends it.")
@click.option("--case", "case", default="from_data", show_default=True, help="With --from-data: the new case's name.")
@project_options
@reporting
def test(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    from_data: bool,
    rows: int,
    case: str,
    watching: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> int:
    """Run the cases in pipelines/tests/<pipeline>.yml; without names, those of every pipeline.

    Each case gives rows of SRC and of the inputs, and says what the transformation must return. A case that says something
    of the target, or of checks, runs the whole pipeline on tables of its own in a temporary folder. No table of the project
    is read or written. Ends with 1 when a case fails, and with 3 when a file of cases is wrong.

    --watch keeps Spark running. A save of a pipeline's YAML, DDL, SQL, Python, helpers or cases runs its cases again; a file
    that is wrong is told, and once it is mended they run. Ends with 130 by Ctrl-C.

    --from-data adds a case to the pipeline's file: the newest rows of the real source, the rows of the inputs that share
    their keys, and what the transformation makes of them. These are real values in a file that is committed: look at it first.

    \b
    Examples:
      freshet test
      freshet test trip_earnings
      freshet test --tag rides --output json
      freshet test trip_earnings --watch
      freshet test trip_earnings --from-data --rows 3 --case two_tips --env prod
    """
    if watching and (from_data or output.as_json):
        raise click.UsageError("--watch goes with neither --from-data nor --output json.")

    def loaded() -> Loaded:
        return load_suites(root, env, overrides, names, tags, everything)

    if watching:
        return watch(root, _Rounds(loaded, overrides, output).run)
    found = loaded()
    if not from_data:
        return _run(found.project, found.suites, overrides, output)
    if len(found.suites) != 1:
        raise click.UsageError("--from-data makes a case of one pipeline: name it.")
    return _make(found.project, found.suites[0], found.declared, case, rows, output)


class _Rounds:
    """The rounds of ``--watch``: what has to run again, and what is wrong with the files."""

    def __init__(self, loaded: Callable[[], Loaded], overrides: tuple[str, ...], output: Output) -> None:
        self.loaded, self.overrides, self.output = loaded, overrides, output
        self.ran: dict[str, Suite] = {}
        self.saved: frozenset[str] = frozenset()

    def run(self, saved: frozenset[str]) -> None:
        self.saved |= saved
        try:
            found = self.loaded()
        except FreshetError as error:
            if not saved and any(one.code in _OF_THE_COMMAND for one in getattr(error, "problems", ())):
                raise
            self.output.error(error)
            return
        due = [suite for suite in found.suites if self.ran.get(suite.spec.name) != suite or self.saved & suite.files]
        self.saved = frozenset()
        if due:
            _run(found.project, due, self.overrides, self.output)
            self.ran |= {suite.spec.name: suite for suite in due}
        else:
            message("no pipeline's cases depend on it")


def _run(project: Project, suites: list[Suite], overrides: tuple[str, ...], output: Output) -> Exit:
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
    lines.append(
        f"{total} case{'s' * (total != 1)} of {len(every)} of {len(suites)} "
        f"pipeline{'s' * (len(suites) != 1)}: {total - failed} passed, {failed} failed"
    )
    output.result("\n".join(lines), {"pipelines": found, "passed": total - failed, "failed": failed})
    return Exit.FAILED if failed else Exit.OK


def _results(
    project: Project,
    suites: list[Suite],
    overrides: tuple[str, ...],
    output: Output,
) -> dict[str, list[CaseResult]]:
    cases = [(suite, case) for suite in suites for case in suite.cases]
    every: dict[str, list[CaseResult]] = {}
    if not cases:
        return every
    with progress(output) as listen, _folder() as folder:
        listen(Phase(pipeline=cases[0][0].spec.name, message="starting Spark"))
        # PySpark takes a second to import: wrong files are told before that.
        from freshet.cases.run import run_case

        for number, (suite, case) in enumerate(cases, 1):
            name = suite.spec.name
            listen(Phase(pipeline=name, message=case.name, unit="case", number=number, of=len(cases)))
            every.setdefault(name, []).append(run_case(project, suite.spec, case, suite.shapes, overrides, folder))
            listen(Done(pipeline=name, message=case.name))
    return every


@contextmanager
def _folder() -> Iterator[str]:
    """Give a folder for the tables of cases, which goes with the command, however that ends."""
    with tempfile.TemporaryDirectory(prefix="freshet-test-", ignore_cleanup_errors=True) as folder:

        def put_away() -> None:
            shutil.rmtree(folder, ignore_errors=True)

        BEFORE_LAST_WORDS.append(put_away)
        try:
            yield folder
        finally:
            BEFORE_LAST_WORDS.remove(put_away)


def _lines(result: CaseResult) -> list[str]:
    where = "" if result.passed else f" ({result.case.place.file}:{result.case.place.line})"
    said = [result.reason] if result.reason else []
    said += [str(difference) for difference in result.differences]
    verdict = "ok    " if result.passed else "FAILED"
    return [f"  {verdict}  {result.case.name}{where}", *(f"            {line}" for line in said)]


def _make(
    project: Project,
    suite: Suite,
    declared: Mapping[str, TableSpec],
    case: str,
    rows: int,
    output: Output,
) -> Exit:
    from freshet.cases.maker import make_case

    known = {name for name, ref in tables_of(suite.spec).items() if same_place(ref.path) in declared}
    known |= set(suite.text.tables) if suite.text else set()
    with progress(output) as listen:
        listen(Phase(pipeline=suite.spec.name, message="starting Spark, and reading real rows"))
        file = make_case(project, suite.spec, suite.shapes, known, case, rows, TimelineState())
    message(f"{file} holds real values now: look at them before you commit the file.")
    output.result(f"wrote case {case} to {file}", {"file": file, "case": case, "pipeline": suite.spec.name})
    return Exit.OK
