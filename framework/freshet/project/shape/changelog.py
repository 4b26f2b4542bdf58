"""The shape of ``source: {changelog: ...}``: how the events of a changelog are read, and merged into the target."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from freshet.project.shape.strategies import Model, Name, OneOrMore

Generation = Annotated[int, Field(ge=0, le=9999)]


class ReferenceKey(Model):
    """Which of two changes of a row is the newer one."""

    kind: Literal["given", "binlog", "mariadb_gtid", "mysql_gtid", "lsn", "columns", "offset"] = Field(
        description="given: the event's own ref_key; binlog: file, position and row of a binary log; mariadb_gtid, mysql_gtid: "
        "the GTID, then the place in the transaction; lsn: PostgreSQL's log sequence numbers; columns: columns of the row; "
        "offset: the offset in the topic.",
    )
    form: Literal["number", "text"] | None = Field(
        None, description="given: number: up to 20 digits; text: compared as it is. [default: number]"
    )
    logs: OneOrMore | None = Field(
        None, description="binlog: base names of the logs, such as mysql-bin, in the order in which they were written."
    )
    domain: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = Field(
        None, description="mariadb_gtid: the one replication domain that counts."
    )
    servers: OneOrMore | None = Field(
        None, description="mysql_gtid: UUIDs of the servers that wrote, in the order in which they did."
    )
    within: Literal["position", "total_order"] | None = Field(
        None,
        description="mariadb_gtid, mysql_gtid: what orders changes of one transaction: the position in the log, or the "
        "transaction's metadata. [default: position]",
    )
    columns: OneOrMore | None = Field(None, description="columns: columns of the row, the most significant first.")
    generation: Generation = Field(
        0,
        description="Raised by one when the table is read anew from its source: all of the new reading is newer than what the "
        "target holds.",
    )


class Values(Model):
    """How a source writes the values of its columns as JSON."""

    times: Literal["text", "days", "millis", "micros", "nanos"] | None = Field(
        None, description="Dates and times: a text, days, or a number of so many parts of a second since 1970."
    )
    zone: Name | None = Field(None, description="Zone of texts that name none, such as UTC or Europe/Oslo.")
    decimals: Literal["text", "number", "base64"] = Field(
        "text", description="Decimals: a text, a number, or the base64 of the number without its point."
    )
    scale: Annotated[int, Field(ge=0, le=38)] | None = Field(
        None, description="decimals: base64: digits behind the point of the source's column."
    )
    binary: Literal["base64", "hex"] = Field("base64", description="How bytes are written.")
    unsigned: bool = Field(False, description="Numbers beyond 63 bits come as negative ones.")
    texts: bool = Field(False, description="Every value is a text, numbers too.")


class Changelog(Model):
    """How events become rows: the form they have, what orders them, and which columns change together."""

    adapter: Literal["freshet", "debezium", "maxwell", "canal", "plain"] = Field(
        description="Form of the events: freshet: the changelog format itself; debezium, maxwell, canal: what these write; "
        "plain: rows as JSON, with the key in the message's key.",
    )
    reference_key: ReferenceKey | None = Field(
        None, description="What orders the changes of a row; adapter: freshet has its own, {kind: given}."
    )
    groups: dict[Name, OneOrMore] = Field(
        default_factory=dict,
        description="Columns that a partial event changes together, by the group's name; the others are the group row. "
        "[default: whole rows]",
    )
    equal_reference_keys: Literal["deleted", "row"] = Field(
        "deleted", description="Which of two changes with one reference key wins: the one that deletes, or that has a row."
    )
    values: Values | None = Field(None, description="How values are written, in every column that values_of leaves out.")
    values_of: dict[Name, Values] = Field(default_factory=dict, description="How the values of a column are written.")
    strict: bool = Field(
        False, description="A message that lacks a column of the table goes aside; otherwise that column is null."
    )
    data_center: Name | None = Field(None, description="Where the source is; stands in _event.")
    unwrapped: bool = Field(
        False, description="debezium: the messages are rows, as ExtractNewRecordState makes them, and no envelopes."
    )
    with_schema: bool = Field(False, description="debezium: messages and keys are {schema: ..., payload: ...}.")
    identity: Literal["key", "full"] = Field(
        "key",
        description="debezium: what a delete tells: key: only the message's key counts; full: the whole row was logged.",
    )
    tombstones: Literal["skip", "delete", "aside"] | None = Field(
        None,
        description="debezium, plain: what a message without a value is: skip: it follows a delete; delete; aside: it is not "
        "understood. [default: debezium: skip; plain: delete]",
    )
    unavailable: str | None = Field(
        None,
        description="debezium: unavailable.value.placeholder, by which a large value was left out as unchanged; empty where "
        "none is. [default: Debezium's own]",
    )
