"""Fixtures of the site's tests: a project with hand-made tables, and its facts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freshet.project.load.project import load_project
from freshet.site.facts import ProjectFacts
from freshet.site.gather import gather
from tests.kit.facts import BEGIN
from tests.kit.project import a_project

Facts = Callable[..., ProjectFacts]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a valid project of one pipeline, ``payments``, without any table."""
    return a_project(tmp_path / "project")


@pytest.fixture
def facts(root: Path) -> Facts:
    """Return a function that looks at the project, two minutes after its first commit may have been."""

    def look(env: str | None = None, **more: Any) -> ProjectFacts:
        def load(names: tuple[str, ...]) -> Any:
            return load_project(root, env, (), names=names, environ=os.environ)

        return gather(load, root, env, now=BEGIN + 120, **more)

    return look
