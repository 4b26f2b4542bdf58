"""What of topics a run reads, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from freshet.project.model.kafka import Format
from freshet.registry.address import Address
from freshet.sources.hudi.reads import ReadIncrement, ReadRange
from freshet.types.columns import Column


@dataclass(frozen=True)
class Range:
    """Records of one partition: from the offset ``begin`` up to and without ``end``."""

    topic: str
    partition: int
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ReadTopics(ReadIncrement):
    """Read a window of topics as the view ``SRC``: a row for each record.

    Args:
        ranges: What is read of each partition; a partition of which nothing is read is left out.
        client: Settings of Kafka's client.
        min_partitions: Tasks that read at the same time, at least; 0 for one a range.
        format: What a record's value is.
        columns: Of the value, for JSON and Avro.
        is_strict: True where the value may have no field that ``columns`` lacks.
        tombstones: What a record without a value is; empty for one that cannot be decoded.
        rule: The check that records which cannot be decoded break, so that they go to the quarantine; empty where such a record
            fails the run.
        group: How the names of the groups begin that Spark's clients are members of; empty for Spark's own way.
        avro_schema: Schema that all values were written with; empty where a registry has those of each.
        registry: The schema registry; None for none.
        subjects: Of the registry, those whose schemas the values may have.
        key_columns: Of the key, where it is decoded; none where it is not.
        key_registry: The schema registry of keys; None where they are not decoded.
        key_subjects: Of that registry, those whose schemas keys may have.
        times: Of a backfill: the range of event times whose records are read; None for all.
    """

    ranges: tuple[Range, ...]
    client: Mapping[str, str] = field(repr=False)
    min_partitions: int = 0
    format: Format = "json"
    columns: tuple[Column, ...] = ()
    is_strict: bool = False
    tombstones: Literal["", "delete", "row"] = ""
    rule: str = ""
    group: str = ""
    avro_schema: str = field(default="", repr=False)
    registry: Address | None = None
    subjects: tuple[str, ...] = ()
    key_columns: tuple[Column, ...] = ()
    key_registry: Address | None = None
    key_subjects: tuple[str, ...] = ()
    times: ReadRange | None = None
