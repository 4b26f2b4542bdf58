"""Debezium's rows without their envelopes: what its transformation has to add, so that the adapter knows what a row means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freshet.connect.rules import DECLARE, UNREAD, Kind
from freshet.connect.wrong import Wrong

UNWRAP = "io.debezium.transforms.ExtractNewRecordState"
#: Names topics, and leaves the messages as they are.
ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_ALWAYS = ("op", "source.ts_ms", "source.snapshot")
_PLACES = {"postgresql": ("source.sequence",)}
_BINLOG = ("source.file", "source.pos", "source.row", "source.gtid")


def check_unwrapped(kind: Kind, prefix: str, config: Mapping[str, str]) -> Iterator[Wrong]:
    """Yield what the adapter would lack.

    Args:
        kind: The connector.
        prefix: Of the transformation's settings, such as ``transforms.unwrap``.
        config: The connector's config.
    """
    key = f"{prefix}.delete.tombstone.handling.mode"
    found = config.get(key, "tombstone")
    if found not in ("rewrite", "rewrite-with-tombstone"):
        said = f"{key} is {found[:80]!r}: a delete would not say when it was made."
        yield Wrong(key=key, code=UNREAD, said=said, write=f'Write "{key}": "rewrite".')
    key = f"{prefix}.add.fields"
    there = [one.strip() for one in config.get(key, "").split(",")]
    lacks = [one for one in (*_ALWAYS, *_PLACES.get(kind, _BINLOG)) if one not in there]
    if lacks:
        said = f"{key} leaves out what tells which change is newer: {', '.join(lacks)}."
        write = ",".join([*filter(None, there), *lacks])
        yield Wrong(key=key, code=UNREAD, said=said, write=f'Write "{key}": "{write}".')
    key = f"{prefix}.add.fields.prefix"
    if config.get(key, "__") != "__":
        yield Wrong(key=key, code=UNREAD, said=f"{key} is not '__', by which they are found.", write="Remove it.")
    yield Wrong(
        key=f"{prefix}.type",
        code=DECLARE,
        said="Messages are rows without envelopes.",
        write="A pipeline needs: unwrapped: true.",
    )
