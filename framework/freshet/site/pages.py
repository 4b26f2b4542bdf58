"""The pages of a project, from its facts alone: pure, so that a file, a server and a test get the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from freshet.site import words
from freshet.site.facts import PipelineFacts, ProjectFacts
from freshet.site.layout import Drawing, lay_out
from freshet.site.live_facts import Live
from freshet.site.strip import strip_of
from freshet.site.tone import SIGNS, TONES, Tone, tone_of_check, tone_of_outcome, tone_of_promise, worst

_HERE = Path(__file__).parent
_TICKED = re.compile(r"`([^`]+)`")
#: Files that the pages ask for, by their paths.
ASSETS = ("site.css", "site.js")
#: What a page may load, and from where: its own style sheet and script, and nothing that somebody has written into it.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
#: Of a page that is served: its script asks for the page anew.
LIVE_POLICY = f"{POLICY}; connect-src 'self'"
#: So many signs of a state stand in a box of the graph.
STATE_SIGNS = 26
#: So much of a path that somebody has typed is shown.
_PATH = 200
#: So many runs are on the page of all pipelines' runs.
_RUNS = 300


def pages(facts: ProjectFacts) -> dict[str, str]:
    """Return every file of the site by its path: pages, the style sheet and the script.

    Args:
        facts: What is known of the project; without secrets, as ``gather`` returns it.
    """
    return {**{name: asset(name) for name in ASSETS}, **{path: make(facts, None) for path, make in _makers(facts).items()}}


def paths(facts: ProjectFacts) -> tuple[str, ...]:
    """Return the paths of the pages, ``index.html`` first."""
    return tuple(_makers(facts))


def page(facts: ProjectFacts, path: str, live: Live | None = None) -> str | None:
    """Return one page by its path; None where there is no such page.

    Args:
        facts: See ``pages``; of a pipeline's page its details are wanted.
        path: Such as ``index.html`` or ``pipelines/trip_earnings.html``.
        live: The process that serves the page; None where it is a file.
    """
    make = _makers(facts).get(path)
    return make(facts, live) if make else None


def first_page(facts: ProjectFacts, root: str, live: Live) -> str:
    """Return what is served before the tables have been looked at for the first time.

    Args:
        facts: The project's name and environment, without pipelines.
        root: The way from the page that was asked for to the folder of all pages, such as ``../``; empty for none.
        live: The process that serves the page.
    """
    return _made("first.html", facts, live, root=root)


def missing_page(facts: ProjectFacts, path: str, root: str, live: Live) -> str:
    """Return what is served in the place of a page that there is not.

    Args:
        facts: The project; without pipelines where the tables have not been looked at.
        path: What was asked for.
        root: The way from there to the folder of all pages.
        live: The process that serves the page.
    """
    return _made("missing.html", facts, live, root=root, path=path[:_PATH])


def asset(name: str) -> str:
    """Return the text of the style sheet or the script."""
    return (_HERE / "static" / name).read_text("utf-8")


Make = Callable[[ProjectFacts, Live | None], str]


def _makers(facts: ProjectFacts) -> dict[str, Make]:
    found: dict[str, Make] = {
        "index.html": _overview,
        "dag.html": _dag,
        "runs.html": _runs,
        "backfills.html": lambda found, live: _made("backfills.html", found, live),
        "services.html": lambda found, live: _made("services.html", found, live),
    }
    for one in facts.pipelines:
        found[f"pipelines/{one.slug}.html"] = partial(_pipeline, one=one)
    return found


def _overview(facts: ProjectFacts, live: Live | None) -> str:
    tones = Counter(one.standing.tone for one in facts.pipelines)
    # Of one tone the order of the project stays: upstream first.
    ordered = sorted(facts.pipelines, key=lambda one: TONES.index(one.standing.tone))
    return _made("index.html", facts, live, tones_of=tones, ordered=ordered)


def _dag(facts: ProjectFacts, live: Live | None) -> str:
    return _made(
        "dag.html",
        facts,
        live,
        drawing=drawing_of(facts, live),
        state_signs=STATE_SIGNS,
        by_key={f"p:{one.slug}": (one, *state_in_graph(one, live)) for one in facts.pipelines},
    )


def state_in_graph(one: PipelineFacts, live: Live | None) -> tuple[Tone, str]:
    """Return how a pipeline's box is drawn, and what it says: what a process does with it now goes before where it stands."""
    now = live.pipelines.get(one.slug) if live else None
    if now is None or now.state == "resting":
        return one.standing.tone, one.standing.label
    return ("work" if now.tone == "work" else worst((now.tone, one.standing.tone))), now.label


def drawing_of(facts: ProjectFacts, live: Live | None = None) -> Drawing:
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
    # Also where a process serves it and is at rest: a box that changes its width moves all others.
    said = {one.slug: max(len(one.standing.label), len(state_in_graph(one, live)[1])) for one in facts.pipelines}
    return lay_out(labels, edges, {f"p:{slug}": min(signs, STATE_SIGNS) for slug, signs in said.items()})


def _runs(facts: ProjectFacts, live: Live | None) -> str:
    every = [(one, run) for one in facts.pipelines for run in one.runs]
    every.sort(key=lambda pair: pair[1].last, reverse=True)
    return _made("runs.html", facts, live, every=every[:_RUNS], of=len(every))


def _pipeline(facts: ProjectFacts, live: Live | None, one: PipelineFacts) -> str:
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
    return _made("pipeline.html", facts, live, root="../", one=one, feeds=feeds, anchors=anchors, downstream=downstream)


def _made(template: str, facts: ProjectFacts, live: Live | None, root: str = "", **more: Any) -> str:
    def when(instant: str, zone: str = "UTC") -> Markup:
        return words.when(instant, live.now if live else facts.made, zone)

    names = {one.slug: one.name for one in facts.pipelines}
    served = {"live": live, "now_of": live.pipelines if live else {}, "policy": LIVE_POLICY if live else POLICY}
    made = _environment().get_template(template)
    return made.render(facts=facts, root=root, current=template, when=when, names=names, **served, **more)


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
    made.globals.update(
        typed=words.typed, signs=SIGNS, tones=TONES, moment=words.moment, share=words.share, call=words.call, ahead=words.ahead
    )
    return made
