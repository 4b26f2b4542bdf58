"""The pages as files: what users have written stays text, links lead somewhere, nothing is asked of another machine."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from freshet.site import detail_facts, facts
from freshet.site.detail_facts import Details, FileText, From, NextRun
from freshet.site.facts import Backfill, FileProblem, Trouble
from freshet.site.pages import coded, page, pages, paths
from tests.kit.facts import HOSTILE, a_pipeline, a_project, a_standing, full, hostile, with_columns
from tests.kit.html import Html, faults_of


def test_all_that_can_be_known_is_on_the_pages() -> None:
    """Else a field that is gathered and never shown; and the builder above has every field."""
    made = pages(a_project(full(), full("second", upstream=("payments",), standing=a_standing()), problems=()))
    text = Html(made["pipelines/payments.html"]).text
    for words in (
        "Payments.",
        "raw.events: 2 commits, 20 rows wait, the oldest for 1.5 min",
        "x: nothing waits",
        "running for 4 s: reading",
        "freshness 60 s",
        "CODE n",
        "inexact: X",
        "accepted: why",
        "OVERFLOW too large",
        "idle x3",
        "3 inserted",
        "dropped 2",
        "rows that came: 2; that were taken away: 1",
        'too small {"id": "a row"} from p, by the run r',
        "Some of the rows that wait",
        "rows not read why",
        "1 of 2 chunks done (50%)",
        "2.0 kB",
        "record key",
        "raw.events.id, raw.others: its rows",
        "no column",
        "the SQL does not tell",
        "hoodie.x",
        "10:15:00 check found 2 rows",
        "the plan: CODE: words",
    ):
        assert words in text, words
    assert faults_of(made) == []
    assert "second" in Html(made["pipelines/payments.html"]).text, "what it feeds"


def test_what_users_write_is_text_and_nothing_else() -> None:
    """The kind: each text of each fact, on every page; a new field of the facts is among them by itself."""
    plain = a_project(
        full(), full("second", upstream=("payments",)), problems=(FileProblem(place="f:1", code="X", message="m", hint="h"),)
    )
    expected, found = pages(plain), pages(hostile(plain))
    assert list(found) == list(expected)
    for path, text in found.items():
        if not path.endswith(".html"):
            continue
        was, now = Html(expected[path]), Html(text)
        assert [tag for tag, _ in now.elements if tag in ("script", "img")] == ["script"], path
        assert not [name for _, attrs in now.elements for name in attrs if name.startswith("on")], path
        assert "49" not in text.replace("2049", ""), "no template of theirs was rendered"
        assert "alert(1)" in now.text
        assert {tag for tag, _ in now.elements} <= {tag for tag, _ in was.elements} | {"code"}, path
    assert faults_of(found) == []
    assert HOSTILE not in "".join(found.values())


@pytest.mark.parametrize("module", [facts, detail_facts])
def test_the_hostile_facts_reach_every_field(module: Any) -> None:
    """The builder of the test above fills every field of every fact: one that it leaves empty proves nothing."""
    seen = dict[str, set[str]]()

    def walk(value: Any) -> None:
        if isinstance(value, tuple):
            for one in value:
                walk(one)
        elif is_dataclass(value) and not isinstance(value, type):
            filled = {one.name for one in fields(value) if getattr(value, one.name)}
            seen.setdefault(type(value).__name__, set()).update(filled)
            for one in fields(value):
                walk(getattr(value, one.name))

    problem = FileProblem(place="f:1", code="X", message="m", hint="h")
    refused = a_pipeline("bad", problems=(problem,), details=Details(plan=NextRun(refused="no")))
    walk(a_project(full(upstream=("x",)), refused, problems=(problem,)))
    walk(From(table="t", column="c", pipeline="p"))
    walk(a_standing(horizon="x", overdue_seconds=1.0))
    walk(Backfill(start="a", end="b", chunk="c", chunks=1, done=1, failed=1, last="x", running=True))
    classes = {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type) and is_dataclass(one) and one.__module__ == module.__name__
    }
    assert {name: {f.name for f in fields(one)} - seen.get(name, set()) for name, one in classes.items()} == {
        name: set() for name in classes
    }


def test_a_project_without_a_pipeline() -> None:
    made = pages(a_project())
    assert faults_of(made) == []
    assert "no pipeline yet" in Html(made["index.html"]).text
    assert "freshet init" in made["index.html"]
    assert set(made) == {"index.html", "dag.html", "runs.html", "backfills.html", "services.html", "site.css", "site.js"}


def test_one_whose_files_are_wrong_beside_valid_ones() -> None:
    problem = FileProblem(place="pipelines/bad.yml:3", code="UNKNOWN_KEY", message="Unknown key 'inptus'.", hint="inputs")
    bad = a_pipeline(
        "bad",
        standing=a_standing(state="invalid", tone="bad", label="files are wrong"),
        problems=(problem,),
        target="",
        reads=(),
        details=Details(files=(FileText(name="pipelines/bad.yml", kind="yaml", text="inptus: 1"),)),
    )
    made = pages(a_project(a_pipeline(), bad))
    assert faults_of(made) == []
    text = Html(made["pipelines/bad.html"]).text
    assert "pipelines/bad.yml:3" in text
    assert "inptus: 1" in text
    assert "Next run" not in text
    assert "files are wrong" in Html(made["dag.html"]).text


def test_one_that_never_ran() -> None:
    made = pages(a_project(a_pipeline(standing=a_standing(state="new", tone="idle", label="never ran"))))
    assert faults_of(made) == []
    assert "It has never run. freshet run payments" in Html(made["pipelines/payments.html"]).text
    assert "no run yet" in Html(made["index.html"]).text
    assert "No pipeline has run yet." in Html(made["runs.html"]).text


def test_columns_lead_to_where_they_come_from_and_go_to() -> None:
    first = with_columns("first", ("Id", (From(table="raw.events", column="id"),)))
    second = with_columns(
        "second",
        ("key", (From(table="derived.first", column="id", pipeline="first"),)),
        ("lost", (From(table="derived.first", column="gone", pipeline="first"),)),
        ("own", (From(table="derived.second", column="key", pipeline="second"),)),
        upstream=("first",),
    )
    made = pages(a_project(first, second))
    assert faults_of(made) == []
    links = {attrs["href"] for attrs in Html(made["pipelines/second.html"]).all("a")}
    assert {"first.html#column-1", "first.html#columns"} <= links
    assert "second.html#column-1" in {attrs["href"] for attrs in Html(made["pipelines/first.html"]).all("a")}


def test_one_page_is_what_it_is_among_all() -> None:
    project = a_project(full(), a_pipeline("second"))
    made = pages(project)
    assert {path: page(project, path) for path in paths(project)} == {p: t for p, t in made.items() if p.endswith(".html")}
    assert page(project, "pipelines/third.html") is None
    assert pages(project) == made, "pure: the same facts give the same pages"


def test_who_needs_somebody_comes_first() -> None:
    bad = a_pipeline("zulu", standing=a_standing(tone="bad"), troubles=(Trouble(tone="bad", kind="x", message="broken"),))
    text = Html(pages(a_project(a_pipeline("alpha"), bad))["index.html"]).text
    assert text.index("zulu") < text.index("alpha")
    assert "1 need somebody" in text


def test_backticks_are_code_and_the_rest_is_text() -> None:
    assert coded("run `a<b` & `") == "run <code>a&lt;b</code> &amp; `"
