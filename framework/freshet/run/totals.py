"""What all recorded runs of a pipeline came to, in one small file beside the table: these are pruned, and sums must not be.

Two commands that end at the same moment count one after the other where the store writes on a condition; elsewhere one of the
two may be lost. What cannot be counted harms no run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freshet.project.model.pipeline import TableRef
from freshet.run.record_files import RUNS
from freshet.storage.conditional import conditional_store
from freshet.storage.files import local_path, storage_for

VERSION = 1
# So many others may count at the same moment.
_TRIES = 20
_ROWS = {"read": "read", "inserts": "inserted", "updates": "updated", "deletes": "deleted", "moves": "moved"}


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums over the runs of a pipeline that ended since they are counted.

    Args:
        runs: How many, by their result.
        rows: Their rows: ``read``, ``inserted``, ``updated``, ``deleted``, ``moved``, ``quarantined``.
        seconds: How long they took.
        commits: Commits of the main source that they processed.
        conflicts: How often another writer was faster.
        waited_seconds: How long they waited for their target.
    """

    runs: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    commits: int = 0
    conflicts: int = 0
    waited_seconds: float = 0.0

    def plus(self, record: Mapping[str, Any]) -> Totals:
        """Return the sums with one more run, as its record tells it; of what is no run they stay."""
        if record.get("what") not in RUNS:
            return self
        told: Mapping[str, Any] = record.get("rows") or {}
        rows = {word: int(told.get(kind) or 0) for kind, word in {**_ROWS, "quarantined": "quarantined"}.items()}
        result = _result(record)
        return Totals(
            runs={**self.runs, result: self.runs.get(result, 0) + 1},
            rows={word: self.rows.get(word, 0) + number for word, number in rows.items()},
            seconds=round(self.seconds + float((record.get("seconds") or {}).get("total") or 0), 3),
            commits=self.commits + int(record.get("source_commits") or 0),
            conflicts=self.conflicts + int(record.get("conflicts") or 0),
            waited_seconds=round(self.waited_seconds + float(record.get("waited_seconds") or 0), 3),
        )


def _result(record: Mapping[str, Any]) -> str:
    busy = (record.get("error") or {}).get("code") == "ALREADY_RUNNING"
    # Of one that committed, and failed at a catalogue afterwards, the rows are there.
    return "busy" if busy else str(record.get("outcome") or "failed")


def count(target: TableRef, pipeline: str, record: Mapping[str, Any]) -> None:
    """Count a run that has ended.

    Args:
        target: Its table.
        pipeline: Whose run it is.
        record: What is told of it.

    Raises:
        OSError: The store does not let it be counted.
    """
    if record.get("what") not in RUNS:
        return
    path = _path(target, pipeline)
    store = conditional_store(target.path, shared_disk=True)
    if store is None:
        data = _encoded(totals_of(target, pipeline).plus(record))
        storage_for(path).put(path, data)
        return
    for _ in range(_TRIES):
        found = store.read(path)
        data = _encoded(_decoded(found.data if found else b"").plus(record))
        if (store.create(path, data) if found is None else store.swap(path, data, found.tag)) is not None:
            return


def totals_of(target: TableRef, pipeline: str) -> Totals:
    """Return the sums of a pipeline's runs; none where nothing was counted, or what stands there is no record of it.

    Raises:
        OSError: The store does not answer.
    """
    path = _path(target, pipeline)
    try:
        return _decoded(storage_for(path).read(path))
    except (FileNotFoundError, NotADirectoryError):
        return Totals()


def _path(target: TableRef, pipeline: str) -> str:
    parent, _, name = local_path(target.path).rstrip("/").rpartition("/")
    return f"{parent}/.freshet/{name}.totals/{pipeline}.json"


def _encoded(totals: Totals) -> bytes:
    return json.dumps({"version": VERSION, **vars(totals)}, sort_keys=True).encode()


def _decoded(data: bytes) -> Totals:
    try:
        told = json.loads(data)
        counts = [{str(name): int(number) for name, number in told[part].items()} for part in ("runs", "rows")]
        return Totals(
            runs=counts[0],
            rows=counts[1],
            seconds=float(told["seconds"]),
            commits=int(told["commits"]),
            conflicts=int(told["conflicts"]),
            waited_seconds=float(told["waited_seconds"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Totals()
