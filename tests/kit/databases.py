"""Databases of tests: one server of each kind for all, a database or schema for each test, and files replayed in Python."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from freshet.dev.databases.mariadb import MariaDb
from freshet.dev.databases.postgres import Postgres
from freshet.dev.databases.server import Database, DatabaseServer
from freshet.ingest.landing import folder_of

SECONDS = 120.0


@contextmanager
def started(kind: type[Postgres | MariaDb]) -> Iterator[tuple[DatabaseServer, Database]]:
    """Start a server, and stop it whatever happens; for root in a folder that the package's user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-database-"))
    folder.chmod(0o755)
    server = kind(folder / "server")
    try:
        yield server, server.up(None, SECONDS, lambda words: None)
    finally:
        server.down(True, lambda words: None)
        shutil.rmtree(folder, ignore_errors=True)


def events_of(root: Path, table: str) -> list[dict[str, Any]]:
    """Return the events that landed of a table, file by file."""
    found = []
    for file in sorted((root / folder_of(table)).glob("[!.]*.json.gz")):
        found += events_of_file(file)
    return found


def events_of_file(file: Path) -> list[dict[str, Any]]:
    """Return the events of one file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def replayed(events: list[dict[str, Any]], groups: Mapping[str, tuple[str, ...]] | None = None) -> dict[str, dict[str, Any]]:
    """Return the rows that events make, by the texts of their keys, as the changelog format says: the greater key wins."""
    whole = {"row": tuple({name for event in events for name in event if name != "_event"})}
    newest: dict[tuple[str, str], tuple[str, bool, dict[str, Any]]] = {}
    for event in events:
        meta = event["_event"]
        assert meta["error_exception"] is None, meta
        changed = meta["changelog_columns"]
        for group, columns in (groups or whole).items():
            if changed is not None and group not in [one["name"] for one in changed]:
                continue
            at = (meta["row_key"], group)
            key = (meta["ref_key"], meta["is_deleted"])
            if at not in newest or key > newest[at][:2]:
                newest[at] = (*key, {name: event.get(name) for name in columns})
    rows: dict[str, dict[str, Any]] = {}
    for (row, _), (_, deleted, values) in newest.items():
        if not deleted:
            rows.setdefault(row, {}).update(values)
    return rows
