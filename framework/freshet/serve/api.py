"""What the process answers over HTTP: pages, metrics, health, where each pipeline is, and what it is asked to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from freshet.errors import unforeseen
from freshet.metrics.text import CONTENT_TYPE
from freshet.secrets import redact_tree
from freshet.serve.access import NOTHING, Access, Asked, Refused, check_host, check_token
from freshet.site.pages import LIVE_POLICY

JSON = "application/json; charset=utf-8"
_KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
# As the page itself says, and what a page cannot say of itself: that no other one holds it in a frame.
_OF_PAGES = {"Content-Security-Policy": f"{LIVE_POLICY}; frame-ancestors 'none'", "Referrer-Policy": "no-referrer"}
_MOST_RUNS = 1000
_READS = {
    "/": "pages for people; also /index.html",
    "/metrics": "all metrics, for Prometheus",
    "/healthz": "200 while the process is alive",
    "/readyz": "200 while pipelines are served",
    "/api/status": "where each pipeline is",
    "/api/runs": "how runs ended; ?pipeline=NAME&limit=20&failed=1",
    "/api/plan/NAME": "what the next run will do",
}
_WRITES = ("trigger", "pause", "resume", "backfill", "stop-backfill")
_PATHS = ("/", "/api", "/metrics", "/healthz", "/readyz")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is answered.

    Args:
        status: HTTP's status code.
        body: The text.
        kind: Its content type.
        headers: Further headers.
    """

    status: int
    body: str
    kind: str = JSON
    headers: Mapping[str, str] | None = None


class Desk(Protocol):
    """What the answers are made of."""

    def page(self, path: str) -> str | None:
        """Return a page, the style sheet or the script; None where there is no such page."""
        ...

    def missing(self, target: str) -> str:
        """Return the page that says that there is no such page."""
        ...

    def metrics(self) -> str:
        """Return all metrics as text."""
        ...

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Say whether the process is alive."""
        ...

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Say whether pipelines are served."""
        ...

    def status(self) -> dict[str, Any]:
        """Return where each pipeline is."""
        ...

    def runs(self, pipeline: str, limit: int, failed: bool) -> dict[str, Any]:
        """Return how runs ended, the newest first."""
        ...

    def plan(self, pipeline: str) -> dict[str, Any]:
        """Return what the next run of a pipeline will do."""
        ...

    def ask(self, what: str, pipeline: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Trigger, pause or resume a pipeline, or begin or stop a backfill of it."""
        ...


def answer(desk: Desk, access: Access, asked: Asked) -> Answer:
    """Answer a request; whatever goes wrong becomes an answer, too.

    Args:
        desk: What the answers are made of.
        access: Who is answered.
        asked: The request.
    """
    try:
        check_host(access.names, asked.host)
        return _answered(desk, access.token, asked)
    except Refused as error:
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return Answer(status=error.status, body=_json({"error": error.as_json()}), headers=headers)
    except Exception as unknown:  # whatever it is, the process goes on
        found = unforeseen(unknown)
        return Answer(status=503 if found.retryable else 500, body=_json({"error": found.as_json()}))


def _answered(desk: Desk, token: str, asked: Asked) -> Answer:
    method, parts = asked.method, urlsplit(asked.target)
    path = parts.path.rstrip("/") or "/"
    api, _, rest = path.removeprefix("/api/").partition("/") if path.startswith("/api/") else ("", "", "")
    name, writes = unquote(rest), api in _WRITES
    found = _page(desk, path) if method == "GET" else None
    if found is not None:
        return found
    is_known = path in _PATHS or api in ("status", "runs") or ((api == "plan" or writes) and name)
    is_known = is_known and not (api in ("status", "runs") and rest)
    if not is_known and asked.wants_page and not path.startswith("/api/"):
        return Answer(status=404, body=desk.missing(asked.target), kind=_KINDS[".html"], headers=_OF_PAGES)
    if not is_known:
        raise Refused(404, "SERVE_PATH_UNKNOWN", f"there is no {path[:200]!r}.", "", f"There are: {', '.join(_paths())}.")
    needed = "POST" if writes else "GET"
    if method != needed:
        raise Refused(405, "SERVE_METHOD", f"{path[:200]} takes {needed}, not {method}.", NOTHING, f"Send {needed}.")
    if writes:
        check_token(token, asked.authorization)
        given = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        return Answer(status=202, body=_json(desk.ask(api, name, given)))
    match api or path:
        case "/metrics":
            return Answer(status=200, body=desk.metrics(), kind=CONTENT_TYPE)
        case "/healthz":
            return _state(desk.health())
        case "/readyz":
            return _state(desk.readiness())
        case "status":
            return Answer(status=200, body=_json(desk.status()))
        case "runs":
            query = parse_qs(parts.query)
            failed = query.get("failed", ["0"])[-1] not in ("", "0", "false")
            return Answer(status=200, body=_json(desk.runs(query.get("pipeline", [""])[-1], _limit(query), failed)))
        case "plan":
            return Answer(status=200, body=_json(desk.plan(name)))
        case _:
            return Answer(status=200, body=_json({"paths": _paths()}))


def _page(desk: Desk, path: str) -> Answer | None:
    file = unquote(path.removeprefix("/")) or "index.html"
    ending = file[file.rfind(".") :]
    found = desk.page(file) if ending in _KINDS and not path.startswith("/api/") else None
    return Answer(status=200, body=found, kind=_KINDS[ending], headers=_OF_PAGES) if found is not None else None


def _paths() -> dict[str, str]:
    writes = {f"/api/{one}/NAME": "POST, with the token" for one in _WRITES}
    writes["/api/backfill/NAME"] += (
        "; ?start=2026-01-01&end=2026-02-01, and as the command has them chunk, reprocess, accept_changes"
    )
    return {**_READS, **writes}


def _limit(query: Mapping[str, list[str]]) -> int:
    text = query.get("limit", ["20"])[-1]
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= _MOST_RUNS:
        raise Refused(400, "SERVE_QUERY", f"limit is a number from 1 to {_MOST_RUNS}.", "", "Write for instance limit=20.")
    return int(text[:9])


def _state(found: tuple[bool, dict[str, Any]]) -> Answer:
    is_well, told = found
    return Answer(status=200 if is_well else 503, body=_json(told))


def _json(body: object) -> str:
    return json.dumps(redact_tree(body), indent=2, sort_keys=False, default=str) + "\n"
