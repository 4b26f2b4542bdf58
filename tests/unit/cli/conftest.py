"""Fixtures of the command's tests: a project with hand-made tables, and the command run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.secrets import REDACTOR
from tests.kit.project import a_project

Freshet = Callable[..., Result]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FRESHET_ENV", "FRESHET_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    # The process has one redactor: a secret of one test must not change what another one reads.
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None)):
        monkeypatch.setattr(REDACTOR, name, empty)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a valid project of one pipeline, ``payments``, without any table."""
    return a_project(tmp_path / "project")


@pytest.fixture
def freshet(root: Path) -> Freshet:
    """Return a function that runs the command in the project; ``-C`` among the words names another."""

    def run(*words: str, **options: Any) -> Result:
        place = () if "-C" in words or words[0] == "init" or "--help" in words else ("-C", str(root))
        return CliRunner().invoke(main, [*words, *place], **options)

    return run


def parsed(result: Result) -> Any:
    """Return what the command printed on stdout as JSON."""
    return json.loads(result.stdout)
