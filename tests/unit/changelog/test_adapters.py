"""What adapters refuse to be told. What they make of messages: tests/integration/test_changelog_adapters.py."""

from __future__ import annotations

import pytest

from freshet.changelog.adapter import Source
from freshet.changelog.canal import canal
from freshet.changelog.debezium import Debezium, debezium
from freshet.changelog.layout import Layout
from freshet.changelog.maxwell import maxwell
from freshet.changelog.plain import changelog, plain
from freshet.changelog.reference import BinlogPosition, Given, KafkaOffset, Lsn, MySqlGtid, Reference
from freshet.changelog.values import Coding
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type


def source(kind: str = "int", coding: Coding | None = None, reference: Reference | None = None) -> Source:
    columns = (Column(name="id", type=parse_type("bigint")), Column(name="v", type=parse_type(kind)))
    return Source(
        layout=Layout(key=("id",), columns=columns),
        reference=reference or KafkaOffset(),
        codings={"v": coding} if coding else None,
    )


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_the_unit_of_a_time_is_declared(kind: str) -> None:
    with pytest.raises(ValueError, match="say how the source writes the times of 'v'"):
        plain(source(kind))
    plain(source(kind, Coding(times="text")))


@pytest.mark.parametrize(("kind", "times"), [("date", "millis"), ("timestamp", "days"), ("timestamp_ntz", "days")])
def test_a_unit_that_a_type_cannot_have_is_refused(kind: str, times: str) -> None:
    with pytest.raises(ValueError, match="cannot have"):
        plain(source(kind, Coding(times=times)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind", ["array<decimal(10,2)>", "struct<a:timestamp>", "map<string,date>", "map<int,string>", "array<float>"]
)
def test_a_loss_inside_of_a_type_could_not_be_told(kind: str) -> None:
    with pytest.raises(ValueError, match="declare the column as STRING"):
        plain(source(kind))


def test_a_json_number_has_few_enough_digits_to_see_more() -> None:
    plain(source("decimal(28,2)", Coding(decimals="number")))
    with pytest.raises(ValueError, match="more digits"):
        plain(source("decimal(29,2)", Coding(decimals="number")))


def test_an_unscaled_number_needs_its_scale() -> None:
    plain(source("decimal(10,2)", Coding(decimals="base64", scale=0)))
    with pytest.raises(ValueError, match="how many digits behind the point"):
        plain(source("decimal(10,2)", Coding(decimals="base64")))


def test_an_order_that_the_messages_do_not_tell_is_refused() -> None:
    with pytest.raises(ValueError, match="needs what this source does not tell"):
        canal(source(reference=BinlogPosition(("mysql-bin",))))
    with pytest.raises(ValueError, match="needs what this source does not tell"):
        maxwell(source(reference=MySqlGtid(("3e11fa47-71ca-11e1-9e33-c80aa9429562",), "total_order")))
    with pytest.raises(ValueError, match="needs what this source does not tell"):
        plain(source(reference=Lsn()))
    with pytest.raises(ValueError, match="declare it as given"):
        changelog(source())
    changelog(source(reference=Given()))


@pytest.mark.parametrize("how", [Debezium(), Debezium(with_schema=True), Debezium(unwrapped=True), Debezium(identity="full")])
def test_large_values_of_an_update_may_be_left_out(how: Debezium) -> None:
    assert "__debezium_unavailable_value" in debezium(source("string"), how).event
    assert "__debezium_unavailable_value" not in debezium(source("int"), how).event
