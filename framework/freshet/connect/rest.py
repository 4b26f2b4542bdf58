"""Questions to Kafka Connect over its REST interface: bounded in time and size; no error has a value of a config."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from freshet.errors import FreshetError, RetryableError, cut, foreign_text

_MOST_BYTES = 8 << 20
_UNTOUCHED = "Nothing was written."
# While its workers agree on who does what, it answers by the first; by the others where it is not there yet, or no more.
_LATER = (409, 502, 503, 504)


class Connect:
    """Asks one Kafka Connect.

    Args:
        url: The address of its REST interface, without a path.
        timeout_seconds: How long a question may take.
    """

    def __init__(self, url: str, timeout_seconds: float = 10.0) -> None:
        self.url = url.rstrip("/")
        self._timeout = timeout_seconds

    def plugins(self) -> dict[str, str]:
        """Return the versions of connectors that it has, by their class.

        Raises:
            RetryableError: CONNECT_UNREACHABLE.
            FreshetError: CONNECT_ANSWER.
        """
        told = self._ask("GET", "/connector-plugins")
        if not isinstance(told, list):
            raise self._wrong("it tells no connectors")
        return {str(one["class"]): str(one.get("version")) for one in told if isinstance(one, dict) and "class" in one}

    def complaints(self, config: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Let Connect validate a config, by which Debezium asks the database too; return what it says, by the setting.

        Args:
            config: The config, with its ``connector.class``.

        Raises:
            RetryableError: CONNECT_UNREACHABLE.
            FreshetError: CONNECT_ANSWER.
        """
        kind = quote(config["connector.class"], safe="")
        told = self._ask("PUT", f"/connector-plugins/{kind}/config/validate", dict(config))
        values = [one.get("value") for one in told.get("configs", ())] if isinstance(told, dict) else None
        if values is None or not all(isinstance(one, dict) for one in values):
            raise self._wrong("it tells nothing of the settings")
        # Its other words about a setting have the value, which may be a password.
        return {str(one["name"]): tuple(map(foreign_text, one["errors"])) for one in values if one.get("errors")}

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        try:
            status, told = self._answer(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise self._gone(str(getattr(reason, "strerror", None) or reason)) from error
        said = told.get("message") if isinstance(told, dict) else None
        words = f"it answers {status}" + (f": {cut(said, 300)}" if isinstance(said, str) else "")
        if status in _LATER:
            raise self._gone(words)
        if status != 200 or told is None:
            raise self._wrong(words)
        return told

    def _answer(self, method: str, path: str, body: object) -> tuple[int, Any]:
        headers, data = {"Accept": "application/json"}, None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        # A proxy of the machine's is for the world outside.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=self._timeout) as response:
                return response.status, _read(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _read(error)

    def _gone(self, why: str) -> RetryableError:
        return RetryableError(
            "CONNECT_UNREACHABLE",
            f"Kafka Connect at {self.url} does not answer within {self._timeout:g} s: {why}.",
            _UNTOUCHED,
            "Repeat the command when it is up, or correct its address.",
            url=self.url,
        )

    def _wrong(self, what: str) -> FreshetError:
        return FreshetError(
            "CONNECT_ANSWER",
            f"what is at {self.url} does not answer as Kafka Connect: {what}.",
            _UNTOUCHED,
            "See that the address is that of Connect's REST interface, and which connectors it has.",
            url=self.url,
        )


def _read(response: Any) -> Any:
    content = response.read(_MOST_BYTES)
    try:
        return json.loads(content)
    except ValueError:
        return None
