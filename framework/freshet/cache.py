"""The one folder of what can be fetched or made again: jars, archives of classes, DDLs, verdicts, leases of remote tables."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache's folder, absolute: ``$FRESHET_CACHE``, by default ``~/.cache/freshet``.

    Raises:
        RuntimeError: Nobody says where the user's home is.
    """
    named = os.environ.get("FRESHET_CACHE")
    return (Path(named).expanduser() if named else Path.home() / ".cache" / "freshet").absolute()
