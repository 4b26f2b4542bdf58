"""Look at a few rows that wait in a quarantine, without a JVM: it is COPY_ON_WRITE, so that each is whole in a Parquet file."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from freshet.credentials import tree_without_credentials, without_credentials
from freshet.hudi.cleans import file_group
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.identity import refuse_occupied
from freshet.quarantine.table import ID, POSITION, REASON, ROW, RULE, RUN, hidden_runs
from freshet.storage.files import Storage, local_path, storage_for

_COLUMNS = (ID, RULE, REASON, RUN, POSITION, ROW)
# A file is read as far as these columns and this number of rows go; a larger one is left to ``freshet quarantine show``.
_MOST_BYTES, _MOST_LOOKED_AT, _AT_ONCE = 64 << 20, 5_000, 100
_LONGEST = 2_000


@dataclass(frozen=True, kw_only=True)
class WaitingRow:
    """A row that waits in a quarantine, without what can be a credential.

    Args:
        rule, reason: Which check keeps it out, and why.
        run_id: Of the run that sent it there.
        position: Where it comes from.
        row: The row, as JSON.
    """

    rule: str
    reason: str
    run_id: str
    position: str
    row: str


@dataclass(frozen=True, kw_only=True)
class Peek:
    """Some rows that wait.

    Args:
        rows: The rows, those of the newest files first.
        is_cut: True where there are, or may be, more files or rows than were looked at.
    """

    rows: tuple[WaitingRow, ...] = ()
    is_cut: bool = False


def peek(spec: PipelineSpec, state: StateReader, limit: int) -> Peek:
    """Return some rows that wait in a pipeline's quarantine.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        limit: How many at most; none are read for 0.

    Raises:
        StateError: QUARANTINE_OCCUPIED.
        OSError: The store does not answer.
    """
    table = state.table(spec.quarantine)
    if limit < 1 or table is None:
        return Peek()
    refuse_occupied(spec, table)
    base = local_path(spec.quarantine.path)
    storage, hidden = storage_for(base), frozenset(hidden_runs(spec, state))
    found: list[WaitingRow] = []
    looked_at, is_cut = 0, False
    for path, size in newest_files(table):
        if len(found) == limit or looked_at >= _MOST_LOOKED_AT:
            return Peek(rows=tuple(found), is_cut=True)
        if size > _MOST_BYTES:
            is_cut = True
            continue
        # Of one that a writer has just replaced, and a cleaner has taken away, the next page tells.
        with suppress(FileNotFoundError):
            for row in _rows(storage, f"{base}/{path}", size):
                looked_at += 1
                if row.get(RUN) in hidden:
                    continue
                if len(found) == limit or looked_at >= _MOST_LOOKED_AT:
                    is_cut = True
                    break
                found.append(_told(row))
    # A file that no commit has written over since the archive begins is in none of those that were looked at.
    return Peek(rows=tuple(found), is_cut=is_cut or bool(table.archived("")))


def newest_files(table: TableState) -> Iterator[tuple[str, int]]:
    """Yield the base file of each file group as it stands now, by the active timeline, those written last first.

    Args:
        table: A table of COPY_ON_WRITE.
    """
    seen: set[str] = set()
    for instant in reversed(table.commits):
        info = table.info(instant)
        replaced: Collection[str] = info.replaced_ids
        for path, size in info.files:
            group = file_group(path)
            # What a commit wrote is newer than what it replaced.
            if group is not None and group[0] not in seen and path.endswith(".parquet"):
                seen.add(group[0])
                yield path, size
        seen.update(replaced)


def _rows(storage: Storage, path: str, size: int) -> Iterator[dict[str, Any]]:
    # pyarrow costs 0.2 s to import.
    from pyarrow.parquet import ParquetFile

    with ParquetFile(io.BufferedReader(_Part(storage, path, size), 1 << 16)) as file:
        for batch in file.iter_batches(_AT_ONCE, columns=list(_COLUMNS), use_threads=False):
            yield from batch.to_pylist()


class _Part(io.RawIOBase):
    """A file of a storage, as Arrow reads it: a part at a time."""

    def __init__(self, storage: Storage, path: str, size: int) -> None:
        self._storage, self._path, self._size, self._at = storage, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._storage.read_part(self._path, self._at, min(len(buffer), max(0, self._size - self._at)))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _told(row: dict[str, Any]) -> WaitingRow:
    def text(name: str) -> str:
        return without_credentials(str(row.get(name) or ""))

    return WaitingRow(rule=text(RULE), reason=text(REASON), run_id=text(RUN), position=text(POSITION), row=_safe(row.get(ROW)))


def _safe(text: str | None) -> str:
    try:
        tree = json.loads(text or "")
    except ValueError:
        return without_credentials(text or "")
    told = json.dumps(tree_without_credentials(_without_bytes(tree)), ensure_ascii=False)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]} …"


def _without_bytes(tree: Any) -> Any:
    """Return a row without bytes, in which nobody sees a credential."""
    if isinstance(tree, dict):
        return {
            key: f"{len(value)} signs of base64"
            if str(key).endswith("_base64") and isinstance(value, str)
            else _without_bytes(value)
            for key, value in tree.items()
        }
    return [_without_bytes(one) for one in tree] if isinstance(tree, list) else tree
