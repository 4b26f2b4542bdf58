"""What the corpus says holds in runs: drawn histories on the model, exact where the verdict is, different where not.

Falls under it: rows inserted, updated to and from what a filter keeps, deleted, moved between groups and partitions, inserted
again, written again as they were; news in several tables in one window, or in none.
"""

from __future__ import annotations

import pytest

from tests.kit.verdict.case import Case
from tests.kit.verdict.examples import made_concrete
from tests.kit.verdict.model import difference, modelled
from tests.kit.whole import WHOLE

RUN = modelled()
# tests/integration/test_verdict_model.py has thousands of histories.
FEW = 1
# Most of them show in the first; a few need rows that are seldom drawn.
TRIES = 400
EVERY = 1 if WHOLE else 5


@pytest.mark.parametrize("case", [case for case in RUN if case.verdict.kind == "exact"], ids=lambda case: case.name)
def test_an_exact_pipeline_equals_its_recompute(case: Case) -> None:
    for seed in range(FEW):
        assert difference(case, seed) == ""


def test_every_example_makes_a_difference() -> None:
    """Of every finding: the change of one row of one table, after which the target is not what a recompute makes."""
    same = [
        (case.name, found.code, found.subject)
        for case in RUN[::EVERY]
        for found in case.verdict.findings
        if found.example is not None and not any(made_concrete(case, found.example, seed) for seed in range(TRIES))
    ]
    assert same == []
