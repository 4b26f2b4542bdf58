"""A key and its value held against the table of what freshet does with Hudi's keys."""

from __future__ import annotations

from freshet.hudi.keys.hudi_keys import HUDI_VERSION, KeyProblem, catalogue
from freshet.hudi.keys.key_table import row_of


def takes_values(key: str) -> bool:
    """Say whether there is a choice about a key: it is not owned, and of a refused one more than Hudi's default passes."""
    row = row_of(key)
    return row is not None and (row.stance in ("honoured", "harmless") or row.passes is not None)


def check_stance(key: str, value: str) -> KeyProblem | None:
    """Refuse a key that would break a guarantee, or have no effect.

    Args:
        key: A key of the catalogue, by its current name.
        value: Its value's text.

    Returns:
        ``NOT_SUPPORTED`` with the reason, or None.
    """
    row = row_of(key)
    if row is None:
        said = f"'{key}' of Hudi {HUDI_VERSION} is in no row of what freshet honours."
        return KeyProblem("NOT_SUPPORTED", said, "Remove it.")
    if row.stance != "refused":
        return None
    default = catalogue()[key].default
    passes = row.passes if row.passes is not None else () if default is None else (default.lower(),)
    if value.strip().lower() in passes:
        return None
    instead = f" Remove it, or write '{default}'." if row.passes is None and default else " Remove it."
    return KeyProblem("NOT_SUPPORTED", f"freshet does not take '{key}: {value}'.", row.reason + instead)
