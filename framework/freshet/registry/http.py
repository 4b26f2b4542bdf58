"""Questions to a schema registry over HTTP: bounded in time and size, and without a word of its credentials in any error."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.registry.address import Address

#: The code by which a registry says that a subject, a version or a schema is not there.
NOT_THERE = (40401, 40402, 40403)
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_MOST_BYTES = 8 << 20
_PIECE = 1 << 16
_UNTOUCHED = "Nothing was read or written."


@dataclass(frozen=True)
class Absent:
    """What a registry answers about what it does not have.

    Args:
        code: One of NOT_THERE.
    """

    code: int


def ask(address: Address, path: str, body: object = None) -> Any | Absent:
    """Ask a registry.

    Args:
        address: Where it is.
        path: The path of its interface, escaped.
        body: What is posted; None for a question.

    Returns:
        The answer, or Absent where the registry does not have what is asked for.

    Raises:
        RetryableError: REGISTRY_UNREACHABLE.
        StateError: REGISTRY_REFUSED.
        FreshetError: REGISTRY_ANSWER.
    """
    deadline = time.monotonic() + address.timeout_seconds
    reasons = []
    for url in address.urls:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            return _told(url, *_in_time(partial(_answer, address, url + path, body, deadline), deadline))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            reasons.append(f"{url}: {getattr(reason, 'strerror', None) or reason}")
    raise RetryableError(
        "REGISTRY_UNREACHABLE",
        f"the schema registry does not answer within {address.timeout_seconds:g} s: {'; '.join(reasons)}.",
        _UNTOUCHED,
        "Repeat the command when it is up, or correct its address.",
        urls=list(address.urls),
    )


def _in_time(question: Callable[[], tuple[int, bytes]], deadline: float) -> tuple[int, bytes]:
    # A time-out of the socket bounds neither the look-up of a name nor headers that come byte by byte.
    told: list[tuple[int, bytes] | BaseException] = []

    def run() -> None:
        try:
            told.append(question())
        except BaseException as error:
            told.append(error)

    thread = threading.Thread(target=run, name="registry", daemon=True)
    thread.start()
    thread.join(max(deadline - time.monotonic(), 0.0))
    if not told:
        raise TimeoutError("no answer in time")
    if isinstance(told[0], BaseException):
        raise told[0]
    return told[0]


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the credentials are for the server that was named."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _answer(address: Address, url: str, body: object, deadline: float) -> tuple[int, bytes]:
    handlers: Sequence[Any] = (_Stay(), urllib.request.HTTPSHandler(context=ssl.create_default_context()))
    opener = urllib.request.build_opener(*handlers)
    headers = {"Accept": _ACCEPT}
    if address.user:
        pair = base64.b64encode(f"{address.user}:{address.password}".encode()).decode("ascii")
        headers["Authorization"] = f"Basic {pair}"
    data = None
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/vnd.schemaregistry.v1+json"
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with opener.open(request, timeout=max(deadline - time.monotonic(), 0.001)) as response:
            return response.status, _read(response, deadline)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _read(error, deadline)


def _read(response: Any, deadline: float) -> bytes:
    found = bytearray()
    # One piece as it arrives: a server that sends a byte every few seconds would hold up a read of them all.
    while piece := response.read1(_PIECE):
        found += piece
        if len(found) > _MOST_BYTES or time.monotonic() > deadline:
            raise TimeoutError("its answer does not end" if len(found) <= _MOST_BYTES else "its answer is too long")
    return bytes(found)


def _told(url: str, status: int, content: bytes) -> Any | Absent:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = None
    code = answer.get("error_code") if isinstance(answer, dict) else None
    if status == 404 and code in NOT_THERE:
        return Absent(code)
    if status in (401, 403):
        raise StateError(
            "REGISTRY_REFUSED",
            f"the schema registry at {url} refuses these credentials ({status}).",
            _UNTOUCHED,
            "Correct user and password, or ask for the right to read its schemas.",
            url=url,
        )
    if status in (429, 502, 503, 504):
        raise ConnectionError(f"it answers {status}")
    if status != 200 or answer is None:
        said = answer.get("message") if isinstance(answer, dict) else None
        raise wrong_answer(url, f"it answers {status}" + (f": {said}" if isinstance(said, str) else ", which is no JSON"))
    return answer


def wrong_answer(url: str, what: str) -> FreshetError:
    """Return the error that a server does not answer as a schema registry does."""
    return FreshetError(
        "REGISTRY_ANSWER",
        f"what is at {url} does not answer as a schema registry: {what}.",
        _UNTOUCHED,
        "See that the address is that of the registry's REST interface.",
        url=url,
    )
