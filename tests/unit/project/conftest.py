"""Fixtures of the spec's tests: a project is written, loaded, and answered with its problems' places and codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import Problem, SpecError
from freshet.project.load.project import load_project
from tests.kit.project import a_project

Check = Callable[..., list[Problem]]


@pytest.fixture
def problems_of(tmp_path: Path) -> Check:
    """Return a function that writes a project with these files and returns the problems that a user would see."""

    def check(files: dict[str, str | bytes] | None = None, **options: Any) -> list[Problem]:
        root = a_project(tmp_path, files=files)
        options.setdefault("environ", {})
        try:
            load_project(root, **options)
        except SpecError as error:
            return list(error.problems)
        return []

    return check


def seen(problems: list[Problem]) -> list[tuple[str, int, str]]:
    """Return what a user can rely on: file, line and code."""
    return [(p.file, p.line, p.code) for p in problems]
