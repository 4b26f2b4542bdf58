"""Questions to Kafka Connect, of a stub in its place."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from freshet.connect.rest import Connect
from freshet.errors import FreshetError, RetryableError
from tests.kit.connect import Answer, a_connect

VALIDATE = "PUT /connector-plugins/io.debezium.X/config/validate"
CONFIG = {"connector.class": "io.debezium.X", "database.password": "${env:SHOP_PASSWORD}"}


def a_free_address() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_where_nobody_listens_what_is_asked_may_be_repeated() -> None:
    nobody = Connect(a_free_address())
    with pytest.raises(RetryableError) as error:
        nobody.plugins()
    assert error.value.code == "CONNECT_UNREACHABLE"


def test_what_it_says_of_a_config_comes_without_values() -> None:
    told = {
        "error_count": 2,
        "configs": [
            {"value": {"name": "slot.name", "value": "a b", "errors": ["Value is not a slot's name"]}},
            {"value": {"name": "database.password", "value": "hidden", "errors": []}},
            {"value": {"name": "database.hostname", "value": "db", "errors": ["no such host\n\tat java.net.X(X.java:1)"]}},
        ],
    }
    with a_connect({VALIDATE: (200, told)}) as stub:
        assert Connect(stub.url).complaints(CONFIG) == {
            "slot.name": ("Value is not a slot's name",),
            "database.hostname": ("no such host",),
        }
        assert stub.asked == [(VALIDATE, CONFIG)]


def test_which_connectors_it_has() -> None:
    told = [{"class": "io.debezium.X", "type": "source", "version": "3.6.1.Final"}]
    with a_connect({"GET /connector-plugins": (200, told)}) as stub:
        assert Connect(stub.url).plugins() == {"io.debezium.X": "3.6.1.Final"}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((409, {"error_code": 409, "message": "Cannot complete request momentarily due to rebalance"}), "CONNECT_UNREACHABLE"),
        ((500, {"error_code": 500, "message": "Failed to find any class"}), "CONNECT_ANSWER"),
        ((200, b"<html>"), "CONNECT_ANSWER"),
        ((200, 7), "CONNECT_ANSWER"),
    ],
)
@pytest.mark.parametrize(
    ("path", "ask"),
    [
        ("GET /connector-plugins", Connect.plugins),
        (VALIDATE, lambda connect: connect.complaints(CONFIG)),
    ],
)
def test_another_answer_is_an_error(path: str, ask: Callable[[Connect], object], answer: Answer, code: str) -> None:
    with a_connect({path: answer}) as stub, pytest.raises(FreshetError) as error:
        ask(Connect(stub.url))
    assert error.value.code == code
    assert stub.url in error.value.message
