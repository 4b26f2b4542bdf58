"""The cases of the selected pipelines, loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from freshet.cases.case import Case, FixtureText, Shape, fixture_file
from freshet.cases.load import build_cases, check_owners, read_fixture
from freshet.cases.reads import check_reads_of_cases
from freshet.cases.schemas import declared_tables, shapes_of
from freshet.cli.options import load
from freshet.errors import SpecError
from freshet.hudi.timeline import TimelineState
from freshet.problems import Problems
from freshet.project.model.pipeline import PipelineSpec, Project, TableSpec


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The cases of one pipeline."""

    spec: PipelineSpec
    text: FixtureText | None
    shapes: Mapping[str, Shape]
    cases: tuple[Case, ...]

    @property
    def files(self) -> set[str]:
        """The files that only this pipeline's cases are of; what else changes them makes another suite."""
        steps = [file for step in self.spec.transform for file in (step.file, *step.helpers)]
        return {self.spec.file, self.spec.target.file, fixture_file(self.spec.name), *steps}


@dataclass(frozen=True)
class Loaded:
    """The selected pipelines with their cases, and the tables that DDL files declare."""

    project: Project
    suites: list[Suite]
    declared: Mapping[str, TableSpec]


def load_suites(
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
) -> Loaded:
    """Load the cases of the selected pipelines.

    Raises:
        SpecError: With every problem of every file.
    """
    project = load(root, env, overrides, names, tags, everything)
    problems = Problems()
    if not names and not tags:
        check_owners(Path(project.root), problems)
    declared = declared_tables(project, overrides)
    suites = [_suite(project, spec, declared, problems) for spec in project.pipelines]
    if problems.found:
        raise SpecError(problems.found)
    return Loaded(project, suites, declared)


def _suite(project: Project, spec: PipelineSpec, declared: Mapping[str, TableSpec], problems: Problems) -> Suite:
    text = read_fixture(Path(project.root), spec, problems)
    shapes = shapes_of(spec, declared, text.tables if text else {}, TimelineState())
    cases = build_cases(Path(project.root), spec, text, shapes, problems) if text else ()
    if text:
        check_reads_of_cases(spec, text, cases, shapes, problems)
    return Suite(spec=spec, text=text, shapes=shapes, cases=cases)
