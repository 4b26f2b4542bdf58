"""Which file of a table is not what its writer wrote, though it is as long: looked for where a read or a write has failed.

What Spark, Parquet and Hudi say of such a file has a hundred forms, and some name no file. So the files themselves are read, by
another reader, in a process of its own: a broken file may take all memory, or end the process that reads it.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from freshet.errors import FreshetError, StateError
from freshet.hudi.cleans import file_group
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read.frames import broken_frame, broken_in_store
from freshet.sources.hudi.read.slices import is_log, newest_files
from freshet.sources.hudi.reads import Version
from freshet.storage.failures import told
from freshet.storage.files import asks_at_once, is_local, local_path, storage_for

# Of a run that has failed anyway: so long it is looked for, and so many bytes are read of a store.
_PATIENCE_SECONDS, _MOST_REMOTE_BYTES = 60.0, 256 << 20
# Of a store's logs that a read or a write goes over so many are looked at: each is a request or two, at most 32 of 16 KB.
_MOST_LOGS, _MOST_LOGS_ONE_BY_ONE, _AT_ONCE = 64, 16, 8
# Signals by which a process ends that reads what it should not; any other one came from outside.
_BY_ITSELF = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
_DATA_FILE = r"[^\s/]+\.(?:parquet|log\.\d+_[\d-]+(?:\.cdc)?)(?![\w.])"
_READER = """import sys
sys.path[:] = {path!r}
from freshet.sources.hudi.read.second_reader import check_files
check_files(sys.stdin)
"""


class _BrokenLog(Exception):
    """A log is not what its writer wrote."""


def refuse_damaged(table: TableRef, path: str, size: int, found: int, effect: str) -> None:
    """Refuse a file that is shorter than its commit says, or a log with a block that Hudi would pass over.

    Args:
        table: The table.
        path: The file, relative to it.
        size: Its bytes by the commit.
        found: Its bytes now.
        effect: What was or was not written.

    Raises:
        StateError: FILE_CORRUPT.
    """
    base, whole = local_path(table.path).rstrip("/"), f"{table.path.rstrip('/')}/{path}"
    if found < size:
        raise corrupt(table, whole, f"{whole} has {found:,} bytes, and its commit wrote {size:,}", effect)
    if found == size and is_log(path) and is_local(table.path):
        broken = broken_frame(f"{base}/{path}")
        if broken:
            raise corrupt(table, whole, f"{whole} is not what its commit wrote: {broken}", effect)


def refuse_damaged_in_store(table: TableRef, logs: Collection[tuple[str, int]], effect: str) -> None:
    """Refuse a log in a store with a block that Hudi would pass over: of the newest logs, each looked at once in a process.

    Args:
        table: The table.
        logs: Paths of logs, relative to it, each with its bytes.
        effect: What was or was not written.

    Raises:
        StateError: FILE_CORRUPT, or what keeps the store from being read.
        RetryableError: What keeps it from being read for the moment.
    """
    base = table.path.rstrip("/")
    most = _MOST_LOGS if asks_at_once(table.path) else _MOST_LOGS_ONE_BY_ONE
    newest = sorted(logs, key=lambda log: (file_group(log[0]) or ("", ""))[1], reverse=True)[:most]
    look = told(table, _broken_log)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for (path, _), broken in zip(newest, pool.map(lambda log: look(f"{base}/{log[0]}", log[1]), newest), strict=True):
            if broken:
                whole = f"{base}/{path}"
                raise corrupt(table, whole, f"{whole} is not what its commit wrote: {broken}", effect)


def _broken_log(file: str, size: int) -> str:
    try:
        _hold_log(file, size)
    except FileNotFoundError:
        # Cleaned since the listing: whoever reads it is told.
        return ""
    except _BrokenLog as broken:
        return str(broken)
    return ""


# No log changes once its commit is complete (table version 8): what was whole is not asked for again by the run after its plan.
@lru_cache(maxsize=1 << 13)
def _hold_log(file: str, size: int) -> None:
    broken = broken_in_store(file, size, storage_for(file))
    if broken:
        raise _BrokenLog(broken)


def corrupt(table: TableRef, file: str, said: str, effect: str, reader: str = "") -> StateError:
    """Return the error of a file that is not what its writer wrote.

    Args:
        table: The table.
        file: The file.
        said: What is wrong with it, in words that name it.
        effect: What was or was not written.
        reader: The table that it was read for, where that is another one.
    """
    return StateError(
        "FILE_CORRUPT",
        f"{table.name}: {said}{f', and was read for {reader}' if reader else ''}.",
        effect,
        f"Restore the file from a copy; or make {table.name} anew, and what is made of it.",
        table=table.name,
        path=table.path,
        file=file,
    )


def damage_behind(tables: Collection[TableRef], text: str, effect: str, target: TableRef) -> StateError | None:
    """Return the error of a file by which a read or a write may have failed; None where all that were looked at are whole.

    Args:
        tables: The tables that were read or written, the likeliest first.
        text: What Spark and Hudi raised.
        effect: What was or was not written.
        target: The table that was written.
    """
    end, asked = time.monotonic() + _PATIENCE_SECONDS, dict[str, tuple[TableRef, str]]()
    named, others = list[tuple[TableRef, str]](), list[tuple[TableRef, str]]()
    for table in dict.fromkeys(tables):
        try:
            first, rest = _files(table, text)
            named += [(table, file) for file in first]
            others += [(table, file) for file in rest]
        except (FreshetError, OSError, ValueError):
            # What keeps the table from being looked at is no news of the file.
            continue
    with tempfile.TemporaryDirectory() as aside:
        for number, (table, file) in enumerate((*named, *others)):
            with suppress(FreshetError, OSError, ValueError):
                here = _here(table, file, Path(aside) / str(number))
                asked |= {here: (table, file)} if here and here not in asked else {}
        found = _asked(list(asked), end)
    if found is None or found[0] not in asked:
        return None
    (table, file), said = asked[found[0]], found[1]
    whole = f"{table.path.rstrip('/')}/{file}"
    return corrupt(table, whole, f"{whole} cannot be read: {said}", effect, "" if table == target else target.name)


def _files(table: TableRef, text: str) -> tuple[list[str], list[str]]:
    """Return the data files of a table that a text names, with those of their groups, and its other files."""
    named = named_files(table, text)
    if not is_local(table.path):
        return named, []
    state = TimelineState().table(table)
    newest = [path for path, _ in newest_files(state, Version(""))] if state is not None else []
    # A log that cannot be read may be called by the base file that it lies over.
    groups = {group[0] for file in named if (group := file_group(file))}
    near = [path for path in newest if (group := file_group(path)) and group[0] in groups]
    return list(dict.fromkeys([*named, *near])), newest


def _here(table: TableRef, file: str, aside: Path) -> str:
    """Return where a file can be read on this machine; empty where it cannot."""
    base = local_path(table.path).rstrip("/")
    if is_local(table.path):
        return f"{base}/{file}"
    (folder, _, name), storage = file.rpartition("/"), storage_for(base)
    if not 0 < storage.sizes(f"{base}/{folder}").get(name, 0) <= _MOST_REMOTE_BYTES:
        return ""
    aside.mkdir()
    (aside / name).write_bytes(storage.read(f"{base}/{file}"))
    return str(aside / name)


def named_files(table: TableRef, text: str) -> list[str]:
    """Return the data files of a table that a text names, relative to it, each once.

    Args:
        table: The table.
        text: What Spark and Hudi raised.
    """
    base = re.escape(local_path(table.path).rstrip("/"))
    return list(dict.fromkeys(found[1] for found in re.finditer(rf"{base}/((?:[^\n]*?/)?{_DATA_FILE})", text)))


def _asked(files: list[str], end: float) -> tuple[str, str] | None:
    """Return the first file that cannot be read, and why, by a reader in another process."""
    if not files or time.monotonic() >= end:
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-c", _READER.format(path=sys.path)],
            input="\n".join(file for file in files if "\n" not in file),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=max(1.0, end - time.monotonic()),
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    lines = done.stdout.splitlines()
    if -done.returncode in _BY_ITSELF and lines and lines[-1].startswith("? "):
        # It ended its reader.
        return lines[-1][2:], f"its reader ended by signal {-done.returncode}"
    broken = next((line[2:] for line in lines if line.startswith("! ")), "")
    file, _, said = broken.partition("\t")
    return (file, said) if broken else None
