"""The pages as a process serves them: with what it does at the moment, and with calls that are safe to make."""

from __future__ import annotations

import pytest

from freshet.site.facts import ProjectFacts
from freshet.site.pages import ASSETS, asset, first_page, missing_page, page, paths
from freshet.site.words import call
from tests.kit.facts import BEGIN, HOSTILE, a_live, a_pipeline, a_project, full, hostile
from tests.kit.html import Html, faults_of

PROJECT = a_project(full(), a_pipeline("second", upstream=("payments",)), a_pipeline("third"))
LIVE = a_live("payments", "second", "third")


def served(project: ProjectFacts = PROJECT, live: object = LIVE) -> dict[str, str]:
    made = {path: page(project, path, live) or "" for path in paths(project)}  # type: ignore[arg-type]
    return {**made, **{name: asset(name) for name in ASSETS}}


def test_every_page_says_what_the_process_does() -> None:
    made = served()
    assert faults_of(made) == []
    texts = {path: Html(text).text for path, text in made.items() if path.endswith(".html")}
    for path, text in texts.items():
        assert "is being stopped" in text, path
        assert "CODE: the store does not answer" in text, path
        assert "UNKNOWN_KEY" in text, path
        assert 'data-live="on"' in made[path]
        assert any("connect-src 'self'" in attrs.get("content", "") for attrs in Html(made[path]).all("meta")), path
    overview = texts["index.html"]
    assert "12 runs ended. Spark is warm." in overview
    assert "rests after a failure next look 2026-08-01 11:15:00Z, in 59 min" in " ".join(overview.split())
    assert "after payments" in overview
    assert "when it is called" in overview
    assert "payments: rests after a failure" in made["dag.html"]
    one = texts["pipelines/payments.html"]
    assert "2 in a row" in one
    assert "OVERFLOW too large" in one
    assert "backfill, a range: waits for a gap between runs for 3 s, 2 of 7 chunks done" in one
    assert "service of payments, compact: service 1 of 2" in texts["services.html"]


def test_what_is_done_for_a_pipeline_that_the_tables_were_not_looked_at_with_is_left_out() -> None:
    """It came with files that were changed since: a page that is asked for again says it a moment later."""
    alone = a_project(a_pipeline("third"))
    made = page(alone, "services.html", LIVE)
    assert "compact" not in (made or "compact")


def test_a_page_that_is_a_file_says_nothing_of_a_process() -> None:
    made = page(PROJECT, "pipelines/payments.html") or ""
    assert "data-live" not in made
    assert "connect-src" not in made
    assert "Token" not in Html(made).text


def test_a_call_is_made_by_a_button_with_the_token_or_typed() -> None:
    made = served()["pipelines/payments.html"]
    buttons = [attrs.get("data-ask") for attrs in Html(made).all("button")]
    assert buttons == ["trigger", "pause", "resume", "stop-backfill", None], "and one that stops the refreshing"
    assert "http://127.0.0.1:8340/api/pause/payments" in Html(made).text
    without = page(PROJECT, "pipelines/payments.html", a_live("payments", takes_calls=False)) or ""
    assert "was started without a token" in Html(without).text
    assert "data-ask" not in without


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", "http://h/api/pause/a"),
        ("a b", "http://h/api/pause/a%20b"),
        ("a'; rm -r x", "http://h/api/pause/a%27%3B%20rm%20-r%20x"),
    ],
)
def test_a_name_is_no_command(name: str, expected: str) -> None:
    assert call("http://h", "pause", name) == f'curl -X POST -H "Authorization: Bearer $FRESHET_SERVE_TOKEN" {expected}'


def test_what_others_have_written_is_text_on_served_pages_too() -> None:
    found = served(hostile(PROJECT), hostile(LIVE))
    assert faults_of(found) == []
    assert HOSTILE not in "".join(found.values())


@pytest.mark.parametrize("root", ["", "../"])
def test_before_the_first_look_there_is_a_page_all_the_same(root: str) -> None:
    nothing = a_project(made=BEGIN)
    text = first_page(nothing, root, a_live(stopping=False, failed="", refused=()))
    assert 'data-live="first"' in text
    assert f'href="{root}site.css"' in text
    assert "for the first time" in Html(text).text


def test_of_a_page_that_there_is_not_one_says_so() -> None:
    asked = f"/{HOSTILE}{'x' * 5000}"
    text = missing_page(PROJECT, asked, "", LIVE)
    assert faults_of({**served(), "missing.html": text}) == []
    assert 'data-live="missing"' in text
    assert "No such page" in Html(text).text
    assert HOSTILE not in text
    assert "x" * 201 not in text
    assert 'href="../../index.html">All pipelines' in missing_page(a_project(made=BEGIN), asked, "../../", LIVE)
