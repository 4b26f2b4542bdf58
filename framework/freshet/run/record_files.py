"""The files in which runs are recorded: where they lie, and how one is read; ``run.records`` has what stands in them."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from freshet.errors import FreshetError
from freshet.project.model.pipeline import TableRef
from freshet.run.kept import given_back
from freshet.storage.files import Storage, local_path, storage_for

#: What a scheduler starts, as the history calls it.
RUNS = ("run", "full refresh")
#: How an audit ends: by them its records are found among those of runs.
AUDITS = ("equal", "differs", "repaired")
_NAME = re.compile(r"^(\d{17})-[0-9a-f]{8}\.([a-z]+)\.json$")


def folder_of(target: TableRef, pipeline: str) -> str:
    """Return the folder of a pipeline's records, beside its target."""
    parent, _, name = local_path(target.path).rstrip("/").rpartition("/")
    return f"{parent}/.freshet/{name}.runs/{pipeline}"


def last_record(target: TableRef, pipeline: str, outcomes: Collection[str]) -> dict[str, Any] | None:
    """Return a pipeline's newest record that ended in one of some ways; None where there is none that can be read.

    Args:
        target: The table.
        pipeline: Whose runs.
        outcomes: The ways, as the files' names say them.
    """
    storage, folder = storage_for(target.path), folder_of(target, pipeline)
    with suppress(OSError, ValueError, FreshetError):
        name = next((name for name in reversed(names_of(storage, folder)) if kind_of(name) in outcomes), "")
        return read_file(storage, f"{folder}/{name}") if name else None
    return None


def kind_of(name: str) -> str:
    """Return how what a record tells of ended, by its file's name."""
    return name.split(".")[-2]


def names_of(storage: Storage, folder: str) -> list[str]:
    """Return the names of a folder's records, the oldest first."""
    return sorted(name for name in storage.names(folder) if _NAME.match(name))


def read_file(storage: Storage, path: str) -> dict[str, Any]:
    """Return what a record tells.

    Raises:
        ValueError: The file holds none.
        OSError: It cannot be read.
    """
    return given_back(storage.read(path))
