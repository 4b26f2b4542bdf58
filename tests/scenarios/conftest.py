"""The fixtures of the integration tests, for what runs beside them: processes, kills, the examples' stories."""

from __future__ import annotations

from tests.integration.conftest import lake, spark

__all__ = ["lake", "spark"]
