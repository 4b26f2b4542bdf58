"""Listen for requests, by the standard library: a few small answers for collectors, probes and people of one machine."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from freshet.errors import FreshetError
from freshet.serve.access import Asked
from freshet.serve.api import Answer

#: Answers a request.
Answering = Callable[[Asked], Answer]
# Of a caller that sends nothing, or reads nothing.
_PATIENCE_SECONDS = 10.0
# No call carries a body; what comes is read so that the answer can be.
_LONGEST_BODY = 65_536
# To close on a caller that still writes takes the answer away from it: RFC 9112, section 9.6.
_LAST_WORDS = 1_048_576


class Listener(ThreadingHTTPServer):
    """Answers requests in threads of its own.

    Args:
        host: The address to listen on.
        port: The port; 0 for any that is free.
        answering: Answers a request.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, answering: Answering) -> None:
        self.answering = answering
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind the socket, without asking the network for this machine's name."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def shutdown_request(self, request: Any) -> None:
        """Say that no more comes, and read what is still on its way before the connection is closed."""
        with suppress(OSError):
            request.shutdown(socket.SHUT_WR)
            left, until = _LAST_WORDS, time.monotonic() + _PATIENCE_SECONDS
            while left > 0 and (seconds := until - time.monotonic()) > 0:
                request.settimeout(seconds)
                if not (part := request.recv(65_536)):
                    break
                left -= len(part)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave it: a caller that hangs up is none of the process's troubles."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE_SECONDS
    server_version, sys_version = "freshet", ""
    server: Listener

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_GET

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isascii() or not length.isdecimal():
            self.close_connection = True
        else:
            # What is left of a long one would be taken for the next request.
            self.close_connection = self.close_connection or int(length[:9]) > _LONGEST_BODY
            self.rfile.read(min(int(length[:9]), _LONGEST_BODY))
        found = self.server.answering(
            Asked(
                method="GET" if self.command == "HEAD" else self.command,
                target=self.path,
                authorization=self.headers.get("Authorization", ""),
                host=self._host(),
                accept=",".join(self.headers.get_all("Accept", [])),
            )
        )
        body = found.body.encode()
        self.send_response(found.status)
        for name, value in {
            "Content-Type": found.kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(found.headers or {}),
            **({"Connection": "close"} if self.close_connection else {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _host(self) -> str | None:
        hosts = self.headers.get_all("Host", [])
        if not hosts and self.request_version != "HTTP/1.1":
            return None
        # Of several, some would be read by one and some by another: RFC 9112, section 3.2.
        return hosts[0] if len(hosts) == 1 else ""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: probes come every few seconds."""


def listen(host: str, port: int, answering: Answering) -> Listener:
    """Listen, and answer from now on.

    Args:
        host: The address.
        port: The port; 0 for any that is free.
        answering: Answers a request.

    Raises:
        FreshetError: PORT_IN_USE or ADDRESS_NOT_USABLE.
    """
    try:
        listener = Listener(host, port, answering)
    except OSError as error:
        raise _refused(host, port, error) from error
    threading.Thread(target=listener.serve_forever, name="http", daemon=True).start()
    return listener


def _refused(host: str, port: int, error: OSError) -> FreshetError:
    nothing = "Nothing was read or written."
    if error.errno == errno.EADDRINUSE:
        return FreshetError(
            "PORT_IN_USE",
            f"another process listens on {host}, port {port}.",
            nothing,
            "Name another one by --port, or stop that process; perhaps it is another freshet serve.",
        )
    said = error.strerror or str(error)
    advice = "Name an address of this machine by --host, and a port above 1023 by --port."
    return FreshetError("ADDRESS_NOT_USABLE", f"nobody can listen on {host}, port {port}: {said}.", nothing, advice)
