"""What a record keeps of a run, and what is told of it later: neither holds a secret, known or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freshet.credentials import tree_without_credentials, without_credentials
from freshet.errors import cut
from freshet.secrets import redact, redact_tree

_LONGEST_MESSAGE = 300


def kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it may be kept: the times of it name its file, and are none of its secrets.

    Args:
        record: What is told of a run.
    """
    times = {key: record[key] for key in ("begun", "ended") if key in record}
    # What another program said may hold credentials that no file of the project names.
    told: dict[str, Any] = tree_without_credentials(redact_tree(record))
    return {**told, **times}


def given_back(data: bytes) -> dict[str, Any]:
    """Return what was kept; of an older secret no redactor knows.

    Args:
        data: A record's file.

    Raises:
        ValueError: It is no record.
    """
    # An idle run that is the first of its kind reads none.
    from freshet.run.record_model import Record

    found: dict[str, Any] = tree_without_credentials(Record.model_validate_json(data).model_dump(exclude_unset=True))
    return found


def first_line(message: str) -> str:
    """Return what is kept of an error's message, without secrets before it is cut.

    Args:
        message: What the error says.
    """
    return cut(without_credentials(redact(message).split("\n")[0]), _LONGEST_MESSAGE)
