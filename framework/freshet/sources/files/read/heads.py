"""What the beginning or the end of each file tells, read by the driver: which files are read alike, and which not at all."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from freshet.errors import foreign_text
from freshet.sources.files.reads import File, ReadFiles
from freshet.storage.failures import failure_of
from freshet.storage.files import Storage, asks_at_once, is_local, storage_for

# Files that are opened together.
_AT_ONCE = 8
#: Of a file of CSV the line of names is looked for in so much of it.
_HEAD_BYTES = 1 << 16
_GZIP, _BZIP, _ZSTD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"
_PACKED = {_GZIP: ".gz", _BZIP: ".bz2", _ZSTD: ".zst"}
_MOST_WORDS = 300
_BOM = "\ufeff"


class Unreadable(Exception):
    """A file cannot be read as what it should be; its text says why."""


class PartFile(io.RawIOBase):
    """A file of a store that is read in parts.

    Args:
        storage: The store.
        path: The file.
        size: Its bytes.
    """

    def __init__(self, storage: Storage, path: str, size: int) -> None:
        super().__init__()
        self._storage, self._path, self._size, self._at = storage, path, size, 0
        #: What the store raised: whoever reads a file may take that for a fault of the file.
        self.failed: Exception | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the place from which it is read on."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return so many bytes, or all that are left."""
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        try:
            found = self._storage.read_part(self._path, self._at, wanted) if wanted else b""
        except Exception as error:  # a client of a store raises what it likes
            self.failed = error
            raise
        self._at += len(found)
        return found

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; returns how many bytes."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def look_at(stage: ReadFiles) -> tuple[dict[tuple[str, ...], list[File]], dict[File, str]]:
    """Look at the files of a window.

    Args:
        stage: What is read.

    Returns:
        The files that can be read, by what they have in common: of CSV the names of the columns, of others their schema; and
        why the rest cannot.

    Raises:
        FreshetError: The store failed.
    """
    storage = storage_for(stage.table.path)

    def told(file: File) -> tuple[str, ...] | str:
        try:
            return _HEADS[stage.format](stage, storage, file)
        except Unreadable as why:
            return str(why)

    groups: dict[tuple[str, ...], list[File]] = {}
    bad: dict[File, str] = {}
    try:
        if is_local(stage.table.path) or asks_at_once(stage.table.path):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                found = list(pool.map(told, stage.files))
        else:
            found = [told(file) for file in stage.files]
    except Exception as error:  # a client of a store raises what it likes
        raise failure_of(stage.table, error) from error
    for file, head in zip(stage.files, found, strict=True):
        if isinstance(head, str):
            bad[file] = head
        else:
            groups.setdefault(head, []).append(file)
    return groups, bad


def place_of(stage: ReadFiles, file: File) -> str:
    """Return where a file is."""
    return f"{stage.table.path.rstrip('/')}/{file.path}"


def _lines(stage: ReadFiles, storage: Storage, file: File) -> tuple[str, ...]:
    _refuse_misnamed(file, storage.read_part(place_of(stage, file), 0, len(_ZSTD)))
    return ()


def _csv(stage: ReadFiles, storage: Storage, file: File) -> tuple[str, ...]:
    if stage.csv.get("header", "false").lower() != "true":
        return _lines(stage, storage, file)
    head = storage.read_part(place_of(stage, file), 0, _HEAD_BYTES)
    _refuse_misnamed(file, head)
    name = file.path.lower()
    if name.endswith((".bz2", ".zst")):
        raise Unreadable("the names of its columns can be read of files that are plain or gzip")
    whole = len(head) == file.size
    if name.endswith(".gz"):
        unpacked = zlib.decompressobj(wbits=31)
        try:
            head = unpacked.decompress(head, _HEAD_BYTES)
        except zlib.error as error:
            raise Unreadable(f"it is no gzip: {error}") from error
        whole = unpacked.eof
    return names_of(head, whole, stage)


