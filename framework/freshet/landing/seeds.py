"""Seeds: small tables whose rows stand in the project, ``seeds/<database>.<table>.csv`` with a ``.yml`` of the same name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from freshet.errors import SpecError
from freshet.problems import Problems, did_you_mean, is_misspelt
from freshet.project.load.layers import place_in, plain
from freshet.project.load.warehouse import Warehouse, place_of
from freshet.project.rules.source import table_by_name
from freshet.project.shape.strategies import Model, Name, OneOrMore, one_as_list
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.yaml_nodes import MapNode
from freshet.project.syntax.yaml_text import parse_yaml

FOLDER = "seeds"
_YAML = ".yml"
_DATA = re.compile(r"\.(csv|tsv|json|jsonl|ndjson|parquet)(\.(gz|bz2))?$")


class SeedFile(Model):
    """A file ``seeds/<database>.<table>.yml``: what its rows' file does not say of the table."""

    key: OneOrMore = Field(description="Record key: the columns that tell rows apart.")
    ordering: Name | None = Field(
        None,
        description="Column that grows with every change. [default: landed_at, when the row last changed in the file]",
    )
    columns: dict[Name, Name] = Field(
        default_factory=dict,
        description="Types of columns by their names; the others' follow from the file.",
    )
    partition_by: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="Partition columns.",
    )
    type: Literal["cow", "mor"] = Field("cow", description="COPY_ON_WRITE or MERGE_ON_READ.")
    delimiter: Annotated[str, AfterValidator(lambda text: delimiter_of(text))] = Field(
        "",
        description="What stands between two values of a CSV file. [default: a comma]",
    )


def delimiter_of(text: str) -> str:
    """Return what stands between two values of a CSV file; ``\\t`` is a tab.

    Args:
        text: As it is said; empty for what the file's name says.

    Raises:
        ValueError: It is no one character that can tell values apart.
    """
    found = "\t" if text == "\\t" else text
    # Of one beyond the first 65,536 Java makes two.
    if found and (len(found) > 1 or found in '"\\\r\n\0' or ord(found) > 0xFFFF):
        raise ValueError(f"{text[:20]!r} is no delimiter: write one character, such as ';', or '\\t' for a tab")
    return found


@dataclass(frozen=True)
class Seed:
    """A table and the file that holds all of its rows.

    Args:
        table: ``database.table``.
        file: The rows, relative to the project.
        declared: What the YAML beside it says.
    """

    table: str
    file: str
    declared: SeedFile

    @property
    def columns(self) -> str:
        """Return the declared types as ``CREATE TABLE`` has them."""
        return ", ".join(f"`{name}` {kind}" for name, kind in self.declared.columns.items())


def load_seeds(warehouse: Warehouse, tables: Sequence[str] = ()) -> tuple[Seed, ...]:
    """Load the project's seeds.

    Args:
        warehouse: The project.
        tables: Those that are wanted; all where none is named.

    Raises:
        SpecError: With every problem of every seed.
    """
    problems = Problems()
    seeds = read_seeds(Path(warehouse.root), problems)
    for table in tables:
        if table not in {seed.table for seed in seeds}:
            problems.add(
                FOLDER,
                0,
                "UNKNOWN_SEED",
                f"There is no seed '{table[:80]}'.",
                did_you_mean(table, [seed.table for seed in seeds]),
            )
    check_places(seeds, warehouse, problems)
    if not seeds and not problems.found:
        problems.add(
            FOLDER,
            0,
            "NO_SEEDS",
            f"There is no seed in {FOLDER}/.",
            f"Write the rows to {FOLDER}/<database>.<table>.csv, and 'key: <column>' to the .yml beside it.",
        )
    if problems.found:
        raise SpecError(problems.found)
    return tuple(seed for seed in seeds if not tables or seed.table in tables)


