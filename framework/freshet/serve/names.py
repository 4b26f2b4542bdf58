"""By which names the process may be asked. Pure.

A page of another site may let its own name lead to this machine ("DNS rebinding"): a browser then lets it read all that the
process answers. The header ``Host`` tells it, because it holds the other site's name. An address cannot be made to lead
anywhere else, so each one is taken: probes and collectors ask a pod by its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

_PORT = re.compile(r":[0-9]{0,5}\Z")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")


def plain_name(text: str) -> str | None:
    """Return a name or an address of a machine in the one form in which it is compared; None where it is neither.

    Args:
        text: Such as ``lake.example.com``, ``10.0.0.7`` or ``[::1]``, without a port.
    """
    name = text.strip().lower()
    if is_address(name):
        return name
    name = name.removesuffix(".")
    return name if _NAME.match(name) else None


def is_address(text: str) -> bool:
    """Say whether a text is an address, and no name: IPv6 with brackets around it or without."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return ip_address(bare).version == 6 or bare == text
    except ValueError:
        return False


def own_names(bound: str, allowed: Iterable[str] = ()) -> frozenset[str]:
    """Return the names by which the process may be asked.

    Args:
        bound: What it listens on: a name or an address of this machine.
        allowed: Further names, such as one under which a reverse proxy passes requests on.
    """
    given = (plain_name(one) for one in ("localhost", bound, *allowed))
    return frozenset(one for one in given if one is not None)


def name_asked(host: str) -> str | None:
    """Return the name or address in a header ``Host``, without its port; None where it holds none.

    The port is whatever the caller sees: a port may be passed on from another one.
    """
    return plain_name(_PORT.sub("", host.strip()) if not is_address(host.strip()) else host)


def may_be_asked(name: str, names: frozenset[str]) -> bool:
    """Say whether the process answers to a name or an address, both as ``plain_name`` gives them."""
    return name in names or is_address(name)
