"""``freshet validate``, ``freshet compile`` and ``freshet schema``: what the files say, without looking at any table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from freshet.cases.case import fixture_file
from freshet.cases.load import read_fixture
from freshet.cases.missing import missing_columns
from freshet.cases.schemas import declared_tables, shapes_of
from freshet.cases.verdicts import verdicts_of
from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting
from freshet.cli.progress import progress
from freshet.cli.validate_more import check_cases, lines_of, misspelt_settings, unparsed_sql
from freshet.errors import Exit, FreshetError, SpecError
from freshet.events.kinds import Phase
from freshet.hudi.table import MemoryState
from freshet.hudi.timeline import TimelineState
from freshet.landing.seeds import check_places, read_seeds
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.problems import Problems
from freshet.project.load.warehouse import load_warehouse
from freshet.project.model.pipeline import Project
from freshet.project.shape.json_schema import json_schema
from freshet.status.summary import pipelines_of
from freshet.verdict.describe import in_short, refuse_inexact, verdict_json, verdict_lines


@click.command(short_help="Check every file of the project.")
@selection_options
@click.option("--deep", is_flag=True, help="Let Spark analyse the SQL and the Python steps too, over tables without rows.")
@project_options
@reporting
def validate(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    deep: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Check the files: every problem of every file at once, each with its place.

    Looks at no table and starts no Spark. Without names every pipeline is checked, with its file of test cases. SQL that
    cannot be parsed without Spark is told, and not refused. A pipeline whose increments do not equal a recompute is a problem,
    too: `freshet explain` says more of it, and `accepts:` in its YAML what does not happen.

    --deep starts Spark and finds what only it knows: a column that is not there, a type that does not fit the target. The
    columns of the tables read come from the project's DDLs, from 'tables:' in pipelines/tests/, or from the timeline of the
    table as it stands; no row is read. Python steps are called with DataFrames without rows.

    \b
    Examples:
      freshet validate
      freshet validate --deep
      freshet validate trip_earnings --set hoodie.index.type=RECORD_INDEX
      freshet validate --env prod --output json
    """
    project = load(root, env, overrides, names, tags, everything)
    _check_seeds(project, overrides)
    check_cases(project)
    verdicts = verdicts_of(project, overrides)
    # Spark tells more of those that it analyses.
    refuse_inexact(verdicts, () if deep else missing_columns(project.pipelines, verdicts))
    analysed, notices = _analyse(project, overrides, output) if deep else ([], unparsed_sql(project))
    if deep:
        refuse_inexact({}, missing_columns([one for one in project.pipelines if one.name not in analysed], verdicts))
    count = len(project.pipelines)
    said = f"; Spark analysed {len(analysed)}" if deep else "; but there is SQL that cannot be parsed" * bool(notices)
    misspelt = misspelt_settings(project)
    more = {"analysed": analysed} if deep else {}
    found = pipelines_of(project)
    lines = [f"{count} pipeline{'s' * (count != 1)}: no problems{said}"]
    lines += [f"  {name}: {in_short(verdict)}" for name, verdict in verdicts.items() if verdict.kind != "exact"]
    lines += [
        f"  {one.name}: where {' or '.join(one.keeps_older)} drops a row, the older row of its key stays published "
        "(on_drop: keep)"
        for one in found
        if one.keeps_older
    ]
    # Spark's own notices are told while it analyses.
    lines += lines_of(misspelt if deep else [*notices, *misspelt], deep)
    output.result(
        "\n".join(lines),
        {
            "env": project.env,
            **more,
            "notices": [*notices, *misspelt],
            "pipelines": [{**one.as_json(), "verdict": verdict_json(verdicts[one.name])} for one in found],
        },
    )
    return Exit.OK


def _check_seeds(project: Project, overrides: tuple[str, ...]) -> None:
    problems, folder = Problems(), Path(project.root)
    seeds = read_seeds(folder, problems)
    if seeds:
        check_places(seeds, load_warehouse(folder, project.env, overrides), problems)
    if problems.found:
        raise SpecError(problems.found)


