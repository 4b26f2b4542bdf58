"""One request over HTTP: in bounded time, with the user of the URL as a header, and errors that name no secret."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from email.message import Message
from typing import IO
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

_SHOWN_ANSWER = 200


class _Stays(HTTPRedirectHandler):
    """Goes nowhere else: the headers hold keys, and would go with it."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        return None


def host_of(url: str) -> str:
    """Return the host and port of a URL, without who asks it and what."""
    return urlsplit(url).netloc.rpartition("@")[2]


def send(url: str, method: str, body: bytes, headers: Mapping[str, str], seconds: float) -> None:
    """Send a body, and look at no more of the answer than whether it was taken.

    Args:
        url: http or https; a user and password in it become a header.
        method: ``POST`` or ``PUT``.
        body, headers: What is sent.
        seconds: How long each step may take.

    Raises:
        OSError: It was not taken; with the first line of the answer.
    """
    parts = urlsplit(url)
    user, _, address = parts.netloc.rpartition("@")
    sent = dict(headers)
    if user:
        sent["Authorization"] = f"Basic {b64encode(unquote(user).encode()).decode()}"
    request = Request(urlunsplit(parts._replace(netloc=address)), data=body, headers=sent, method=method)
    try:
        # The shape of the files lets nothing but http and https pass.
        with build_opener(_Stays).open(request, timeout=seconds) as answer:
            answer.read(_SHOWN_ANSWER)
    except HTTPError as error:
        said = error.read(_SHOWN_ANSWER).decode("utf-8", "replace").strip().split("\n")[0]
        raise OSError(f"it answered {error.code}{f': {said}' if said else ''}") from error
