"""What is answered to whom, without a socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from freshet.errors import RetryableError
from freshet.secrets import REDACTOR
from freshet.serve.access import Access, Asked, Refused
from freshet.serve.api import Answer, answer
from freshet.serve.names import own_names

TOKEN = "a-token-of-some-length"
BEARER = f"Bearer {TOKEN}"


class Stub:
    """A desk that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.well = True
        self.fails: Exception | None = None

    def page(self, path: str) -> str | None:
        self.asked.append(("page", path))
        return {"index.html": "<p>all", "site.css": "a {}", "pipelines/a b.html": "<p>one"}.get(path)

    def missing(self, target: str) -> str:
        self.asked.append(("missing", target))
        return "<p>none"

    def metrics(self) -> str:
        return "freshet_serve_paused 0\n# EOF\n"

    def health(self) -> tuple[bool, dict[str, Any]]:
        return self.well, {"alive": self.well}

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        return self.well, {"ready": self.well}

    def status(self) -> dict[str, Any]:
        if self.fails is not None:
            raise self.fails
        return {"pipelines": []}

    def runs(self, pipeline: str, limit: int, failed: bool) -> dict[str, Any]:
        self.asked.append(("runs", pipeline, limit, failed))
        return {"runs": []}

    def plan(self, pipeline: str) -> dict[str, Any]:
        self.asked.append(("plan", pipeline))
        return {"pipeline": pipeline}

    def ask(self, what: str, pipeline: str, query: Mapping[str, str]) -> dict[str, Any]:
        self.asked.append((what, pipeline, dict(query)))
        return {"asked": what}


@pytest.fixture
def desk() -> Stub:
    return Stub()


def ask(
    desk: Stub,
    target: str,
    method: str = "GET",
    given: str = "",
    token: str = TOKEN,
    host: str | None = None,
    bound: str = "",
    accept: str = "",
) -> Answer:
    access = Access(names=own_names(bound or "127.0.0.1", ["Lake.example.com."]), token=token)
    return answer(desk, access, Asked(method=method, target=target, authorization=given, host=host, accept=accept))


def refused(found: Answer) -> tuple[int, str]:
    return found.status, json.loads(found.body)["error"]["code"]


def test_what_may_be_read_needs_no_token(desk: Stub) -> None:
    for path in (
        "/",
        "/api",
        "/api/",
        "/metrics",
        "/healthz",
        "/readyz",
        "/api/status",
        "/api/status/",
        "/api/runs",
        "/api/plan/a",
    ):
        assert ask(desk, path).status == 200, path
    assert ask(desk, "/metrics").kind == "text/plain; version=0.0.4; charset=utf-8"
    assert ask(desk, "/metrics").body.endswith("# EOF\n")
    assert "/api/trigger/NAME" in json.loads(ask(desk, "/api").body)["paths"]
    assert ask(desk, "/api/runs?pipeline=a&limit=5&failed=1").status == 200
    assert desk.asked[-1] == ("runs", "a", 5, True)
    assert ("runs", "", 20, False) in desk.asked