@click.command("compile", short_help="Print what the files compile into, or the spark-submit command.")
@selection_options
@click.option("--spark-submit", is_flag=True, help="Print the command that runs the same job on a cluster.")
@project_options
@reporting
def compile_(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    spark_submit: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Print the plan that the files compile into, every option of the Hudi writer included.

    Looks at no table: the same files give the same text. `freshet plan` shows what the next run will read.

    \b
    Examples:
      freshet compile trip_earnings
      freshet compile --all --output json > plans.json
      freshet compile trip_earnings --env prod --spark-submit
    """
    project = load(root, env, overrides, names, tags, everything)
    if spark_submit:
        return _show_command(project, overrides, output)
    verdicts = verdicts_of(project, overrides)
    plans = [compile_plan(spec, MemoryState({}), RunRequest(look_at_tables=False)) for spec in project.pipelines]
    texts = [plan_text(p, show_options=True, verdict=verdict_lines(verdicts[p.pipeline])) for p in plans]
    output.result("\n\n".join(texts), {"plans": [{**plan_json(p), **verdict_json(verdicts[p.pipeline])} for p in plans]})
    return Exit.OK


@click.command(short_help="Print the JSON Schema of the YAML files, for editors.")
@click.option("--write", is_flag=True, help="Write configs/pipeline.schema.json, which the pipelines' first line names.")
@click.option(
    "--project",
    "-C",
    "root",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The project's folder.  [default: here]",
)
@reporting
def schema(output: Output, write: bool, root: Path) -> Exit:
    """Print the JSON Schema of the YAML files, by which an editor completes and checks them.

    It is JSON with either --output. With --write the result is the name of the file written.

    \b
    Examples:
      freshet schema > pipeline.schema.json
      freshet schema --write
    """
    text = json.dumps(json_schema(), indent=1, sort_keys=True)
    if not write:
        output.document(text)
        return Exit.OK
    path = root / "configs" / "pipeline.schema.json"
    if not path.parent.is_dir():
        raise FreshetError(
            "NOT_A_PROJECT",
            f"there is no folder {path.parent}.",
            "Nothing was written.",
            "Name the project's folder by -C, or scaffold a project: freshet init",
        )
    path.write_text(text + "\n", encoding="utf-8")
    output.result(f"wrote {path}", {"files": [str(path)]})
    return Exit.OK


def _analyse(project: Project, overrides: tuple[str, ...], output: Output) -> tuple[list[str], list[dict[str, str]]]:
    state, problems = TimelineState(), Problems()
    declared = declared_tables(project, overrides)
    shapes = {}
    for spec in project.pipelines:
        text = read_fixture(Path(project.root), spec, problems)
        shapes[spec.name] = shapes_of(spec, declared, text.tables if text else {}, state)
    # The import of PySpark costs a second, which `validate` alone must not pay.
    from freshet.cases.deep import analyse

    broken = {problem.file for problem in problems.found}
    # What a file of cases declares cannot be known while it cannot be read.
    whole = tuple(spec for spec in project.pipelines if fixture_file(spec.name) not in broken)
    with progress() as listen:
        listen(Phase(pipeline="validate", message="starting Spark, which analyses what the pipelines say"))
        found = analyse(replace(project, pipelines=whole), shapes)
    for notice in found.notices:
        output.notice(f"{notice.code}: {notice.message}")
    if problems.found or found.problems:
        raise SpecError([*problems.found, *found.problems])
    return list(found.pipelines), [{"code": n.code, "message": n.message} for n in found.notices]


def _show_command(project: Project, overrides: tuple[str, ...], output: Output) -> Exit:
    # Only this needs the jars and PySpark's configuration.
    from freshet.jvm.submit import archive_path, submit_command, write_archive

    archive = write_archive(project.root, archive_path(project.root))
    words = submit_command(project, [p.name for p in project.pipelines], overrides, archive)
    output.command(words)
    return Exit.OK
