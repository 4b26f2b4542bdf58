"""The drivers of databases, which only who captures from one installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from freshet.errors import FreshetError


def driver(module: str) -> Any:
    """Return a driver's module.

    Args:
        module: Its name.

    Raises:
        FreshetError: DATABASE_DRIVER_MISSING.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise FreshetError(
            "DATABASE_DRIVER_MISSING",
            f"the package that talks to this kind of database is not installed: {error.name}.",
            "Nothing was read or written.",
            "pip install 'freshet[databases]'",
        ) from error
