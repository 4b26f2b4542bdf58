"""What the corpus says holds in runs: drawn histories on the model, exact where the verdict is, different where not.

Falls under it: rows inserted, updated to and from what a filter keeps, deleted, moved between groups and partitions, inserted
again, written again as they were; news in several tables in one window, or in none.
"""

from __future__ import annotations

import random

import pytest

from tests.unit.verdict.case import Case, cases
from tests.unit.verdict.model import difference

RUN = tuple(case for case in cases() if case.head.get("model") is not False)
# In `make test`; `make nightly` has the rest of a thousand histories and more.
FEW, MANY = 1, 40


@pytest.mark.parametrize("case", [case for case in RUN if case.verdict.kind == "exact"], ids=lambda case: case.name)
def test_an_exact_pipeline_equals_its_recompute(case: Case) -> None:
    for seed in range(FEW):
        assert difference(case, seed) == ""


def test_thousands_of_histories_of_exact_pipelines() -> None:
    exact = [case for case in RUN if case.verdict.kind == "exact"]
    for case in exact:
        for seed in range(FEW, MANY):
            assert difference(case, seed) == "", (case.name, seed)


def test_an_inexact_pipeline_differs_from_its_recompute() -> None:
    """In some history, where all that is found has an example."""
    same = []
    for case in RUN:
        verdict = case.verdict
        if verdict.kind == "inexact" and all(one.example for one in verdict.findings):
            chance = random.Random(case.name)
            if not any(difference(case, chance.randrange(10**9)) for _ in range(600)):
                same.append(case.name)
    assert same == []