def read_seeds(root: Path, problems: Problems) -> tuple[Seed, ...]:
    """Read what the project's seeds say, without their rows.

    Args:
        root: The project's folder.
        problems: Receives what is wrong, each with its place.
    """
    files = ProjectFiles(root.resolve())
    folder = files.root / FOLDER
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
    data: dict[str, list[str]] = {}
    for name in names:
        if _DATA.search(name):
            data.setdefault(_DATA.sub("", name), []).append(name)
        elif not name.endswith(_YAML):
            problems.add(
                f"{FOLDER}/{name}",
                0,
                "NOT_A_SEED",
                "The file is neither rows nor what is said of them.",
                "Rows are .csv, .tsv, .json, .jsonl, .ndjson or .parquet; what is said of them is .yml.",
            )
    declared = {name.removesuffix(_YAML) for name in names if name.endswith(_YAML)}
    for table in sorted(declared - data.keys()):
        problems.add(
            f"{FOLDER}/{table}{_YAML}",
            0,
            "SEED_WITHOUT_ROWS",
            f"There is no file with the rows of {table}.",
            did_you_mean(table, data) or f"Write {FOLDER}/{table}.csv.",
        )
    seeds = []
    for table, found in data.items():
        at = f"{FOLDER}/{found[0]}"
        if len(found) > 1:
            problems.add(at, 0, "DUPLICATE_SEED", f"{', '.join(found)} are all rows of {table}.", "Keep one of them.")
        if table.count(".") != 1 or not all(table.split(".")):
            problems.add(at, 0, "BAD_NAME", f"'{table[:80]}' is not written as database.table.", "Rename the file.")
        elif not _is_file(folder / found[0]):
            # A pipe would be waited for, a folder holds no rows.
            problems.add(at, 0, "NOT_A_FILE", f"The seed '{at}' is not an ordinary file.", "Write the rows to a file there.")
        elif table not in declared:
            problems.add(
                at, 0, "SEED_WITHOUT_KEY", f"Nothing is said of {table}.", f"Write 'key: <column>' to {FOLDER}/{table}{_YAML}."
            )
        elif (one := _declared(files, f"{FOLDER}/{table}{_YAML}", problems)) is not None:
            seeds.append(Seed(table, at, one))
    return tuple(seeds)


def check_places(seeds: Sequence[Seed], warehouse: Warehouse, problems: Problems) -> None:
    """Report seeds of which nobody says where they lie, and those of a pipeline's tables.

    Args:
        seeds: The seeds.
        warehouse: The project.
        problems: Receives UNKNOWN_DATABASE and TABLE_OF_A_PIPELINE.
    """
    for seed in seeds:
        ref = table_by_name(seed.table, Place(seed.file, 0), warehouse.targets, warehouse.roots, problems)
        writers = warehouse.writers.get(place_of(ref), ()) if ref is not None else ()
        if writers:
            problems.add(
                seed.file,
                0,
                "TABLE_OF_A_PIPELINE",
                f"{seed.table} is written by the pipeline {writers[0]}.",
                "Name the file after a table of its own, and let the pipeline read that.",
            )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _declared(files: ProjectFiles, name: str, problems: Problems) -> SeedFile | None:
    text = files.read(name, Place(name, 0), "seed", problems)
    tree = parse_yaml(text, name, problems) if text is not None else None
    if tree is None:
        return None
    try:
        return SeedFile.model_validate(plain(tree))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        unknown = [tuple(map(str, found["loc"])) for found in errors if found["type"] == "extra_forbidden"]
        for found in errors:
            path = tuple(map(str, found["loc"]))
            if found["type"] != "missing" or not is_misspelt(path, unknown):
                _note(tree, path, found["type"], found["msg"], problems)
        return None


def _note(tree: MapNode, path: tuple[str, ...], kind: str, message: str, problems: Problems) -> None:
    place, dotted = place_in(tree, tree.file, path), ".".join(path)
    if kind == "missing":
        problems.add(place.file, place.line, "MISSING_KEY", f"The key '{dotted}' is missing.", f"Write '{dotted}: <column>'.")
    elif kind == "extra_forbidden":
        problems.add(
            place.file, place.line, "UNKNOWN_KEY", f"Unknown key '{dotted}'.", did_you_mean(dotted, SeedFile.model_fields)
        )
    elif kind == "value_error":
        problems.add(place.file, place.line, "BAD_VALUE", f"{dotted}: {message.removeprefix('Value error, ')}.")
    else:
        problems.add(place.file, place.line, "WRONG_TYPE", f"{dotted}: {message[:1].lower() + message[1:]}.")
