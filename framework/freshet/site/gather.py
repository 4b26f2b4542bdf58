"""Look at a project: files, timelines, records and leases become facts, without a JVM and without secrets."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from freshet import __version__
from freshet.audit.kept import last_audit, standing_words
from freshet.cases.verdicts import verdicts_of
from freshet.errors import Problem
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader
from freshet.hudi.timeline import TimelineState
from freshet.metrics.measured import Measured, measured
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.secrets import redact
from freshet.site.detail_facts import Details
from freshet.site.details import Known, Parts, details_of
from freshet.site.facts import LogLine, PipelineFacts, ProjectFacts
from freshet.site.files import raw_files
from freshet.site.load import Load, Loaded, load_apart
from freshet.site.runs import backfills_of, runs_of
from freshet.site.shown import shown
from freshet.site.standing import invalid_standing, standing_from
from freshet.site.tables import services_of
from freshet.site.troubles import of_files, problems_of, troubles_of
from freshet.site.words import duration, typed
from freshet.sources.registry import look_together
from freshet.status.logic_report import report_logic
from freshet.status.standing import standing_of, unforeseen_in
from freshet.verdict.result import Verdict

#: So many of the newest runs of each pipeline are shown.
RUNS = 50
NO_LOG: Mapping[str, tuple[LogLine, ...]] = MappingProxyType({})
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def gather(
    load: Load,
    root: Path,
    env: str | None = None,
    overrides: tuple[str, ...] = (),
    *,
    details: Collection[str] | None = None,
    log: Mapping[str, tuple[LogLine, ...]] = NO_LOG,
    rows: int = 0,
    now: float | None = None,
) -> ProjectFacts:
    """Return what the pages of a project show, as it is now.

    Args:
        load: Loads pipelines by their names; all of them for none.
        root: The project's folder.
        env: The environment that was asked for.
        overrides: ``--set`` values.
        details: Names of the pipelines whose own pages are wanted; None for all. The others' have no details.
        log: Events of runs, by the runs' ids.
        rows: How many rows of each quarantine are shown.
        now: Seconds since 1970; None for the clock's.

    Raises:
        SpecError: It is no project, or has no such environment. What is wrong with a pipeline's files is on its page.
    """
    folder = root.resolve()
    return facts_of(load_apart(load, folder, env), load, folder, overrides, details=details, log=log, rows=rows, now=now)


def facts_of(
    loaded: Loaded,
    load: Load,
    folder: Path,
    overrides: tuple[str, ...] = (),
    *,
    details: Collection[str] | None = None,
    log: Mapping[str, tuple[LogLine, ...]] = NO_LOG,
    rows: int = 0,
    now: float | None = None,
) -> ProjectFacts:
    """Return what the pages of a project show whose files have been read.

    Args:
        loaded: The project as far as it is valid.
        load: Loads others of its pipelines by their names.
        folder: The project's folder, resolved.
        overrides, details, log, rows, now: See ``gather``.
    """
    moment, project = time.time() if now is None else now, loaded.project
    slugs = slugs_of(names_of(loaded))
    state = OneLook(TimelineState())
    look_together(project.pipelines, state)
    known = Known(
        project=project,
        load=load,
        state=state,
        verdicts=_verdicts(project, overrides, state),
        slugs=slugs,
        writers={same_place(one.target.ref.path): slugs[one.name] for one in reversed(project.pipelines)},
        declared={same_place(one.target.ref.path): one.target for one in project.pipelines},
        log=log,
        rows=rows,
    )
    command = partial(typed, env=project.env)
    valid = (
        pipeline_facts(one, known, command, moment, with_details=details is None or one.name in details)
        for one in project.pipelines
    )
    wrong = (_invalid(name, problems, loaded, slugs, command) for name, problems in loaded.invalid.items())
    return shown(
        ProjectFacts(
            name=folder.name or str(folder),
            env=project.env,
            made=moment,
            version=__version__,
            pipelines=(*valid, *wrong),
            problems=problems_of(loaded.problems),
        )
    )


def names_of(loaded: Loaded) -> tuple[str, ...]:
    """Return the names of a project's pipelines in the order of their pages."""
    return (*(one.name for one in loaded.project.pipelines), *loaded.invalid)


