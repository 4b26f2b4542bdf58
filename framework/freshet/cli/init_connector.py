"""``freshet init --from ADDRESS --connector HOST:PORT``: a Debezium connector's config, and pipelines that read its topics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from freshet.cli.init_database import Written, ddl_of, look_at, pipeline_names, remarks
from freshet.connect.settings import TOPIC_NAME, config_of, topic_of
from freshet.connect.values import Written as Column
from freshet.connect.values import written
from freshet.databases.address import Kind
from freshet.databases.model import DbTable
from freshet.errors import FreshetError

FOLDER = "configs/connectors"


def files_of(
    text: str, password_env: str, include: Sequence[str], exclude: Sequence[str], database: str, buckets: int, servers: str
) -> Written:
    """Return the files of a database that Debezium captures: a connector's config, and of each table a DDL and a pipeline.

    Args:
        text: The database's address.
        password_env: The environment variable that has the password, here and in Connect's worker; empty where none is needed.
        include, exclude: Patterns of ``schema.table``.
        database: Of the warehouse, into which the tables go.
        buckets: Of each table.
        servers: The Kafka into which the connector writes.

    Raises:
        FreshetError: As ``init_database.look_at``; DATABASE_UNFIT.
    """
    found = look_at(text, password_env, include, exclude)
    kind, name = found.address.kind, found.name
    names = pipeline_names(name, found.tables)
    reference = _reference(kind, found.position)
    told, tables = [*found.told], list[DbTable]()
    left_out: dict[str, list[str]] = {}
    contents: dict[str, str] = {}
    for table in found.tables:
        columns = {one.name: written(kind, one) for one in table.columns}
        bad = [one for one, how in columns.items() if how is None]
        refused = _refused(table, bad)
        if refused:
            told.append(f"{table.full_name} cannot be captured by a connector: {refused}")
            continue
        if bad:
            left_out[table.full_name] = bad
            told += [
                f"{table.full_name}: {_typed(table, one)} is left out, of whose type Debezium's values are not read"
                for one in bad
            ]
        tables.append(table)
        read = {one: how for one, how in columns.items() if how is not None}
        pipeline = names[table.full_name]
        shown = replace(
            table,
            columns=tuple(
                replace(one, type=read[one.name].type, note=read[one.name].note) for one in table.columns if one.name in read
            ),
        )
        contents[f"ddl/{pipeline}.sql"] = ddl_of(shown, f"{database}.{pipeline}")
        contents[f"pipelines/{pipeline}.yml"] = _pipeline(
            table, kind, topic_of(name, table), servers, reference, read, pipeline, buckets
        )
        told += remarks(shown)
    if not tables:
        raise FreshetError(
            "NO_TABLES",
            f"{found.address} has no table that a connector can capture: {'; '.join(told)}.",
            "Nothing was written.",
            "Look at --include and --exclude; 'freshet ingest' captures without a connector.",
        )
    config = config_of(found.address, name, tables, left_out, password_env, servers)
    contents[f"{FOLDER}/{name}.json"] = json.dumps(config, indent=2) + "\n"
    return Written(name=name, contents=contents, told=tuple(told))


def steps_of(name: str) -> list[str]:
    """Return the commands by which a connector begins to capture, after its files are written."""
    file = f"{FOLDER}/{name}.json"
    put = "curl -X PUT -H 'Content-Type: application/json' --data"
    return [f"freshet connector check {file}", f"{put} @{file} http://HOST:8083/connectors/{name}/config", "freshet run --all"]


def _reference(kind: Kind, position: str) -> str:
    if kind == "postgresql":
        return "{kind: lsn}"
    domains = {one.partition("-")[0] for one in position.split(",") if one} or {"0"}
    if len(domains) > 1:
        raise FreshetError(
            "DATABASE_UNFIT",
            f"MariaDB's log has transactions of the GTID domains {', '.join(sorted(domains))}, which have no order.",
            "Nothing was written.",
            "Let all of them be of one domain (gtid_domain_id).",
        )
    # It goes on where another server takes over.
    return f"{{kind: mariadb_gtid, domain: {domains.pop()}}}"


def _refused(table: DbTable, bad: Sequence[str]) -> str:
    if not all(TOPIC_NAME.fullmatch(part) for part in (table.schema, table.name)):
        return "its name has other signs than letters, digits, _ and -, which a topic cannot have"
    of_key = [one for one in bad if one in table.key]
    if of_key:
        return f"its key has {_typed(table, of_key[0])}, of whose type Debezium's values are not read"
    return "it has no column beside its key" if len(table.columns) - len(bad) == len(table.key) else ""


def _typed(table: DbTable, name: str) -> str:
    declared = next(one.declared for one in table.columns if one.name == name)
    return f"{name} ({declared})"


def _pipeline(
    table: DbTable,
    kind: Kind,
    topic: str,
    servers: str,
    reference: str,
    columns: Mapping[str, Column],
    pipeline: str,
    buckets: int,
) -> str:
    coded = [f"      {json.dumps(name)}: {json.dumps(dict(how.values))}" for name, how in columns.items() if how.values]
    lines = [
        "# yaml-language-server: $schema=../configs/pipeline.schema.json",
        f"# Changes of {table.full_name}, as Debezium writes them into Kafka.",
        f"ddl: ddl/{pipeline}.sql",
        "owner: me",
        "source:",
        "  format: changelog",
        "  changelog:",
        "    adapter: debezium",
        f"    reference_key: {reference}",
        # Only PostgreSQL leaves values out.
        *(['    unavailable: ""'] if kind != "postgresql" else []),
        *(["    values_of:", *coded] if coded else []),
        "checks:",
        "  - {name: conforms, severity: drop, malformed: true, limit: 1%}",
        "hoodie:",
        f"  bootstrap.servers: {json.dumps(servers)}",
        f"  hoodie.streamer.source.kafka.topic: {json.dumps(topic)}",
        "  auto.offset.reset: earliest",
        "  # The table keeps the number that it is made with.",
        f"  hoodie.bucket.index.num.buckets: {buckets}",
    ]
    return "\n".join(lines) + "\n"
