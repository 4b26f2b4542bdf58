"""Small files that are written only where they are as they were last seen: what a lease across machines rests on."""

from __future__ import annotations

import fcntl
import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from freshet.storage.files import is_local, local_path
from freshet.storage.remote import split_uri

#: Schemes of the stores that write on a condition, and for which ``freshet[object-store]`` has a client.
OBJECT_STORES = ("s3", "s3a", "s3n", "gs", "abfs", "abfss")


@dataclass(frozen=True)
class Stored:
    """A file as it was read.

    Args:
        data: Its bytes.
        tag: Of this version of it alone.
        modified: When it was written, by the store's clock, in seconds since 1970.
    """

    data: bytes
    tag: str
    modified: float


class ConditionalStore(Protocol):
    """A store whose writes may depend on what stands there. Paths are the tables' own, with their scheme."""

    def read(self, path: str) -> Stored | None:
        """Return a file; None where there is none."""
        ...

    def create(self, path: str, data: bytes) -> str | None:
        """Write a file that is not there, and return its tag; None where one is there."""
        ...

    def swap(self, path: str, data: bytes, tag: str) -> str | None:
        """Write a file over the version that has a tag, and return the new tag; None where that is not what stands there."""
        ...

    def now(self, path: str) -> float:
        """Return the time by the store's clock, in seconds since 1970, by writing a file of no use beside a path."""
        ...


class DirectoryStore:
    """A folder that several machines share: its server must keep ``flock`` across its clients, as NFS from version 4 does."""

    def read(self, path: str) -> Stored | None:
        """Return a file; None where there is none."""
        try:
            with open(local_path(path), "rb") as file:
                data = file.read()
                return Stored(data, _digest(data), os.fstat(file.fileno()).st_mtime)
        except FileNotFoundError:
            return None

    def create(self, path: str, data: bytes) -> str | None:
        """Write a file that is not there, and return its tag; None where one is there."""
        with _alone(path):
            return None if self.read(path) is not None else _written(path, data)

    def swap(self, path: str, data: bytes, tag: str) -> str | None:
        """Write a file over the version that has a tag, and return the new tag; None where that is not what stands there."""
        with _alone(path):
            found = self.read(path)
            return _written(path, data) if found is not None and found.tag == tag else None

    def now(self, path: str) -> float:
        """Return the time by the clock that dates the folder's files."""
        os.makedirs(os.path.dirname(local_path(path)), exist_ok=True)
        probe = f"{local_path(path)}.{uuid.uuid4().hex}.tmp"
        descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            return os.fstat(descriptor).st_mtime
        finally:
            os.close(descriptor)
            os.remove(probe)


def can_be_conditional(path: str) -> bool:
    """Say whether the store of a remote path writes on a condition, and its client is installed; asks neither."""
    return split_uri(path)[0] in OBJECT_STORES and find_spec("obstore") is not None


def conditional_store(path: str, shared_disk: bool = False) -> ConditionalStore | None:
    """Return the store that holds a path; None where it cannot write on a condition, or the path is this machine's own.

    Args:
        path: A table's base path.
        shared_disk: True where local paths lie on a disk that other machines write to, too.
    """
    if is_local(path):
        return DirectoryStore() if shared_disk else None
    if not can_be_conditional(path):
        return None
    from freshet.storage.object_store import object_store

    scheme, place, _ = split_uri(path)
    return object_store(scheme, place)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _written(path: str, data: bytes) -> str:
    beside = f"{local_path(path)}.{uuid.uuid4().hex}.tmp"
    try:
        descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, local_path(path))
    except BaseException:
        with suppress(OSError):
            os.remove(beside)
        raise
    return _digest(data)


@contextmanager
def _alone(path: str) -> Iterator[None]:
    os.makedirs(os.path.dirname(local_path(path)), exist_ok=True)
    # Of its own, and never removed: who has just waited for a removed one would hold nothing.
    with open(f"{local_path(path)}.lock", "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
