"""Settings of Debezium's connectors that decide whether its messages are read right: what each value means for the changelog.

Defaults are those of Debezium 3. What a rule does not know it does not let pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["postgresql", "mariadb", "mysql"]
#: The connectors whose messages the adapter reads, by their class.
KINDS: Mapping[str, Kind] = {
    "io.debezium.connector.postgresql.PostgresConnector": "postgresql",
    "io.debezium.connector.mariadb.MariaDbConnector": "mariadb",
    "io.debezium.connector.mysql.MySqlConnector": "mysql",
}
CLASSES: Mapping[Kind, str] = {kind: name for name, kind in KINDS.items()}
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"

LOSES, UNREAD, NEEDS, DECLARE = "CONNECTOR_LOSES", "CONNECTOR_UNREAD", "CONNECTOR_NEEDS", "CONNECTOR_DECLARE"
#: Why a value is not let pass: a code, and the words. Of DECLARE the words are what a pipeline has to say.
Verdict = tuple[str, str]
_POSTGRES: tuple[Kind, ...] = ("postgresql",)
_BINLOG: tuple[Kind, ...] = ("mariadb", "mysql")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A setting and its values.

    Args:
        key: The setting.
        write: What to write; empty where each connector has its own.
        default: What it is where the config leaves it out; None where it may not be left out.
        good: Values that pass.
        verdicts: What is said of others.
        otherwise: And of all that is left; None where that passes.
        of: The connectors that have it.
    """

    key: str
    write: str = ""
    default: str | None = None
    good: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    otherwise: Verdict | None = None
    of: tuple[Kind, ...] = ("postgresql", "mariadb", "mysql")


_NO_ROWS = (LOSES, "rows that stand would never come")
RULES = (
    Rule(key="topic.prefix", otherwise=None),
    Rule(key="slot.name", of=_POSTGRES),
    Rule(
        key="plugin.name",
        write="pgoutput",
        default="decoderbufs",
        good=("pgoutput",),
        otherwise=(UNREAD, "it is no part of PostgreSQL, and was not tried"),
        of=_POSTGRES,
    ),
    Rule(
        key="slot.drop.on.stop",
        write="false",
        default="false",
        good=("false",),
        otherwise=(LOSES, "changes between a stop and the next start would be in no log"),
        of=_POSTGRES,
    ),
    Rule(
        key="heartbeat.interval.ms",
        write="10000",
        default="0",
        verdicts={"0": (NEEDS, "PostgreSQL would keep its log as long as nothing changes in these tables")},
        of=_POSTGRES,
    ),
    Rule(key="database.server.id", of=_BINLOG),
    Rule(
        key="bigint.unsigned.handling.mode",
        write="long",
        default="long",
        verdicts={
            "long": (DECLARE, "values_of: {COLUMN: {unsigned: true}} for each column of the type bigint unsigned"),
            "precise": (
                DECLARE,
                "values_of: {COLUMN: {decimals: base64, scale: 0}} for each column of the type bigint unsigned",
            ),
        },
        otherwise=(UNREAD, "its values are not known"),
        of=_BINLOG,
    ),
    Rule(
        key="inconsistent.schema.handling.mode",
        write="fail",
        default="fail",
        good=("fail",),
        otherwise=(LOSES, "changes whose table it does not know would be left out"),
        of=_BINLOG,
    ),
    Rule(
        key="snapshot.locking.mode",
        write="minimal",
        default="minimal",
        verdicts={"none": (LOSES, "changes that are made while the copy begins may be in neither the copy nor the log")},
        of=_BINLOG,
    ),
    Rule(
        key="snapshot.isolation.mode",
        write="repeatable_read",
        default="repeatable_read",
        good=("repeatable_read", "serializable"),
        otherwise=(LOSES, "the copy would not be of one moment"),
    ),
    Rule(
        key="snapshot.mode",
        write="initial",
        default="initial",
        good=("initial",),
        verdicts={
            "initial_only": (LOSES, "no change would follow the copy"),
            "no_data": _NO_ROWS,
            "never": _NO_ROWS,
            "schema_only": _NO_ROWS,
            "when_needed": (
                LOSES,
                "after a gap in the log it would go on with a copy, which tells no delete and counts as older",
            ),
            "always": (LOSES, "each start would copy anew, which tells no delete and counts as older than what the table has"),
        },
        otherwise=(LOSES, "what it copies is not known"),
    ),
    Rule(
        key="skipped.operations",
        write="none",
        default="t",
        good=("none",),
        verdicts={"t": (LOSES, "that a table was emptied would not be told")},
        otherwise=(LOSES, "changes would be left out"),
    ),
    Rule(
        key="event.processing.failure.handling.mode",
        write="fail",
        default="fail",
        good=("fail",),
        otherwise=(LOSES, "changes that it cannot read would be left out"),
    ),
    Rule(
        key="errors.tolerance",
        write="none",
        default="none",
        good=("none",),
        otherwise=(LOSES, "changes that Connect cannot convert would be left out"),
    ),
    Rule(
        key="decimal.handling.mode",
        write="string",
        default="precise",
        good=("string",),
        verdicts={
            "precise": (DECLARE, "values_of: {COLUMN: {decimals: base64, scale: N}} for each DECIMAL; or write string"),
            "double": (LOSES, "decimals would be rounded to 15 digits"),
        },
        otherwise=(UNREAD, "its decimals are not known"),
    ),
    Rule(
        key="time.precision.mode",
        write="adaptive_time_microseconds",
        default="adaptive_time_microseconds",
        good=("adaptive", "adaptive_time_microseconds"),
        verdicts={"connect": (LOSES, "times would be cut to milliseconds")},
        otherwise=(UNREAD, "its times were not tried"),
    ),
    Rule(
        key="binary.handling.mode",
        write="bytes",
        default="bytes",
        good=("bytes", "base64"),
        verdicts={"hex": (DECLARE, "values: {binary: hex}")},
        otherwise=(UNREAD, "its bytes are neither base64 nor hexadecimal"),
    ),
    Rule(
        key="field.name.adjustment.mode",
        write="none",
        default="none",
        good=("none",),
        otherwise=(UNREAD, "columns would have other names than in the database"),
    ),
)
#: What may not be there, and why.
ABSENT: Mapping[str, Verdict] = {
    "snapshot.include.collection.list": (LOSES, "rows that stand in the other tables would never come"),
    "snapshot.select.statement.overrides": (LOSES, "rows that the statements leave out would come only when they change"),
    "converters": (UNREAD, "what they make of values is not known"),
}
