"""Which pipelines are paused: a mark beside the records of their runs, so that a restart and another machine know it, too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from freshet.errors import RetryableError
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.record_files import folder_of
from freshet.run.records import now
from freshet.storage.files import storage_for

_AT_A_TIME = 8


def is_paused(spec: PipelineSpec) -> bool:
    """Say whether a pipeline is paused.

    Args:
        spec: The pipeline.

    Raises:
        OSError: The store does not answer; so do FreshetErrors of it.
    """
    try:
        storage_for(spec.target.ref.path).read(_mark(spec))
    except FileNotFoundError:
        return False
    return True


def paused_among(specs: Iterable[PipelineSpec]) -> frozenset[str]:
    """Return the names of those that are paused, as far as their stores answer: a look asks once more."""

    def asked(spec: PipelineSpec) -> str:
        with suppress(Exception):
            return spec.name if is_paused(spec) else ""
        return ""

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        return frozenset(name for name in pool.map(asked, specs) if name)


def keep_pause(spec: PipelineSpec, paused: bool) -> None:
    """Keep that a pipeline is paused, or is no longer.

    Args:
        spec: The pipeline.
        paused: False to resume it.

    Raises:
        RetryableError: PAUSE_NOT_KEPT.
    """
    storage = storage_for(spec.target.ref.path)
    try:
        if paused:
            storage.put(_mark(spec), json.dumps({"version": 1, "paused": now()}).encode())
        else:
            with suppress(FileNotFoundError):
                storage.remove(_mark(spec))
    except Exception as error:  # whatever a store raises
        raise RetryableError(
            "PAUSE_NOT_KEPT",
            f"{spec.name}: the mark beside its target cannot be {'written' if paused else 'deleted'}: {error}",
            "Nothing has changed.",
            "Try again once the store of the target can be written.",
        ) from error


def _mark(spec: PipelineSpec) -> str:
    return f"{folder_of(spec.target.ref, spec.name)}/paused.json"
