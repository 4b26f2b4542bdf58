"""A project whose files are not all right: what is valid of it, and beside it what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from freshet.errors import Problem, SpecError
from freshet.project.load.lineage import in_order
from freshet.project.model.pipeline import Project
from freshet.project.syntax.files import ProjectFiles

#: Loads the pipelines of these names; all of them for none.
Load = Callable[[tuple[str, ...]], Project]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A project as far as it is valid.

    Args:
        project: Its valid pipelines, upstream before downstream.
        invalid: The problems of each of the others, by its name.
        files: The YAML of each of these, by its name.
        problems: What is wrong with files that belong to no single pipeline.
    """

    project: Project
    invalid: Mapping[str, tuple[Problem, ...]]
    files: Mapping[str, str]
    problems: tuple[Problem, ...]


def load_apart(load: Load, root: Path, env: str | None) -> Loaded:
    """Load a project, so that a pipeline whose files are wrong hides no other.

    Args:
        load: Loads pipelines by their names.
        root: The project's folder, resolved.
        env: The environment that was asked for.

    Raises:
        SpecError: It is no project, or has no such environment.
    """
    try:
        return Loaded(project=load(()), invalid={}, files={}, problems=())
    except SpecError as error:
        whole = error
    files = ProjectFiles(root)
    named = {PurePosixPath(file).stem: file for file in reversed(files.names("pipelines", ".yml", ".yaml"))}
    configs = files.names("configs", ".yml", ".yaml")
    if any(one.code == "UNKNOWN_ENV" for one in whole.problems) or not (named or configs):
        raise whole
    wrong = {one.file for one in whole.problems}
    # Those that are named by no problem of their own are most often valid together.
    groups = [[name for name in sorted(named) if named[name] not in wrong]]
    groups += [[name] for name in sorted(named) if named[name] in wrong]
    parts: list[Project] = []
    invalid: dict[str, tuple[Problem, ...]] = {}
    for group in groups:
        _load(load, group, parts, invalid)
    told = {problem for problems in invalid.values() for problem in problems}
    common = _common(parts, invalid)
    environment = env or ("local" if any(PurePosixPath(one).stem == "local" for one in configs) else "base")
    return Loaded(
        project=_together(parts) if parts else Project(str(root), environment, (), {}),
        # Of one that nothing else is wrong with it is all there is to tell.
        invalid={name: tuple(p for p in problems if p not in common) or problems for name, problems in invalid.items()},
        files=named,
        problems=tuple(one for one in whole.problems if one in common or one not in told),
    )


def _common(parts: Sequence[Project], invalid: Mapping[str, tuple[Problem, ...]]) -> set[Problem]:
    """Return what keeps every pipeline from being loaded, such as a mistake in a config."""
    if parts or len(invalid) < 2:
        return set()
    first, *others = map(set, invalid.values())
    return first.intersection(*others)


def _load(load: Load, names: Sequence[str], parts: list[Project], invalid: dict[str, tuple[Problem, ...]]) -> None:
    if not names:
        return
    try:
        parts.append(load(tuple(names)))
    except SpecError as error:
        if len(names) == 1:
            invalid[names[0]] = error.problems
            return
        half = len(names) // 2
        _load(load, names[:half], parts, invalid)
        _load(load, names[half:], parts, invalid)


def _together(parts: Sequence[Project]) -> Project:
    if len(parts) == 1:
        return parts[0]
    known = {one.name: one for part in parts for one in part.pipelines}
    upstream = {name: names for part in parts for name, names in part.upstream.items()}
    return replace(parts[0], pipelines=tuple(known[name] for name in in_order(upstream) if name in known), upstream=upstream)
