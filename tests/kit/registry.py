"""A stub of a schema registry in this process, and values in the wire format."""

from __future__ import annotations

import io
import json
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import fastavro

from freshet.dev.registry.store import Store
from freshet.dev.registry.stub import Stub
from freshet.registry.address import address_of
from freshet.registry.http import ask


@contextmanager
def serving(stub: Stub | None = None) -> Iterator[Stub]:
    """Let a stub answer within the block."""
    found = stub or Stub(Store(None))
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.shutdown()
        found.server_close()


def register(url: str, subject: str, schema: object, **more: object) -> int:
    """Add a schema to a subject; returns its id."""
    told = ask(address_of(url), f"/subjects/{subject}/versions", {"schema": json.dumps(schema), **more})
    return int(told["id"])


def record(name: str = "Order", /, **kinds: Any) -> dict[str, Any]:
    """Return the schema of a record."""
    fields = [{"name": one, "type": kind} for one, kind in kinds.items()]
    return {"type": "record", "name": name, "namespace": "shop", "fields": fields}


def avro(schema: object, row: Mapping[str, Any]) -> bytes:
    """Return a row as Avro's bytes."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), dict(row))
    return out.getvalue()


def framed(number: int, data: bytes) -> bytes:
    """Return a value with the id of its schema in front."""
    return struct.pack(">bI", 0, number) + data
