"""freshet from Python: each call does what the command of its name does, and returns what that prints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from freshet.api.arguments import asked_backfill, at_least
from freshet.api.aside import cancel_jobs, run_aside
from freshet.api.audits import Audits
from freshet.api.failures import ChunksFailed, as_the_command
from freshet.api.shown import OnEvent, shown_backfill, shown_run, told_safely
from freshet.audit.kept import last_audit
from freshet.backfill.chunks import Reprocess
from freshet.backfill.preview import BackfillPreview, preview_backfill
from freshet.backfill.run import BackfillResult, Load, run_backfill
from freshet.hudi.timeline import TimelineState
from freshet.metrics.out import Sender
from freshet.metrics.slo import judged
from freshet.project.load.project import load_project
from freshet.project.model import pipeline as model
from freshet.run.checks_history import ChecksHistory, checks_history
from freshet.run.plans import RunPlan, plan_run
from freshet.run.result import RunResult, RunsFailed
from freshet.run.several import PARALLEL, run_project
from freshet.secrets import redact
from freshet.status.standing import status_of
from freshet.status.status import PipelineStatus
from freshet.status.summary import Pipeline, pipelines_of


@dataclass(frozen=True)
class Project(Audits):
    """A project's folder, in one environment. Every call reads its files anew, as every command does.

    Args:
        root: Its folder.
        env: The environment.
        pipelines: The pipelines that were selected, upstream before downstream, as they were when the project was loaded.
    """

    root: Path
    env: str
    pipelines: tuple[Pipeline, ...]
    _overrides: tuple[str, ...] = field(default=(), repr=False)
    _names: tuple[str, ...] = field(default=(), repr=False)
    _tags: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] = ".",
        env: str | None = None,
        overrides: Sequence[str] = (),
        *,
        names: Sequence[str] = (),
        tags: Sequence[str] = (),
    ) -> Project:
        """Load a project, and check the files of its pipelines.

        Args:
            path: The project's folder.
            env: Environment, ``configs/<env>.yml``; None is FRESHET_ENV, or ``local`` where that file exists.
            overrides: Settings such as ``vars.raw_root=/data/raw``, as ``--set`` takes them.
            names, tags: Only these pipelines; what is wrong with the files of the others does not count then.

        Raises:
            SpecError: INVALID_PROJECT, with every problem of every file.
        """
        root, env = Path(os.path.realpath(path)), os.environ.get("FRESHET_ENV") or None if env is None else env
        made = cls(root, env or "", (), tuple(overrides), tuple(names), tuple(tags))
        with as_the_command():
            found = load_project(root, env, made._overrides, names=made._names, tags=made._tags, environ=os.environ)
            return replace(made, env=found.env, pipelines=pipelines_of(found))

    def plan(self, name: str, full_refresh: bool = False) -> RunPlan:
        """Say what the next run of a pipeline will do; reads timelines only, and writes nothing. See ``freshet plan``.

        Args:
            name: The pipeline.
            full_refresh: Of a run that computes the target anew.

        Raises:
            FreshetError: What forbids the run.
        """
        with as_the_command():
            project = self._load((name,))
            found = plan_run(project, project.pipelines[0], self._load, full_refresh)
            if found.error is not None:
                raise found.error
            return found

    def run(
        self,
        name: str,
        drain: bool = False,
        full_refresh: bool = False,
        on_event: OnEvent | None = None,
    ) -> RunResult:
        """Run one pipeline: read what is new, transform it, and publish rows and checkpoint in one commit. See ``freshet run``.

        Args:
            name: The pipeline.
            drain: Repeat until the source has no commit left.
            full_refresh: Compute the target anew from the whole source, and replace every row that stands.
            on_event: Told what happens, from a thread of freshet's own.

        Raises:
            FreshetError: Why it failed; a SyncError where the rows are published and a catalogue was not told.
        """
        with as_the_command():
            (result,) = self._run((name,), (), drain, full_refresh, 1, on_event)
            if result.error is not None:
                raise result.error
            return result

    def run_all(
        self,
        drain: bool = False,
        parallel: int = PARALLEL,
        on_event: OnEvent | None = None,
    ) -> tuple[RunResult, ...]:
        """Run the project's pipelines in one Spark session, upstream first. See ``freshet run --all``.

        Args:
            drain: Repeat each until its source has no commit left.
            parallel: How many may run at a time where none reads what another writes.
            on_event: Told what happens, from several threads.

        Returns:
            What became of each pipeline, upstream first.

        Raises:
            RunsFailed: After all have ended, where one failed; its ``results`` have all of them.
        """
        with as_the_command():
            at_least(1, parallel=parallel)
            results = self._run(self._names, self._tags, drain, False, parallel, on_event)
            if any(result.error is not None for result in results):
                raise RunsFailed(results)
            return results

    def status(self) -> tuple[PipelineStatus, ...]:
        """Say where each of the project's pipelines stands; an error becomes its ``state``. See ``freshet status``."""
        with as_the_command():
            project = self._load(self._names, self._tags)
            found = (status_of(project, spec, self._load, audited=last_audit, judged=judged) for spec in project.pipelines)
            return tuple(replace(one, message=redact(one.message), advice=redact(one.advice)) for one in found)

    def checks(self, name: str, limit: int = 10) -> ChecksHistory:
        """Say what a pipeline's checks found in its last commits, from the table alone. See ``freshet checks``.

        Args:
            name: The pipeline.
            limit: How many commits, the newest first.
        """
        with as_the_command():
            at_least(1, limit=limit)
            return checks_history(self._load((name,)).pipelines[0], TimelineState(), limit)

    def plan_backfill(
        self,
        name: str,
        start: date | str,
        end: date | str,
        *,
        chunk: str = "",
        reprocess: Reprocess = "none",
        accept_changes: bool = False,
    ) -> BackfillPreview:
        """Say which chunks a backfill has, and what the first one will do. See ``freshet backfill --dry-run``.

        Args: As for ``backfill``.
        """
        with as_the_command():
            request = asked_backfill(start, end, chunk, reprocess, accept_changes)
            return preview_backfill(self._backfill_of(name), request, TimelineState())

    def backfill(
        self,
        name: str,
        start: date | str,
        end: date | str,
        *,
        chunk: str = "",
        reprocess: Reprocess = "none",
        max_conflicts: int = 20,
        accept_changes: bool = False,
        on_event: OnEvent | None = None,
    ) -> BackfillResult:
        """Compute a range of dates again, chunk by chunk, beside the live writer. See ``freshet backfill``.

        The same call goes on with a backfill that was stopped.

        Args:
            name: The pipeline.
            start: Begin of the range of event times, inclusive, UTC: a date, a moment, or one as ISO 8601 writes it.
            end: End of the range, exclusive.
            chunk: Length of a chunk: ``6h``, ``1d``, ``1w`` or ``1mo``; by default one partition of the target, or a day.
            reprocess: Which of the chunks that were tried already to do again: ``none``, ``failed`` or ``all``.
            max_conflicts: How often one chunk is repeated when another writer was faster.
            accept_changes: Go on although the pipeline's files changed since the backfill began.
            on_event: Told what happens, from a thread of freshet's own.

        Raises:
            FreshetError: Why it cannot begin, or ended early.
            ChunksFailed: It went through all chunks, and some failed.
        """
        with as_the_command():
            at_least(0, max_conflicts=max_conflicts)
            request = asked_backfill(start, end, chunk, reprocess, accept_changes)
            load, listen = self._backfill_of(name), told_safely(on_event)
            result = shown_backfill(
                run_aside(
                    lambda: run_backfill(load, request, TimelineState(), listen, max_conflicts), lambda: cancel_jobs((name,))
                )
            )
            if result.error is not None:
                raise result.error
            if result.failed:
                raise ChunksFailed(result)
            return result

    def _run(
        self,
        names: tuple[str, ...],
        tags: tuple[str, ...],
        drain: bool,
        full_refresh: bool,
        parallel: int,
        on_event: OnEvent | None,
    ) -> tuple[RunResult, ...]:
        project, listen = replace(self._load(names, tags), goes_on=True), told_safely(on_event)
        sender = Sender(project, self._load, listen)
        results = run_aside(
            lambda: run_project(project, TimelineState(), listen, drain, None, parallel, full_refresh, sender),
            lambda: cancel_jobs([pipeline.name for pipeline in project.pipelines]),
        )
        return tuple(shown_run(result) for result in results)

    def _load(self, names: tuple[str, ...], tags: tuple[str, ...] = ()) -> model.Project:
        return load_project(self.root, self.env, self._overrides, names=names, tags=tags, environ=os.environ)

    def _backfill_of(self, name: str) -> Load:
        return lambda window: load_project(
            self.root, self.env, self._overrides, names=(name,), environ=os.environ, window=window
        )