def test_pages_are_read_without_a_token_and_load_nothing_of_others(desk: Stub) -> None:
    for path, body, kind in (
        ("/", "<p>all", "text/html; charset=utf-8"),
        ("/index.html", "<p>all", "text/html; charset=utf-8"),
        ("/pipelines/a%20b.html", "<p>one", "text/html; charset=utf-8"),
        ("/site.css", "a {}", "text/css; charset=utf-8"),
    ):
        found = ask(desk, path)
        assert (found.status, found.body, found.kind) == (200, body, kind)
        policy = (found.headers or {})["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    assert refused(ask(desk, "/gone.html")) == (404, "SERVE_PATH_UNKNOWN")


def test_a_pipeline_whose_name_ends_as_a_page_does_is_no_page(desk: Stub) -> None:
    assert json.loads(ask(desk, "/api/plan/a.html").body) == {"pipeline": "a.html"}


def test_what_is_not_well_says_so_by_its_status(desk: Stub) -> None:
    desk.well = False
    assert (ask(desk, "/healthz").status, ask(desk, "/readyz").status) == (503, 503)


@pytest.mark.parametrize("what", ["trigger", "pause", "resume", "backfill", "stop-backfill"])
def test_a_writing_call_needs_the_token(desk: Stub, what: str) -> None:
    path = f"/api/{what}/a"
    assert refused(ask(desk, path, "POST")) == (401, "SERVE_TOKEN_MISSING")
    assert ask(desk, path, "POST").headers == {"WWW-Authenticate": "Bearer"}
    assert refused(ask(desk, path, "POST", TOKEN)) == (401, "SERVE_TOKEN_MISSING")
    assert refused(ask(desk, path, "POST", f"Basic {TOKEN}")) == (401, "SERVE_TOKEN_MISSING")
    assert refused(ask(desk, path, "POST", "Bearer ")) == (401, "SERVE_TOKEN_MISSING")
    assert refused(ask(desk, path, "POST", "Bearer another")) == (403, "SERVE_TOKEN_WRONG")
    assert refused(ask(desk, path, "POST", f"{BEARER}x")) == (403, "SERVE_TOKEN_WRONG")
    assert refused(ask(desk, path, "POST", "Bearer größe")) == (403, "SERVE_TOKEN_WRONG")
    assert refused(ask(desk, path, "POST", BEARER, token="")) == (403, "SERVE_TOKEN_NOT_SET")
    assert refused(ask(desk, path, "POST", "Bearer", token="")) == (403, "SERVE_TOKEN_NOT_SET")
    assert desk.asked == []
    assert ask(desk, f"{path}?start=x&end=", "POST", BEARER).status == 202
    assert ask(desk, path, "POST", f"bearer   {TOKEN} ").status == 202
    assert desk.asked == [(what, "a", {"start": "x", "end": ""}), (what, "a", {})]


@pytest.mark.parametrize(
    "path",
    [
        "/api/nothing",
        "/api/plan",
        "/api/plan/",
        "/api/status/a",
        "/api/runs/a",
        "/api/trigger",
        "/favicon.ico",
        "//",
        "/metrics/x",
        "/..%2fetc/passwd",
        "/" + "x" * 5000,
    ],
)
def test_a_path_that_there_is_not(desk: Stub, path: str) -> None:
    expected = (404, "SERVE_PATH_UNKNOWN") if path != "//" else None
    found = ask(desk, path)
    assert found.status == 200 if expected is None else refused(found) == expected
    assert len(found.body) < 3000
    assert [one for one in desk.asked if one[0] != "page"] == []


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize(
    "target", ["/gone.html", "/pipelines/gone.html?x=1", "/favicon.ico", "/gone", "/metrics/x", "/..%2fetc"]
)
def test_a_person_who_asks_for_a_page_that_there_is_not_gets_a_page(desk: Stub, target: str) -> None:
    found = ask(desk, target, accept=BROWSER)
    assert (found.status, found.body, found.kind) == (404, "<p>none", "text/html; charset=utf-8")
    assert found.headers == ask(desk, "/").headers
    assert ("missing", target) in desk.asked


@pytest.mark.parametrize(
    ("target", "method", "accept"),
    [
        ("/gone.html", "GET", "*/*"),
        ("/gone.html", "GET", ""),
        ("/gone.html", "GET", "application/json"),
        ("/gone.html", "GET", "application/json, text/html;q=0.9"),
        ("/gone.html", "GET", "text/html;q=0"),
        ("/gone.html", "GET", "text/html;q=many"),
        ("/gone.html", "GET", "image/avif,image/webp,*/*;q=0.8"),
        ("/gone.html", "POST", BROWSER),
        ("/api/gone", "GET", BROWSER),
        ("/api/plan/", "GET", BROWSER),
    ],
)
def test_others_get_the_error_as_data(desk: Stub, target: str, method: str, accept: str) -> None:
    assert refused(ask(desk, target, method, accept=accept)) == (404, "SERVE_PATH_UNKNOWN")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/trigger/a"), ("DELETE", "/api/pause/a"), ("POST", "/api/status"), ("PUT", "/metrics"), ("POST", "/")],
)
def test_another_method_than_the_paths(desk: Stub, method: str, path: str) -> None:
    assert refused(ask(desk, path, method, BEARER)) == (405, "SERVE_METHOD")
    assert desk.asked == []


