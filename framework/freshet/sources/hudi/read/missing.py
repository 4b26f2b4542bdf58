"""Files of a table that are not what its commits wrote: gone, or cut. Hudi passes over most of them without a word.

A listing shows no file that is missing, and a log's reader takes what it cannot read for a write that never ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from freshet.errors import RetryableError, StateError
from freshet.hudi.cleans import file_group
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read.damage import refuse_damaged, refuse_damaged_in_store
from freshet.sources.hudi.read.gone import lost_of, missing
from freshet.sources.hudi.read.slices import is_log, newest_files
from freshet.sources.hudi.reads import Version
from freshet.storage.failures import told
from freshet.storage.files import is_local, local_path, storage_for

# Listings that are asked for together; and in all of a version, where each takes its time.
_AT_ONCE, _MOST_FOLDERS = 8, 200
# Partitions of the metadata table by which Hudi lists the table's files, and finds rows by their keys.
_FILES, _RECORDS = "files", "record_index"
_MADE_ANEW = (
    "Restore the file from a copy. Or delete the metadata table by hudi-cli: connect --path {}, then: metadata delete. "
    "The next write makes it anew from the table's own files."
)


def hold_files(
    table: TableRef,
    requested: Collection[str],
    as_of: str,
    effect: str,
    whole: bool = False,
) -> None:
    """Refuse to read commits whose files, or those below them, are not there, or are shorter than they were written.

    Args:
        table: The table. In a store that is not this machine's own only some of the partitions are looked at.
        requested: Request times of the commits.
        as_of: Time of the version that their rows are read at; empty for the latest.
        effect: What was or was not written.
        whole: True where their own files alone are read, of each file group the newest.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
        RetryableError: SOURCE_CHANGED_UNDER_READ: one was cleaned, or taken back, since the plan was made.
    """
    state = TimelineState().table(table)
    if state is not None:
        infos = [state.info(i) for i in state.commits if i.requested in set(requested)]
        groups = {group for info in infos for group in info.file_ids}
        files = [file for info in infos for file in info.files]
        if whole:
            files = list({_group(file[0]): file for file in sorted(files, key=_requested)}.values())
        else:
            hold_metadata(state, effect)
            files += newest_files(state, Version(as_of), groups)
        found = _by_folder(files)
        _hold_all(table, found if is_local(table.path) else dict(islice(found.items(), _MOST_FOLDERS)), effect)


def _group(path: str) -> str:
    group = file_group(path)
    return group[0] if group else path


def _requested(file: tuple[str, int]) -> str:
    group = file_group(file[0])
    return group[1] if group else ""


def hold_version(
    table: TableRef | TableState,
    version: Version,
    effect: str,
    is_read: Callable[[TableState, str], bool] = lambda state, folder: True,
    changed: str = "SOURCE_CHANGED_UNDER_READ",
    is_listed: bool = True,
) -> None:
    """Refuse to go on with a version of a table whose files are not there, or are shorter than they were written.

    Args:
        table: The table, or what is known of it already. Files of archived commits are not known, and in a store that is not
            this machine's own only the partitions that were written last are looked at.
        version: Its version.
        effect: What was or was not written.
        is_read: Says of a partition's path whether it is of interest.
        changed: The code of a file that was cleaned, or taken back, meanwhile.
        is_listed: True where Hudi finds the files by the table's metadata table, which is held to the same then.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
        RetryableError: ``changed``.
    """
    state = TimelineState().table(table) if isinstance(table, TableRef) else table
    if state is not None:
        if is_listed:
            hold_metadata(state, effect)
        files = newest_files(state, version)
        found = _by_folder((path, size) for path, size in files if is_read(state, path.rpartition("/")[0]))
        found = found if is_local(state.ref.path) else dict(islice(found.items(), _MOST_FOLDERS))
        _hold_all(state.ref, found, effect, changed)


def hold_metadata(table: TableState, effect: str, finds_rows: bool = False) -> None:
    """Refuse to go on with a table whose metadata table has lost what it knows of files: Hudi would pass over these.

    Args:
        table: The table. Column statistics, which nobody reads here (``hoodie.enable.data.skipping``), are not looked at.
        effect: What was or was not written.
        finds_rows: True where the record index in it says where a key's row is: a lost one would be written twice.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
    """
    there = table.config.properties.get("hoodie.table.metadata.partitions", "").split(",")
    parts = [part for part in (_FILES, *((_RECORDS,) if finds_rows else ())) if part in there]
    # What Hudi makes anew under a look is whole at the next.
    error = parts and _damage(table.ref, effect, parts) and _damage(table.ref, effect, parts)
    if error:
        raise error


def _damage(table: TableRef, effect: str, parts: Collection[str]) -> StateError | None:
    metadata = TableRef(f"The metadata table of {table.name}", f"{table.path.rstrip('/')}/.hoodie/metadata")
    try:
        state = TimelineState().table(metadata)
        if state is not None:
            files = newest_files(state, Version(""))
            _hold_all(metadata, _by_folder(file for part in parts for file in _of_part(state, part, files)), effect)
    except StateError as error:
        code = "FILE_CORRUPT" if error.code == "TIMELINE_UNREADABLE" else error.code
        if code in ("FILE_CORRUPT", "FILE_MISSING"):
            return StateError(code, error.message, effect, _MADE_ANEW.format(table.path), **error.details)
    except RetryableError:
        pass
    return None


def _of_part(state: TableState, part: str, files: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    # A compaction is a commit: what a deltacommit wrote as base files is a part made anew, maybe of fewer groups.
    # By completion: Hudi requests such a commit at 00000000000000002 and the like.
    ended = {i.requested: i.completed for i in state.commits}
    made = max(
        (
            i.completed
            for i in state.commits
            if i.action == "deltacommit"
            for path, _ in state.info(i).files
            if path.startswith(f"{part}/") and not is_log(path)
        ),
        default="",
    )
    found = [
        (file, group)
        for file in files
        if file[0].startswith(f"{part}/")
        if (group := file_group(file[0])) is not None and ended.get(group[1], "") >= made
    ]
    # Each group has a base file. Where its commit is archived, which logs lie over it is not known.
    based = {group[0] for (path, _), group in found if not is_log(path)}
    return [file for file, group in found if group[0] in based]


def _by_folder(files: Iterable[tuple[str, int]]) -> Mapping[str, list[tuple[str, int]]]:
    found = defaultdict[str, list[tuple[str, int]]](list)
    for path, size in files:
        folder, _, name = path.rpartition("/")
        found[folder].append((name, size))
    return found


def _hold_all(
    table: TableRef,
    by_folder: Mapping[str, list[tuple[str, int]]],
    effect: str,
    changed: str = "SOURCE_CHANGED_UNDER_READ",
) -> None:
    base, gone, logs = local_path(table.path).rstrip("/"), list[str](), list[tuple[str, int]]()
    sizes = told(table, storage_for(base).sizes)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        listed = pool.map(lambda folder: sizes(f"{base}/{folder}"), by_folder)
        for (folder, files), found in zip(by_folder.items(), listed, strict=True):
            for name, size in files:
                path = f"{folder}/{name}".removeprefix("/")
                if name in found:
                    refuse_damaged(table, path, size, found[name], effect)
                    if is_log(path) and found[name] == size and not is_local(table.path):
                        logs.append((path, size))
                elif size:
                    gone.append(path)
    if logs:
        refuse_damaged_in_store(table, logs, effect)
    if not gone:
        return
    lost = lost_of(table, gone)
    if lost:
        raise missing(table, lost, effect)
    raise RetryableError(
        changed,
        f"{table.name}: a file of it was cleaned, or taken back, since this was planned: {gone[0]}.",
        effect,
        "Run the same command again.",
        table=table.path,
        file=gone[0],
    )
