"""Texts of moments mean the same to every Python."""

from __future__ import annotations

from datetime import datetime

import pytest

from freshet.types.iso import _longhand, moment_of


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05",
        "2026-01-05T13",
        "2026-01-05 13:00",
        "2026-01-05T13:00:59Z",
        "2026-01-05T13:00:59.5",
        "2026-01-05T13:00:59.123456789+0530",
        "2026-01-05 13:00:59.123-08",
        "2026-01-05T13:00:00+01:00",
    ],
)
def test_the_long_form_is_the_same_moment(text: str) -> None:
    """Falls under it: a zone as Z, without a colon or minutes; a fraction of any length; an hour alone."""
    assert datetime.fromisoformat(_longhand(text)) == moment_of(text)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-05T00:00", "2026-01-05T25:00", "2026-01-05T13:00:00Zz"])
def test_what_is_no_moment_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        datetime.fromisoformat(_longhand(text))
