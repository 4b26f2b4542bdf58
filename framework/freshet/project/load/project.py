"""Loading a project: every file, every problem at once, or all pipelines valid and in order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from freshet.errors import Problem, SpecError, UnknownName
from freshet.problems import Problems
from freshet.project.load.layers import NO_MAPPING
from freshet.project.load.loader import Loader
from freshet.project.model.pipeline import Project
from freshet.project.syntax.files import ProjectFiles
from freshet.project.syntax.template import TEMPLATE_CODES
from freshet.secrets import REDACTOR

# What may follow from a config that is not known: a name that it defines, or a setting that it makes for all pipelines.
_OF_CONFIGS = ("UNDEFINED_VARIABLE", "UNKNOWN_DATABASE", "MISSING_BUCKET_COUNT", "MISSING_HBASE_SETTING", "MISSING_SOURCE")
_OF_THE_COMMAND = {"UNKNOWN_PIPELINE", "UNKNOWN_TAG"}


def load_project(
    root: Path,
    env: str | None = None,
    overrides: Sequence[str] = (),
    *,
    names: Sequence[str] = (),
    tags: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    window: tuple[str, str] | None = None,
    instead: Mapping[str, str] | None = None,
) -> Project:
    """Load and check a project's pipelines.

    Args:
        root: The project's folder.
        env: Environment, ``configs/<env>.yml``; None is ``local`` where that file exists, else the base config alone.
        overrides: ``key=value`` texts, the topmost layer.
        names: Pipelines to load.
        tags: Load the pipelines that carry one of these tags; with neither names nor tags, all.
        environ: What templates read as ``env.*``; the process's environment by default.
        window: ``start`` and ``end`` for templates, during a backfill.
        instead: Texts that are read instead of those of the files, by the files' names.

    Returns:
        The project with the selected pipelines, upstream before downstream. Files of the others are read only for
        the tables they name, and what is wrong with them does not count. With ``tags``, a pipeline's file that cannot
        be read does count: it may carry one of them.

    Raises:
        SpecError: With every problem of every file that was asked for, without secrets.
        UnknownName: UNKNOWN_PIPELINE or UNKNOWN_TAG, where nothing else is wrong.
    """
    problems = Problems()
    files = ProjectFiles(Path(os.path.realpath(root)), instead or {})
    loader = Loader(files, dict(os.environ) if environ is None else environ, window, problems)
    project = loader.load(env, overrides, names, tags)
    if problems.found or project is None:
        found = [_without_secrets(p) for p in _without_consequences(problems.found, loader.broken_config)]
        raise UnknownName(found) if {p.code for p in found} <= _OF_THE_COMMAND else SpecError(found)
    return project


def _without_consequences(found: Sequence[Problem], broken_config: bool) -> list[Problem]:
    # A value whose template failed is empty from there on, and whatever else it fails is no mistake of its own.
    failed = {(p.file, p.line) for p in found if p.code in TEMPLATE_CODES}
    kept = [p for p in found if p.code in TEMPLATE_CODES or (p.file, p.line) not in failed]
    if any(p.message == NO_MAPPING.format("vars") for p in kept):
        kept = [p for p in kept if p.code != "UNDEFINED_VARIABLE"]
    if not broken_config:
        return kept
    # What a config defines cannot be known while it cannot be read.
    return [p for p in kept if p.code not in _OF_CONFIGS]


def _without_secrets(problem: Problem) -> Problem:
    return replace(
        problem,
        file=REDACTOR.redact(problem.file),
        message=REDACTOR.redact(problem.message),
        hint=REDACTOR.redact(problem.hint),
    )
