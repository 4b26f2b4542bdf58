"""The fixtures of the integration tests, for checks on every way of writing."""

from __future__ import annotations

import pytest

from tests.integration.conftest import lake, spark

pytest.register_assert_rewrite("tests.checks.cells")
__all__ = ["lake", "spark"]
