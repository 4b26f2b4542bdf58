"""The project that is served: its valid pipelines, as its files were last valid."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from freshet.errors import Problem, SpecError, UnknownName
from freshet.project.load.layers import OVERRIDE
from freshet.project.load.on_disk import OnDisk, look, named
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.serve.served import followed_by

#: Loads some pipelines of a project by their names; all that are asked for where there are none.
Load = Callable[[tuple[str, ...]], Project]
_TRIED = 8
_YAML = (".yml", ".yaml")
# Of the project as a whole: nothing can be told of its pipelines.
_OF_ALL = frozenset(("NO_PIPELINES", "UNKNOWN_ENV", "INVALID_OVERRIDE"))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which project is served.

    Args:
        root: Its folder.
        env: The environment's name; None for the default.
        overrides: Settings of the command line.
        names, tags: The pipelines; with neither, all.
    """

    root: Path
    env: str | None = None
    overrides: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def load(self, names: tuple[str, ...], window: tuple[str, str] | None = None) -> Project:
        """Load pipelines by their names; without any, those that are served.

        Args:
            names: The pipelines.
            window: ``start`` and ``end`` of a backfill's chunk; None as runs have them.
        """
        wanted, tags = (names, ()) if names else (self.names, self.tags)
        return load_project(self.root, self.env, self.overrides, names=wanted, tags=tags, environ=os.environ, window=window)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What is served.

    Args:
        project: The valid pipelines.
        invalid: What is wrong with the others, by their names.
        on_disk: The files as they were when they were read.
        others: Pipelines that are not served, and that some of these follow.
    """

    project: Project
    invalid: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    on_disk: OnDisk = field(default_factory=dict)
    others: tuple[PipelineSpec, ...] = ()

    def spec(self, name: str) -> PipelineSpec | None:
        """Return a pipeline by its name; None where it is not served."""
        return next((one for one in self.project.pipelines if one.name == name), None)

    def is_as_loaded(self, root: Path) -> bool:
        """Say whether the project's Python files are those that were loaded: a step is read when it runs."""
        # Without the other files that pipelines name: these have been read.
        now = {name: seen for name, seen in look(root, frozenset(self.on_disk)).items() if name.endswith(".py")}
        return now == {name: seen for name, seen in self.on_disk.items() if name.endswith(".py")}


def look_at(root: Path) -> OnDisk:
    """Look at all files that the project's pipelines may be made of."""
    return look(root, named(root))


def load_valid(wanted: Wanted) -> Loaded:
    """Load the valid pipelines of a project, and what is wrong with the others.

    Args:
        wanted: Which project.

    Raises:
        SpecError: No pipeline is valid, or what is wrong concerns all of them.
    """
    on_disk = look_at(wanted.root)
    try:
        project = wanted.load(())
        return Loaded(project=project, on_disk=on_disk, others=_others(wanted, project))
    except UnknownName:
        raise
    except SpecError as error:
        found = _Valid(wanted, error)
    if not found.names:
        raise found.error
    project = wanted.load(tuple(found.names))
    return Loaded(project=project, invalid=found.invalid, on_disk=on_disk, others=_others(wanted, project))


def _others(wanted: Wanted, project: Project) -> tuple[PipelineSpec, ...]:
    found: list[PipelineSpec] = []
    for name in sorted(followed_by(project) - {spec.name for spec in project.pipelines}):
        # Of one that is invalid nobody knows where its target lies.
        with suppress(SpecError):
            found += wanted.load((name,)).pipelines
    return tuple(found)


class _Valid:
    """The largest part of a project, in the order of its files, that is valid together.

    Args:
        wanted: Which project.
        error: What is wrong with the whole.
    """

    def __init__(self, wanted: Wanted, error: SpecError) -> None:
        self.wanted, self.error = wanted, error
        self.names: list[str] = []
        self.invalid: dict[str, tuple[Problem, ...]] = {}
        if any(problem.code in _OF_ALL for problem in error.problems):
            return
        asked = self._asked()
        # Of most problems the file is the pipeline's, or one that it names: without these the others are tried at once.
        files = {problem.file for problem in error.problems}
        suspect = {name for name in asked if self._names(name, files)}
        self._add([name for name in asked if name not in suspect])
        # One by one: what is wrong with each is told of it alone.
        for name in asked:
            if name in suspect:
                self._add([name])

    def _names(self, name: str, files: set[str]) -> bool:
        for ending in _YAML:
            file = f"pipelines/{name}{ending}"
            if file in files:
                return True
            with suppress(OSError, UnicodeDecodeError):
                text = (self.wanted.root / file).read_text("utf-8")
                return any(one in text for one in files if not one.startswith(("pipelines", "configs/")))
        return False

    def _asked(self) -> list[str]:
        files = sorted(one for ending in _YAML for one in (self.wanted.root / "pipelines").glob(f"*{ending}"))
        stems = list(dict.fromkeys(file.stem for file in files if not file.name.startswith(".")))
        if self.wanted.tags:
            return [name for name in stems if name in self.wanted.names or self._has_tag(name)]
        return [name for name in stems if not self.wanted.names or name in self.wanted.names]

    def _has_tag(self, name: str) -> bool:
        try:
            (spec,) = self.wanted.load((name,)).pipelines
        except SpecError:
            # Nobody knows its tags, and it may have one of these.
            return True
        return bool(set(spec.tags) & set(self.wanted.tags))

    def _add(self, names: Sequence[str]) -> None:
        if not names:
            return
        try:
            self.wanted.load((*self.names, *names))
        except SpecError as error:
            if len(names) == 1:
                self.invalid[names[0]] = error.problems
                return
            if not self.names and self._is_of_all(names):
                self.invalid |= dict.fromkeys(names, error.problems)
                return
            half = len(names) // 2
            self._add(names[:half])
            self._add(names[half:])
        else:
            self.names += names

    def _is_of_all(self, names: Sequence[str]) -> bool:
        """Say whether all have one problem of a config in common: two hundred pipelines are not tried one by one for it."""
        tried = [self._of_configs(name) for name in names[:: max(1, len(names) // _TRIED)]]
        return bool(set.intersection(*tried))

    def _of_configs(self, name: str) -> set[Problem]:
        try:
            self.wanted.load((name,))
        except SpecError as error:
            return {problem for problem in error.problems if problem.file.startswith(("configs/", OVERRIDE))}
        return set()
