"""The client of a schema registry, against the stub and against servers that misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from freshet.dev.registry.store import Store
from freshet.dev.registry.stub import Stub
from freshet.errors import DataError, FreshetError, RetryableError, StateError
from freshet.registry.address import address_of, subject_of
from freshet.registry.client import Registry
from freshet.registry.http import ask
from freshet.secrets import redact
from tests.kit.registry import register, serving

V1 = {"type": "record", "name": "Trip", "fields": [{"name": "id", "type": "long"}]}


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub(Store(None))) as found:
        yield found


def registry(url: str, **more: float) -> Registry:
    return Registry(address_of(url, **more))  # type: ignore[arg-type]


def code_of(call: Callable[[], object], kind: type[FreshetError]) -> str:
    with pytest.raises(kind) as error:
        call()
    return error.value.code


def test_all_versions_of_a_subject_are_told_each_once(stub: Stub) -> None:
    later = {**V1, "fields": [*V1["fields"], {"name": "city", "type": "string"}]}  # type: ignore[misc]
    ids = [register(stub.url, "trips-value", one) for one in (V1, later)]
    register(stub.url, "other-value", '"string"')
    found = registry(stub.url)
    assert [one.id for one in found.versions("trips-value")] == ids
    assert "city" in found.versions("trips-value")[1].text
    assert stub.asked.count("/subjects/trips-value/versions/2?deleted=true") == 1
    assert code_of(lambda: found.versions("gone-value"), StateError) == "REGISTRY_SUBJECT_UNKNOWN"


def test_a_schema_is_asked_for_once_by_its_id(stub: Stub) -> None:
    number = register(stub.url, "trips-value", V1)
    found = registry(stub.url)
    del stub.asked[:]
    assert json.loads(found.schema(number).text)["name"] == "Trip"
    assert found.schemas([number, number, 99])[99] is None
    assert found.schemas([number, 99])[number] == found.schema(number)
    assert stub.asked == [f"/schemas/ids/{number}", "/schemas/ids/99"]


def test_what_can_be_no_id_is_unknown_and_not_asked_for(stub: Stub) -> None:
    assert registry(stub.url).schemas([0, -1, 1 << 31, 4294967295]) == dict.fromkeys((0, -1, 1 << 31, 4294967295))
    assert stub.asked == []


def test_an_unknown_id_and_an_unknown_subject_have_codes(stub: Stub) -> None:
    assert code_of(lambda: registry(stub.url).schema(7), DataError) == "REGISTRY_ID_UNKNOWN"
    assert code_of(lambda: registry(stub.url).latest("nope"), StateError) == "REGISTRY_SUBJECT_UNKNOWN"


def test_the_newest_schema_of_a_subject_and_its_level(stub: Stub) -> None:
    found = registry(stub.url)
    register(stub.url, "a%2Fb-value", V1)
    second = register(stub.url, "a%2Fb-value", {**V1, "fields": [*V1["fields"], {"name": "x", "type": "int", "default": 0}]})  # type: ignore[misc]
    assert found.latest("a/b-value").id == second
    assert found.compatibility("a/b-value") == "NONE"


def test_schemas_come_with_what_they_refer_to(stub: Stub) -> None:
    register(
        stub.url, "city", {"type": "record", "name": "City", "namespace": "geo", "fields": [{"name": "n", "type": "string"}]}
    )
    stop = {"type": "record", "name": "Stop", "namespace": "geo", "fields": [{"name": "in", "type": "City"}]}
    register(stub.url, "stop", stop, references=[{"name": "geo.City", "subject": "city", "version": 1}])
    trip = {
        "type": "record",
        "name": "Trip",
        "fields": [{"name": "a", "type": "geo.Stop"}, {"name": "b", "type": ["null", "geo.City"]}],
    }
    both = [{"name": "geo.Stop", "subject": "stop", "version": 1}, {"name": "geo.City", "subject": "city", "version": 1}]
    text = registry(stub.url).schema(register(stub.url, "trips-value", trip, references=both)).text
    assert text.count('"fields"') == 3
    assert json.loads(text)["fields"][1]["type"] == ["null", "geo.City"]


def test_schemas_that_refer_to_each_other_or_to_nothing_are_refused(stub: Stub) -> None:
    register(stub.url, "a", "string", references=[{"name": "b", "subject": "b", "version": 1}])
    register(stub.url, "b", "string", references=[{"name": "a", "subject": "a", "version": 1}])
    assert code_of(lambda: registry(stub.url).latest("a"), FreshetError) == "REGISTRY_ANSWER"
    register(stub.url, "c", "string", references=[{"name": "d", "subject": "nope", "version": 1}])
    assert code_of(lambda: registry(stub.url).latest("c"), FreshetError) == "REGISTRY_ANSWER"
    register(stub.url, "e", {**V1, "fields": [{"name": "x", "type": "Nowhere"}]})
    assert code_of(lambda: registry(stub.url).latest("e"), FreshetError) == "REGISTRY_ANSWER"


def test_credentials_are_asked_for_and_told_to_nobody() -> None:
    with serving(Stub(Store(None), credentials="ann:hunter2secret")) as stub:
        assert code_of(lambda: registry(stub.url).latest("x"), StateError) == "REGISTRY_REFUSED"
        inside = stub.url.replace("://", "://ann:hunter2secret@")
        address = address_of(inside)
        assert ask(address, "/subjects") == []
        assert ask(address_of(stub.url, "ann:hunter2secret"), "/subjects") == []
        assert "hunter2" not in f"{address}{address!r}"
        assert redact("hunter2secret") != "hunter2secret"
        with pytest.raises(StateError) as error:
            ask(address_of(inside.replace("ann", "bob")), "/subjects")
        assert "hunter2" not in str(error.value) + json.dumps(error.value.as_json())


def test_the_next_server_is_asked_where_one_is_gone(stub: Stub) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        assert ask(address_of(f"{gone}, {stub.url}"), "/subjects") == []
        assert code_of(lambda: ask(address_of(gone), "/subjects"), RetryableError) == "REGISTRY_UNREACHABLE"


@contextmanager
def talking(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve one connection by hand; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(10)


def _reply(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (_reply("200 OK", b"<html>"), "REGISTRY_ANSWER"),
        (_reply("200 OK", b"[]"), "REGISTRY_ANSWER"),
        (_reply("404 Not Found", b"{}"), "REGISTRY_ANSWER"),
        (_reply("302 Found", b"", "Location: http://127.0.0.1:1/"), "REGISTRY_ANSWER"),
        (_reply("403 Forbidden", b"{}"), "REGISTRY_REFUSED"),
        (_reply("503 Service Unavailable", b""), "REGISTRY_UNREACHABLE"),
        (b"no HTTP at all\r\n\r\n", "REGISTRY_UNREACHABLE"),
    ],
)
def test_what_a_server_answers_that_is_none_has_a_code(reply: bytes, code: str) -> None:
    with talking(lambda connection: connection.sendall(reply)) as url:
        assert code_of(lambda: registry(url).schema(1), FreshetError) == code


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_an_answer_that_does_not_end_is_given_up(begin: bytes) -> None:
    ended = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(begin)
        while not ended.wait(0.02):
            try:
                connection.sendall(b" ")
            except OSError:
                return

    with talking(drip) as url:
        try:
            assert code_of(lambda: registry(url, timeout_seconds=0.3).schema(1), RetryableError) == "REGISTRY_UNREACHABLE"
        finally:
            ended.set()


@pytest.mark.parametrize("text", ["", " , ", "registry:8081", "ftp://x", "http://", "http://x?a=b", "http://x:port"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert code_of(lambda: address_of(text), StateError) == "REGISTRY_ADDRESS"


def test_subjects_by_strategy() -> None:
    assert subject_of("topic", "trips", "value") == "trips-value"
    assert subject_of("record", "trips", "value", "x.Trip") == "x.Trip"
    assert subject_of("topic_record", "trips", "key", "x.Trip") == "trips-x.Trip"
    with pytest.raises(ValueError, match="full name"):
        subject_of("record", "trips", "value")
