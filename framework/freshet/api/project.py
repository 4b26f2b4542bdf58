"""freshet from Python: each call does what the command of its name does, and returns what that prints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from freshet.account.model import Account
from freshet.account.read import accounts_of
from freshet.api.arguments import Usage, at_least
from freshet.api.aside import cancel_jobs, run_aside
from freshet.api.audits import Audits
from freshet.api.backfills import Backfills
from freshet.api.failures import as_the_command
from freshet.api.shown import OnEvent, shown_run, told_safely
from freshet.audit.kept import last_audit
from freshet.backfill.run import Load
from freshet.hudi.instants import time_of
from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.metrics.out import Sender
from freshet.metrics.slo import judged
from freshet.project.load.project import load_project
from freshet.project.model import pipeline as model
from freshet.run.checks_history import ChecksHistory, checks_history
from freshet.run.plans import RunPlan, plan_run
from freshet.run.result import RunResult, RunsFailed
from freshet.run.several import PARALLEL, run_project
from freshet.secrets import redact
from freshet.sources.registry import look_together
from freshet.status.standing import status_of
from freshet.status.status import PipelineStatus
from freshet.status.summary import Pipeline, pipelines_of


@dataclass(frozen=True)
class Project(Audits, Backfills):
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
            state = OneLook(TimelineState())
            look_together(project.pipelines, state)
            found = (
                status_of(project, spec, self._load, audited=last_audit, judged=judged, state=state)
                for spec in project.pipelines
            )
            return tuple(replace(one, message=redact(one.message), advice=redact(one.advice)) for one in found)

    def account(self, since: str = "") -> tuple[Account, ...]:
        """Say of each commit of the project's sources which commit of a target took it. See ``freshet account``.

        Args:
            since: Only commits since a time, UTC, or so long ago: ``7d``; empty for all that the timelines tell.
        """
        with as_the_command():
            begin = time_of(since)
            if since and not begin:
                raise Usage("USAGE", f"since={since!r} is no time.", "Nothing was read or written.")
            return accounts_of(self._load(self._names, self._tags).pipelines, OneLook(TimelineState()), begin)

    def checks(self, name: str, limit: int = 10) -> ChecksHistory:
        """Say what a pipeline's checks found in its last commits, from the table alone. See ``freshet checks``.

        Args:
            name: The pipeline.
            limit: How many commits, the newest first.
        """
        with as_the_command():
            at_least(1, limit=limit)
            return checks_history(self._load((name,)).pipelines[0], TimelineState(), limit)

    def _run(
        self,
        names: tuple[str, ...],
        tags: tuple[str, ...],
        drain: bool,
        full_refresh: bool,
        parallel: int,
        on_event: OnEvent | None,
    ) -> tuple[RunResult, ...]:
        lineage = Lineage()
        project = lineage.know(replace(self._load(names, tags), goes_on=True))
        listen = told_safely(on_event, lineage)
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
