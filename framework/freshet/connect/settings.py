"""A connector's config for tables of a database: Debezium writes all of their changes, as the adapter reads them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence

from freshet.connect.rules import CLASSES, JSON_CONVERTER, RULES
from freshet.databases.address import Address
from freshet.databases.model import DbTable

#: Names of which Debezium makes a topic as they are, and which are patterns of themselves.
TOPIC_NAME = re.compile("[A-Za-z0-9_-]+")
# PostgreSQL takes 63 characters.
_MOST = 63


def config_of(
    address: Address,
    name: str,
    tables: Sequence[DbTable],
    left_out: Mapping[str, Sequence[str]],
    password_env: str,
    servers: str,
) -> dict[str, str]:
    """Return the config of a connector.

    Args:
        address: The database.
        name: The connector's: topics begin with it.
        tables: What it captures; each name is a TOPIC_NAME.
        left_out: Columns that it does not, by ``schema.table``.
        password_env: The environment variable of Connect's worker that has the password; empty where none is needed.
        servers: The Kafka in which MariaDB's connector keeps the history of schemas.
    """
    columns = [f"{table}.{column}" for table in sorted(left_out) for column in left_out[table]]
    written = {rule.key: rule.write for rule in RULES if address.kind in rule.of and rule.write}
    return {
        "connector.class": CLASSES[address.kind],
        "tasks.max": "1",
        "database.hostname": address.host,
        "database.port": str(address.port),
        "database.user": address.user,
        # Connect asks its environment for it, and shows it nobody.
        **({"database.password": f"${{env:{password_env}}}"} if password_env else {}),
        **(_postgres(address, name) if address.kind == "postgresql" else _mariadb(address, name, servers)),
        "topic.prefix": name,
        "table.include.list": _patterns(table.full_name for table in tables),
        **({"column.exclude.list": _patterns(columns)} if columns else {}),
        **written,
        "tombstones.on.delete": "true",
        "key.converter": JSON_CONVERTER,
        "key.converter.schemas.enable": "false",
        "value.converter": JSON_CONVERTER,
        "value.converter.schemas.enable": "false",
        "value.converter.replace.null.with.default": "false",
        # As the broker has it; what is compacted may lose the message of a delete.
        "topic.creation.default.partitions": "-1",
        "topic.creation.default.replication.factor": "-1",
        "topic.creation.default.cleanup.policy": "delete",
    }


def topic_of(name: str, table: DbTable) -> str:
    """Return the topic of a table's changes."""
    return f"{name}.{table.full_name}"


def _postgres(address: Address, name: str) -> dict[str, str]:
    own = re.sub("[^a-z0-9_]", "_", f"debezium_{name.lower()}")[:_MOST]
    return {
        "database.dbname": address.database,
        "slot.name": own,
        "publication.name": own,
        # Of these tables alone; of all it would take a superuser.
        "publication.autocreate.mode": "filtered",
        "interval.handling.mode": "string",
    }


def _mariadb(address: Address, name: str, servers: str) -> dict[str, str]:
    # Replicas and connectors of a server have each a number of their own.
    number = 1_000_000_000 + zlib.crc32(f"{address} {name}".encode()) % 1_000_000_000
    return {
        "database.server.id": str(number),
        "database.include.list": _patterns([address.database]),
        "schema.history.internal.kafka.bootstrap.servers": servers,
        "schema.history.internal.kafka.topic": f"{name}.schema-history",
        # Statements that change a table: nothing of a row.
        "include.schema.changes": "false",
    }


def _patterns(names: Iterable[str]) -> str:
    """Return names as Debezium's list of regular expressions."""
    return ",".join(name.replace(".", "\\.") for name in names)