def pipeline_facts(
    spec: PipelineSpec, known: Known, command: Callable[[str], str], now: float, *, with_details: bool
) -> PipelineFacts:
    """Return what is known of one pipeline; what cannot be read of it is told on its page."""
    parts, state = Parts(), known.state
    found, audit = _measured(spec, known, now), parts.had("the last audit", lambda: last_audit(spec), None)
    looked = found.looked
    logic = parts.had("its logic", lambda: report_logic(spec, state), None) if looked.is_whole else None
    troubles = troubles_of(found, audit, command)
    runs, unread = parts.had("runs", lambda: runs_of(spec, state, RUNS, known.log), ((), 0))
    at_work, going = found.running, looked.status.backfill_running
    service = at_work[0] if at_work and at_work[0] == "table services" else ""
    target = looked.target
    backfills = parts.had("backfills", lambda: backfills_of(spec, state, going, command), ())
    services = parts.had("services", lambda: services_of(target, service) if target else None, None)
    return PipelineFacts(
        name=spec.name,
        slug=known.slugs[spec.name],
        file=spec.file,
        standing=standing_from(found, troubles, logic, standing_words(spec.name, audit)),
        owner=spec.owner,
        description=spec.description,
        due=_due(spec, bool(known.project.upstream.get(spec.name))),
        tags=spec.tags,
        target=spec.target.ref.name,
        path=spec.target.ref.path,
        table_type=spec.target.table_type,
        reads=tuple(dict.fromkeys((spec.source.table.name, *(one.table.name for one in spec.inputs)))),
        upstream=tuple(
            known.slugs[n] for n in known.project.upstream.get(spec.name, ()) if n != spec.name and n in known.slugs
        ),
        troubles=troubles,
        runs=runs,
        unread=unread,
        backfills=backfills,
        can_backfill=spec.backfill is not None,
        services=services,
        details=details_of(spec, known, parts) if with_details else Details(missing=tuple(parts.missing)),
    )


def _due(spec: PipelineSpec, follows: bool) -> str:
    if spec.schedule:
        return f"{spec.schedule}, {spec.schedule_zone}"
    if spec.interval_seconds is not None:
        return f"again and again, at least {duration(spec.interval_seconds)} from begin to begin"
    return "after what it reads" if follows else "when it is called"


def slugs_of(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each pipeline's page: its own, where that holds no secret and no other file system takes it for two.

    Args:
        names: The pipelines' names.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for number, name in enumerate(names, 1):
        plain = _SLUG.fullmatch(name) and redact(name) == name and name.lower() not in taken
        found[name] = name if plain else f"pipeline--{number}"
        taken.add(found[name].lower())
    return found


def _measured(spec: PipelineSpec, known: Known, now: float) -> Measured:
    looked = standing_of(known.project, spec, known.load, known.state)
    try:
        return measured(spec, known.state, looked, now)
    except Exception as unknown:  # one unreadable table must not hide the others
        return Measured(spec=spec, now=now, looked=unforeseen_in(spec, unknown), runs=None)


def _verdicts(project: Project, overrides: Sequence[str], state: StateReader) -> Mapping[str, Verdict]:
    try:
        return verdicts_of(project, overrides, state)
    except Exception:  # a table that cannot be read is told where it is read for itself
        return {}


def _invalid(
    name: str, problems: Sequence[Problem], loaded: Loaded, slugs: Mapping[str, str], command: Callable[[str], str]
) -> PipelineFacts:
    file = loaded.files[name]
    # Besides its YAML what its problems name, so that who looks at one has the line before them.
    kinds = {".sql": "sql", ".py": "python"}
    others = {one.file: kinds[suffix] for one in problems if (suffix := Path(one.file).suffix) in kinds}
    return PipelineFacts(
        name=name,
        slug=slugs[name],
        file=file,
        standing=invalid_standing(),
        problems=problems_of(problems),
        troubles=of_files(problems, name, command),
        details=Details(files=raw_files(loaded.project.root, {file: "yaml", **others})),
    )