def names_of(head: bytes, whole: bool, stage: ReadFiles) -> tuple[str, ...]:
    """Return the names of the columns of a file of CSV.

    Args:
        head: How it begins.
        whole: True where that is all of it.
        stage: What is read.

    Raises:
        Unreadable: It has none, or one stands twice.
    """
    options = stage.csv
    try:
        text = io.TextIOWrapper(io.BytesIO(head), encoding=options.get("encoding", "UTF-8"), errors="replace").read()
    except LookupError as error:
        raise Unreadable(f"the names of its columns cannot be read: {error}") from error
    comment = options.get("comment", "")
    lines = [line for line in text.removeprefix(_BOM).splitlines(keepends=True) if line.strip()]
    lines = [line for line in lines if not comment or not line.startswith(comment)]
    if not lines or (len(lines) == 1 and not whole and not lines[0].endswith(("\n", "\r"))):
        raise Unreadable("its first line has no names of columns" if not lines else "its first line has no end")
    sep, quote = options.get("sep", ","), options.get("quote", '"')
    if len(sep) == 1:
        quoted = {"quotechar": quote} if len(quote) == 1 else {"quoting": csv.QUOTE_NONE}
        names = next(csv.reader([lines[0].rstrip("\r\n")], delimiter=sep, **quoted))
    else:
        names = lines[0].rstrip("\r\n").split(sep)
    names = [name.strip() for name in names]
    twice = next((name for name in names if [one.lower() for one in names].count(name.lower()) > 1), None)
    if twice is not None:
        raise Unreadable(f"its column {twice[:80]!r} stands twice in the first line")
    return tuple(names)


def _parquet(stage: ReadFiles, storage: Storage, file: File) -> tuple[str, ...]:
    from pyarrow.parquet import read_schema

    return _schema_of(stage, storage, file, "Parquet", b"PAR1", lambda part: str(read_schema(part).remove_metadata()))


def _orc(stage: ReadFiles, storage: Storage, file: File) -> tuple[str, ...]:
    from pyarrow.orc import ORCFile

    return _schema_of(stage, storage, file, "ORC", b"ORC", lambda part: str(ORCFile(part).schema.remove_metadata()))


def _avro(stage: ReadFiles, storage: Storage, file: File) -> tuple[str, ...]:
    import fastavro

    def schema(part: PartFile) -> str:
        found: Any = fastavro.reader(io.BufferedReader(part, _HEAD_BYTES))
        # Java's reader takes a block that is cut off for the end, and says nothing; a whole one ends with this mark.
        mark = found._header["sync"]
        part.seek(-len(mark), io.SEEK_END)
        if part.read() != mark:
            raise ValueError("its last block is cut off")
        return str(found.metadata["avro.schema"])

    return _schema_of(stage, storage, file, "Avro", b"Obj\x01", schema)


def _schema_of(
    stage: ReadFiles, storage: Storage, file: File, name: str, magic: bytes, read: Callable[[PartFile], str]
) -> tuple[str, ...]:
    # Some readers look at the end alone, and would take a file with something in front of it for one.
    part = PartFile(storage, place_of(stage, file), file.size)
    if part.read(len(magic)) != magic:
        raise Unreadable(f"it is no {name}: it does not begin as one")
    part.seek(0)
    try:
        return (read(part),)
    except Exception as error:  # of whatever is in a file a reader raises what it likes
        if part.failed is not None:
            raise part.failed from None
        raise Unreadable(f"it is no {name}: {foreign_text(error)[:_MOST_WORDS]}") from error


def _refuse_misnamed(file: File, head: bytes) -> None:
    """Refuse a file whose name does not say how it is packed, as Spark goes by the name."""
    name = file.path.lower()
    for magic, end in _PACKED.items():
        if name.endswith(end) and not file.path.endswith(end):
            raise Unreadable(f"its name ends in {file.path[-len(end) :]}, and how a file is packed is said in small letters")
        if name.endswith(end) != head.startswith(magic) and (head or name.endswith(end)):
            raise Unreadable(
                f"its name ends in {end}, and it is not" if name.endswith(end) else f"it is {end[1:]} by its bytes"
            )


_HEADS: dict[str, Callable[[ReadFiles, Storage, File], tuple[str, ...]]] = {
    "json": _lines,
    "csv": _csv,
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
}


def paths_of(stage: ReadFiles, files: Sequence[File]) -> list[str]:
    """Return where files are."""
    return [place_of(stage, file) for file in files]
