"""Settings by which a table with several writers is cleaned beside its compaction are refused; see ``plan/test_cleaning``."""

from __future__ import annotations

import pytest

from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import DDL_FILE, PAYMENTS, YML_FILE, yml

OCC = "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL"
NBCC = "  hoodie.write.concurrency.mode: NON_BLOCKING_CONCURRENCY_CONTROL"
LEFT, CLEANS, ASYNC = "  hoodie.compact.inline: false", "  hoodie.clean.automatic: {}", "  hoodie.clean.async.enabled: true"
MOR = PAYMENTS.replace("'cow'", "'mor'")


@pytest.mark.parametrize("mode", [OCC, NBCC])
@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ((LEFT, CLEANS.format("true")), 9),
        ((ASYNC,), 8),
        ((LEFT, ASYNC), 9),
    ],
)
def test_cleaning_beside_a_compaction_is_refused(problems_of: Check, mode: str, lines: tuple[str, ...], line: int) -> None:
    found = problems_of({YML_FILE: yml(mode, *lines), DDL_FILE: MOR})
    assert seen(found) == [(YML_FILE, line, "CLEANS_BESIDE_COMPACTION")]


@pytest.mark.parametrize(
    ("lines", "ddl"),
    [
        ((OCC, LEFT, CLEANS.format("false")), MOR),
        ((OCC, CLEANS.format("true")), MOR),
        ((LEFT, CLEANS.format("true"), ASYNC), MOR),
        ((OCC, LEFT, CLEANS.format("true"), ASYNC), PAYMENTS),
    ],
)
def test_what_cleans_after_the_compaction_is_accepted(problems_of: Check, lines: tuple[str, ...], ddl: str) -> None:
    assert problems_of({YML_FILE: yml(*lines), DDL_FILE: ddl}) == []
