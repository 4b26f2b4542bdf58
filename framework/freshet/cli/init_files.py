"""What ``freshet init`` finds in a folder and writes to it: the config of a project that stands, and new files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from freshet.errors import FreshetError, SpecError, StateError
from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.yaml_text import MapNode, ScalarNode, parse_yaml

CONFIG = "configs/base.yml"
_ENDINGS = (".yml", ".yaml")


@dataclass(frozen=True)
class Config:
    """What a project says of where tables lie, in its base config or else in that of an environment.

    Args:
        place: The base config, and the line of its ``warehouse:``.
        databases: Root of each database as it is written: a template that a pipeline may use too.
    """

    place: Place
    databases: Mapping[str, str]


def stands_in(folder: Path) -> bool:
    """Say whether a folder is a project."""
    return _base_of(folder) is not None


def config_of(folder: Path) -> Config:
    """Return the config of a project that stands.

    Raises:
        FreshetError: NOT_A_PROJECT.
        SpecError: With every problem of its base config.
    """
    base = _base_of(folder)
    if base is None:
        raise FreshetError(
            "NOT_A_PROJECT",
            f"{folder.resolve()} has no {CONFIG}, so a pipeline there would find no warehouse.",
            "Nothing was written.",
            "Name the project's folder, or scaffold a project first: freshet init FOLDER",
        )
    files, problems = ProjectFiles(folder.resolve()), Problems()
    text = files.read(base, Place(base, 0), "config", problems)
    config = read_config(base, text, problems)
    if problems.found:
        raise SpecError(problems.found)
    known = dict(config.databases)
    for name in files.names("configs", *_ENDINGS):
        # What is wrong with another environment's is told where that is asked for.
        text = files.read(name, Place(name, 0), "config", Problems())
        known = {**read_config(name, text, Problems()).databases, **known}
    return Config(config.place, known)


def _base_of(folder: Path) -> str | None:
    return next((file for ending in _ENDINGS if os.path.exists(folder / (file := f"configs/base{ending}"))), None)


def read_config(name: str, text: str | None, problems: Problems) -> Config:
    """Return what a config's text says of databases.

    Args:
        name: Its file.
        text: Its text; None where it cannot be read.
        problems: Receives what is wrong with it.
    """
    tree = parse_yaml(text, name, problems) if text is not None else None
    warehouse = tree.entries.get("warehouse") if tree else None
    known = warehouse.entries if isinstance(warehouse, MapNode) else {}
    return Config(
        Place(name, warehouse.line if warehouse is not None else 0),
        {database: root.text for database, root in known.items() if isinstance(root, ScalarNode) and root.text},
    )


def root_of(database: str, config: Config) -> str:
    """Return where a database's tables lie, as the config writes it.

    Raises:
        click.BadParameter: The config has no such database; the one of raw tables may be missing.
    """
    if database in config.databases or database == "raw":
        return config.databases.get(database, "warehouse/raw")
    said = f"{config.place.file} has no database {database!r} under 'warehouse:'. {did_you_mean(database, config.databases)}"
    raise click.BadParameter(said.strip(), param_hint="--source")


def need(databases: Sequence[str], config: Config) -> None:
    """Refuse to write pipelines whose tables would have no place.

    Raises:
        SpecError: UNKNOWN_DATABASE.
    """
    problems = Problems()
    for database in databases:
        if database not in config.databases:
            problems.add(
                config.place.file,
                config.place.line,
                "UNKNOWN_DATABASE",
                f"There is no database '{database}' under 'warehouse:', and what would be written needs it.",
                f"Add '{database}: <where its tables lie>' there.",
            )
    if problems.found:
        raise SpecError(problems.found)


def write_files(folder: Path, contents: Mapping[str, str]) -> None:
    """Write new files, all of them or none.

    Args:
        folder: Where.
        contents: Their texts by their paths below it.

    Raises:
        FreshetError: FILE_EXISTS.
        StateError: NOT_WRITABLE.
    """
    standing = [path for path in contents if os.path.lexists(folder / path)]
    if standing:
        raise FreshetError(
            "FILE_EXISTS",
            f"{', '.join(standing)} stands in {folder.resolve()} already.",
            "Nothing was written.",
            "Choose another folder, or another name by --pipeline NAME.",
            files=standing,
        )
    opened: list[Path] = []
    try:
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            # "x": what appeared since the look is not overwritten either.
            with open(folder / path, "x", encoding="utf-8") as file:
                opened.append(folder / path)
                file.write(content)
    except OSError as error:
        for one in opened:
            with suppress(OSError):
                one.unlink()
        left = [str(one) for one in opened if os.path.lexists(one)]
        raise StateError(
            "NOT_WRITABLE",
            f"{folder} cannot be written: {error.strerror or error}: {path}.",
            f"These were written: {', '.join(left)}." if left else "Nothing was written.",
            "Give this user the right to write there, make room, or name another folder.",
            file=path,
        ) from error
