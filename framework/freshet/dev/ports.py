"""Free ports of this machine."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

HOST = "127.0.0.1"
# Below the ports that outgoing connections are given (Linux from 32768, macOS from 49152), so that none of them takes a
# port between two starts.
PORTS = range(20_000, 32_000)


def find_free_port(taken: Collection[int] = ()) -> int | None:
    """Return a free port; None where of a hundred none is.

    Args:
        taken: Ports that somebody is about to use.
    """
    return next((port for port in random.sample(PORTS, 100) if port not in taken and is_free(port)), None)


def is_free(port: int) -> bool:
    """Say whether nobody listens on a port."""
    with socket.socket() as found:
        # As servers do: connections of the last process that still end do not count.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, port))
        except OSError:
            return False
        return True
