"""What a file system or an object store says while Spark and Hudi read and write: which table, and whether a retry may help."""

from __future__ import annotations

import re

from freshet.errors import FreshetError, RetryableError, StateError, foreign_text, root_cause
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read.damage import damage_behind, named_files
from freshet.sources.hudi.read.gone import gone_for_good

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
_FULL = re.compile(r"No space left on device|[Qq]uota ?[Ee]xceeded")
_NO_PLACE = re.compile(
    r"Read-only file system|Operation not permitted|Not a directory|Mkdirs failed|ParentNotDirectoryException|"
    r"FileAlreadyExistsException",
)
_REFUSED = re.compile(
    r"Permission denied|AccessControlException|AccessDenied|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|"
    r"NoAuthWithAWSException|CredentialInitializationException",
)
_UNREACHABLE = re.compile(
    r"ConnectException|UnknownHostException|NoRouteToHostException|SocketTimeoutException|ConnectTimeoutException|"
    r"Connection (?:refused|reset|timed out)|Unable to execute HTTP request|SlowDown|Service ?Unavailable",
)
_CORRUPT = re.compile(
    r"is not a Parquet file|ChecksumException|Checksum error|Could not read footer|CorruptFooter|\w*Corrupt\w*Exception|"
    r"Not an Avro data file|[Cc]orrupted|CRC checksum verification failed",
)


def of_storage(target: TableRef, of: TableRef | None, text: str, reading: bool) -> FreshetError | None:
    """Return the error of a store that refused, is full or out of reach, or of a file that is broken or gone; None else.

    Args:
        target: The table that was written.
        of: The table whose path the causes name; None where they name none.
        text: What Spark and Hudi raised, causes included.
        reading: True where nothing was written yet.
    """
    root, said = root_cause(text), foreign_text(text)
    if "Traceback (most recent call last)" in text:
        return None
    table = of or target
    read = reading or of not in (None, target)
    facts = {"cause": said, "table": table.name, "path": table.path}
    if _FULL.search(root):
        return StateError(
            "STORAGE_FULL",
            f"{table.name}: no space is left: {said}",
            _UNTOUCHED,
            "Make room, and run the same command again.",
            **facts,
        )
    if _NO_PLACE.search(root) and not read:
        return StateError(
            "NOT_WRITABLE",
            f"{table.name} cannot be written: {said}",
            _UNTOUCHED,
            "Let its place be written, and run the same command again.",
            **facts,
        )
    if _NO_PLACE.search(root) or _REFUSED.search(root):
        return StateError(
            "STORAGE_REFUSED",
            f"{table.name} cannot be {'read' if read else 'written'}: {said}",
            _UNTOUCHED,
            "Give this process the right to it, or the store's credentials, and run the same command.",
            **facts,
        )
    if _UNREACHABLE.search(root):
        return RetryableError(
            "STORAGE_UNREACHABLE",
            f"{table.name}: a store or service that it needs is out of reach: {said}",
            _UNTOUCHED,
            "Run the same command when it can be reached.",
            **facts,
        )
    if of is None:
        return None
    if _CORRUPT.search(root):
        named = named_files(of, text)
        found = damage_behind((of,), text, _UNTOUCHED, target) if not named else None
        if found is not None:
            return found
        file = f"{of.path.rstrip('/')}/{named[0]}" if named else ""
        wanted = "" if of == target else f" for {target.name}"
        return StateError(
            "FILE_CORRUPT",
            f"{of.name}: {file or 'a file of it'} cannot be read{wanted}: {said}",
            _UNTOUCHED,
            f"Restore the file from a copy; or make {of.name} anew, and what is made of it.",
            **facts,
            file=file,
        )
    return gone_for_good(of, text, _UNTOUCHED) if "FileNotFoundException" in text else None
