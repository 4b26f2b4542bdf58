"""What a validator says of a value that it refuses reaches the user whole."""

from __future__ import annotations

import pytest

from freshet.problems import Problems
from freshet.project.shape import checks
from freshet.project.shape.files import validate_settings
from freshet.project.syntax.files import Place


def test_words_and_hint_of_a_refused_value_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of the kind: a bar, which once parted code, words and hint; braces, which a template would fill in."""
    monkeypatch.setattr(checks, "_HINT", "Write 100 | 1%, not {said}.")
    problems = Problems()
    settings = {"ddl": "d.sql", "transform": "t.sql", "checks": [{"name": "a", "where": "x", "limit": "many"}]}
    assert validate_settings(settings, problems, lambda path: Place(".".join(path), 3)) is None
    (problem,) = problems.found
    assert (problem.code, problem.file, problem.line) == ("BAD_VALUE", "checks.0.limit", 3)
    assert problem.hint == "Write 100 | 1%, not {said}."
