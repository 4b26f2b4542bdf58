"""What of the files below a root a run reads, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet.project.model.files import FileFormat
from freshet.sources.hudi.reads import ReadIncrement, ReadRange
from freshet.types.columns import Column


@dataclass(frozen=True)
class File:
    """A file as it was listed.

    Args:
        path: Its path below the root.
        size: Its bytes.
        modified: When it was modified, in milliseconds since 1970.
    """

    path: str
    size: int
    modified: int


@dataclass(frozen=True, kw_only=True)
class ReadFiles(ReadIncrement):
    """Read files as the view ``SRC``; ``table`` names the root.

    Args:
        files: Which ones.
        format: What they are.
        columns: Of their rows.
        csv: Options of Spark's reader of CSV.
        is_strict: True where a row may have no field that ``columns`` lacks.
        rule: The check that rows and files break that cannot be read, so that they go to the quarantine; empty where such a
            one fails the run.
        as_messages: True where each line is a message of a changelog.
        times: Of a backfill: the range of event times whose rows are read; None for all.
    """

    files: tuple[File, ...]
    format: FileFormat
    columns: tuple[Column, ...]
    csv: Mapping[str, str] = field(default_factory=dict)
    is_strict: bool = False
    rule: str = ""
    as_messages: bool = False
    times: ReadRange | None = None
