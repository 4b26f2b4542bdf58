"""Configs of connectors: what is written is right, and each setting by which something would be lost is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.connect.check import check, sorted_out
from freshet.connect.file import read_connector
from freshet.connect.rules import CLASSES, KINDS, RULES
from freshet.connect.settings import config_of, topic_of
from freshet.connect.unwrapped import UNWRAP
from freshet.databases.address import read_address
from freshet.databases.model import DbColumn, DbTable
from freshet.errors import SpecError
from freshet.types.columns import Atomic
from tests.kit.connect import a_connect

ID = DbColumn(name="id", declared="bigint", type=Atomic("bigint"), base="int8")
ORDERS = DbTable(schema="public", name="orders", columns=(ID,), key=("id",))
ITEMS = DbTable(schema="public", name="order-items", columns=(ID,), key=("id",))
NOT_TO_BE_LEFT_OUT = {
    *("plugin.name", "slot.name", "topic.prefix", "database.server.id", "heartbeat.interval.ms", "skipped.operations"),
}
POSTGRES, MARIADB = "postgresql://cdc@db-1/shop", "mysql://cdc@db-1/shop"


def a_config(address: str = POSTGRES, **changed: str | None) -> dict[str, str]:
    """Return a config as it is written, with some settings changed or, by None, removed; ``__`` stands for a point."""
    found = config_of(read_address(address), "shop", [ORDERS, ITEMS], {"public.orders": ["spot"]}, "SHOP_PASSWORD", "k:9092")
    return edited(found, changed)


def edited(config: dict[str, str], changed: dict[str, str | None]) -> dict[str, str]:
    all_of_it = {**config, **{name.replace("__", "."): value for name, value in changed.items()}}
    return {name: value for name, value in all_of_it.items() if value is not None}


def codes(config: dict[str, str]) -> dict[str, str]:
    return {one.key: one.code for one in sorted_out(check(config)).wrong}


@pytest.mark.parametrize("address", [POSTGRES, MARIADB])
def test_what_is_written_is_right(address: str) -> None:
    config = a_config(address)
    checked = sorted_out(check(config))
    assert checked.wrong == ()
    assert [one.key for one in checked.declare] == (["bigint.unsigned.handling.mode"] if address == MARIADB else [])
    assert config["table.include.list"] == r"public\.orders,public\.order-items"
    assert config["column.exclude.list"] == r"public\.orders\.spot"
    assert config["database.password"] == "${env:SHOP_PASSWORD}"
    assert topic_of("shop", ORDERS) == "shop.public.orders"


def test_names_that_servers_take() -> None:
    odd = config_of(read_address(POSTGRES), "A-b" + "c" * 80, [ORDERS], {}, "", "k:9092")
    assert odd["slot.name"] == odd["publication.name"] == ("debezium_a_b" + "c" * 80)[:63]
    assert not {"database.password", "column.exclude.list"} & set(odd)
    numbers = {config_of(read_address(MARIADB), name, [ORDERS], {}, "", "k:9092")["database.server.id"] for name in ("a", "b")}
    assert len(numbers) == 2
    assert all(0 < int(number) < 2**32 for number in numbers)


@pytest.mark.parametrize("kind", KINDS.values())
def test_each_rule_is_held_and_takes_what_it_says_to_write(kind: str) -> None:
    """With a value that nobody knows, and left out: what a rule has to say it says of every setting."""
    own = "postgresql" if kind == "postgresql" else "mariadb"
    base = {**a_config(POSTGRES if own == "postgresql" else MARIADB), "connector.class": CLASSES[kind]}  # type: ignore[index]
    assert codes(base) == {}
    for rule in RULES:
        if kind not in rule.of:
            continue
        left_out = codes({name: value for name, value in base.items() if name != rule.key})
        assert (rule.key in left_out) is (rule.key in NOT_TO_BE_LEFT_OUT), rule.key
        if rule.otherwise is not None:
            assert rule.key in codes({**base, rule.key: "nobody_knows"}), rule.key


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"snapshot__mode": "initial_only"}, "CONNECTOR_LOSES"),
        ({"snapshot__mode": "when_needed"}, "CONNECTOR_LOSES"),
        ({"snapshot__mode": "NO_DATA"}, "CONNECTOR_LOSES"),
        ({"skipped__operations": "t"}, "CONNECTOR_LOSES"),
        ({"skipped__operations": "d,t"}, "CONNECTOR_LOSES"),
        ({"slot__drop__on__stop": "true"}, "CONNECTOR_LOSES"),
        ({"decimal__handling__mode": "double"}, "CONNECTOR_LOSES"),
        ({"time__precision__mode": "connect"}, "CONNECTOR_LOSES"),
        ({"time__precision__mode": "isostring"}, "CONNECTOR_UNREAD"),
        ({"errors__tolerance": "all"}, "CONNECTOR_LOSES"),
        ({"event__processing__failure__handling__mode": "skip"}, "CONNECTOR_LOSES"),
        ({"snapshot__isolation__mode": "read_committed"}, "CONNECTOR_LOSES"),
        ({"snapshot__include__collection__list": "public.orders"}, "CONNECTOR_LOSES"),
        ({"column__truncate__to__20__chars": "public.orders.note"}, "CONNECTOR_LOSES"),
        ({"converters": "mine"}, "CONNECTOR_UNREAD"),
        ({"heartbeat__interval__ms": "0"}, "CONNECTOR_NEEDS"),
        ({"binary__handling__mode": "base64-url-safe"}, "CONNECTOR_UNREAD"),
        ({"value__converter__replace__null__with__default": None}, "CONNECTOR_LOSES"),
        ({"value__converter": "io.confluent.connect.avro.AvroConverter"}, "CONNECTOR_UNREAD"),
        ({"key__converter": None}, "CONNECTOR_NEEDS"),
        ({"key__converter__schemas__enable": "true"}, "CONNECTOR_UNREAD"),
        ({"transforms": "mine", "transforms__mine__type": "org.mine.Filter"}, "CONNECTOR_UNREAD"),
        ({"database__password": "Geheim!"}, "SECRET_IN_FILE"),
        ({"connector__class": "io.debezium.connector.oracle.OracleConnector"}, "CONNECTOR_UNKNOWN"),
        ({"connector__class": None}, "CONNECTOR_UNKNOWN"),
        ({"slot__name": None, "slot_name": "mine"}, "CONNECTOR_NEEDS"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_with_what_to_write(changed: dict[str, str | None], code: str) -> None:
    found = sorted_out(check(a_config(**changed))).wrong
    key = next(reversed(changed)).replace("__", ".")
    (one,) = [one for one in found if one.key in (key, "value.converter.schemas.enable")]
    assert one.code == code
    assert one.write
    assert "Geheim" not in one.said + one.write


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"decimal__handling__mode": "precise"}, "decimals: base64"),
        ({"binary__handling__mode": "hex"}, "binary: hex"),
        ({"key__converter__schemas__enable": None, "value__converter__schemas__enable": None}, "with_schema: true"),
        ({"unavailable__value__placeholder": "gone"}, "unavailable: 'gone'"),
        ({"message__key__columns": "public.orders:code"}, "record key"),
        ({"topic__creation__default__cleanup__policy": "compact"}, "tombstones: delete"),
    ],
    ids=str,
)
def test_what_a_pipeline_has_to_declare_is_told(changed: dict[str, str | None], words: str) -> None:
    checked = sorted_out(check(a_config(**changed)))
    assert checked.wrong == ()
    (one,) = checked.declare
    assert words in one.write


def test_rows_without_envelopes_need_what_tells_which_is_newer() -> None:
    changed: dict[str, str | None] = {"transforms": "route, un", "transforms__un__type": UNWRAP}
    changed["transforms__route__type"] = "org.apache.kafka.connect.transforms.RegexRouter"
    poor = a_config(**changed)
    assert codes(poor) == {
        "transforms.un.delete.tombstone.handling.mode": "CONNECTOR_UNREAD",
        "transforms.un.add.fields": "CONNECTOR_UNREAD",
    }
    said = {one.key: one.write for one in check(poor)}["transforms.un.add.fields"]
    assert "op,source.ts_ms,source.snapshot,source.sequence" in said
    rich = {"transforms.un.add.fields": "op, source.ts_ms,source.snapshot,source.sequence"}
    rich["transforms.un.delete.tombstone.handling.mode"] = "rewrite"
    checked = sorted_out(check({**poor, **rich}))
    assert (checked.wrong, [one.write for one in checked.declare]) == ((), ["A pipeline needs: unwrapped: true."])
    assert "transforms.un.add.fields.prefix" in codes({**poor, **rich, "transforms.un.add.fields.prefix": "m_"})


def a_file(folder: Path, content: object) -> Path:
    path = folder / "shop.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return path


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"a": 1, "a": 2}', '{"connector.class": null}', '{"config": {"tables": ["x"]}}'], ids=str
)
def test_a_file_that_holds_no_config_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(SpecError) as error:
        read_connector(a_file(tmp_path, content))
    assert [problem.code for problem in error.value.problems] == ["CONNECTOR_FILE"]


def test_a_config_stands_alone_or_with_a_name(tmp_path: Path) -> None:
    alone = read_connector(a_file(tmp_path, {"tasks.max": 1, "tombstones.on.delete": True}))
    assert (alone.name, alone.config) == ("shop", {"tasks.max": "1", "tombstones.on.delete": "true"})
    named = read_connector(a_file(tmp_path, {"name": "other", "config": {"name": "other", "tasks.max": "1"}}))
    assert (named.name, named.config) == ("other", {"tasks.max": "1"})


def freshet(*words: str) -> Result:
    return CliRunner().invoke(main, ["connector", "check", *words])


def test_the_command_names_each_problem_with_its_line(tmp_path: Path) -> None:
    file = a_file(tmp_path, a_config(snapshot__mode="never", slot__name=None))
    line = next(at for at, text in enumerate(file.read_text().splitlines(), 1) if "snapshot.mode" in text)
    result = freshet(str(file), "--output", "json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)["error"]["details"]["problems"]
    assert [(one["line"], one["code"]) for one in found] == [(0, "CONNECTOR_NEEDS"), (line, "CONNECTOR_LOSES")]
    assert '"snapshot.mode": "initial"' in found[1]["hint"]


def test_the_command_tells_what_to_declare_and_that_nobody_was_asked(tmp_path: Path) -> None:
    result = freshet(str(a_file(tmp_path, a_config(MARIADB))))
    assert result.exit_code == 0, result.output
    assert "no Kafka Connect was asked" in result.stdout
    assert "unsigned: true" in result.stdout


def test_a_kafka_connect_has_its_say(tmp_path: Path) -> None:
    config = a_config()
    file, kind = a_file(tmp_path, config), config["connector.class"]
    validate = f"PUT /connector-plugins/{kind}/config/validate"
    said = {"configs": [{"value": {"name": "database.user", "errors": ["password authentication failed"]}}]}
    answers = {"GET /connector-plugins": (200, [{"class": kind}]), validate: (200, said)}
    with a_connect(answers) as stub:
        refused = freshet(str(file), "--connect", stub.url)
        assert refused.exit_code == 3
        assert "CONNECTOR_INVALID: database.user: password authentication failed" in refused.stderr
        assert stub.asked[-1] == (validate, {**config, "name": "shop"})
        stub.answers[validate] = (200, {"configs": []})
        taken = freshet(str(file), "--connect", stub.url, "--output", "json")
        assert (taken.exit_code, json.loads(taken.stdout)["connect"]) == (0, stub.url)
        stub.answers["GET /connector-plugins"] = (200, [{"class": "io.debezium.other"}])
        lacking = freshet(str(file), "--connect", stub.url)
        assert lacking.exit_code == 3
        assert "CONNECTOR_UNKNOWN" in lacking.stderr
        assert "io.debezium.other" in lacking.stderr


@pytest.mark.parametrize("url", ["connect:8083", "http://me:secret@connect:8083", "ftp://connect"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    assert freshet(str(a_file(tmp_path, a_config())), "--connect", url).exit_code == 2
