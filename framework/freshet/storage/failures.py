"""What a failure of storage means: which table, which code, and whether the same command may succeed later."""

from __future__ import annotations

import errno
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.project.model.pipeline import TableRef

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_NOTHING = "Nothing was read or written."
_PASSES = (
    errno.EIO,
    errno.ESTALE,
    errno.ETIMEDOUT,
    errno.EAGAIN,
    errno.EINTR,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
)
# Words of the clients of S3, GCS, Azure and HDFS, in small letters.
_REFUSED = ("access_denied", "access denied", "permission", "credential", "authenti", "unauthorized", "forbidden", "signature")
_UNREACHABLE = (
    "network",
    "could not resolve",
    "connect",
    "timeout",
    "timed out",
    "no answer",
    "slow_down",
    "service_unavailable",
    "throttl",
    "curl",
)


_FULL = (errno.ENOSPC, errno.EDQUOT)


class TableUnreadable(Exception):
    """A file of a table is there, and its content is not what it must be.

    Args:
        path: The file.
        what: What is wrong with it.
        advice: What mends it.
    """

    def __init__(self, path: str, what: str, advice: str) -> None:
        self.path, self.what, self.advice = path, what, advice
        super().__init__(f"{path}: {what}")


def told(ref: TableRef, function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Wrap a look at a table so that whatever storage raises names the table and says what helps."""

    @functools.wraps(function)
    def wrapped(*args: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*args, **named)
        except FreshetError:
            raise
        except Exception as error:  # a client of a store raises what it likes
            raise failure_of(ref, error) from error

    return wrapped


def failure_of(ref: TableRef, error: Exception) -> FreshetError:
    """Return an exception of storage as an error for the user.

    Args:
        ref: The table that was looked at.
        error: What was raised.
    """
    table = f"{ref.name} ({ref.path})" if ref.name != ref.path else ref.path
    if isinstance(error, TableUnreadable):
        return StateError(
            "TIMELINE_UNREADABLE",
            f"{table}: {error.path} {error.what}.",
            f"What the table holds is unknown. {_NOTHING}",
            error.advice,
            table=ref.path,
            file=error.path,
        )
    said = " ".join(str(error).split()) or type(error).__name__
    words = said.lower()
    if "unrecognized filesystem" in words or "null byte" in words or isinstance(error, UnicodeError):
        return StateError(
            "BAD_PATH",
            f"{table!r}: no table can be read there: {said}.",
            _NOTHING,
            "Write a local path, or one of s3a://, gs://, hdfs://, abfs:// or abfss://.",
            table=ref.path,
        )
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, PermissionError) or any(word in words for word in _REFUSED):
        return StateError(
            "STORAGE_REFUSED",
            f"{table}: the store refuses to be read: {said}.",
            _NOTHING,
            "Give this process the right to read it, or the store's credentials, and run the same command.",
            table=ref.path,
        )
    if number in _PASSES or isinstance(error, TimeoutError) or any(word in words for word in _UNREACHABLE):
        return _unreachable(table, said, ref)
    return StateError(
        "STORAGE_FAILED",
        f"{table}: {type(error).__name__}: {said}.",
        _NOTHING,
        "See that the path and what it names are right, and run the same command.",
        table=ref.path,
    )


def not_writable(ref: TableRef, error: OSError) -> FreshetError:
    """Return what keeps a table from being written as an error for the user.

    Args:
        ref: The table that would be written.
        error: What was raised.
    """
    said = " ".join(str(error).split())
    if error.errno in _PASSES:
        return _unreachable(ref.name, said, ref)
    if error.errno in _FULL:
        return StateError(
            "STORAGE_FULL",
            f"{ref.name}: there is no space left to write it: {said}.",
            _NOTHING,
            "Make room, and run the same command again.",
            table=ref.path,
        )
    return StateError(
        "NOT_WRITABLE",
        f"{ref.name} ({ref.path}) cannot be written: {said}.",
        _NOTHING,
        "Give this process the right to write there, or name another place: warehouse in configs/.",
        table=ref.path,
    )


def _unreachable(table: str, said: str, ref: TableRef) -> RetryableError:
    return RetryableError(
        "STORAGE_UNREACHABLE",
        f"{table}: the store cannot be reached: {said}.",
        _NOTHING,
        "Run the same command when it can.",
        table=ref.path,
    )
