"""A store that is read in a process of its own: its client may hang, or end the process that it runs in.

The client of Azure aborts where it finds no credentials, and that of GCS tries for a quarter of an hour.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import subprocess
import sys
import threading
from functools import lru_cache
from typing import IO, Any, cast

_PATIENCE_SECONDS = 60.0
_URI = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?)?(.*)", re.DOTALL)
_START = """import sys
sys.path[:] = {path!r}
from freshet.storage.remote import serve
serve({uri!r})
"""


class ProcessStorage:
    """The ``Storage`` of a URI's file system, in a child process.

    Args:
        uri: Any URI of the file system, such as a table's base path.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._turn = threading.Lock()
        atexit.register(self.end)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; empty where there is no such folder."""
        return json.loads(self._ask("names", folder))  # type: ignore[no-any-return]

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names of the files in a folder, each with its bytes; empty where there is no such folder."""
        return json.loads(self._ask("sizes", folder))  # type: ignore[no-any-return]

    def below(self, folder: str) -> list[tuple[str, int, int]]:
        """Return the files in a folder and in the folders within it. Raises FileNotFoundError where there is no such folder."""
        return [(path, size, modified) for path, size, modified in json.loads(self._ask("below", folder))]

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises FileNotFoundError."""
        return self._ask("read", path)

    def read_part(self, path: str, begin: int, length: int) -> bytes:
        """Return bytes of a file from a position on, fewer at its end. Raises FileNotFoundError."""
        return self._ask("read_part", path, json.dumps([begin, length]).encode())

    def put(self, path: str, data: bytes) -> None:
        """Write a record."""
        self._ask("put", path, data)

    def remove(self, path: str) -> None:
        """Delete a record."""
        self._ask("remove", path)

    def end(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None and self._owner == os.getpid():
            child.kill()
            child.communicate()

    def _ask(self, do: str, path: str, given: bytes = b"") -> bytes:
        with self._turn:
            child = self._child
            if child is None or self._owner != os.getpid() or child.poll() is not None:
                child = self._start()
            try:
                return self._answer(child, do, path, given)
            except (BrokenPipeError, EOFError):
                raise OSError(self._last_words(child)) from None
            except TimeoutError:
                self.end()
                raise

    def _start(self) -> subprocess.Popen[bytes]:
        self._owner = os.getpid()
        self._child = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path, uri=self._uri)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return self._child

    def _answer(self, child: subprocess.Popen[bytes], do: str, path: str, given: bytes) -> bytes:
        asked, answers = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
        asked.write(json.dumps([do, path, len(given)]).encode() + b"\n" + given)
        asked.flush()
        if not select.select([answers], [], [], _PATIENCE_SECONDS)[0]:
            raise TimeoutError(f"no answer within {_PATIENCE_SECONDS:.0f} seconds")
        line = answers.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        head: dict[str, Any] = json.loads(line)
        if head["error"] == "FileNotFoundError":
            raise FileNotFoundError(head["said"])
        if head["error"]:
            raise OSError(f"{head['error']}: {head['said']}")
        data = answers.read(head["size"])
        if len(data) < head["size"]:
            raise EOFError
        return data

    def _last_words(self, child: subprocess.Popen[bytes]) -> str:
        child.kill()
        said = child.communicate()[1].decode(errors="replace").split("Extension modules:")[0]
        self._child = None
        # The client's own words stand before Python's list of what ran.
        words = " ".join(said.split("Fatal Python error")[0].split())[:1000]
        return f"its client ended with {child.returncode}" + (f": {words}" if words else "")


@lru_cache(maxsize=32)
def process_storage(scheme: str, place: str) -> ProcessStorage:
    """Return the one process for a file system."""
    return ProcessStorage(f"{scheme}://{place}/")


def remote_storage(path: str) -> ProcessStorage:
    """Return the storage that holds a URI."""
    scheme, place, _ = split_uri(path)
    return process_storage(scheme, place)


def split_uri(uri: str) -> tuple[str, str, str]:
    """Return a URI's scheme, its authority and its path as they stand; a local path has neither of the first.

    As Hadoop reads it, which knows no query, no fragment and no escapes: each character may be a partition's.
    """
    found = _URI.fullmatch(uri)
    scheme, place, path = found.groups() if found else ("", "", uri)
    return (scheme or "").lower(), place or "", path


def serve(uri: str) -> None:
    """Answer requests about a file system until stdin ends; the child's side."""
    from freshet.storage.files import ArrowStorage

    storage: ArrowStorage | None = None
    for line in sys.stdin.buffer:
        do, path, size = json.loads(line)
        given = sys.stdin.buffer.read(size)
        data, error, said = b"", "", ""
        try:
            storage = storage or ArrowStorage(uri)
            match do:
                case "read":
                    data = storage.read(path)
                case "read_part":
                    data = storage.read_part(path, *json.loads(given))
                case "put":
                    storage.put(path, given)
                case _:
                    data = json.dumps(getattr(storage, do)(path)).encode()
        except Exception as found:  # told to the asker, whatever it is
            error, said = type(found).__name__, str(found)
            error = "FileNotFoundError" if isinstance(found, FileNotFoundError) else error
        sys.stdout.buffer.write(json.dumps({"size": len(data), "error": error, "said": said}).encode() + b"\n" + data)
        sys.stdout.buffer.flush()
