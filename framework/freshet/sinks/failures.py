"""Say in words why a write failed, and whether the same command may succeed later. The texts are Hudi 1.0.2's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from freshet.errors import CheckError, DataError, FreshetError, RetryableError, foreign_text, root_cause
from freshet.project.model.pipeline import TableRef
from freshet.quality.refusals import refused_in
from freshet.sinks.kafka_words import of_kafka, of_record
from freshet.sinks.storage_words import of_storage
from freshet.sources.hudi.read.damage import damage_behind
from freshet.types.words import expected, how_to_convert, misfit_code

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
_WHY = {
    "OVERFLOW": "is {value}, which does not fit into {kind},",
    "NOT_OF_TYPE": "is '{value}', which is no {kind} ({expected}),",
    "BAD_BYTES": "holds bytes that are no UTF-8,",
    "NULL_VALUE": "is null, or an empty record key,",
    "BAD_PARTITION": "is '{value}', which Hudi 1.0 cannot keep as a partition's value,",
    "OUTSIDE_CHUNK": "is '{value}', which is no partition of this chunk, so that it is not overwritten,",
    "KEY_AMBIGUOUS": "is '{value}', in which the next part of the record key seems to begin: Hudi would take two keys for one,",
}
_TO_DO = {
    "BAD_PARTITION": "Replace the character in the SQL, as by replace(value, ':', '-'); or write "
    "'hoodie.datasource.write.partitionpath.urlencode' = 'true' into TBLPROPERTIES, then freshet migrate.",
    "OUTSIDE_CHUNK": "Let the SQL give rows of the chunk's own partitions alone, or write backfill.write: upsert.",
    "KEY_AMBIGUOUS": "Replace the text in the SQL, as by replace(value, ',', ';'); or "
    "make one column of the parts, and that the key.",
}
# What another writer's commit, compaction or clustering does to one in flight (each seen, with two processes on one table).
_OF_OTHER_WRITERS = tuple(
    (code, re.compile(pattern), why)
    for code, pattern, why in (
        ("LOCK_NOT_TAKEN", "HoodieLockException", "the lock for the moment of the commit could not be had"),
        (
            "CLUSTERING_PENDING",
            "HoodieClusteringUpdateException",
            "a clustering is planned for the file groups of these rows, and must be executed first",
        ),
        ("COMMIT_CONFLICT", "HoodieWriteConflictException", "another writer committed to the same file groups first"),
        # The file group that a key was found in was replaced, by a clustering or by another writer's new file.
        (
            "COMMIT_CONFLICT",
            r"FileID \S+ of partition path .* does not exist",
            "another writer replaced these rows' file groups",
        ),
        (
            "COMMIT_CONFLICT",
            r"requested does not exist|unable to save inflight metadata",
            "another writer rolled this write back",
        ),
    )
)


def in_words(target: TableRef, text: str, reads: Collection[TableRef] = (), reading: bool = False) -> FreshetError:
    """Return a failed write, or a failed read of what is written, as the error that says which table it was and what to do.

    Args:
        target: The table that was written.
        text: What Spark and Hudi raised, causes included.
        reads: The tables that the batch is read from; Spark reads them while it writes.
        reading: True where nothing was written yet: the batch was being made.
    """
    table = target.name
    root = root_cause(text)
    said = foreign_text(text)
    of = next(_named(text, (target, *reads)), None)
    refused = refused_in(text)
    if refused is not None:
        if refused.code == "RECORD_UNREADABLE":
            return of_record(target, refused)
        kind, value = refused.kind, refused.value
        code = misfit_code(kind, value) if refused.code == "OVERFLOW" else refused.code
        why = _WHY[code].format(value=value, kind=kind, expected=expected(kind))
        kind_of_error = CheckError if refused.check else DataError
        to_do = _TO_DO.get(code, "Mend the source row, or treat the case in the SQL.")
        if code == "NOT_OF_TYPE":
            to_do = f"Mend the source row, or convert the value in the SQL, as by {how_to_convert(kind, refused.column)}."
        return kind_of_error(
            code,
            f"{table}: column {refused.column} {why} in the row with {refused.row}.",
            _UNTOUCHED,
            to_do,
            column=refused.column,
            type=kind,
            value=value,
            row=refused.row,
        )
    for code, found, why in _OF_OTHER_WRITERS:
        if found.search(text):
            return RetryableError(code, f"{table}: {why}.", _UNTOUCHED, "Run the same command again.", cause=said)
    if "org.apache.hadoop.hbase" in text or "hbase" in root.lower():
        return RetryableError(
            "HBASE_UNREACHABLE",
            f"{table}: the HBase cluster of its index failed while it was asked: {said}",
            _UNTOUCHED,
            "Run the same command again when the cluster answers; what was put is taken back then.",
            cause=said,
        )
    if "HoodieValidationException" in text and "validation failed" in text:
        return DataError(
            "PRECOMMIT_FAILED",
            f"{table}: Hudi refused the commit: {said}",
            _UNTOUCHED,
            "Mend the rows or the check, and run the same command again.",
            cause=said,
        )
    topics = of_kafka(target, text)
    if topics is not None:
        return topics
    storage = of_storage(target, of, text, reading)
    if storage is not None:
        return storage
    if "FileNotFoundException" in root and of == target:
        return RetryableError(
            "COMMIT_CONFLICT",
            f"{table}: another writer rolled this write back: {said}",
            _UNTOUCHED,
            "Give every writer of the table one hoodie.write.concurrency.mode, and run the same command again.",
            cause=said,
        )
    if "FileNotFoundException" in root or ("FileNotFoundException" in text and "Source" in text):
        source = of.name if of is not None else "the source"
        return RetryableError(
            "SOURCE_CHANGED_UNDER_READ",
            f"{table}: a file of {source} was cleaned while it was read: {said}",
            _UNTOUCHED,
            "Run the same command again.",
        )
    if re.search(r"Spark(Arithmetic|DateTime|NumberFormat)Exception", root):
        return DataError("SQL_RUNTIME_ERROR", f"{table}: {said}", _UNTOUCHED, "Treat the value in the SQL, as by try_cast.")
    if "Traceback (most recent call last)" in text:
        return DataError(
            "PYTHON_ERROR",
            f"{table}: a function of a Python step raised {said}",
            _UNTOUCHED,
            "Mend the Python step, or treat the value in it.",
        )
    damaged = damage_behind((*((of,) if of is not None else ()), target, *reads), text, _UNTOUCHED, target)
    if damaged is not None:
        return damaged
    if of is not None and (reading or of != target):
        return FreshetError(
            "READ_FAILED",
            f"{of.name} cannot be read{'' if of == target else f' for {table}'}: {said}",
            _UNTOUCHED,
            f"Mend {of.name}, then run the same command again; FRESHET_DEBUG=1 in front of it prints the traceback.",
            cause=said,
            table=of.name,
            path=of.path,
        )
    # Where no table is named, it may have been any of them.
    sources = ", ".join(one.name for one in reads)
    if reading:
        return FreshetError(
            "BATCH_FAILED",
            f"{table}: its rows cannot be made{f' from {sources}' if sources else ''}: {said}",
            _UNTOUCHED,
            "FRESHET_JVM_LOG=warn freshet run ... prints what Spark and Hudi logged.",
            cause=said,
        )
    others = f" (while it was read from {sources})" if sources and of is None else ""
    return FreshetError(
        "WRITE_FAILED",
        f"{table}{others}: {said}",
        _UNTOUCHED,
        "FRESHET_JVM_LOG=warn freshet run ... prints what Spark and Hudi logged.",
        cause=said,
    )


def _named(text: str, tables: Collection[TableRef]) -> Iterator[TableRef]:
    """Yield the tables whose paths the causes name, the innermost cause first: no stack frame and no plan holds a path."""
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ") or not line[:1].isspace()]
    # The path of another table may begin with this one's.
    ends = {one: re.compile(re.escape(one.path.rstrip("/")) + r"(?![\w.-])") for one in tables}
    for line in reversed(causes):
        yield from (one for one in tables if ends[one].search(line))
