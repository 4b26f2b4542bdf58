"""Every text that is made is SQL of Spark's, whatever the names of columns and groups. What it means: tests/integration."""

from __future__ import annotations

import re

import pytest
import sqlglot

from freshet.changelog.adapter import Adapter, Source
from freshet.changelog.canal import canal
from freshet.changelog.conform import REASONS, event_reason
from freshet.changelog.debezium import Debezium, debezium
from freshet.changelog.layout import Layout
from freshet.changelog.maxwell import maxwell
from freshet.changelog.merge_sql import fold, registers, rows, shown
from freshet.changelog.plain import changelog, plain, typed_event
from freshet.changelog.reference import BinlogPosition, Given, KafkaOffset, Lsn
from freshet.changelog.values import Coding
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type

KINDS = {
    "id": "bigint",
    "it's": "string",
    "a `b`": "decimal(12,2)",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "day": "date",
    "bytes": "binary",
    "ok": "boolean",
    "list": "array<string>",
    "map": "map<string,int>",
}
LAYOUT = Layout(
    key=("id", "it's"),
    columns=tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items()),
    groups={"the group's": ("a `b`", "bytes"), "list": ("list",)},
)
CODINGS = {
    "at": Coding(times="micros"),
    "local": Coding(times="millis"),
    "day": Coding(times="days"),
    "a `b`": Coding(decimals="base64", scale=2),
}


def _source(reference: BinlogPosition | Given | KafkaOffset | Lsn) -> Source:
    return Source(layout=LAYOUT, reference=reference, codings=CODINGS, data_center="o'slo", strict=True)


ADAPTERS: dict[str, Adapter] = {
    "debezium": debezium(_source(Lsn()), Debezium()),
    "debezium, full": debezium(
        _source(BinlogPosition(("it's",))), Debezium(identity="full", with_schema=True, tombstones="aside")
    ),
    "debezium, unwrapped": debezium(_source(Lsn()), Debezium(unwrapped=True, tombstones="delete")),
    "maxwell": maxwell(_source(BinlogPosition(("master",)))),
    "canal": canal(Source(layout=LAYOUT, reference=KafkaOffset(), codings={**CODINGS, "a `b`": Coding()}, strict=True)),
    "plain": plain(_source(KafkaOffset())),
    "changelog": changelog(_source(Given("text"))),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_sql(name: str) -> None:
    adapter = ADAPTERS[name]
    assert list(adapter.columns) == list(KINDS)
    for text in (
        *adapter.reads.values(),
        adapter.refused,
        adapter.changes,
        *adapter.columns.values(),
        adapter.parts,
        adapter.event,
        adapter.reason,
    ):
        sqlglot.parse_one(f"SELECT {text}", dialect="spark")


def test_the_merge_is_sql() -> None:
    texts = [*fold(LAYOUT).values(), *registers(LAYOUT).values(), *shown(LAYOUT).values(), *rows(LAYOUT).values()]
    for text in (*texts, event_reason(LAYOUT), typed_event(Given())):
        sqlglot.parse_one(f"SELECT {text}", dialect="spark")


def test_the_page_has_every_reason_and_no_other_one_is_given() -> None:
    made = " ".join(text for adapter in ADAPTERS.values() for text in (adapter.refused, adapter.reason)) + event_reason(LAYOUT)
    given = {word.partition(":")[0] for word in re.findall(r"THEN '([a-z_]+(?::[^']*)?)'", made)}
    assert given - {"true", "false", "skipped"} <= set(REASONS)
    assert set(REASONS) <= given
