"""A stub of Kafka Connect's REST interface, without a JVM: it says what it is told to, and notes what it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: A status and a body, which is JSON unless it is bytes.
Answer = tuple[int, Any]


class Stub:
    """What is asked of it, and what it says.

    Args:
        url: Its address.
        answers: By method and path.
    """

    def __init__(self, url: str, answers: Mapping[str, Answer]) -> None:
        self.url = url
        self.answers = dict(answers)
        self.asked: list[tuple[str, Any]] = []


@contextmanager
def a_connect(answers: Mapping[str, Answer]) -> Iterator[Stub]:
    """Answer on a free port of this machine, by what is asked, such as ``GET /health``."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = f"{self.command} {self.path}"
            stub.asked.append((asked, json.loads(sent) if sent else None))
            status, body = stub.answers.get(asked, (404, {"error_code": 404, "message": "HTTP 404 Not Found"}))
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = _serve

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stub = Stub(f"http://127.0.0.1:{server.server_address[1]}", answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
            thread.join()
