"""The pages of a project, from its facts alone: pure, so that a file, a server and a test get the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from freshet.site import words
from freshet.site.facts import PipelineFacts, ProjectFacts
from freshet.site.layout import Drawing, lay_out
from freshet.site.strip import strip_of
from freshet.site.tone import SIGNS, TONES, tone_of_check, tone_of_outcome, tone_of_promise

_HERE = Path(__file__).parent
_TICKED = re.compile(r"`([^`]+)`")
#: Files that the pages ask for, by their paths.
ASSETS = ("site.css", "site.js")
#: So many signs of a state stand in a box of the graph.
STATE_SIGNS = 26
#: So many runs are on the page of all pipelines' runs.
_RUNS = 300


def pages(facts: ProjectFacts) -> dict[str, str]:
    """Return every file of the site by its path: pages, the style sheet and the script.

    Args:
        facts: What is known of the project; without secrets, as ``gather`` returns it.
    """
    return {**{name: asset(name) for name in ASSETS}, **{path: make(facts) for path, make in _makers(facts).items()}}


def paths(facts: ProjectFacts) -> tuple[str, ...]:
    """Return the paths of the pages, ``index.html`` first."""
    return tuple(_makers(facts))


def page(facts: ProjectFacts, path: str) -> str | None:
    """Return one page by its path; None where there is no such page.

    Args:
        facts: See ``pages``; of a pipeline's page its details are wanted.
        path: Such as ``index.html`` or ``pipelines/trip_earnings.html``.
    """
    make = _makers(facts).get(path)
    return make(facts) if make else None


def asset(name: str) -> str:
    """Return the text of the style sheet or the script."""
    return (_HERE / "static" / name).read_text("utf-8")


Make = Callable[[ProjectFacts], str]


def _makers(facts: ProjectFacts) -> dict[str, Make]:
    found: dict[str, Make] = {
        "index.html": _overview,
        "dag.html": _dag,
        "runs.html": _runs,
        "backfills.html": lambda found: _made("backfills.html", found),
        "services.html": lambda found: _made("services.html", found),
    }
    for one in facts.pipelines:
        found[f"pipelines/{one.slug}.html"] = lambda found, one=one: _pipeline(found, one)  # type: ignore[misc]
    return found


def _overview(facts: ProjectFacts) -> str:
    tones = Counter(one.standing.tone for one in facts.pipelines)
    # Of one tone the order of the project stays: upstream first.
    ordered = sorted(facts.pipelines, key=lambda one: TONES.index(one.standing.tone))
    return _made("index.html", facts, tones_of=tones, ordered=ordered)


def _dag(facts: ProjectFacts) -> str:
    return _made(
        "dag.html",
        facts,
        drawing=drawing_of(facts),
        state_signs=STATE_SIGNS,
        by_key={f"p:{one.slug}": one for one in facts.pipelines},
    )


def drawing_of(facts: ProjectFacts) -> Drawing:
    """Return the graph of a project: its pipelines, and the tables that none of them makes."""
    made = {one.target for one in facts.pipelines if one.target}
    labels = dict[str, str]()
    edges = list[tuple[str, str]]()
    for one in facts.pipelines:
        for table in one.reads:
            if table not in made:
                labels.setdefault(f"t:{table}", table)
                edges.append((f"t:{table}", f"p:{one.slug}"))
        labels[f"p:{one.slug}"] = one.name
        edges += [(f"p:{slug}", f"p:{one.slug}") for slug in one.upstream]
    return lay_out(labels, edges, {f"p:{one.slug}": min(len(one.standing.label), STATE_SIGNS) for one in facts.pipelines})


def _runs(facts: ProjectFacts) -> str:
    every = [(one, run) for one in facts.pipelines for run in one.runs]
    every.sort(key=lambda pair: pair[1].last, reverse=True)
    return _made("runs.html", facts, every=every[:_RUNS], of=len(every))


def _pipeline(facts: ProjectFacts, one: PipelineFacts) -> str:
    feeds: dict[str, list[tuple[PipelineFacts, str]]] = {}
    for other in facts.pipelines:
        for column in other.details.columns:
            for source in column.sources:
                if source.pipeline == one.slug and other.slug != one.slug:
                    feeds.setdefault(source.column.lower(), []).append((other, column.name))
    anchors = {
        (other.slug, column.name.lower()): f"column-{number}"
        for other in facts.pipelines
        for number, column in enumerate(other.details.columns, 1)
    }
    downstream = [other for other in facts.pipelines if one.slug in other.upstream]
    return _made("pipeline.html", facts, root="../", one=one, feeds=feeds, anchors=anchors, downstream=downstream)


def _made(template: str, facts: ProjectFacts, root: str = "", **more: Any) -> str:
    def when(instant: str, zone: str = "UTC") -> Markup:
        return words.when(instant, facts.made, zone)

    names = {one.slug: one.name for one in facts.pipelines}
    return (
        _environment().get_template(template).render(facts=facts, root=root, current=template, when=when, names=names, **more)
    )


def coded(text: str) -> Markup:
    """Return a text as HTML in which what stands in backticks is code."""
    parts = _TICKED.split(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        # Whatever the template's name ends with: all that users have written passes here.
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Mapping[str, Callable[..., Any]] = {
        "coded": coded,
        "duration": words.duration,
        "size": words.size,
        "number": words.number,
        "tone_of_outcome": tone_of_outcome,
        "tone_of_check": tone_of_check,
        "tone_of_promise": tone_of_promise,
        "strip": strip_of,
    }
    made.filters.update(filters)
    made.globals.update(typed=words.typed, signs=SIGNS, tones=TONES, moment=words.moment, share=words.share)
    return made
