"""What the process that serves the pages does with each pipeline at the moment, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet.site.facts import FileProblem
from freshet.site.tone import Tone


@dataclass(frozen=True, kw_only=True)
class LastLook:
    """How the last look or run of a pipeline ended, since the process began.

    Args:
        what: ``look`` or ``run``.
        outcome: See ``serve.entry.Ended``.
        ended: In seconds since 1970.
        seconds: How long it took.
        code, message: Why it failed; else what was found, without a code.
    """

    what: str
    outcome: str
    ended: float
    seconds: float
    code: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ServedNow:
    """What the process does with one pipeline.

    Args:
        name: What its calls name; empty where it can be named on no page.
        kind: What makes it due: see ``serve.served.Served``.
        state: What it does: see ``serve.entry.Entry``.
        tone: How that is to be taken.
        label: The state in words.
        waiting_seconds: How long it has been due.
        next: When it is due next, in seconds since 1970; None where nobody knows.
        after: Names of the pipelines that it lets go first.
        failures: In a row.
        last: How the last look or run ended; None before the first.
    """

    name: str
    kind: str
    state: str
    tone: Tone
    label: str
    waiting_seconds: float = 0.0
    next: float | None = None
    after: tuple[str, ...] = ()
    failures: int = 0
    last: LastLook | None = None


@dataclass(frozen=True, kw_only=True)
class InGap:
    """A service or a backfill that the process does in gaps between runs; see ``serve.gaps.Chore``.

    Args:
        slug: Slug of the pipeline.
        what: ``service`` or ``backfill``.
        state: ``waiting``, ``working`` or ``stopping``.
        words: What exactly.
        step, steps: Which step it is at, and of how many.
        waiting_seconds: How long its next step has waited.
    """

    slug: str
    what: str
    state: str
    words: str
    step: int = 0
    steps: int = 0
    waiting_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Live:
    """The process that serves the pages.

    Args:
        now: When a page was asked for, in seconds since 1970.
        started: When the process began.
        address: Where it listens, as an address of HTTP.
        takes_calls: True where it has a token, so that it can be asked to do something.
        stopping: True where nothing begins any more.
        looking: True where the tables are being looked at anew.
        failed: Why they could not be looked at the last time; empty where they could.
        runs: How many runs have ended.
        spark: What becomes of its Spark session, in words.
        refused: What is wrong with the files as they are, where those of before are served.
        pipelines: What it does with each, by the slug.
        gaps: What it does besides, in gaps between runs.
    """

    now: float
    started: float
    address: str = ""
    takes_calls: bool = False
    stopping: bool = False
    looking: bool = False
    failed: str = ""
    runs: int = 0
    spark: str = ""
    refused: tuple[FileProblem, ...] = ()
    pipelines: Mapping[str, ServedNow] = field(default_factory=dict)
    gaps: tuple[InGap, ...] = ()
