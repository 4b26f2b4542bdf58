"""Drawn pipelines through drawn histories: where the verdict is exact, each run leaves what a recompute would.

In the model of runs, of which a history takes milliseconds; ``tests/integration/test_verdict_drawn.py`` runs some on tables.
Each counterexample is kept as a case of the corpus. What else falls under it: see ``drawn``.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tests.kit.verdict.case import Case
from tests.kit.verdict.drawn import pipelines
from tests.kit.verdict.drawn_real import real_pipelines
from tests.kit.verdict.model import difference
from tests.kit.whole import WHOLE

# More by hand: FRESHET_DRAWN=20000 python -m pytest tests/unit/verdict/test_drawn.py
PIPELINES = int(os.environ.get("FRESHET_DRAWN", "400" if WHOLE else "25"))
HISTORIES = 5


@settings(
    max_examples=PIPELINES,
    deadline=None,
    database=None,
    derandomize=not WHOLE,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
@given(case=st.one_of(pipelines(), real_pipelines()), seed=st.integers(0, 10**6))
def test_what_is_called_exact_is(case: Case, seed: int) -> None:
    verdict = case.verdict
    # Of owned columns the model knows nothing: tests/integration/test_verdict_drawn.py.
    assume(not case.head.get("write"))
    assert not any("failed to analyse" in one.message for one in verdict.findings), case.text
    if verdict.kind == "exact":
        for number in range(HISTORIES):
            found = difference(case, seed + number, steps=5)
            assert found == "", f"{case.text}\n{case.head}\n{found}"


SMALL = settings(max_examples=60, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_some_are_exact_and_all_are_read() -> None:
    """A generator of which everything is refused would prove nothing; nor would one that the analysis cannot follow."""
    kinds: list[str] = []

    @SMALL
    @given(case=pipelines())
    def drawn(case: Case) -> None:
        verdict = case.verdict
        kinds.append(verdict.kind)
        assert all(one.line <= case.text.count("\n") + 1 for one in verdict.findings)

    drawn()
    assert len(kinds) / 5 < kinds.count("exact") < len(kinds) * 4 / 5
