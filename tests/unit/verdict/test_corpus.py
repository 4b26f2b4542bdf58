"""Every pipeline of the corpus has the verdict that its head argues for.

A verdict is its kind and, for each finding, code, subject and place; ``?`` stands for one without an example, of which it is
only not known whether it goes wrong. Pairs differ in one thing, most of them in the verdict, too. ``test_model.py`` runs them.
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

from freshet.cases.verdicts import verdicts_of
from freshet.cli.main import main
from freshet.cli.patterns import PATTERNS
from freshet.project.load.project import load_project
from freshet.project.shape.strategies import Reason
from freshet.verdict.judge import judge
from freshet.verdict.result import Verdict
from tests.kit.verdict.case import cases, granted, said
from tests.kit.verdict.table import CORPUS

ALL = {case.name: case for case in cases()}
REPOSITORY = Path(__file__).parents[3]


@cache
def _verdict(name: str) -> Verdict:
    return ALL[name].verdict


@pytest.mark.parametrize("name", ALL)
def test_the_verdict_is_the_one_that_is_argued(name: str) -> None:
    assert said(_verdict(name)) == ALL[name].expected, ALL[name].head["why"]
    if "granted" in ALL[name].head:
        assert granted(_verdict(name)) == ALL[name].head["granted"]


def test_the_corpus_is_as_large_as_it_has_to_be() -> None:
    assert len(list(CORPUS.glob("*.sql"))) >= 80
    kinds = [(_verdict(name).kind, _verdict(name.partition("[")[0]).kind) for name in ALL if "[" in name]
    assert sum(one != other for one, other in kinds) >= 20
    assert all(case.head["why"] for case in ALL.values())
    codes = {finding.code for name in ALL for finding in _verdict(name).findings}
    assert len(codes) >= 25, sorted(codes)
    # An author may accept each.
    assert codes <= set(get_args(Reason))


def test_what_is_said_is_whole() -> None:
    """Every finding says what to write; an example has both sides, names a table that there is, and a change."""
    for name, case in ALL.items():
        tables = {"SRC", *(one.lower() for one in case.inputs)}
        for found in _verdict(name).findings:
            assert (found.message[-1], bool(found.hint), bool(found.file)) == (".", True, True), found
            assert min(found.line, found.column) >= 1, found
            if found.example is not None:
                assert min(len(found.example.recompute), len(found.example.target)) > 0, found
                assert found.example.table in tables, (name, found.example)


def test_no_sql_fails_the_analysis() -> None:
    """Whatever stands in a file: words left out, doubled, swapped and taken from another pipeline."""
    chance, texts = random.Random(1), [case.text.splitlines() for case in ALL.values()]
    bodies = [re.findall(r"\w+|\S", " ".join(line for line in text if not line.startswith("-- "))) for text in texts]
    for case in chance.sample(sorted(ALL.values(), key=lambda one: one.name), 150):
        words = list(chance.choice(bodies)) if chance.random() < 0.2 else list(bodies[list(ALL).index(case.name)])
        for _ in range(chance.choice((1, 2, 3))):
            at, other = chance.randrange(len(words)), chance.choice(chance.choice(bodies))
            words[at : at + 1] = chance.choice(([], [words[at]] * 2, [other], [words[at], other], words[at : at - 2 : -1]))
            words = words or ["SELECT"]
        text = " ".join(words).replace("< SRC >", "<SRC>").replace("< SRC_INSTANT >", "<SRC_INSTANT>")
        found = replace(case, text=text).verdict.findings
        assert not any("failed to analyse" in one.message for one in found), text


def test_a_hundred_pipelines_take_less_than_a_second() -> None:
    """Of the processor's time, and of the analysis alone."""
    some = [(case.spec, case.facts) for case in list(ALL.values())[::3]][:100]
    began = time.process_time()
    for spec, facts in some:
        judge(spec, facts)
    assert time.process_time() - began < len(some) / 100 * 1.0


def _verdicts(root: Path) -> dict[str, Verdict]:
    return verdicts_of(load_project(root), ())


def _open(verdict: Verdict) -> list[tuple[str, str]]:
    return [(one.code, one.subject) for one in verdict.findings if not one.accepted]


def test_the_examples_of_this_repository() -> None:
    found = _verdicts(REPOSITORY)
    assert _open(found["driver_status"]) == _open(found["driver_daily_earnings"]) == _open(found["dim_driver"]) == []
    assert set(_open(found["payout_lines"])) <= {("INPUT_DOES_NOT_DRIVE", "cities")}
    assert {code for name in ("flight_delays", "trip_earnings") for code, _ in _open(found[name])} <= {
        "PYTHON_STEP",
        "INPUT_DOES_NOT_DRIVE",
        "DELETES_STAY",
    }


def test_the_patterns_of_init(tmp_path: Path) -> None:
    made = CliRunner().invoke(main, ["init", str(tmp_path), *(word for name in PATTERNS for word in ("--pattern", name))])
    assert made.exit_code == 0, made.output
    open_ = {name: _open(verdict) for name, verdict in _verdicts(tmp_path).items()}
    # A store that changes reaches a sale when the sale changes: the pattern says so, and what to do about it.
    assert set(open_.pop("sale_facts")) <= {("INPUT_DOES_NOT_DRIVE", "stores")}
    assert [found for found in open_.values() if found] == []
    assert len(open_) == 6
