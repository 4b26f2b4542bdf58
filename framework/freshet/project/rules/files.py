"""Rules of files as the main source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from freshet.credentials import without_credentials
from freshet.hudi.keys import options
from freshet.hudi.keys.kafka_keys import CLIENT_KEYS
from freshet.problems import Problems
from freshet.project.model.files import FORMATS, FileFormat, FilesSpec
from freshet.project.model.paths import normal_path
from freshet.project.model.pipeline import TableRef
from freshet.project.shape.source import NOT_SAID, Files, Source
from freshet.project.shape.strategies import bytes_of, seconds_of
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place
from freshet.secrets import Redactor
from freshet.types.columns import Array, Atomic, Map, Struct

_OF_OTHERS = (
    *(options.MAX_COMMITS, options.MISSING_CHECKPOINT, options.FULL_SCAN, options.INCREMENTAL_FORMAT),
    *(options.SOURCE_PATH, *options.KAFKA_KEYS, *CLIENT_KEYS),
)
_NO_CSV = (Array, Map, Struct)
Settings = Mapping[str, Setting]
PlaceOf = Callable[..., Place]


def reads_files(settings: Settings) -> bool:
    """Say whether the main source is files."""
    return options.FILES_ROOT in settings


def read_files(
    settings: Settings, declared: Source | None, root: Path, place: PlaceOf, secrets: Redactor, problems: Problems
) -> FilesSpec | None:
    """Read which files are read, and how; the columns of their rows are not known yet.

    Args:
        settings: One value per key.
        declared: What stands under ``source:``.
        root: The project's folder.
        place: Gives the place of a path of keys.
        secrets: The secrets that the pipeline's files read.
        problems: Receives CONFLICTING_SETTING, BAD_VALUE, NOT_SUPPORTED and SECRET_IN_NAME.

    Returns:
        None where the root is empty, which has been reported.
    """
    declared = declared or NOT_SAID
    files = declared.files or Files.model_validate({})
    named = settings[options.FILES_ROOT]
    if not named.value.strip():
        return None
    path = normal_path(named.value, root)
    if secrets.hidden(path) != path or without_credentials(path) != path:
        said = "The root of the files holds a secret, which the table's commits would keep."
        hint = "Write what may be seen as it is, and give credentials by the environment: what is read by env.* is a secret."
        problems.add(named.file, named.line, "SECRET_IN_NAME", said, hint)
    for key in _OF_OTHERS:
        if key in settings and not settings[key].file.startswith("configs/"):
            said = f"'{key}' is of another kind of source, and files are read: {named.file}:{named.line}."
            problems.add(settings[key].file, settings[key].line, "CONFLICTING_SETTING", said, "Remove one of them.")
    for name in ("topics", "pattern", "tombstones", "schema_"):
        if getattr(declared, name):
            at = place("source", name.rstrip("_"))
            hint = "Remove it" + (", or write 'files: {pattern: ...}'." if name == "pattern" else ".")
            said = f"source.{name.rstrip('_')} is of topics of Kafka, and files are read."
            problems.add(at.file, at.line, "CONFLICTING_SETTING", said, hint)
    csv = {name: settings[key].value for name in options.CSV_OPTIONS if (key := f"{options.CSV_PREFIX}{name}") in settings}
    kind = _format(declared, files, place, problems)
    if csv and kind != "csv":
        key = next(key for key in settings if key.startswith(options.CSV_PREFIX))
        said = f"'{key}' is of files of CSV, and the files are {kind}."
        if not settings[key].file.startswith("configs/"):
            problems.add(
                settings[key].file, settings[key].line, "CONFLICTING_SETTING", said, "Remove it, or write format: csv."
            )
        csv = {}
    return FilesSpec(
        table=TableRef(path, path),
        max_commits=options.DEFAULT_MAX_COMMITS,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
        is_strict=declared.mode == "strict",
        format=kind,
        pattern=files.pattern or "",
        csv=csv,
        max_files=files.max_files,
        max_bytes=bytes_of(files.max_bytes) or 1,
        quiet_seconds=seconds_of(files.quiet) or 0,
        late_seconds=seconds_of(files.late) or 0,
        too_late=files.too_late,
        rewritten=files.rewritten,
        empty=files.empty,
        marker=files.marker or "",
    )


def check_unread(settings: Settings, declared: Source | None, place: PlaceOf, problems: Problems) -> None:
    """Report what is said of files in a pipeline that reads none; a config is for others, too.

    Args:
        settings: One value per key.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        problems: Receives CONFLICTING_SETTING and NOT_SUPPORTED.
    """
    hint = f"Write '{options.FILES_ROOT}: <folder>' under 'hoodie:', or remove it."
    for key in options.FILES_KEYS:
        if key in settings and not settings[key].file.startswith("configs/"):
            said = f"'{key}' is of files, and none are read."
            problems.add(settings[key].file, settings[key].line, "CONFLICTING_SETTING", said, hint)
    if declared is not None and declared.files is not None:
        at = place("source", "files")
        problems.add(at.file, at.line, "CONFLICTING_SETTING", "'source.files' is of files, and none are read.", hint)
    if declared is not None and declared.format in ("csv", "parquet", "orc"):
        at = place("source", "format")
        said = f"source.format: {declared.format} is what files are, and none are read."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, hint)


def check_columns(spec: FilesSpec, place: PlaceOf, problems: Problems) -> None:
    """Refuse columns that files of CSV cannot have.

    Args:
        spec: The files, with the columns of their rows.
        place: Gives the place of a path of keys.
        problems: Receives NOT_SUPPORTED.
    """
    for column in spec.columns if spec.format == "csv" else ():
        if isinstance(column.type, _NO_CSV) or column.type == Atomic("binary"):
            at = place("source", "columns", column.name)
            said = f"'{column.name[:80]}' is {column.type}, and a value of CSV is a text, a number, a date or a time."
            hint = "Declare it in 'source: {columns: ...}' as string, and take it apart in the SQL."
            problems.add(at.file, at.line, "NOT_SUPPORTED", said, hint)


def _format(declared: Source, files: Files, place: PlaceOf, problems: Problems) -> FileFormat:
    if declared.format == "changelog":
        return files.format or "json"
    if files.format is not None:
        at = place("source", "files", "format")
        said = "source.files.format is of changelogs: what the files of other rows are, source.format says."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, f"Write 'format: {files.format}' under 'source:'.")
    found = next((one for one in get_args(FileFormat) if one == declared.format), None)
    if found is None:
        at = place("source", "format")
        said = f"source.format: {declared.format} is what records of topics are, and files are read."
        problems.add(at.file, at.line, "NOT_SUPPORTED", said, f"Write one of {', '.join(FORMATS)}.")
    return found or "json"
