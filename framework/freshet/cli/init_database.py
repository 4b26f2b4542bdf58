"""``freshet init --from ADDRESS``: the files by which a database is captured, of what its catalogue says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, count

from freshet.cli.init_texts import in_sql
from freshet.databases.address import Address, read_address
from freshet.databases.model import DbTable
from freshet.databases.source import open_source
from freshet.errors import FreshetError
from freshet.ingest.landing import folder_of
from freshet.ingest.spec import FOLDER, is_chosen
from freshet.types.columns import PLAIN_NAME

_OPEN_SECONDS = 60.0
_USUAL = ("public",)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a database has.

    Args:
        address: The database.
        name: What is made of it is called so.
        tables: Those that can be captured.
        told: Which ones cannot, and why.
        position: Where its log is, in its own words.
    """

    address: Address
    name: str
    tables: tuple[DbTable, ...]
    told: tuple[str, ...]
    position: str


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written of a database.

    Args:
        name: The ingest's name.
        contents: Texts by file.
        told: What a person should know.
    """

    name: str
    contents: dict[str, str]
    told: tuple[str, ...]


def files_of(
    text: str, password_env: str, include: Sequence[str], exclude: Sequence[str], database: str, buckets: int
) -> Written:
    """Return the files of a database: an ingest, and of each table a DDL and a pipeline.

    Args:
        text: The database's address.
        password_env: The environment variable that has the password; empty where none is needed.
        include, exclude: Patterns of ``schema.table``.
        database: Of the warehouse, into which the tables go.
        buckets: Of each table.

    Raises:
        FreshetError: As ``look_at``.
    """
    found = look_at(text, password_env, include, exclude)
    name, told = found.name, [*found.told]
    pipelines = pipeline_names(name, found.tables)
    contents = {f"{FOLDER}/{name}.yml": _ingest(found.address, name, password_env, include, exclude, pipelines)}
    for one in found.tables:
        pipeline = pipelines[one.full_name]
        contents[f"ddl/{pipeline}.sql"] = ddl_of(one, f"{database}.{pipeline}")
        contents[f"pipelines/{pipeline}.yml"] = _pipeline(one, name, pipeline, buckets)
        told += remarks(one)
    return Written(name=name, contents=contents, told=tuple(told))


def look_at(text: str, password_env: str, include: Sequence[str], exclude: Sequence[str]) -> Found:
    """Look at a database.

    Args:
        text: Its address.
        password_env: The environment variable that has the password; empty where none is needed.
        include, exclude: Patterns of ``schema.table``.

    Raises:
        FreshetError: BAD_ADDRESS, NO_SUCH_VARIABLE, NO_TABLES, or what the database says.
    """
    if password_env and password_env not in os.environ:
        raise FreshetError(
            "NO_SUCH_VARIABLE",
            f"the environment has no variable {password_env[:80]}.",
            "Nothing was written.",
            "Name the one that has the password: --password-env NAME",
        )
    address = read_address(text, os.environ.get(password_env, "") if password_env else "")
    name = _plain(address.database)
    with closing(open_source(address, f"freshet_{name.lower()}", _OPEN_SECONDS)) as source:
        found = [one for one in source.tables() if is_chosen(one.full_name, include or ["*"], exclude)]
        position = source.now().position
    tables = [one for one in found if not (one.refused or _odd(one))]
    told = [f"{one.full_name} cannot be captured: {one.refused or _odd(one)}" for one in found if one not in tables]
    if not tables:
        raise FreshetError(
            "NO_TABLES",
            f"{address} has no table that can be captured" + (f": {'; '.join(told)}" if told else "") + ".",
            "Nothing was written.",
            "Look at --include and --exclude, and at the user's rights.",
        )
    return Found(address=address, name=name, tables=tuple(tables), told=tuple(told), position=position)


def remarks(table: DbTable) -> list[str]:
    """Return what a person should know of a table's values that the log does not have, or not always."""
    told = []
    if table.computed:
        names = ", ".join(table.computed)
        told.append(f"{table.full_name}: {names} is computed by the database, and not in its log: no column has it")
    large = [column.name for column in table.columns if column.large and column.name not in table.key]
    if large and not table.whole_rows:
        told.append(
            f"{table.full_name}: of an update the log may leave out {', '.join(large)}, where a value is large and stays; "
            f"such a change goes aside. So that it has them: ALTER TABLE {table.full_name} REPLICA IDENTITY FULL"
        )
    return told


