"""Requests over a real socket: what HTTP itself asks of a server."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import pytest

from freshet.errors import FreshetError
from freshet.serve.access import Asked
from freshet.serve.api import Answer
from freshet.serve.http import Listener, listen


@pytest.fixture
def listener() -> Iterator[Listener]:
    def told(asked: Asked) -> Answer:
        return Answer(
            status=200, body=f"{asked.method} {asked.target} {asked.authorization}\n", headers={"X-Host": f"{asked.host}"}
        )

    found = listen("127.0.0.1", 0, told)
    yield found
    found.shutdown()
    found.server_close()


def ask(listener: Listener, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", listener.server_port, timeout=10)
    connection.request(method, path, body, headers)
    found = connection.getresponse()
    text = found.read().decode()
    assert found.headers["Cache-Control"] == "no-store"
    connection.close()
    return found.status, text


def test_a_request_and_its_answer(listener: Listener) -> None:
    assert ask(listener, "GET", "/a?b=c", Authorization="Bearer x") == (200, "GET /a?b=c Bearer x\n")
    assert ask(listener, "HEAD", "/a") == (200, "")
    assert ask(listener, "POST", "/a", "a body that nobody wants") == (200, "POST /a \n")
    assert ask(listener, "DELETE", "/a") == (200, "DELETE /a \n")


def test_one_connection_takes_several_requests(listener: Listener) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", listener.server_port, timeout=10)
    for path in ("/a", "/b"):
        connection.request("POST", path, "body")
        assert connection.getresponse().read().decode() == f"POST {path} \n"
    connection.close()


@pytest.mark.parametrize("head", ["Content-Length: many", "Transfer-Encoding: chunked", "Content-Length: 99999999"])
def test_a_body_that_cannot_be_skipped_ends_the_connection(listener: Listener, head: str) -> None:
    """Kind: an answer that comes before its call has ended; who still writes must be let, or it never reads the answer."""
    with socket.create_connection(("127.0.0.1", listener.server_port), timeout=10) as caller:
        caller.sendall(f"POST /a HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode() + b"x" * 70_000)
        said = b""
        while part := caller.recv(65_536):
            said += part
        assert b"Connection: close" in said
        for _ in range(3):
            caller.sendall(b"x" * 1_000)


@pytest.mark.parametrize(
    ("request_lines", "host"),
    [
        ("GET / HTTP/1.1\r\nHost: a.example:8340", "a.example:8340"),
        ("GET / HTTP/1.0\r\nHost: a.example", "a.example"),
        ("GET / HTTP/1.0", "None"),
        ("GET / HTTP/1.1\r\nX-Forwarded-Host: localhost", ""),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: a.example", ""),
        ("GET http://localhost/ HTTP/1.1\r\nHost: a.example", "a.example"),
    ],
)
def test_the_name_that_is_asked_is_that_of_the_header(listener: Listener, request_lines: str, host: str) -> None:
    """And who wants the connection to end after the answer, as all of HTTP/1.0 does, need not wait for it."""
    with socket.create_connection(("127.0.0.1", listener.server_port), timeout=10) as caller:
        ends = "Connection: close\r\n" if "1.1" in request_lines else ""
        caller.sendall(f"{request_lines}\r\n{ends}\r\n".encode())
        said = b""
        while part := caller.recv(65_536):
            said += part
    assert f"\r\nX-Host: {host}\r\n".encode() in said


def test_words_that_are_no_http_are_answered_and_harm_nobody(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.server_port), timeout=10) as caller:
        caller.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert b"400" in caller.recv(65_536)
    assert ask(listener, "GET", "/a")[0] == 200


def test_a_port_in_use_and_an_address_of_nobody(listener: Listener) -> None:
    with pytest.raises(FreshetError) as used:
        listen("127.0.0.1", listener.server_port, listener.answering)
    assert used.value.code == "PORT_IN_USE"
    assert str(listener.server_port) in used.value.message
    with pytest.raises(FreshetError) as foreign:
        listen("192.0.2.1", 0, listener.answering)
    assert foreign.value.code == "ADDRESS_NOT_USABLE"
    with pytest.raises(FreshetError) as unknown:
        listen("no such host.invalid", 0, listener.answering)
    assert unknown.value.code == "ADDRESS_NOT_USABLE"
