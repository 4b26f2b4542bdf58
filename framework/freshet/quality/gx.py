"""Great Expectations by name: its modules are imported when they are needed, and its objects are untyped."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

# GX's inner objects are untyped for the most part and come by name, so that importing this module costs nothing.
Metric = Any


def gx_module(name: str) -> Any:
    """Import a module of GX, which takes seconds the first time.

    Args:
        name: Such as ``great_expectations.expectations.registry``.
    """
    # Read when GX is imported. This release has nothing that would send anything; another may.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    return importlib.import_module(name)


class Filters:
    """Stands for a batch and notes what GX would filter it by."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.found: list[Column] = []

    @property
    def dataframe(self) -> Filters:
        return self

    def filter(self, condition: Column | str) -> Filters:
        self.found.append(F.expr(condition) if isinstance(condition, str) else condition)
        return self
