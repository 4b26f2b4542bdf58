"""Ways of writing that would lose or double rows are refused by the files alone, whatever the table type and the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import SpecError
from tests.kit import ways
from tests.kit.lake import Lake


@pytest.mark.parametrize(
    ("verb", "table_type", "index", "code"),
    ways.REFUSED,
    ids=lambda value: value["hoodie.index.type"] if isinstance(value, dict) else value,
)
def test_what_is_refused(tmp_path: Path, verb: str, table_type: str, index: dict[str, str], code: str) -> None:
    lake = Lake(None, tmp_path)  # type: ignore[arg-type]
    ways.declare(lake, verb, table_type, index)
    with pytest.raises(SpecError) as refused:
        lake.project("copy")
    assert code in {problem.code for problem in refused.value.problems}
