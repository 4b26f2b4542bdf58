"""Thousands of drawn histories of exact pipelines, on the model of runs: tests/unit/verdict has the first of each."""

from __future__ import annotations

from tests.kit.verdict.model import difference, modelled

MANY = 40


def test_thousands_of_histories_of_exact_pipelines() -> None:
    exact = [case for case in modelled() if case.verdict.kind == "exact"]
    for case in exact:
        for seed in range(MANY):
            assert difference(case, seed) == "", (case.name, seed)
