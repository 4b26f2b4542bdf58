"""``freshet ingest``."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from freshet.cli.options import load, project_options
from freshet.cli.output import Output, message, trace
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.ingest.run import Ingested, capture_new
from freshet.ingest.spec import IngestSpec, load_ingest
from freshet.ingest.together import publish_together
from freshet.lineage.listener import Lineage
from freshet.metrics.out import Sender
from freshet.project.model.pipeline import Project
from freshet.run.result import RunResult, exit_code_of, in_words
from freshet.run.several import PARALLEL, run_project


@click.command(short_help="Capture a database's changes, and publish each of its tables.")
@click.argument("name")
@click.option("--capture-only", is_flag=True, help="Let changes land in files, and run no pipeline.")
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    default=PARALLEL,
    show_default=True,
    metavar="N",
    help="How many pipelines may run at a time.",
)
@project_options
@reporting_events
def ingest(
    output: Output,
    name: str,
    capture_only: bool,
    parallel: int,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Capture what changed in a database, and let the pipelines of its tables publish it.

    configs/ingest/NAME.yml names the database, the folder where changes land, and the pipeline of each table. The first time
    each table is copied, while the database is written to; then, and each later time, its log is read from where the copy
    began. What was captured is in files before the database is told so: after a kill the same command goes on, and no change
    is lost or in the files twice. Each table is a commit of its own, and one that fails harms no other. With
    `transactional: true` all of them go on from one place of the log to the next, and none while another is behind.

    A table or a column that the database has and no file names is told, and not guessed: `freshet init --from ADDRESS` writes
    its files.

    \b
    Examples:
      freshet ingest shop
      freshet ingest shop --capture-only
      freshet ingest shop --env prod --output json
    """
    spec = load_ingest(root, name, env, overrides)
    project = load(root, env, overrides, tuple(spec.tables.values()))
    found = capture_new(spec, project, message)
    lines = _told(spec, found)
    for error in found.blocked.values():
        output.aside(str(error))
        trace(error)

    def run() -> tuple[RunResult, ...]:
        return () if capture_only else _run(output, found.may_run, root, env, overrides, parallel)

    together = None
    if spec.transactional:
        results, together = publish_together(spec, found.pipelines, found.blocked, TimelineState(), run)
    else:
        results = run()
    now = datetime.now(timezone.utc)
    lines += [f"{one.pipeline}: {in_words(one, now)}" for one in results]
    facts = {**_facts(found), "runs": [one.as_json() for one in results]}
    code = exit_code_of(results) or next((error.exit_code for error in found.blocked.values()), Exit.OK)
    if together is not None:
        lines.append(together.words)
        facts["together"] = together.as_json()
        apart = None if code or capture_only else together.apart()
        if apart is not None:
            output.aside(str(apart))
            trace(apart)
            code = apart.exit_code
    output.result("\n".join(lines), facts)
    return code


def _run(
    output: Output, project: Project, root: Path, env: str | None, overrides: tuple[str, ...], parallel: int
) -> tuple[RunResult, ...]:
    if not project.pipelines:
        return ()
    lineage = Lineage()
    lineage.know(project)
    with progress(output, len(project.pipelines), lineage) as listen:
        sender = Sender(project, lambda wanted: load(root, env, overrides, wanted), listen)
        results = run_project(project, TimelineState(), listen, True, None, parallel, False, sender)
    for result in results:
        if result.error is not None:
            trace(result.error)
    return results


def _told(spec: IngestSpec, found: Ingested) -> list[str]:
    captured = found.captured
    lines = [f"{table}: {count:,} rows copied" for table, count in captured.copied.items()]
    lines += [f"{table}: {count:,} changes" for table, count in captured.changed.items()]
    lines.append(f"captured up to {captured.position}" + ("" if len(lines) else "; nothing is new"))
    for table, why in found.noticed.items():
        if why:
            lines.append(f"{table} is not captured, and cannot be: {why}")
        else:
            lines.append(
                f"{table} is in the database, and no pipeline reads it: name it under 'tables:' or 'exclude:' of {spec.file}"
            )
    return lines


def _facts(found: Ingested) -> dict[str, object]:
    return {
        "copied": found.captured.copied,
        "changed": found.captured.changed,
        "position": found.captured.position,
        "noticed": dict(found.noticed),
        "blocked": {name: error.as_json() for name, error in found.blocked.items()},
    }
