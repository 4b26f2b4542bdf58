"""Rules of a backup that is loaded before the changes of its table are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from freshet.changelog.declared import Changelog
from freshet.changelog.log_place import read_place
from freshet.changelog.reference import Given
from freshet.hudi.keys import options
from freshet.problems import Problems, did_you_mean
from freshet.project.model.backup import BackupSpec
from freshet.project.model.files import FilesSpec
from freshet.project.model.paths import normal_path
from freshet.project.model.pipeline import SourceSpec
from freshet.project.rules.changelog import PlaceOf
from freshet.project.shape.backup import Backup
from freshet.project.shape.source import Source
from freshet.types.columns import Array, Atomic, Map, Struct

#: Databases write a null as nothing, and an empty text in quotes; by Spark's default both would be null.
_NULLS = {"nullValue": "\x01"}
Found = tuple[tuple[str, ...], str, str, str]


def read_backup(
    declared: Source | None, main: SourceSpec | None, log: Changelog | None, root: Path, place: PlaceOf, problems: Problems
) -> BackupSpec | None:
    """Read which backup the target is loaded from first.

    Args:
        declared: What stands under ``source:``.
        main: The main source; None where it cannot be read, which is reported.
        log: How its changes are read; None where they cannot be, or where it has none.
        root: The project's folder.
        place: Gives the place of a path of keys.
        problems: Receives BAD_VALUE, CONFLICTING_SETTING, MISSING_KEY, NOT_SUPPORTED and UNKNOWN_KEY.

    Returns:
        None where none is declared, or where it is not as it has to be.
    """
    said = declared.bootstrap if declared is not None else None
    if declared is None or said is None:
        return None
    wrong = [*_of_source(declared, main, log), *_of_backup(said, log)]
    try:
        at = read_place(said.position) if said.position is not None else None
    except ValueError as why:
        hint = "Write the one that the backup names; docs/guides/databases.md says which that is."
        wrong.append((("position",), "BAD_VALUE", f"source.bootstrap.position: {why}.", hint))
    for path, code, words, hint in wrong:
        where = place("source", "bootstrap", *path)
        problems.add(where.file, where.line, code, words, hint)
    if wrong:
        return None
    csv = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in said.csv.items()}
    return BackupSpec(
        kind=said.from_,
        path=normal_path(said.path, root),
        place=at,
        format=said.format,
        pattern=said.pattern or "",
        csv={**_NULLS, **csv} if said.format == "csv" else {},
    )


def _of_source(declared: Source, main: SourceSpec | None, log: Changelog | None) -> Iterator[Found]:
    if declared.format != "changelog":
        said = "A backup is merged with the changes of its table, and the source is no changelog."
        yield (), "CONFLICTING_SETTING", said, "Write 'format: changelog', or remove it; 'freshet index bootstrap' loads files."
    elif main is not None and log is not None:
        reference = log.source.reference
        is_text = isinstance(reference, Given) and reference.form == "text"
        if not (isinstance(main, FilesSpec) and log.adapter == "freshet" and is_text):
            said = "A backup is loaded before changes that 'freshet ingest' captures, whose order its position is of."
            hint = (
                "Read the files of an ingest, with 'adapter: freshet' and 'reference_key: {kind: given, form: text}'; of "
                "topics let the connector's own snapshot be the first load."
            )
            yield (), "NOT_SUPPORTED", said, hint


def _of_backup(said: Backup, log: Changelog | None) -> Iterator[Found]:
    if said.from_ == "files" and said.format is None:
        words = "source.bootstrap names files, and nothing says what they are."
        yield (), "MISSING_KEY", words, "Write 'format: parquet', orc, avro, csv or json."
    for key in ("format", "pattern", "csv"):
        if said.from_ != "files" and key in said.model_fields_set:
            words = f"source.bootstrap.{key} is of files, and a table of {said.from_.capitalize()} is read."
            yield (key,), "CONFLICTING_SETTING", words, "Remove it, or write 'from: files'."
    if said.from_ == "files" and said.csv and said.format != "csv":
        words = f"source.bootstrap.csv is of files of CSV, and the files are {said.format}."
        yield ("csv",), "CONFLICTING_SETTING", words, "Remove it, or write 'format: csv'."
    for name in said.csv:
        if name not in options.CSV_OPTIONS:
            words = f"Unknown key 'source.bootstrap.csv.{name[:80]}'."
            yield ("csv", name), "UNKNOWN_KEY", words, did_you_mean(name, options.CSV_OPTIONS)
    if said.format == "csv" and log is not None:
        yield from _of_csv([(column.name, column.type) for column in log.layout.columns])


def _of_csv(columns: Sequence[tuple[str, object]]) -> Iterator[Found]:
    for name, kind in columns:
        if isinstance(kind, Array | Map | Struct) or kind == Atomic("binary"):
            words = f"'{name[:80]}' is {kind}, and a value of CSV is a text, a number, a date or a time."
            yield ("format",), "NOT_SUPPORTED", words, "Let the backup be Parquet, ORC, Avro or JSON."
