"""``configs/ingest/NAME.yml``: which database is captured, where its changes land, and which pipeline reads which table."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from freshet.databases.address import Address, read_address
from freshet.errors import FreshetError, SpecError
from freshet.problems import Problems, did_you_mean
from freshet.project.load import layers
from freshet.project.load.loader import Loader
from freshet.project.model.paths import normal_path
from freshet.project.shape.strategies import Duration, Model, Name, OneOrMore, seconds_of
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.template import TemplateContext
from freshet.project.syntax.yaml_nodes import MapNode
from freshet.secrets import REDACTOR

FOLDER = "configs/ingest"
#: What PostgreSQL takes as the name of a slot.
_SLOT = re.compile(r"[a-z0-9_]{1,63}")


class IngestFile(Model):
    """The shape of the file."""

    database: Name = Field(description="Address of the database without a password: postgresql:// or mysql://")
    password: str = Field("", description='The user\'s password: "{{ env.NAME }}".')
    into: Name = Field(description="Folder of this machine where changes land, one below it for each table.")
    slot: Name | None = Field(None, description="Name of the replication slot and publication. [default: freshet_NAME]")
    include: OneOrMore = Field(default_factory=lambda: ["*"], description="Tables that are looked at: schema.table, * and ?.")
    exclude: OneOrMore = Field(default_factory=list, description="And those of them that are not.")
    tables: Annotated[dict[Name, Name], Field(min_length=1)] = Field(
        description="Tables that are captured, each with the pipeline that reads it."
    )
    leave_out: dict[Name, OneOrMore] = Field(
        default_factory=dict, description="By table the columns that are not captured: no file has their values."
    )
    wait: Duration = Field("1m", description="How long transactions of others may be open that a copy of tables waits for.")
    transactional: bool = Field(
        False, description="Let all tables go on from one place of the log to the next: none goes further while one is behind."
    )


@dataclass(frozen=True, kw_only=True)
class IngestSpec:
    """An ingest.

    Args:
        name: Its name.
        file: Its file.
        address: The database.
        into: Absolute path of the folder where changes land.
        slot: Name of what keeps the log.
        include, exclude: Patterns of ``schema.table``.
        tables: Pipelines by ``schema.table``.
        leave_out: Columns that are not captured, by table.
        wait_seconds: How long open transactions are waited for.
        transactional: True where all tables go on together, from one place of the log to the next.
    """

    name: str
    file: str
    address: Address
    into: str
    slot: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    tables: Mapping[str, str]
    leave_out: Mapping[str, tuple[str, ...]]
    wait_seconds: float
    transactional: bool = False

    def looks_at(self, table: str) -> bool:
        """Say whether a table is one of those that are looked at."""
        return is_chosen(table, self.include, self.exclude)


def is_chosen(table: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Say whether patterns choose a table.

    Args:
        table: ``schema.table``.
        include, exclude: Patterns with ``*`` and ``?``; one without a point is of the table's own name.
    """

    def is_of(pattern: str) -> bool:
        return fnmatch.fnmatchcase(table if "." in pattern else table.partition(".")[2], pattern)

    return any(map(is_of, include)) and not any(map(is_of, exclude))


