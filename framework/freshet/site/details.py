"""What the page of one pipeline shows besides its standing and runs: its plan, verdict, checkpoint, checks, columns, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from freshet.errors import unforeseen
from freshet.hudi.table import StateReader
from freshet.plan.describe import position_in_words, stages_in_words, window_in_words
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, Project, TableSpec
from freshet.run.plans import RunPlan, plan_run
from freshet.site.detail_facts import ColumnFacts, Details, Finding, From, NextRun
from freshet.site.facts import LogLine
from freshet.site.files import files_of, settings_of
from freshet.site.lineage import Origins, origins_of
from freshet.site.load import Load
from freshet.site.tables import checkpoints_in, checks_of, quarantine_of, vector_of
from freshet.site.tone import Tone
from freshet.status.reads import input_in_words, source_in_words, why_index
from freshet.verdict.describe import example_in_words, in_short
from freshet.verdict.facts import TableFacts
from freshet.verdict.result import Finding as Found
from freshet.verdict.result import Scope, Verdict
from freshet.verdict.tables import facts_of

_TONES: Mapping[str, Tone] = {"exact": "ok", "exact_if": "warn", "inexact": "bad"}
#: So many of the newest commits are asked for checks and checkpoints.
_COMMITS = 20
Part = TypeVar("Part")
Other = TypeVar("Other")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What all pages know of a project.

    Args:
        project: Its valid pipelines.
        load: Loads others of it by their names.
        state: Read-only view of the tables, which reads each of them once.
        verdicts: On each pipeline, by its name.
        slugs: Names of the pipelines' pages, by the pipelines' names.
        writers: Slugs of the pipelines that write a table, by its path as ``same_place`` gives it.
        declared: The tables that the project's DDLs declare, by the same.
        log: Events of runs, by the runs' ids.
        rows: So many rows of each quarantine are shown.
    """

    project: Project
    load: Load
    state: StateReader
    verdicts: Mapping[str, Verdict]
    slugs: Mapping[str, str]
    writers: Mapping[str, str]
    declared: Mapping[str, TableSpec]
    log: Mapping[str, tuple[LogLine, ...]]
    rows: int = 0


@dataclass
class Parts:
    """Parts of a page, of which one that cannot be had hides no other.

    Args:
        missing: Receives in words what could not be had.
    """

    missing: list[str] = field(default_factory=list)

    def had(self, what: str, make: Callable[[], Part], otherwise: Other) -> Part | Other:
        """Return a part, or another value where it cannot be had."""
        try:
            return make()
        except Exception as unknown:  # whatever it is, the rest of the page is there
            error = unforeseen(unknown)
            self.missing.append(f"{what}: {error.code}: {error.message}")
            return otherwise


def details_of(spec: PipelineSpec, known: Known, parts: Parts) -> Details:
    """Return what a pipeline's page shows.

    Args:
        spec: The pipeline.
        known: What is known of its project.
        parts: Receives what could not be had.
    """
    state, verdict = known.state, known.verdicts.get(spec.name)
    target = parts.had("the target", lambda: state.table(spec.target.ref), None)
    commits, checks, sent = parts.had("checks", lambda: checks_of(spec, state, _COMMITS), ((), (), ()))
    nothing = dict[str, TableFacts]()
    facts = parts.had("the tables that it reads", lambda: facts_of(spec, known.declared, state=state), nothing)
    origins = origins_of(spec, facts)
    plan = parts.had("the plan", lambda: _next(plan_run(known.project, spec, known.load, state=state)), NextRun())
    return Details(
        plan=plan,
        verdict=in_short(verdict) if verdict else "",
        verdict_tone=_TONES[verdict.kind] if verdict else "idle",
        findings=tuple(map(_finding, verdict.findings)) if verdict else (),
        scope=_scope(verdict.scope) if verdict else (),
        not_asked=verdict.not_asked if verdict else (),
        reads=(("<SRC>", source_in_words(spec)), *((one.name, input_in_words(one)) for one in spec.inputs)),
        index=f"{spec.index.type}: {why_index(spec)}",
        checkpoint=parts.had("the checkpoint", lambda: vector_of(spec, target) if target else (), ()),
        checkpoints=parts.had("checkpoints", lambda: checkpoints_in(spec, target, _COMMITS) if target else (), ()),
        check_commits=commits,
        checks=checks,
        quarantine=parts.had("the quarantine", lambda: quarantine_of(spec, state, sent, known.rows), None),
        columns=_columns(spec, origins, known.writers),
        files=parts.had("files", lambda: files_of(known.project.root, spec), ()),
        settings=settings_of(spec),
        missing=tuple(parts.missing),
    )


def _next(plan: RunPlan) -> NextRun:
    made = plan.plan
    if made is None:
        waits = f"it waits for the first run of {', '.join(plan.waits_for)}"
        return NextRun(refused=waits if plan.waits_for else str(plan.error))
    return NextRun(
        window=window_in_words(made),
        before=position_in_words(made, made.checkpoint_before),
        after=position_in_words(made, made.checkpoint_after or made.checkpoint_before),
        changes=tuple(f"{one.change} {one.column}: {one.before or '-'} → {one.after}" for one in made.schema_changes),
        notices=tuple((one.code, one.message) for one in made.notices),
        stages=stages_in_words(made),
    )


def _finding(one: Found) -> Finding:
    return Finding(
        code=one.code,
        place=f"{one.file}:{one.line}:{one.column}",
        message=one.message,
        hint="" if one.accepted else one.hint,
        example=example_in_words(one.example) if one.example and not one.accepted else "",
        accepted=one.accepted,
    )


def _scope(scope: Scope) -> tuple[str, ...]:
    if not scope.columns:
        return (f"none: {scope.why_none}",)
    return tuple(
        f"{one.name}, in "
        + ", ".join(f"{'<SRC>' if table == 'SRC' else table}.{column}" for table, column in one.carried.items())
        for one in scope.columns
    )


def _columns(spec: PipelineSpec, origins: Mapping[str, Origins], writers: Mapping[str, str]) -> tuple[ColumnFacts, ...]:
    target = spec.target
    marks = {
        "record key": {name.lower() for name in target.record_key},
        "partition": {name.lower() for name in target.partition_by},
        "ordering": {target.ordering_field.lower()},
    }
    found = []
    for column in target.columns:
        name = column.name.lower()
        origin = origins.get(name)
        own = tuple(mark for mark, names in marks.items() if name in names)
        found.append(
            ColumnFacts(
                name=column.name,
                type=str(column.type),
                comment=column.comment,
                marks=own if column.nullable else (*own, "not null"),
                sources=tuple(
                    From(table=one.table.name, column=one.column, pipeline=writers.get(same_place(one.table.path), ""))
                    for one in (origin.columns if origin else ())
                ),
                known=origin is not None and origin.complete,
            )
        )
    return tuple(found)
