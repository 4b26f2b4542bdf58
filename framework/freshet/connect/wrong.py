"""One thing about one setting of a connector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """One setting that is not as it has to be.

    Args:
        key: The setting.
        code: Stable name of the problem, such as ``CONNECTOR_LOSES``.
        said: A sentence that says what is wrong.
        write: What to write instead.
    """

    key: str
    code: str
    said: str
    write: str
