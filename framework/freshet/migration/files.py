"""What a migration does to a project's files: the LOCATION that its DDL is to say, and who reads the old table."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from freshet.errors import StateError
from freshet.hudi.keys.options import SOURCE_PATH
from freshet.plan.refresh import refuse_recompute
from freshet.project.model.paths import next_place, normal_path, same_place
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.ddl import location_text, with_location
from freshet.secrets import redact

_SOURCE_LINE = re.compile(
    r"^\s*[\"']?hoodie\.(?:streamer|deltastreamer)\.source\.hoodieincr\.path[\"']?\s*:\s*(?P<value>.+?)\s*(?:\s#.*)?$"
)


@dataclass(frozen=True, kw_only=True)
class ReaderNote:
    """A pipeline that reads a table which gets a successor.

    Args:
        name: The pipeline.
        edit: What to write, and where; empty where it names the table, and so follows the DDL.
        command: What to run afterwards; empty where nothing need be.
        rereads: True where its next run reads every row of its source, because nobody can tell which the old table had named.
    """

    name: str
    edit: str = ""
    command: str = ""
    rereads: bool = False

    def in_words(self) -> str:
        """Return what is to be done for it."""
        if not self.command:
            return f"{self.name} reads it by its name, and follows by itself" + (
                ": its next run reads every row of its source" if self.rereads else ""
            )
        return f"{self.name} reads it by its path: {self.edit}, then: {self.command}"


def ddl_text(root: str, file: str) -> str:
    """Return the text of a project's DDL file, its line ends as they are."""
    return Path(root, file).read_bytes().decode("utf-8")


def text_after(root: str, spec: PipelineSpec, text: str) -> tuple[str, str]:
    """Return a pipeline's DDL with the place of its table's successor, and the LOCATION that it says.

    Args:
        root: The project's folder.
        spec: The pipeline.
        text: The DDL.

    Raises:
        StateError: LOCATION_NOT_WRITTEN: nobody can tell where.
    """
    said = location_text(text)
    location = next_place(said) if said is not None else _named(root, next_place(spec.target.ref.path), spec.variables)
    found = with_location(text, location)
    # A path that holds a secret must not be written into a file.
    if found is None or redact(location) != location:
        raise not_written(spec, location)
    return found, location


def not_written(spec: PipelineSpec, location: str) -> StateError:
    """Return the error that says that a DDL is not to be rewritten by a program."""
    return StateError(
        "LOCATION_NOT_WRITTEN",
        f"{spec.name}: in {spec.target.file} no LOCATION can be put or changed so that it names "
        f"{next_place(spec.target.ref.path)}.",
        "Nothing was read or written.",
        f"Write into it: LOCATION '{location}', then run the same command.",
        location=location,
    )


def _named(root: str, path: str, variables: Mapping[str, str]) -> str:
    """Return a path as a DDL names it: by the variable that holds most of it, so that it is right in other environments."""
    places = {name: normal_path(value, Path(root)) for name, value in variables.items() if "/" in value}
    fitting = sorted((len(place), name) for name, place in places.items() if path.startswith(f"{place}/"))
    if fitting:
        _, name = fitting[-1]
        return f"{{{{ var.{name} }}}}{path.removeprefix(places[name])}"
    return os.path.relpath(path, root) if path.startswith(f"{root}/") else path


def switch_ddl(root: str, spec: PipelineSpec, before: str, after: str, location: str) -> None:
    """Put a DDL's new text in the place of the old one, at once for whoever reads it.

    Args:
        root: The project's folder.
        spec: The pipeline as it will be.
        before: The text that the migration began with.
        after: The new one.
        location: What it says behind LOCATION.

    Raises:
        StateError: DDL_CHANGED or DDL_NOT_WRITABLE.
    """
    # Behind a link the file itself is replaced, and the link stays.
    file = Path(os.path.realpath(Path(root, spec.target.file)))
    if ddl_text(root, spec.target.file) != before:
        raise StateError(
            "DDL_CHANGED",
            f"{spec.name}: {spec.target.file} has changed since this command began.",
            "The new table is loaded and compared, and the file names the old one.",
            f"Run the same command again: freshet migrate {spec.name}",
        )
    name = ""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=file.parent, prefix=f".{file.name}.", delete=False) as written:
            name = written.name
            written.write(after.encode("utf-8"))
            written.flush()
            os.fsync(written.fileno())
        shutil.copymode(file, name)
        os.replace(name, file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(name)
        raise StateError(
            "DDL_NOT_WRITABLE",
            f"{spec.name}: {spec.target.file} cannot be written: {error.strerror}.",
            "The new table is loaded and compared, and the file names the old one.",
            f"Write into it: LOCATION '{location}'",
            location=location,
        ) from error


def reader_notes(root: str, pipelines: Iterable[PipelineSpec], old: str) -> tuple[ReaderNote, ...]:
    """Return the pipelines that read a table, and what is to be done for each when another takes its place.

    Args:
        root: The project's folder.
        pipelines: Those of the project.
        old: Base path of the table.
    """
    found = []
    for pipeline in pipelines:
        if same_place(pipeline.target.ref.path) == same_place(old):
            continue
        if same_place(pipeline.source.table.path) == same_place(old):
            found.append(ReaderNote(name=pipeline.name, edit=_edit(root, pipeline), command=_reload(pipeline)))
        elif mine := [other for other in pipeline.inputs if same_place(other.table.path) == same_place(old)]:
            found.append(ReaderNote(name=pipeline.name, rereads=any(other.drives for other in mine)))
    return tuple(found)


def _edit(root: str, spec: PipelineSpec) -> str:
    for number, line in enumerate(Path(root, spec.file).read_text("utf-8").splitlines(), 1):
        named = _SOURCE_LINE.match(line)
        if named:
            value = named["value"]
            quote = value[0] if value[0] in "'\"" and value[-1] == value[0] else ""
            return f"write {quote}{next_place(value.strip(quote) if quote else value)}{quote} in {spec.file}:{number}"
    return f"write {SOURCE_PATH}: {next_place(spec.source.table.path)}, where it is set now"


def _reload(spec: PipelineSpec) -> str:
    try:
        refuse_recompute(spec)
    except StateError:
        return f"freshet checkpoint reset {spec.name}, freshet run {spec.name}"
    return f"freshet run {spec.name} --full-refresh"
