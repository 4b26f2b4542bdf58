"""Listing and reading small files of a table, and of what is recorded beside it, local or remote, without a JVM."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Protocol

from freshet.storage.remote import remote_storage, split_uri

_NANOS = 1_000_000
_IN_PROCESS = ("s3", "s3a", "s3n")

#: A file below a folder: its path from there, its bytes, and when it was modified, in milliseconds since 1970.
FileBelow = tuple[str, int, int]


class Storage(Protocol):
    """What a reader of tables needs of a file system."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; empty where there is no such folder."""
        ...

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names of the files in a folder, each with its bytes; empty where there is no such folder."""
        ...

    def below(self, folder: str) -> list[FileBelow]:
        """Return the files in a folder and in the folders within it. Raises FileNotFoundError where there is no such folder."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises FileNotFoundError."""
        ...

    def read_part(self, path: str, begin: int, length: int) -> bytes:
        """Return bytes of a file from a position on, fewer at its end. Raises FileNotFoundError."""
        ...

    def put(self, path: str, data: bytes) -> None:
        """Write a record beside a table; never called to change what a table holds."""
        ...

    def remove(self, path: str) -> None:
        """Delete a record beside a table."""
        ...


class LocalStorage:
    """The machine's own file system."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; empty where there is no such folder."""
        try:
            return os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names of the files in a folder, each with its bytes; empty where there is no such folder."""
        try:
            with os.scandir(folder) as entries:
                return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def below(self, folder: str) -> list[FileBelow]:
        """Return the files in a folder and in the folders within it. Raises FileNotFoundError where there is no such folder."""
        found: list[FileBelow] = []
        _walk(local_path(folder), "", (), found)
        return found

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises FileNotFoundError."""
        with open(path, "rb") as file:
            return file.read()

    def read_part(self, path: str, begin: int, length: int) -> bytes:
        """Return bytes of a file from a position on, fewer at its end. Raises FileNotFoundError."""
        with open(path, "rb") as file:
            return os.pread(file.fileno(), length, begin)

    def put(self, path: str, data: bytes) -> None:
        """Write a record, whole or not at all."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        beside = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)

    def remove(self, path: str) -> None:
        """Delete a record."""
        os.remove(path)


class ArrowStorage:
    """S3, GCS, HDFS and whatever else ``pyarrow.fs`` opens by URI; Hadoop's ``s3a`` is its ``s3``.

    Args:
        uri: Any URI of the file system, such as a table's base path.
    """

    def __init__(self, uri: str) -> None:
        # pyarrow costs 0.2 s to import, which a tick over local tables must not pay.
        from pyarrow import fs

        scheme, place, _ = split_uri(uri)
        # The root alone: Hadoop takes what follows as it stands, and Arrow would decode it.
        root = f"{'s3' if scheme in _IN_PROCESS else scheme}://{place}/"
        self._fs, found = fs.FileSystem.from_uri(root)
        # A bucket, a container, "/" or nothing.
        self._root: str = f"{found.rstrip('/')}/" if found else ""
        self._selector = fs.FileSelector

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; empty where there is no such folder."""
        selector = self._selector(self._path(folder), allow_not_found=True)
        return [info.base_name for info in self._fs.get_file_info(selector)]

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names of the files in a folder, each with its bytes; empty where there is no such folder."""
        selector = self._selector(self._path(folder), allow_not_found=True)
        return {info.base_name: info.size for info in self._fs.get_file_info(selector) if info.is_file}

    def below(self, folder: str) -> list[FileBelow]:
        """Return the files in a folder and in the folders within it. Raises FileNotFoundError where there is no such folder."""
        root = self._path(folder)
        found = self._fs.get_file_info(self._selector(root, recursive=True))
        skipped = len(root.rstrip("/")) + 1
        return [(info.path[skipped:], info.size, (info.mtime_ns or 0) // _NANOS) for info in found if info.is_file]

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises FileNotFoundError."""
        with self._fs.open_input_stream(self._path(path)) as stream:
            data: bytes = stream.readall()
            return data

    def read_part(self, path: str, begin: int, length: int) -> bytes:
        """Return bytes of a file from a position on, fewer at its end. Raises FileNotFoundError."""
        with self._fs.open_input_file(self._path(path)) as file:
            data: bytes = file.read_at(length, begin)
            return data

    def put(self, path: str, data: bytes) -> None:
        """Write a record; in an object store whole or not at all."""
        place = self._path(path)
        if not path.startswith("s3"):
            # HDFS and its like have folders; in S3 a name is enough.
            self._fs.create_dir(place.rpartition("/")[0], recursive=True)
        with self._fs.open_output_stream(place) as stream:
            stream.write(data)

    def remove(self, path: str) -> None:
        """Delete a record."""
        self._fs.delete_file(self._path(path))

    def _path(self, uri: str) -> str:
        path = f"{self._root}{split_uri(uri)[2].strip('/')}"
        return path.rstrip("/") or "/"


def _walk(place: str, name: str, seen: tuple[tuple[int, int], ...], found: list[FileBelow]) -> None:
    # A link may lead back to a folder that it stands in.
    own = os.stat(place)
    here = (own.st_dev, own.st_ino)
    if here in seen:
        return
    with os.scandir(place) as entries:
        for entry in entries:
            path = f"{name}{entry.name}"
            # What is gone since the folder was listed, and a link to nothing, are no files.
            with suppress(FileNotFoundError):
                if entry.is_dir():
                    _walk(entry.path, f"{path}/", (*seen, here), found)
                elif entry.is_file():
                    told = entry.stat()
                    found.append((path, told.st_size, told.st_mtime_ns // _NANOS))


def is_local(path: str) -> bool:
    """Say whether a base path lies on the machine's own file system."""
    return split_uri(path)[0] in ("", "file")


def local_path(path: str) -> str:
    """Return a local base path without its ``file:`` scheme."""
    scheme, _, local = split_uri(path)
    return local if scheme == "file" else path


def asks_at_once(path: str) -> bool:
    """Say whether the store of a path is asked by several threads at once: in a process of its own it answers one by one."""
    # S3's client alone answers in time, and with an error, whatever is wrong.
    return split_uri(path)[0] in _IN_PROCESS


def storage_for(path: str) -> Storage:
    """Return the storage that holds ``path``."""
    if is_local(path):
        return LocalStorage()
    return ArrowStorage(path) if asks_at_once(path) else remote_storage(path)
