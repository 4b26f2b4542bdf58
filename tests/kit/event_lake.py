"""A pipeline over a table of events, or of messages, and what its commits say of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from freshet.changelog.fields import event_type
from freshet.hudi.checkpoint import EVENTS_KEY
from freshet.project.model.kafka import ORIGIN_TYPE
from tests.kit.lake import UPTO_LATEST, Lake
from tests.kit.project import ACCEPTS

DDL = """\
CREATE TABLE derived.trips (id STRING NOT NULL, amount DECIMAL(10,2), tip INT)
USING hudi TBLPROPERTIES (primaryKey = 'id', type = '{type}')
"""
YML = """\
ddl: ddl/trips.sql
source:
  format: changelog
  changelog: {{{changelog}}}
checks:
  {checks}
{top}hoodie:
  hoodie.streamer.source.hoodieincr.path: "{source}"
  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: {missing}
"""
CONFORMS = "- {name: conforms, severity: drop, malformed: true}"
TYPED = f"event string, seq bigint, id string, amount decimal(10,2), tip int, _event {event_type()}"
MESSAGES = f"event string, seq bigint, value binary, _kafka {ORIGIN_TYPE}"
KEYED = {
    "hoodie.datasource.write.recordkey.field": "event",
    "hoodie.datasource.write.precombine.field": "seq",
    "hoodie.datasource.write.partitionpath.field": "",
}
DEBEZIUM = "adapter: debezium, reference_key: {kind: lsn}"
SHOWN = ("id", "amount", "tip", "_event_deleted")


def pipeline(
    lake: Lake, changelog: str, *, checks: str = CONFORMS, kind: str = "mor", source: str = "raw.log", keeps: str = ""
) -> None:
    """Write the pipeline ``trips``; ``keeps`` is its write strategy."""
    top = f"write: {{strategy: {keeps}}}\n" if keeps else ""
    text = YML.format(changelog=changelog, checks=checks, source=lake.path(source), missing=UPTO_LATEST, top=top)
    lake.write_file("pipelines/trips.yml", text + ACCEPTS)
    lake.write_file("ddl/trips.sql", DDL.format(type=kind))


def an_event(
    number: int,
    key: str | None,
    ref_key: int,
    amount: str | None = None,
    tip: int | None = None,
    *,
    deleted: bool = False,
    forced: bool = False,
    groups: Iterable[str] = (),
) -> tuple[Any, ...]:
    """Return a row of a table of events, of the type ``TYPED``; it is created so many milliseconds after 1000."""
    changed = [(group, None, None) for group in groups] or None
    told = (key, str(ref_key), changed, "mysql", 1000 + number, deleted, None, None, forced, None)
    return (f"e{number}", number, key, None if amount is None else Decimal(amount), tip, told)


def a_message(number: int, value: Any, key: Any = None) -> tuple[Any, ...]:
    """Return a row of a table of messages, of the type ``MESSAGES``."""
    moment = datetime(2026, 1, 5, tzinfo=timezone.utc)
    told = ("trips", 0, number, moment, "CreateTime", None if key is None else json.dumps(key).encode(), None, value is None)
    body = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return (f"m{number}", number, body, told)


def a_change(op: str, lsn: int, before: Any = None, after: Any = None) -> dict[str, Any]:
    """Return Debezium's envelope of a change in PostgreSQL."""
    source = {"connector": "postgresql", "ts_ms": lsn, "snapshot": "false", "lsn": lsn, "sequence": f'["{lsn}","{lsn}"]'}
    return {"op": op, "before": before, "after": after, "source": source}


def counted(lake: Lake) -> dict[str, Any]:
    """Return what the newest commit says of its events, which add up."""
    found: dict[str, Any] = json.loads(lake.state("derived.trips").latest_extra(EVENTS_KEY) or "{}")
    assert found["in"] == found["published"] + found["older"] + found["aside"] + found["skipped"]
    return found
