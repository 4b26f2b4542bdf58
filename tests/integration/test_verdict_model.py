"""Thousands of drawn histories of exact pipelines, on the model of runs: tests/unit/verdict has the first of each."""

from __future__ import annotations

from tests.unit.verdict.model import difference
from tests.unit.verdict.test_model import FEW, RUN

MANY = 40


def test_thousands_of_histories_of_exact_pipelines() -> None:
    exact = [case for case in RUN if case.verdict.kind == "exact"]
    for case in exact:
        for seed in range(FEW, MANY):
            assert difference(case, seed) == "", (case.name, seed)
