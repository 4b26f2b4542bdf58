"""The fixtures of the integration tests, for backfills: beside a writer, killed, and in drawn schedules."""

from __future__ import annotations

from tests.integration.conftest import lake, spark

__all__ = ["lake", "spark"]
