"""What the command line asks of an audit, and what it cannot ask."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from freshet.audit.request import share_of, since_of

NOW = datetime(2026, 11, 26, 12, 30, 5, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "share"),
    [("1%", 0.01), ("0.5%", 0.005), ("100%", 1.0), ("0.01", 0.01), ("1", 1.0), (".5", 0.5), (" 5 % ", 0.05)],
)
def test_a_share(text: str, share: float) -> None:
    assert share_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "0", "0%", "101%", "2", "-1%", "1%%", "one", "nan", "inf", "1e-2", "\u0661%x"])
def test_no_share(text: str) -> None:
    assert share_of(text) is None


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("3d", "20261123123005000"),
        ("6h", "20261126063005000"),
        ("90min", "20261126110005000"),
        ("2w", "20261112123005000"),
        ("2026-11-25", "20261125000000000"),
        ("2026-11-25 23:54:37", "20261125235437000"),
        ("20261125235437123", "20261125235437123"),
        ("yesterday", ""),
        ("3", ""),
        ("3m", ""),
        ("-3d", ""),
        ("999999w", ""),
        ("2026-13-01", ""),
    ],
)
def test_since(text: str, since: str) -> None:
    assert since_of(text, NOW) == since
