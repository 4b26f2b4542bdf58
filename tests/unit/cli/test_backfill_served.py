"""``backfill --serve``: what a process that serves is asked, and what becomes of its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from freshet.cli.serve_token import TOKEN
from freshet.serve.access import Asked
from freshet.serve.api import JSON, Answer
from freshet.serve.http import listen
from tests.unit.cli.conftest import Freshet, parsed

RANGE = ("backfill", "a b", "--start", "2026-01-05", "--end", "2026-01-07T06:00")
TAKEN = {"pipeline": "a b", "asked": "backfill", "words": "2026-01-05 to 2026-01-07T06:00", "steps": 3}
Answers = Callable[[int, object], str]


@pytest.fixture
def asked() -> list[Asked]:
    return []


@pytest.fixture
def answers(asked: list[Asked], monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """Return what lets a process answer, and tells its address; the environment holds its token."""
    found: list[Answer] = []

    def told(one: Asked) -> Answer:
        asked.append(one)
        return found[-1]

    listener = listen("127.0.0.1", 0, told)

    def let(status: int, body: object) -> str:
        text = body if isinstance(body, str) else json.dumps(body)
        found.append(Answer(status=status, body=text, kind=JSON, headers={"Location": "/elsewhere"}))
        return f"http://127.0.0.1:{listener.server_port}"

    monkeypatch.setenv(TOKEN, "a-token-of-some-length")
    yield let
    listener.shutdown()
    listener.server_close()


def test_a_process_that_serves_is_given_a_backfill(freshet: Freshet, asked: list[Asked], answers: Answers) -> None:
    """Without the project's files, which are the process's own; the address may have a path in front."""
    address = answers(202, TAKEN)
    result = freshet(*RANGE, "--serve", f"{address}/")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "the process at" in result.stdout
    assert "3 chunks" in result.stdout
    more = ("--chunk", "1w", "--reprocess", "failed", "--accept-changes", "--env", "prod", "--output", "json")
    result = freshet(*RANGE, "--serve", f"{address}/lake", *more, "-C", "/nowhere", env={TOKEN: "another-token"})
    assert (result.exit_code, parsed(result)) == (0, TAKEN)
    assert [(one.method, one.target, one.authorization) for one in asked] == [
        (
            "POST",
            "/api/backfill/a%20b?start=2026-01-05T00%3A00%3A00&end=2026-01-07T06%3A00%3A00&reprocess=none&accept_changes=0",
            "Bearer a-token-of-some-length",
        ),
        (
            "POST",
            "/lake/api/backfill/a%20b?start=2026-01-05T00%3A00%3A00&end=2026-01-07T06%3A00%3A00&reprocess=failed&accept_changes=1"
            "&chunk=1w&env=prod",
            "Bearer another-token",
        ),
    ]


REFUSED = {"code": "BACKFILL_GOES_ON", "message": "one goes on.", "effect": "Nothing has changed.", "next": "Stop it."}


@pytest.mark.parametrize(
    ("status", "body", "code", "exit_code"),
    [
        (409, {"error": REFUSED}, "SERVE_DECLINED", 5),
        (421, {"error": REFUSED}, "SERVE_DECLINED", 5),
        (503, {"error": REFUSED}, "SERVE_DECLINED", 4),
        (200, {"pages": []}, "SERVE_UNREACHABLE", 4),
        (302, "", "SERVE_UNREACHABLE", 4),
        (502, "<html>", "SERVE_UNREACHABLE", 4),
        (202, "[]", "SERVE_UNREACHABLE", 4),
        (500, {"error": "no"}, "SERVE_UNREACHABLE", 4),
    ],
)
def test_an_answer_that_is_none_is_an_error(
    freshet: Freshet, asked: list[Asked], answers: Answers, status: int, body: object, code: str, exit_code: int
) -> None:
    result = freshet(*RANGE, "--serve", answers(status, body), "--output", "json")
    error = parsed(result)["error"]
    assert (result.exit_code, error["code"], len(asked)) == (exit_code, code, 1)
    assert ("BACKFILL_GOES_ON: one goes on." in error["message"]) is (code == "SERVE_DECLINED")
    assert (error["details"].get("error", {}).get("code"), error["next"] == "Stop it.") == (
        ("BACKFILL_GOES_ON", True) if code == "SERVE_DECLINED" else (None, False)
    )


def test_where_nobody_answers_and_where_there_is_no_token(
    freshet: Freshet, asked: list[Asked], answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = answers(202, TAKEN)
    closed = listen("127.0.0.1", 0, lambda one: Answer(status=200, body=""))
    closed.shutdown()
    closed.server_close()
    result = freshet(*RANGE, "--serve", f"http://127.0.0.1:{closed.server_port}", "--output", "json")
    assert (result.exit_code, parsed(result)["error"]["code"]) == (4, "SERVE_UNREACHABLE")
    monkeypatch.delenv(TOKEN, raising=False)
    result = freshet(*RANGE, "--serve", address, "--output", "json")
    assert (result.exit_code, parsed(result)["error"]["code"], asked) == (1, "SERVE_TOKEN_MISSING", [])


@pytest.mark.parametrize(
    "words",
    [
        ("--serve", "localhost:8340"),
        ("--serve", "ftp://localhost"),
        ("--serve", "http://"),
        ("--serve", "http://localhost:0"),
        ("--serve", "http://localhost:many"),
        ("--serve", "http://me:secret@localhost"),
        ("--serve", "http://localhost?a=b"),
        ("--serve", "http://localhost", "--dry-run"),
        ("--serve", "http://localhost", "--wait", "5"),
        ("--serve", "http://localhost", "--set", "vars.a=b"),
        ("--serve", "http://localhost", "--max-conflicts", "3"),
        ("--token-file", "token"),
    ],
)
def test_words_that_do_not_go_together_are_refused(freshet: Freshet, words: tuple[str, ...]) -> None:
    result = freshet(*RANGE, *words, "--output", "json")
    assert (result.exit_code, parsed(result)["error"]["code"]) == (2, "USAGE")