@pytest.mark.parametrize("limit", ["0", "-1", "many", "1e3", "", "²", "1001", "9" * 5000])
def test_a_limit_that_is_none(desk: Stub, limit: str) -> None:
    found = ask(desk, f"/api/runs?limit={limit}&x=1")
    # An empty value is as if it were not there.
    assert found.status == 200 if limit == "" else refused(found) == (400, "SERVE_QUERY")


def test_a_name_in_a_path_is_decoded_and_found_by_the_desk(desk: Stub) -> None:
    ask(desk, "/api/plan/a%20b")
    assert desk.asked == [("plan", "a b")]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Refused(404, "UNKNOWN_PIPELINE", "no"), (404, "UNKNOWN_PIPELINE")),
        (RetryableError("PAUSE_NOT_KEPT", "no"), (503, "PAUSE_NOT_KEPT")),
        (ValueError("no"), (500, "UNEXPECTED_ERROR")),
    ],
)
def test_what_goes_wrong_is_an_answer(desk: Stub, error: Exception, expected: tuple[int, str]) -> None:
    desk.fails = error
    assert refused(ask(desk, "/api/status")) == expected


# What a process that listens on all addresses, on one of them or on a name is asked by.
OURS = (
    "localhost",
    "LOCALHOST:8340",
    "localhost.",
    "127.0.0.1:8340",
    "10.42.0.17:8340",
    "10.42.0.17",
    "0.0.0.0:8340",
    "[::1]:8340",
    "[::1]",
    "[2001:db8::7]:8340",
    "lake.example.com",
    "lake.example.com:443",
    None,
)
OTHERS = (
    "evil.example",
    "evil.example:8340",
    "localhost.evil.example",
    "lake.example.com.evil.example",
    "127.0.0.1.evil.example",
    "box",
    "freshet-serve.lake.svc",
)
NONE = (
    "",
    " ",
    "evil example",
    "a@localhost",
    "localhost:http",
    "localhost:8340:1",
    "[10.0.0.1]",
    "[::1",
    "-",
    "größe",
    "a..b",
)


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "::", "box"])
def test_it_is_asked_by_its_own_names_alone(desk: Stub, bound: str) -> None:
    """Kind: a name that a page of another site may let lead here, for reading and for writing, with the token too."""
    for host in (*OURS, *(["box:8340"] if bound == "box" else [])):
        for path in ("/", "/metrics", "/healthz", "/readyz", "/api/status"):
            assert ask(desk, path, host=host, bound=bound).status == 200, (path, host)
        assert ask(desk, "/api/trigger/a", "POST", BEARER, host=host, bound=bound).status == 202, host
    desk.asked.clear()
    for status, hosts in ((421, OTHERS), (400, NONE)):
        for host in hosts:
            if host == bound:
                continue
            for path in ("/", "/metrics", "/healthz", "/gone", "/site.css"):
                assert refused(ask(desk, path, host=host, bound=bound)) == (status, "SERVE_HOST_UNKNOWN"), (path, host)
            assert refused(ask(desk, "/api/trigger/a", "POST", BEARER, host=host, bound=bound)) == (
                status,
                "SERVE_HOST_UNKNOWN",
            )
    assert desk.asked == []


def test_a_name_that_is_refused_is_said_with_what_would_take_it(desk: Stub) -> None:
    said = json.loads(ask(desk, "/", host="Lake.internal:8340").body)["error"]
    assert "--allow-host lake.internal" in said["next"]
    assert len(ask(desk, "/", host="a." * 5000 + "b").body) < 1000


def test_no_secret_leaves_the_process(desk: Stub) -> None:
    REDACTOR.register("PASSWORD", "hunter2hunter2")
    desk.fails = ValueError("cannot log in with hunter2hunter2")
    assert "hunter2" not in ask(desk, "/api/status").body