def _odd(table: DbTable) -> str:
    names = [column.name for column in table.columns]
    bad = [one for one in names if not PLAIN_NAME.fullmatch(one) or one.startswith(("_hoodie", "_event"))]
    if bad:
        return f"the lake takes no column named {bad[0]!r}"
    if len(names) == len(table.key):
        return "it has no column beside its key"
    twice = len({one.lower() for one in names}) < len(names)
    return "two of its columns have one name but for its case" if twice else ""


def pipeline_names(name: str, tables: Iterable[DbTable]) -> dict[str, str]:
    """Return the name of each table's pipeline, by the table's; no two are alike."""
    found: dict[str, str] = {}
    for one in tables:
        found[one.full_name] = _pipeline_name(name, one, set(found.values()))
    return found


def _pipeline_name(name: str, table: DbTable, taken: Collection[str]) -> str:
    schema = "" if table.schema in _USUAL or _plain(table.schema) == name else f"_{_plain(table.schema)}"
    found = f"{name}{schema}_{_plain(table.name)}"
    # The names of two tables may differ in their case alone, or in a sign.
    return next(one for one in chain([found], (f"{found}_{number}" for number in count(2))) if one not in taken)


def _in_comment(text: str) -> str:
    # A name may have an end of a line in it: what follows would be no comment.
    return " ".join(text.split())


def _plain(text: str) -> str:
    found = re.sub(r"[^a-z0-9_]", "_", text.lower())
    return found if found[:1].isalpha() else f"t{found}"


def _ingest(
    address: Address, name: str, password_env: str, include: Sequence[str], exclude: Sequence[str], pipelines: dict[str, str]
) -> str:
    lines = [
        "# Written by `freshet init --from ADDRESS`. Read it, and commit it; `freshet ingest "
        + name
        + "` captures what it names.",
        f"database: {json.dumps(str(address).replace('mariadb://', 'mysql://'))}",
        *([f'password: "{{{{ env.{password_env} }}}}"'] if password_env else []),
        "# A folder of this machine, kept as long as its pipelines may be computed anew.",
        f"into: changes/{name}",
        f"include: {json.dumps(list(include or ['*']))}",
        *([f"exclude: {json.dumps(list(exclude))}"] if exclude else []),
        "tables:",
        *(f"  {json.dumps(table)}: {pipeline}" for table, pipeline in sorted(pipelines.items())),
    ]
    return "\n".join(lines) + "\n"


def ddl_of(table: DbTable, target: str) -> str:
    """Return the DDL of the lake's table for a table of a database."""
    lines = []
    for number, column in enumerate(table.columns):
        comma = "," if number + 1 < len(table.columns) else ""
        null = " NOT NULL" if column.name in table.key else ""
        note = f"-- {column.declared}: {column.note}" if column.note else ""
        lines.append(f"  {in_sql(column.name)} {str(column.type).upper()}{null}{comma}  {_in_comment(note)}".rstrip())
    key = ",".join(table.key)
    head = f"-- {_in_comment(table.full_name)}. Columns beside the key may be null: of a deleted row only its key is kept."
    body = "\n".join(lines)
    return f"{head}\nCREATE TABLE {target} (\n{body}\n)\nUSING hudi\nTBLPROPERTIES (primaryKey = '{key}', type = 'mor')\n"


def _pipeline(table: DbTable, name: str, pipeline: str, buckets: int) -> str:
    return f"""# yaml-language-server: $schema=../configs/pipeline.schema.json
# Changes of {_in_comment(table.full_name)}, as `freshet ingest {name}` captures them.
ddl: ddl/{pipeline}.sql
owner: me
source:
  format: changelog
  # Each file appears whole.
  files: {{quiet: 0s, pattern: "*.json.gz"}}
  changelog:
    adapter: freshet
    reference_key: {{kind: given, form: text}}
    values: {{times: text, zone: UTC}}
checks:
  - {{name: conforms, severity: drop, malformed: true, limit: 1%}}
hoodie:
  hoodie.streamer.source.dfs.root: {json.dumps(f"changes/{name}/{folder_of(table.full_name)}")}
  # The table keeps the number that it is made with.
  hoodie.bucket.index.num.buckets: {buckets}
"""
