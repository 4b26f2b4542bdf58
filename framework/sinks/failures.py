"""Say in words why a write failed, and whether the same command may succeed later. The texts are Hudi 1.0.2's."""

from __future__ import annotations

import re

from framework.errors import CheckError, DataError, FreshetError, RetryableError
from framework.quality.contract import MARK, OF_CHECK
from framework.spec.model import TableRef

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
# Not where a query plan is shown, which holds the call that would raise it.
_REFUSED = re.compile(r"(?<!concat\()" + re.escape(MARK) + r"\|(\w+)\|([^|]*)\|([^|]*)\|(.*?)\|(.*?)(?:\||$)", re.MULTILINE)
_CAUSE = re.compile(r"^\s*Caused by: (.+)$", re.MULTILINE)
# What another writer's commit, compaction or clustering does to one in flight (each seen, with two processes on one table).
_OF_OTHER_WRITERS = tuple((code, re.compile(pattern), why) for code, pattern, why in (
    ("LOCK_NOT_TAKEN", "HoodieLockException", "the lock for the moment of the commit could not be had"),
    ("CLUSTERING_PENDING", "HoodieClusteringUpdateException", "a clustering is planned for the file groups of these rows, and "
     "must be executed first"),
    ("COMMIT_CONFLICT", "HoodieWriteConflictException", "another writer committed to the same file groups first"),
    # The file group that a key was found in was replaced, by a clustering or by another writer's new file.
    ("COMMIT_CONFLICT", r"FileID \S+ of partition path .* does not exist", "another writer replaced these rows' file groups"),
    ("COMMIT_CONFLICT", r"requested does not exist|unable to save inflight metadata", "another writer rolled this write back"),
))


def in_words(target: TableRef, text: str) -> FreshetError:
    """Return a failed write as the error that says what to do.

    Args:
        target: The table.
        text: What Spark and Hudi raised, causes included.
    """
    table = target.name
    root = root_cause(text)
    refused = _REFUSED.search(text)
    if refused:
        code, column, kind, value, key = refused.groups()
        why = f"is {value}, which does not fit into {kind}," if code == "OVERFLOW" else "is null, or an empty record key,"
        kind_of_error = CheckError if OF_CHECK in key else DataError
        return kind_of_error(
            code, f"{table}: column {column} {why} in the row with {key}.", _UNTOUCHED,
            "Mend the source row, or treat the case in the SQL.", column=column, type=kind, value=value, row=key,
        )
    for code, found, why in _OF_OTHER_WRITERS:
        if found.search(text):
            return RetryableError(code, f"{table}: {why}.", _UNTOUCHED, "Run the same command again.", cause=root)
    if "org.apache.hadoop.hbase" in text or "hbase" in root.lower():
        return RetryableError(
            "HBASE_UNREACHABLE", f"{table}: the HBase cluster of its index failed while it was asked: {root}", _UNTOUCHED,
            "Run the same command again when the cluster answers; what was put is taken back then.", cause=root,
        )
    if "HoodieValidationException" in text and "validation failed" in text:
        return DataError(
            "PRECOMMIT_FAILED", f"{table}: Hudi refused the commit: {root}", _UNTOUCHED,
            "Mend the rows or the check, and run the same command again.", cause=root,
        )
    if "FileNotFoundException" in root and target.path in root:
        return RetryableError(
            "COMMIT_CONFLICT", f"{table}: another writer rolled this write back: {root}", _UNTOUCHED,
            "Give every writer of the table one hoodie.write.concurrency.mode, and run the same command again.", cause=root,
        )
    if "FileNotFoundException" in root or ("FileNotFoundException" in text and "Source" in text):
        return RetryableError(
            "SOURCE_CHANGED_UNDER_READ", f"{table}: a file of the source was cleaned while it was read: {root}", _UNTOUCHED,
            "Run the same command again.",
        )
    if re.search(r"Spark(Arithmetic|DateTime|NumberFormat)Exception", root):
        return DataError("SQL_RUNTIME_ERROR", f"{table}: {root}", _UNTOUCHED, "Treat the value in the SQL, as by try_cast.")
    return FreshetError(
        "WRITE_FAILED", f"{table}: {root}", _UNTOUCHED,
        "FRESHET_JVM_LOG=warn freshet run ... prints what Spark and Hudi logged.", cause=root,
    )


def root_cause(text: str) -> str:
    """Return of what Spark and Hudi raised, causes included, the one where it began."""
    causes = _CAUSE.findall(text)
    return causes[-1].strip() if causes else text.split("\n")[1 if "\n" in text else 0].strip(" :")
