"""A stub of a schema registry: the parts of its REST interface that producers and freshet use, on 127.0.0.1.

It is no registry. It checks no schema and no compatibility, asks nobody for a password unless it is told to, and keeps all it
has in one file. ``python -m freshet.dev.registry.stub DIRECTORY PORT`` runs it.
"""

from __future__ import annotations

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from freshet.dev.ports import HOST
from freshet.dev.registry.store import Store

SCHEMAS = "schemas.json"
_Answer = tuple[int, Any]
_NO_SUBJECT: _Answer = (404, {"error_code": 40401, "message": "Subject not found."})
_NO_VERSION: _Answer = (404, {"error_code": 40402, "message": "Version not found."})
_NO_SCHEMA: _Answer = (404, {"error_code": 40403, "message": "Schema not found"})
_NOTHING: _Answer = (404, {"error_code": 404, "message": "This stub of a schema registry does not know this path."})
_NO_JSON: _Answer = (422, {"error_code": 42201, "message": "The request is no JSON with a schema."})
_MOST_BYTES = 8 << 20


class Stub(ThreadingHTTPServer):
    """The server.

    Args:
        store: What it has.
        port: Its port; 0 for a free one.
        credentials: ``user:password`` that a request needs; empty where none is needed.
    """

    daemon_threads = True

    def __init__(self, store: Store, port: int = 0, credentials: str = "") -> None:
        self.store = store
        self.expected = f"Basic {base64.b64encode(credentials.encode()).decode()}" if credentials else ""
        #: Paths that were asked for, in order.
        self.asked: list[str] = []
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Stub
    timeout = 10

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(self._body())

    do_PUT = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        # The log is for what goes wrong.
        return

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        try:
            return json.loads(self.rfile.read(min(int(length), _MOST_BYTES)))
        except ValueError:
            return {}

    def _answer(self, body: Any) -> None:
        self.server.asked.append(self.path)
        if self.server.expected and self.headers.get("Authorization") != self.server.expected:
            status, content = 401, {"error_code": 401, "message": "Unauthorized"}
        else:
            parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
            status, content = answer(self.server.store, self.command, parts, body)
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def answer(store: Store, method: str, parts: list[str], body: Any) -> _Answer:
    """Return what the stub answers.

    Args:
        store: What it has.
        method: The request's method.
        parts: The parts of its path.
        body: What came with it.

    Returns:
        The status, and what is sent as JSON.
    """
    match method, parts:
        case "GET", ["subjects"]:
            return 200, store.subjects()
        case "GET", ["subjects", subject, "versions"]:
            found = store.versions(subject)
            return (200, found) if found is not None else _NO_SUBJECT
        case "GET", ["subjects", subject, "versions", version]:
            told = store.version(subject, version)
            return (200, told) if told is not None else _NO_SUBJECT if store.versions(subject) is None else _NO_VERSION
        case "POST", ["subjects", subject, "versions"]:
            if not isinstance(body, dict) or not isinstance(body.get("schema"), str):
                return _NO_JSON
            number = store.register(subject, body)
            return 200, {"id": number, "guid": store.guid(number)}
        case "GET", ["schemas", "ids", number]:
            schema = store.by_id(int(number)) if number.isdecimal() else None
            return (200, schema) if schema is not None else _NO_SCHEMA
        case "GET" | "PUT", ["config", *rest] if len(rest) < 2:
            return _config(store, method, rest[0] if rest else "", body)
        case "GET", [""]:
            return 200, {}
    return _NOTHING


def _config(store: Store, method: str, subject: str, body: Any) -> _Answer:
    if method == "PUT":
        level = body.get("compatibility") if isinstance(body, dict) else None
        if not isinstance(level, str):
            return _NO_JSON
        store.set_level(subject, level)
        return 200, {"compatibility": level}
    return 200, {"compatibilityLevel": store.level(subject) or store.level("")}


if __name__ == "__main__":
    with Stub(Store(Path(sys.argv[1]) / SCHEMAS), int(sys.argv[2])) as _server:
        _server.serve_forever()
