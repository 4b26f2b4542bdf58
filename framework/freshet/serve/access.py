"""Who asks the process over HTTP, by what name and for what kind of answer, and whom it refuses. Pure."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from freshet.errors import FreshetError
from freshet.serve.names import may_be_asked, name_asked

NOTHING = "Nothing has changed."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request.

    Args:
        method: ``GET``, ``POST`` or another one.
        target: Path and query.
        authorization: The header of that name; empty where there is none.
        host: The header of that name; None where the caller's HTTP has none, empty where it is missing or there are several.
        accept: The header of that name; empty where there is none.
    """

    method: str
    target: str
    authorization: str = ""
    host: str | None = None
    accept: str = ""

    @property
    def wants_page(self) -> bool:
        """Say whether a person asks, by a browser: it names pages first, and what fetches data does not."""
        if self.method != "GET":
            return False
        asked = dict(map(_share, self.accept.lower().split(",")))
        return asked.get("text/html", 0.0) > 0 and asked["text/html"] >= asked.get("application/json", 0.0)


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who is answered.

    Args:
        names: By which names the process may be asked, as ``own_names`` gives them.
        token: What a writing call must carry; empty where none is taken.
    """

    names: frozenset[str]
    token: str = ""


class Refused(FreshetError):
    """A request that is not done.

    Args:
        status: HTTP's status code.
        code, message, effect, next_step: See ``FreshetError``.
    """

    def __init__(self, status: int, code: str, message: str, effect: str = NOTHING, next_step: str = "") -> None:
        super().__init__(code, message, effect, next_step)
        self.status = status


def check_host(names: frozenset[str], host: str | None) -> None:
    """Refuse a request by a name that is none of the process's own.

    Args:
        names: Its own, as ``own_names`` gives them.
        host: See ``Asked``.

    Raises:
        Refused: SERVE_HOST_UNKNOWN.
    """
    # What asks without it is no browser.
    if host is None:
        return
    name = name_asked(host)
    if name is None:
        advice = "Send one header 'Host' with the name or the address that you ask."
        raise Refused(400, "SERVE_HOST_UNKNOWN", "the request does not say by which name it asks.", NOTHING, advice)
    if not may_be_asked(name, names):
        raise Refused(
            421,
            "SERVE_HOST_UNKNOWN",
            f"this process is not asked by the name {name[:80]!r}.",
            NOTHING,
            f"Ask it by its address; or where {name[:80]} is a name of it, start it with --allow-host {name[:80]}.",
        )


def check_token(token: str, authorization: str) -> None:
    """Refuse a writing call without the token.

    Args:
        token: The process's own; empty where it takes no writing calls.
        authorization: See ``Asked``.

    Raises:
        Refused: SERVE_TOKEN_NOT_SET, SERVE_TOKEN_MISSING or SERVE_TOKEN_WRONG.
    """
    if not token:
        raise Refused(
            403,
            "SERVE_TOKEN_NOT_SET",
            "this process was started without a token, and takes no writing calls.",
            NOTHING,
            "Start it with FRESHET_SERVE_TOKEN, or with --token-file FILE.",
        )
    kind, _, given = authorization.strip().partition(" ")
    if kind.lower() != "bearer" or not given.strip():
        advice = "Send the header 'Authorization: Bearer TOKEN'."
        raise Refused(401, "SERVE_TOKEN_MISSING", "the call carries no token.", NOTHING, advice)
    # In the same time whatever is wrong with it.
    if not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise Refused(403, "SERVE_TOKEN_WRONG", "the call carries another token.", NOTHING, "Send the server's own token.")


def _share(kind: str) -> tuple[str, float]:
    """Return a kind of answer, and how much it is wanted: see RFC 9110, section 12.5.1."""
    name, *more = (part.strip() for part in kind.split(";"))
    wanted = next((part.removeprefix("q=") for part in more if part.startswith("q=")), "1")
    try:
        return name, float(wanted)
    except ValueError:
        return name, 0.0
