"""How a key of a file is written: for the advice of a problem."""

from __future__ import annotations

from freshet.project.shape.checks import RULES


def example_of(key: str) -> str:
    """Return how a key is written, as advice; empty where nothing more is to be said."""
    return {
        "ddl": "Write 'ddl: ddl/<table>.sql'.",
        "transform": "Write 'transform: transformers/<name>.sql' or a list.",
        "adapter": "Write 'adapter: debezium', or another one of docs/concepts/changelog.md.",
        "kind": "Write 'kind: binlog', or what else orders the changes: see docs/concepts/changelog.md.",
        "table": "Write 'table: <database>.<table>'.",
        "inputs": "Write '<name>: {table: <database>.<table>}'.",
        "vars": "Write '<name>: <text or number>'.",
        "checks": f"Write '- {{name: ..., severity: fail|warn|drop, ...}}' with one of {', '.join(RULES)}.",
        "accepts": "Write '- {code: <code>, why: <the reason>}'.",
        "exactness": "Write 'exactness: row_by_row'.",
        "name": "Write 'name: <what the report calls it>'.",
        "strategy": "Write 'strategy: merge'.",
        "columns": "Write 'columns: [<column>, ...]'.",
        "event_time": "Write 'event_time: <column of the main source>'.",
        "continuous": "Write 'continuous: {min_interval: 30s}'.",
        "schedule": 'Write it in quotes, as "*/30 * * * *".',
        "partition_is_stable": "Write 'partition_is_stable: true'.",
    }.get(key, "")
