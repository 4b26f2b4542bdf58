"""What a command asks of a process that serves, with its token: one call over HTTP, and its answer or its error."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import click

from freshet.errors import FreshetError, RetryableError, StateError, foreign_text

# The process plans what it is asked for before it answers.
_SECONDS = 120.0
_LONGEST_ANSWER = 10_000_000
_UNKNOWN = "Whether it was taken is not known."


def checked_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the address of a process that serves, without a slash at its end; for an option of click's."""
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or "@" in parts.netloc or parts.query or parts.fragment:
        raise click.BadParameter("an address is such as http://127.0.0.1:8340, and names nobody.")
    return value.rstrip("/")


def call_server(address: str, token: str, what: str, pipeline: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Ask a process that serves for something, and return what it answers.

    Args:
        address: As ``checked_address`` returns it.
        token: The process's own.
        what: ``backfill`` or another of its calls.
        pipeline: The pipeline's name.
        query: The words of the call.

    Raises:
        FreshetError: SERVE_TOKEN_MISSING.
        StateError: SERVE_DECLINED: it would be declined again.
        RetryableError: SERVE_DECLINED, or SERVE_UNREACHABLE.
    """
    if not token:
        raise FreshetError(
            "SERVE_TOKEN_MISSING",
            f"{address} takes this from who has its token.",
            "Nothing was asked.",
            "Put it into FRESHET_SERVE_TOKEN, or name the file that holds it: --token-file FILE.",
        )
    parts = urlsplit(address)
    target = f"{parts.path}/api/{what}/{quote(pipeline, safe='')}?{urlencode(query)}"
    try:
        status, text = _asked(parts.scheme, parts.hostname or "", parts.port, target, token)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise _unreachable(address, foreign_text(error)) from error
    answer = _read(text)
    failed = answer.get("error") if answer is not None else None
    if isinstance(failed, dict) and all(isinstance(failed.get(key), str) for key in ("code", "message", "effect", "next")):
        declined = RetryableError if status == 503 else StateError
        raise declined(
            "SERVE_DECLINED",
            f"{address} declines it: {failed['code']}: {failed['message']}",
            failed["effect"],
            failed["next"],
            error=failed,
        )
    if status != 202 or answer is None:
        raise _unreachable(address, f"it answered {status}, and not as freshet serve does")
    return answer


def _read(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _asked(scheme: str, host: str, port: int | None, target: str, token: str) -> tuple[int, str]:
    # Nothing follows where an answer leads elsewhere: the token would go with it.
    if scheme == "https":
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=_SECONDS, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("POST", target, headers={"Authorization": f"Bearer {token}", "Content-Length": "0"})
        answer = connection.getresponse()
        return answer.status, answer.read(_LONGEST_ANSWER).decode("utf-8", "replace")
    finally:
        connection.close()


def _unreachable(address: str, said: str) -> RetryableError:
    advice = "See that freshet serve listens there, and send it again: what goes on already is not begun twice."
    return RetryableError("SERVE_UNREACHABLE", f"{address}: {said}.", _UNKNOWN, advice)
