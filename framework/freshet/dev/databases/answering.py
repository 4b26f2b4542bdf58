"""Whether a database serves on a port of this machine, asked by the first bytes of its protocol: no driver is needed."""

from __future__ import annotations

import socket
import struct

from freshet.dev.ports import HOST

_SECONDS = 2.0
_PROTOCOL_3 = 196_608


def postgres_answers(port: int, user: str, database: str) -> bool:
    """Say whether PostgreSQL lets a user in; one that still recovers answers by an error.

    Args:
        port: Its port.
        user, database: Both are there, and no password is asked for.
    """
    words = b"".join(f"{word}\0".encode() for word in ("user", user, "database", database)) + b"\0"
    packet = struct.pack(">ii", 8 + len(words), _PROTOCOL_3) + words
    # An authentication that is done: R, its length, and zero.
    return _asked(port, packet, 9) == b"R" + struct.pack(">ii", 8, 0)


def mariadb_answers(port: int) -> bool:
    """Say whether MariaDB greets: three bytes of length, a number, and the protocol's version; an error has 255 there."""
    return _asked(port, b"", 5)[4:] == b"\x0a"


def _asked(port: int, packet: bytes, wanted: int) -> bytes:
    parts = b""
    try:
        with socket.create_connection((HOST, port), _SECONDS) as found:
            found.sendall(packet)
            while len(parts) < wanted and (part := found.recv(wanted - len(parts))):
                parts += part
    except OSError:
        return b""
    return parts
