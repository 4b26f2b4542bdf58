"""The changes of a database's table as Debezium's Avro converter writes them: an envelope for each, and tombstones."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import fastavro
from pyspark.sql import Row

from tests.kit.registry import framed, register

Record = tuple[bytes, bytes | None]
_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: As Connect's converter has a timestamp: a number whose unit stands in the field's own words, and in no type of Avro's.
_MICROS = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
_FIELDS: Mapping[str, Any] = {
    "trip_id": "string",
    "driver_id": "string",
    "rider_id": "string",
    "city_id": "int",
    "status": "string",
    "requested_at": _MICROS,
    "distance_m": "int",
    "duration_s": "int",
    "fare_amount": _MONEY,
    "toll_amount": _MONEY,
    "updated_at": _MICROS,
    "datestr": "string",
}


@dataclass
class Changes:
    """What a database tells of one table: every change since it was asked last, in the order of its log.

    Args:
        registry: Address of the schema registry.
        topic: The topic.
    """

    registry: str
    topic: str
    _rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lsn: int = 1000
    _logged_at: int = 0
    _more: tuple[str, ...] = ()
    _known: dict[tuple[str, tuple[str, ...]], tuple[int, Any]] = field(default_factory=dict)

    def add_column(self, name: str) -> None:
        """Give the table a column, which the messages have from now on, and the lake's table lacks."""
        self._more = (*self._more, name)

    def since(self, rows: list[Row], moment: datetime) -> Iterator[Record]:
        """Yield the records of what has changed: key and value.

        Args:
            rows: The table's rows now.
            moment: When the database's log says that they changed.
        """
        self._logged_at = _micros(moment)
        now = {row.trip_id: {name: _written(row[name]) for name in _FIELDS} for row in rows}
        for key in sorted(now.keys() | self._rows.keys()):
            before, after = self._rows.get(key), now.get(key)
            if before == after:
                continue
            self._lsn += 8
            op = "c" if before is None else "d" if after is None else "u"
            yield self._key(key), self._value(op, before, after)
            if after is None:
                yield self._key(key), None
        self._rows = now

    def _key(self, trip: str) -> bytes:
        schema = {"type": "record", "name": "Key", "namespace": self.topic, "fields": [{"name": "trip_id", "type": "string"}]}
        return self._framed("key", schema, {"trip_id": trip})

    def _value(self, op: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bytes:
        fields = [{"name": name, "type": kind} for name, kind in _FIELDS.items()]
        fields += [{"name": name, "type": ["null", "string"], "default": None} for name in self._more]
        value = {"type": "record", "name": "Value", "fields": fields}
        source = {
            "type": "record",
            "name": "Source",
            "namespace": "io.debezium.connector.postgresql",
            "fields": [
                {"name": "connector", "type": "string"},
                {"name": "lsn", "type": ["null", "long"]},
                {"name": "ts_us", "type": ["null", "long"]},
            ],
        }
        schema = {
            "type": "record",
            "name": "Envelope",
            "namespace": self.topic,
            "fields": [
                {"name": "before", "type": ["null", value], "default": None},
                {"name": "after", "type": ["null", "Value"], "default": None},
                {"name": "source", "type": source},
                {"name": "op", "type": "string"},
            ],
        }
        more = dict.fromkeys(self._more)
        told = {
            "before": {**before, **more} if before else None,
            "after": {**after, **more} if after else None,
            "source": {"connector": "postgresql", "lsn": self._lsn, "ts_us": self._logged_at},
            "op": op,
        }
        return self._framed("value", schema, told)

    def _framed(self, part: str, schema: dict[str, Any], told: Mapping[str, Any]) -> bytes:
        kept = self._known.get((part, self._more))
        if kept is None:
            number = register(self.registry, f"{self.topic}-{part}", schema)
            kept = self._known[part, self._more] = (number, fastavro.parse_schema(schema))
        out = io.BytesIO()
        fastavro.schemaless_writer(out, kept[1], dict(told))
        return framed(kept[0], out.getvalue())


def _written(value: object) -> object:
    return _micros(value) if isinstance(value, datetime) else value


def _micros(moment: datetime) -> int:
    since = moment.astimezone(timezone.utc) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