def load_ingest(root: Path, name: str, env: str | None, overrides: Sequence[str]) -> IngestSpec:
    """Load an ingest of a project.

    Args:
        root: The project's folder.
        name: The ingest's.
        env: Environment, as for ``load_project``.
        overrides: ``key=value`` texts, the topmost layer of the configs.

    Raises:
        SpecError: With every problem of its file.
        FreshetError: UNKNOWN_INGEST or BAD_ADDRESS.
    """
    files, problems = ProjectFiles(Path(os.path.realpath(root))), Problems()
    known = {Path(file).stem: file for file in files.names(FOLDER, ".yml", ".yaml")} if (files.root / FOLDER).is_dir() else {}
    if name not in known:
        raise FreshetError(
            "UNKNOWN_INGEST",
            f"there is no {FOLDER}/{name[:80]}.yml.",
            "Nothing was read or written.",
            did_you_mean(name, known) or "Let one be written: freshet init --from postgresql://USER@HOST/DATABASE",
        )
    file = known[name]
    loader = Loader(files, os.environ, None, problems)
    _, configs = loader.configs(env)
    base = loader.draft("", "configs/base.yml", layers.merge(*configs, layers.override_layer(overrides, problems)), problems)
    tree = loader.tree(file, problems)
    context = TemplateContext(var=base.context.var, env=os.environ, on_secret=REDACTOR.register)
    rendered = layers.render_node(tree, context, problems) if tree is not None else None
    if problems.found or not isinstance(rendered, MapNode):
        raise SpecError(problems.found)
    shape = _shape(rendered, file, problems)
    if shape is None:
        raise SpecError(problems.found)
    slot = shape.slot or f"freshet_{re.sub('[^a-z0-9_]', '_', name.lower())}"
    _check(shape, slot, rendered, file, problems)
    if problems.found:
        raise SpecError(problems.found)
    return IngestSpec(
        name=name,
        file=file,
        address=read_address(shape.database, shape.password),
        into=normal_path(shape.into, files.root),
        slot=slot,
        include=tuple(shape.include),
        exclude=tuple(shape.exclude),
        tables=dict(shape.tables),
        leave_out={table: tuple(columns) for table, columns in shape.leave_out.items()},
        wait_seconds=float(seconds_of(shape.wait) or 0),
        transactional=shape.transactional,
    )


def _shape(tree: MapNode, file: str, problems: Problems) -> IngestFile | None:
    try:
        return IngestFile.model_validate(layers.plain_settings(tree))
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            path = tuple(str(part) for part in found["loc"])
            at, key, context = layers.place_in(tree, file, path), ".".join(path), found.get("ctx", {})
            if found["type"] == "extra_forbidden":
                hint = did_you_mean(path[-1], list(IngestFile.model_fields))
                problems.add(at.file, at.line, "UNKNOWN_KEY", f"Unknown key '{key[:80]}'.", hint)
            elif found["type"] == "missing":
                problems.add(
                    at.file, at.line, "MISSING_KEY", f"The key '{key}' is missing.", "docs/guides/databases.md has it."
                )
            elif "hint" in context:
                problems.add(at.file, at.line, found["type"], f"{key}: {found['msg']}", context["hint"])
            else:
                problems.add(
                    at.file, at.line, "WRONG_TYPE", f"{key}: {found['msg']}.", "docs/guides/databases.md has its form."
                )
        return None


def _check(shape: IngestFile, slot: str, tree: MapNode, file: str, problems: Problems) -> None:
    def add(code: str, said: str, hint: str, *path: str) -> None:
        at: Place = layers.place_in(tree, file, path)
        problems.add(at.file, at.line, code, said, hint)

    if not _SLOT.fullmatch(slot):
        add("BAD_NAME", f"'{slot[:80]}' cannot be the name of a slot.", "Use small letters, digits and _, 63 at most.", "slot")
    if "://" in shape.into:
        said = "Changes land in a folder of this machine: a file gets its name when it is whole, which a bucket does not do."
        add("NOT_SUPPORTED", said, "Name a folder, or one of a file system that is mounted.", "into")
    node = tree.entries.get("password")
    if shape.password and not (node is not None and "env." in str(getattr(node, "template", ""))):
        add(
            "SECRET_IN_FILE",
            "A password stands in the file.",
            'Write "{{ env.NAME }}", and let the environment have it.',
            "password",
        )
    for table, pipeline in shape.tables.items():
        if "." not in table:
            add(
                "BAD_NAME",
                f"'{table[:80]}' is not written as schema.table.",
                "Of MariaDB write database.table.",
                "tables",
                table,
            )
        elif not is_chosen(table, shape.include, shape.exclude):
            said = f"'{table[:80]}' is captured, and include and exclude leave it out."
            add("CONFLICTING_SETTING", said, "Let include have it, or remove it from 'tables:'.", "tables", table)
        twice = [one for one, other in shape.tables.items() if other == pipeline and one != table]
        if twice and table > twice[0]:
            said = f"'{pipeline}' reads {table} and {twice[0]}: a pipeline reads one table."
            add("CONFLICTING_SETTING", said, "Give each a pipeline of its own.", "tables", table)
    for table in shape.leave_out:
        if table not in shape.tables:
            add("UNKNOWN_NAME", f"'{table[:80]}' is not captured.", did_you_mean(table, shape.tables), "leave_out", table)
