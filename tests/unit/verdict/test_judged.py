"""A verdict that is remembered is the verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.steps import Accepted
from freshet.verdict import judge as judging
from freshet.verdict.facts import TableFacts
from freshet.verdict.judge import judge
from freshet.verdict.judged import judged
from freshet.verdict.result import Verdict
from tests.kit.project import a_project
from tests.kit.verdict.case import cases


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def never(spec: PipelineSpec, facts: Mapping[str, TableFacts] | None = None) -> Verdict:
    raise AssertionError("it was remembered")


def test_every_verdict_of_the_corpus_comes_back_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(case.spec, case.facts) for case in cases()]
    first = [judged(*one) for one in asked]
    assert first == [judge(*one) for one in asked]
    monkeypatch.setattr(judging, "judge", never)
    assert [judged(*one) for one in asked] == first


def test_whatever_changes_is_judged_anew() -> None:
    case = next(case for case in cases() if case.verdict.kind == "inexact")
    before = judged(case.spec, case.facts)
    accepts = tuple(Accepted(code=one.code, why="a reason", of="") for one in before.findings)
    accepted = judged(replace(case.spec, accepts=accepts), case.facts)
    assert accepted.kind == "exact_if"
    assert judged(case.spec, {}) == judge(case.spec, {}) != before


def test_an_analysis_that_failed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in cases() if case.verdict.kind == "exact")
    with monkeypatch.context() as patch:
        patch.setattr(judging, "_walked", lambda question: 1 / 0)
        assert judged(case.spec, case.facts).kind == "inexact"
    assert judged(case.spec, case.facts).kind == "exact"


@pytest.mark.parametrize("words", [("validate",), ("compile", "--all"), ("explain", "--all")])
def test_a_second_command_parses_no_sql(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Of an unchanged project: what parses it takes as long to import as all else takes."""
    root = a_project(tmp_path / "project")
    ask = f"import sys; from freshet.cli.main import main\ntry: main([{', '.join(map(repr, (*words, '-C', str(root))))}])\n"
    ask += "except SystemExit as end: print(end.code, 'sqlglot' in sys.modules)"
    said = [
        subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    ]
    assert [lines[-1] for lines in said] == ["0 True", "0 False"]
    assert said[0][:-1] == said[1][:-1]
