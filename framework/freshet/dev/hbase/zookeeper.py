"""As much of a ZooKeeper client as looking at an HBase needs, without a JVM.

The frames are those of ZooKeeper's ``zookeeper.jute``, unchanged since 3.4.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SESSION_MS: Final = 10_000
_DELETE, _EXISTS, _GET_CHILDREN, _CLOSE = 2, 3, 8, -11
_ANY_VERSION = -1
_TIMEOUT_SECONDS = 2.0


class ZooKeeper:
    """An open session; ``connect`` makes one."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sent = 0

    def children(self, node: str) -> tuple[str, ...]:
        """List a node's children by name, sorted; none where there is no such node."""
        answer = self._ask(_GET_CHILDREN, _text(node) + b"\0")
        if answer is None:
            return ()
        (count,) = struct.unpack_from(">i", answer)
        names, offset = [], 4
        for _ in range(count):
            (length,) = struct.unpack_from(">i", answer, offset)
            names.append(answer[offset + 4 : offset + 4 + length].decode())
            offset += 4 + length
        return tuple(sorted(names))

    def created_ms(self, node: str) -> int | None:
        """Return when a node was made, in milliseconds since 1970; None where there is no such node."""
        answer = self._ask(_EXISTS, _text(node) + b"\0")
        if answer is None:
            return None
        _, _, created = struct.unpack_from(">qqq", answer)
        return int(created)

    def delete(self, node: str) -> None:
        """Delete a node without children; one that is not there is no error."""
        self._ask(_DELETE, _text(node) + struct.pack(">i", _ANY_VERSION))

    def open(self) -> None:
        """Begin the session."""
        version, last_seen, session, password, read_only = 0, 0, 0, bytes(16), False
        self._send(struct.pack(">iqiqi16s?", version, last_seen, _SESSION_MS, session, len(password), password, read_only))
        self._receive()

    def close(self) -> None:
        """End the session, which the server would otherwise remember until it expires."""
        self._ask(_CLOSE, b"")

    def _ask(self, kind: int, body: bytes) -> bytes | None:
        self._sent += 1
        self._send(struct.pack(">ii", self._sent, kind) + body)
        answer = self._receive()
        _, _, error = struct.unpack_from(">iqi", answer)
        return None if error else answer[16:]

    def _send(self, frame: bytes) -> None:
        self._connection.sendall(struct.pack(">i", len(frame)) + frame)

    def _receive(self) -> bytes:
        (length,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            part = self._connection.recv(count - len(content))
            if not part:
                raise ConnectionError("ZooKeeper closed the connection")
            content += part
        return content


@contextmanager
def connect(port: int) -> Iterator[ZooKeeper]:
    """Yield a session with the ZooKeeper on this port of 127.0.0.1.

    Raises:
        OSError: Nothing answers there within two seconds, or no ZooKeeper.
    """
    with socket.create_connection(("127.0.0.1", port), _TIMEOUT_SECONDS) as connection:
        zookeeper = ZooKeeper(connection)
        try:
            zookeeper.open()
            yield zookeeper
            zookeeper.close()
        except (struct.error, UnicodeDecodeError) as error:
            raise ConnectionError(f"no ZooKeeper answers on port {port}") from error


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack(">i", len(content)) + content
