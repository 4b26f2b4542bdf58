"""What to do about each code, by the registry of codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REGISTRY = Path(__file__).parents[1] / "error_codes.yml"


@lru_cache(maxsize=1)
def _registry() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = yaml.load(_REGISTRY.read_text("utf-8"), _LOADER)
    return found


def remedy_of(code: str, pipeline: str) -> str:
    """Return what to do about a code, in a sentence with commands in backticks; empty for one that is not known.

    Args:
        code: The code.
        pipeline: Its commands name this pipeline.
    """
    return re.sub(r"(?<=`freshet )([a-z ]+)NAME\b", rf"\1{pipeline}", str(_registry().get(code, {}).get("do", "")))
