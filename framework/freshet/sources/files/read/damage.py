"""Files whose rows cannot be read to their end, found by reading again: the failure of a job does not tell them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from freshet.errors import foreign_text
from freshet.sources.files.reads import File

# Of what is within a file: of a store that fails, or a file that is gone, no file is left out.
_DAMAGED = re.compile(
    r"is not a Parquet file|ParquetDecodingException|CorruptFooter|\w*Corrupt\w*Exception|[Cc]orrupt|EOFException|"
    r"Unexpected end of (?:input stream|ZLIB)|ZipException|incorrect (?:header|data) check|invalid (?:stored block|block type|"
    r"code lengths|distance|literal)|not in (?:GZIP|gzip) format|not a gzip file|AvroRuntimeException|Invalid sync|"
    r"Malformed ORC|Malformed data|InvalidProtocolBufferException|FileFormatException|Snappy\w*Exception|"
    r"could not decompress|FAILED_TO_UNCOMPRESS|could not (?:decode|read page)|[Cc]an ?not read class org.apache.parquet|"
    r"ZstdException|LZ4Exception|Decompression error|TextParsingException|Failed to decompress|Can not read value",
)
_AWAY = re.compile(r"FileNotFoundException|ConnectException|SocketTimeout|UnknownHost|Connection (?:refused|reset)|OutOfMemory")
_MOST_WORDS = 300

Failures = (Py4JJavaError, PySparkException)


def is_damage(error: Exception) -> bool:
    """Say whether a job failed by what is within a file."""
    text = str(error)
    return bool(_DAMAGED.search(text)) and not _AWAY.search(text)


def damaged_among(files: Sequence[File], rows: Callable[[Sequence[File]], DataFrame]) -> dict[File, str]:
    """Return the files that cannot be read, each with the reason.

    Args:
        files: Files, of which one at least cannot be read.
        rows: Gives the rows of some of them.

    Raises:
        Py4JJavaError, PySparkException: Reading failed for another reason than what is within a file.
    """
    try:
        rows(files).write.format("noop").mode("overwrite").save()
    except Failures as error:
        if not is_damage(error):
            raise
        if len(files) == 1:
            return {files[0]: f"it is damaged: {foreign_text(error)[:_MOST_WORDS]}"}
        half = len(files) // 2
        return {**damaged_among(files[:half], rows), **damaged_among(files[half:], rows)}
    return {}
