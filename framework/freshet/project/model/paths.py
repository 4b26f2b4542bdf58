"""Base paths of tables: one spelling per place, so that two pipelines can be seen to mean the same table."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from freshet.project.model.pipeline import TableRef

_MIGRATED = re.compile(r"__m([0-9]{1,6})$")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def cache_dir() -> Path:
    """Return the folder of what can be fetched or made again: ``$FRESHET_CACHE``, by default ``~/.cache/freshet``."""
    named = os.environ.get("FRESHET_CACHE")
    return (Path(named).expanduser() if named else Path.home() / ".cache" / "freshet").absolute()


def normal_path(text: str, root: Path) -> str:
    """Return the one spelling of a table's base path.

    Args:
        text: Local path, relative to the project or absolute, or a URI.
        root: The project's folder, absolute.

    Returns:
        An absolute local path, also for ``file:`` URIs, or the URI without a trailing or doubled slash.
    """
    text = text.strip()
    if text.lower().startswith("file:"):
        text = "/" + text[len("file:") :].lstrip("/")
    uri = _URI.fullmatch(text)
    if uri is None:
        return posixpath.normpath(posixpath.join(str(root), text))
    return f"{uri[1].lower()}://{re.sub('/+', '/', uri[2]).rstrip('/')}"


def same_place(path: str) -> str:
    """Return a normal path by which tables are compared: Hadoop's ``s3a`` and ``s3n`` name the places that ``s3`` does."""
    return re.sub(r"^s3[an]://", "s3://", path)


def named_table(path: str, targets: Mapping[str, str], warehouse: Mapping[str, str]) -> TableRef:
    """Find the name of the table at a path.

    Args:
        path: Normal base path.
        targets: Base path of each table that a pipeline of the project writes, by name.
        warehouse: Normal root path of each database.

    Returns:
        The table; its name is the path where neither knows it.
    """
    for name, target in targets.items():
        if target == path:
            return TableRef(name, path)
    parent, _, last = path.rpartition("/")
    for database, folder in warehouse.items():
        if parent == folder and last:
            return TableRef(f"{database}.{last}", path)
    return TableRef(path, path)


def migration_suffix(path: str) -> str:
    """Return what ``freshet migrate`` has put behind a table's path, as in ``trips__m2``; empty where it has not."""
    found = _MIGRATED.search(path.rstrip("/"))
    return found[0] if found else ""


def quarantine_of(pipeline: str, target: TableRef) -> TableRef:
    """Return the quarantine of a pipeline for the rows that do not come into a table of its."""
    # Beside the target, and of the pipeline: two that write one table have each their own, and so has a migrated table,
    # whose columns may be others.
    database, dot, _ = target.name.rpartition(".")
    short = f"{pipeline}_quarantine"
    place = target.path.rstrip("/").rpartition("/")[0]
    return TableRef(f"{database}{dot}{short}", f"{place}/{short}{migration_suffix(target.path)}")


def next_place(path: str) -> str:
    """Return where a table's successor lies: ``trips__m2`` after ``trips``. Templates in the text stay as they are."""
    suffix = migration_suffix(path)
    return f"{path.rstrip('/').removesuffix(suffix)}__m{int(suffix[3:] or '1') + 1}"


def places_before(path: str) -> Iterator[str]:
    """Yield where a table's predecessors lie, the youngest first."""
    while path := place_before(path):
        yield path


def place_before(path: str) -> str:
    """Return where a table's predecessor lies; empty where it has none."""
    suffix = migration_suffix(path)
    if not suffix:
        return ""
    base = path.rstrip("/").removesuffix(suffix)
    return base if int(suffix[3:]) <= 2 else f"{base}__m{int(suffix[3:]) - 1}"
