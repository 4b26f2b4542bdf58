"""Free ports of this machine."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Collection

from freshet.dev.kept import Place
from freshet.errors import FreshetError

HOST = "127.0.0.1"
# Below the ports that outgoing connections are given (Linux from 32768, macOS from 49152), so that none of them takes a
# port between two starts.
PORTS = range(20_000, 32_000)
_POLL_SECONDS = 0.1
_PORT_SECONDS = 5.0


def free_port(place: Place, taken: Collection[int] = ()) -> int:
    """Return a free port.

    Args:
        place: The server that it is for.
        taken: Ports that somebody is about to use.

    Raises:
        FreshetError: That of a hundred ports none is free.
    """
    found = next((port for port in random.sample(PORTS, 100) if port not in taken and is_free(port)), None)
    if found is not None:
        return found
    raise FreshetError(
        place.server.port_taken,
        f"a hundred ports of {HOST} between {PORTS.start} and {PORTS.stop} are taken.",
        "Nothing was started.",
        "Look who listens on them: ss -ltnp",
    )


def refuse_taken(place: Place, port: int, remedy: str) -> None:
    """Wait a moment for a port to be free.

    Args:
        place: The server that it is for.
        port: The port.
        remedy: What to do where it is not.

    Raises:
        FreshetError: That another program listens there.
    """
    # A killed process is gone before the kernel has closed all of its sockets.
    deadline = time.monotonic() + _PORT_SECONDS
    while not is_free(port) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if not is_free(port):
        raise FreshetError(
            place.server.port_taken,
            f"another program listens on port {port} of {HOST}, the port of the {place.server.name} in {place.directory}.",
            "Nothing was started.",
            remedy,
            port=port,
        )


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
