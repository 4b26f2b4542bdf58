"""Builders of what the pages of a project show, with only what a test cares about spelled out."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime, timezone
from typing import Any

from freshet.site.detail_facts import (
    CheckRow,
    ColumnFacts,
    Details,
    FileText,
    Finding,
    From,
    KeptOut,
    NextRun,
    OlderCheckpoint,
    Position,
    Quarantined,
)
from freshet.site.facts import (
    Backfill,
    FileProblem,
    LogLine,
    PipelineFacts,
    ProjectFacts,
    Promise,
    Run,
    Services,
    Standing,
    Trouble,
    Waits,
)
from freshet.site.live_facts import InGap, LastLook, Live, ServedNow
from tests.kit.memory import at

#: The tests' one minute begins here; ``at(0)`` in seconds since 1970.
BEGIN = datetime(2026, 8, 1, 10, 15, tzinfo=timezone.utc).timestamp()
#: What a user may write wherever a text is free.
HOSTILE = (
    """<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;{{ 7 * 7 }}{% raw %}]]>--></code></pre></svg>""" + "W" * 120
)


def a_standing(**changes: Any) -> Standing:
    return Standing(**{"state": "up_to_date", "tone": "ok", "label": "up to date", **changes})


def a_pipeline(name: str = "payments", **changes: Any) -> PipelineFacts:
    own = {
        "name": name,
        "slug": name,
        "file": f"pipelines/{name}.yml",
        "standing": a_standing(),
        "target": f"derived.{name}",
        "reads": ("raw.events",),
    }
    return PipelineFacts(**{**own, **changes})


def a_run(moment: int, outcome: str = "committed", **changes: Any) -> Run:
    return Run(**{"begun": at(moment), "last": at(moment), "what": "run", "outcome": outcome, **changes})


def a_project(*pipelines: PipelineFacts, **changes: Any) -> ProjectFacts:
    own = {"name": "lake", "env": "prod", "made": BEGIN + 60, "version": "0", "pipelines": pipelines}
    return ProjectFacts(**{**own, **changes})


def with_columns(name: str, *columns: tuple[str, tuple[From, ...]], **changes: Any) -> PipelineFacts:
    """Return a pipeline whose columns come from those of tables."""
    made = tuple(ColumnFacts(name=column, type="string", sources=sources, known=True) for column, sources in columns)
    return a_pipeline(name, details=Details(columns=made), **changes)


def hostile(value: Any) -> Any:
    """Return facts of which each free text is hostile."""
    kept = ("slug", "upstream", "pipeline", "tone", "verdict_tone", "kind", "begun", "last", "last_commit")
    match value:
        case str():
            return HOSTILE
        case tuple():
            return tuple(hostile(one) for one in value)
        case dict():
            return {key: hostile(one) for key, one in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            own = {one.name: getattr(value, one.name) for one in fields(value)}
            return type(value)(**{name: one if name in kept else hostile(one) for name, one in own.items()})
        case _:
            return value


def full(name: str = "payments", **changes: Any) -> PipelineFacts:
    """Return a pipeline of which everything is known that a page can show."""
    kept_out = KeptOut(rule="c", reason="too small", run_id="r", position="p", row='{"id": "a row"}')
    details = Details(
        plan=NextRun(window="w", before="b", after="a", changes=("c",), notices=(("CODE", "n"),), stages=("read", "commit")),
        verdict="inexact: X",
        verdict_tone="bad",
        findings=(
            Finding(code="X", place="f.sql:1:1", message="m", hint="h", example="e"),
            Finding(code="Y", place="f.sql:2:1", message="m", accepted="why"),
        ),
        scope=("id, in <SRC>.id",),
        not_asked=("q",),
        reads=(("<SRC>", "raw.events: all"),),
        index="BUCKET: why",
        checkpoint=(Position(input="<SRC>", table="raw.events", kind="hudi", parts=(("instant", at(10)),)),),
        checkpoints=(OlderCheckpoint(commit=at(15), position=at(10), origin="increment", rows=3, run_id="r"),),
        check_commits=(at(15), at(14)),
        checks=(CheckRow(name="c", severity="drop", rule="where", found=(("dropped", 2), None)),),
        quarantine=Quarantined(
            table="derived.q", sent=((at(15), 2),), inserted=2, deleted=1, rows=(kept_out,), is_cut=True, unread="why"
        ),
        columns=(
            ColumnFacts(
                name="id",
                type="string",
                comment="who",
                marks=("record key",),
                sources=(From(table="raw.events", column="id"), From(table="raw.others", column="")),
                known=True,
            ),
            ColumnFacts(name="more", type="int", known=True),
            ColumnFacts(name="dark", type="int"),
        ),
        files=(FileText(name="pipelines/p.yml", kind="yaml", text="a: 1", note="n"),),
        settings=(("hoodie.x", "1"),),
        missing=("the plan: CODE: words",),
    )
    own = {
        "standing": a_standing(
            tone="bad",
            last_commit=at(15),
            last_success=at(15),
            checkpoint=at(10),
            zone="UTC",
            minutes_to_horizon=3.5,
            waits=(
                Waits(input="raw.events", commits=2, rows=20, seconds=90.0),
                Waits(input="x", commits=0, rows=0, seconds=0.0),
            ),
            waits_for=("other",),
            running="running",
            running_seconds=4.0,
            doing="reading",
            promises=(Promise(objective="freshness", seconds=60, result="broken", reason="late"),),
            logic=("changed",),
            audit="an audit",
        ),
        "owner": "pay",
        "description": "Payments.",
        "due": "* * * * *, UTC",
        "tags": ("a",),
        "path": "/lake/p",
        "table_type": "COPY_ON_WRITE",
        "troubles": (Trouble(tone="bad", kind="run_failed", code="X", message="m", remedy="`do`", command="freshet plan p"),),
        "runs": (
            a_run(20, "failed", code="OVERFLOW", message="too large", seconds=2.0),
            a_run(18, "idle", count=3),
            a_run(
                15,
                seconds=8.0,
                phases=(("read", 1.0),),
                rows=(("inserted", 3),),
                checks=(("c", "dropped", 2),),
                commits=(at(15),),
                run_id="r",
                details=("read 1 commit",),
                log=(LogLine(time=BEGIN, level="error", name="check", message="found `2` rows"),),
                reason="why",
            ),
        ),
        "unread": 1,
        "backfills": (
            Backfill(
                start="2026-01-05T00:00:00",
                end="2026-01-07T00:00:00",
                chunk="1d",
                chunks=2,
                done=1,
                failed=1,
                last=at(15),
                errors=("OVERFLOW",),
                command="freshet backfill p",
            ),
        ),
        "can_backfill": True,
        "services": Services(last={"compaction": at(9)}, debt=3, commits=5, files=2, bytes=2048, running="table services"),
        "details": details,
    }
    return a_pipeline(name, **{**own, **changes})


def a_live(*slugs: str, **changes: Any) -> Live:
    """Return a process that serves pipelines, of which everything is known that a page can show."""
    last = LastLook(what="run", outcome="failed", ended=BEGIN, seconds=2.0, code="OVERFLOW", message="too `large`")
    states: tuple[dict[str, Any], ...] = (
        {"kind": "scheduled", "state": "backoff", "tone": "warn", "label": "rests after a failure", "next": BEGIN + 3600},
        {"kind": "follows", "state": "due", "tone": "work", "label": "due", "after": ("payments",), "waiting_seconds": 3.0},
        {"kind": "on_call", "state": "resting", "tone": "idle", "label": "at rest"},
    )
    served = {
        slug: ServedNow(name=slug, failures=2, last=last, **states[number % len(states)]) for number, slug in enumerate(slugs)
    }
    own = {
        "now": BEGIN + 70,
        "started": BEGIN - 3600,
        "address": "http://127.0.0.1:8340",
        "takes_calls": True,
        "stopping": True,
        "looking": True,
        "failed": "CODE: the `store` does not answer",
        "runs": 12,
        "spark": "Spark is warm.",
        "refused": (FileProblem(place="pipelines/a.yml:3", code="UNKNOWN_KEY", message="m", hint="h"),),
        "pipelines": served,
        "gaps": (
            InGap(slug=slugs[0], what="backfill", state="waiting", words="a range", step=2, steps=7, waiting_seconds=3.0),
            InGap(slug=slugs[0], what="service", state="working", words="compact", step=1, steps=2),
        )
        if slugs
        else (),
    }
    return Live(**{**own, **changes})
