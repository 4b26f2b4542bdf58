"""Where changes land: a folder for each table, files that appear whole, and a record of how far the database was captured.

A batch of files is one step. They are written under hidden names and made durable; then the record is replaced, which names
them and the new position; then they get their names. A kill before the record leaves files that nobody ever sees, and the same
changes are captured again; a kill after it leaves names to be given, which the next start does. So a change is in the folder
once.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from freshet.errors import FreshetError, RetryableError

_VERSION = 1
_RECORD, _LOCK = ".freshet-ingest.json", ".freshet-ingest.lock"
#: How the name of a file begins that is being written; readers of folders leave such names alone.
HIDDEN = ".freshet-"
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far one table was captured.

    Args:
        base: The number from which on the log has its changes; rows of its copy count as older than all of them.
        copied: The key of the last row that was copied; None before the first.
        pieces: How many files its copy has.
        done: True where all of it was copied.
        columns: Every column that the database was seen to have.
        stopped: Why it is not captured any further; empty where it is.
        table: What tells it from another table that gets its name: ``DbTable.number``.
        backup: Of a table that is loaded from a backup: the place in the log from which on that may be; empty of others.
    """

    base: int
    copied: list[Any] | None = None
    pieces: int = 0
    done: bool = False
    columns: list[str] = field(default_factory=list)
    stopped: str = ""
    table: int = 0
    backup: str = ""


@dataclass(frozen=True, kw_only=True)
class Record:
    """How far a database was captured.

    Args:
        identity: Which database it is.
        position, number: Up to where in its log, in its own words and as a number; empty and -1 while the log's keeping begins.
        tables: By ``schema.table``.
        naming: Files of the last step by hidden path, with the names that they get.
    """

    identity: str
    position: str = ""
    number: int = -1
    tables: Mapping[str, Standing] = field(default_factory=dict)
    naming: Mapping[str, str] = field(default_factory=dict)

    def with_table(self, name: str, standing: Standing) -> Record:
        """Return it with another standing of one table."""
        return replace(self, tables={**self.tables, name: standing})


class Landing:
    """A folder where the changes of a database land.

    Args:
        root: Absolute path of the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder: one at a time captures into it.

        Raises:
            RetryableError: INGEST_BUSY.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with open(self.root / _LOCK, "a", encoding="utf-8") as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RetryableError(
                    "INGEST_BUSY",
                    f"another command captures into {self.root}.",
                    "Nothing was captured.",
                    "Wait for it, and run the same command again.",
                ) from None
            yield

    def record(self) -> Record | None:
        """Return the record; None where there is none yet.

        Raises:
            FreshetError: INGEST_RECORD_UNREADABLE.
        """
        try:
            found = json.loads((self.root / _RECORD).read_text("utf-8"))
            if found.pop("version") != _VERSION:
                raise ValueError("it is of another version of freshet")
            tables = {name: Standing(**standing) for name, standing in found.pop("tables").items()}
            return Record(**found, tables=tables)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FreshetError(
                "INGEST_RECORD_UNREADABLE",
                f"{self.root / _RECORD} cannot be read: {error}.",
                "Nothing was captured.",
                "Bring the file back, or begin in another folder with a copy of all tables.",
            ) from error

    def settle(self, record: Record) -> Record:
        """Finish what an earlier command had begun: give names that the record tells, delete what no record tells."""
        for hidden, name in record.naming.items():
            self._name(hidden, name)
        record = replace(record, naming={})
        for path in self.root.glob(f"*/{HIDDEN}*"):
            path.unlink()
        return record

    def keep(self, record: Record) -> None:
        """Replace the record, durably."""
        self.write(_RECORD, {"version": _VERSION, **asdict(record)})

    def write(self, name: str, facts: Mapping[str, Any]) -> None:
        """Replace a file of the folder by facts as JSON, durably."""
        path = self.root / f"{name}.new"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(facts, file)
            _sync(file)
        os.replace(path, self.root / name)
        _sync_folder(self.root)

    def prepare(self, table: str) -> None:
        """Make the folder of a table: one without a row has no file, and its pipeline nothing to read."""
        (self.root / folder_of(table)).mkdir(exist_ok=True)

    def publish(self, record: Record, step: Step) -> Record:
        """Make a step's files durable, keep the record with them, and give them their names.

        Args:
            record: What is true once the files are there.
            step: The files.
        """
        record = replace(record, naming=step.close())
        self.keep(record)
        for hidden, name in record.naming.items():
            self._name(hidden, name)
        return replace(record, naming={})

    def _name(self, hidden: str, name: str) -> None:
        source = self.root / hidden
        if source.exists():
            # A reader of folders may go by time: it appears now.
            os.utime(source)
            os.replace(source, self.root / name)
            _sync_folder((self.root / name).parent)


class Step:
    """Files that appear together: one for each table.

    Args:
        landing: Where.
        name: Of each file, without an ending: the same part of the log gives the same name.
    """

    def __init__(self, landing: Landing, name: str) -> None:
        self._landing, self._name = landing, name
        self._open: dict[str, tuple[IO[bytes], gzip.GzipFile]] = {}
        self.events: dict[str, int] = {}

    def write(self, table: str, event: Mapping[str, Any]) -> None:
        """Write an event of a table."""
        if table not in self._open:
            folder = self._landing.root / folder_of(table)
            folder.mkdir(exist_ok=True)
            file = open(folder / f"{HIDDEN}{self._name}", "wb")  # noqa: SIM115 - closed by ``close``
            # Without a name and a time inside, the same events are the same bytes.
            self._open[table] = (file, gzip.GzipFile(filename="", mode="wb", compresslevel=5, fileobj=file, mtime=0))
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self._open[table][1].write(line.encode() + b"\n")
        self.events[table] = self.events.get(table, 0) + 1

    def close(self) -> dict[str, str]:
        """Make the files durable; returns the names that they get, by the hidden ones."""
        named = {}
        for table, (file, zipped) in self._open.items():
            zipped.close()
            _sync(file)
            file.close()
            folder = folder_of(table)
            named[f"{folder}/{HIDDEN}{self._name}"] = f"{folder}/{self._name}.json.gz"
            _sync_folder(self._landing.root / folder)
        return named

    def discard(self) -> None:
        """Close the files and delete them."""
        for table, (file, zipped) in self._open.items():
            zipped.close()
            file.close()
            (self._landing.root / folder_of(table) / f"{HIDDEN}{self._name}").unlink(missing_ok=True)


def folder_of(table: str) -> str:
    """Return the name of a table's folder; one with other signs than letters, digits and ``_.-`` is written by its bytes."""
    if _PLAIN.fullmatch(table) and not table.startswith("."):
        return table

    def written(at: int, sign: str) -> str:
        plain = _PLAIN.fullmatch(sign) and not (at == 0 and sign == ".")
        return sign if plain else "".join(f"~{byte:02x}" for byte in sign.encode())

    return "".join(written(at, sign) for at, sign in enumerate(table))


def _sync(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
