"""What the pages show, as plain values: gathered once, without secrets, and turned into pages by pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet.site.detail_facts import NO_DETAILS, Details
from freshet.site.tone import Tone

#: Of a pipeline whose files are wrong.
INVALID = "invalid"


@dataclass(frozen=True, kw_only=True)
class FileProblem:
    """One thing wrong with one place of one file; see ``errors.Problem``."""

    place: str
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something that is wrong with a pipeline, and what to do about it.

    Args:
        tone: ``bad`` or ``warn``.
        kind: ``run_failed``, ``refused``, ``schedule_missed``, ``freshness``, ``max_runtime``, ``files``, ``advice``, ``audit``
            or ``quarantine``.
        code: The code, where it has one.
        message: In words.
        remedy: What to do, in a sentence; empty where the message says it.
        command: The command that looks into it, or mends it; empty where there is none.
    """

    tone: Tone
    kind: str
    code: str = ""
    message: str
    remedy: str = ""
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Waits:
    """What waits of one input; ``seconds`` is the age of the oldest commit of it, None where nobody can tell."""

    input: str
    commits: int
    rows: int
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What has become of one promise of a pipeline's ``slo``."""

    objective: str
    seconds: int
    result: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a pipeline stands: see ``status.PipelineStatus``; ``zone`` is that of ``checkpoint`` and ``horizon``.

    Args:
        tone: How the state is to be taken, troubles included.
        label: The state in words.
    """

    state: str
    tone: Tone
    label: str
    last_commit: str = ""
    last_success: str = ""
    checkpoint: str = ""
    zone: str = ""
    horizon: str = ""
    minutes_to_horizon: float | None = None
    waits: tuple[Waits, ...] = ()
    waits_for: tuple[str, ...] = ()
    running: str = ""
    running_seconds: float | None = None
    doing: str = ""
    overdue_seconds: float | None = None
    promises: tuple[Promise, ...] = ()
    logic: tuple[str, ...] = ()
    audit: str = ""


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """An event of a run, as ``--events`` writes it: when, in seconds since 1970, how much it matters, and what it is."""

    time: float
    level: str
    name: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run, or some of them that were idle one after the other; see ``run.history.Entry``.

    Args:
        rows: How many, by what became of them, in words.
        details: What else is known, in words.
        log: Its events, where a file of them was named.
    """

    begun: str
    last: str
    what: str
    outcome: str
    count: int = 1
    seconds: float | None = None
    phases: tuple[tuple[str, float], ...] = ()
    rows: tuple[tuple[str, int], ...] = ()
    checks: tuple[tuple[str, str, int], ...] = ()
    code: str = ""
    message: str = ""
    reason: str = ""
    commits: tuple[str, ...] = ()
    run_id: str = ""
    details: tuple[str, ...] = ()
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Backfill:
    """One backfill of a pipeline, by its commits.

    Args:
        start, end: Its range; the end is exclusive.
        chunk: Length of a chunk, as the command takes it.
        chunks, done, failed: How many there are, and how many of them are done, and failed last.
        last: Completion time of its last commit.
        errors: Codes of the failed ones.
        running: True where it goes on now.
        command: What goes on with it; empty where nothing is left.
    """

    start: str
    end: str
    chunk: str
    chunks: int
    done: int
    failed: int
    last: str
    errors: tuple[str, ...] = ()
    running: bool = False
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Services:
    """What the services of a table have done, by its timeline.

    Args:
        last: Completion time of the last ``compaction``, ``clustering``, ``cleaning`` and ``rollback`` of the active timeline,
            by its name.
        debt: Commits since the last compaction; None of COPY_ON_WRITE.
        commits: How many commits the active timeline has.
        files, bytes: Of the newest commit that wrote files.
        running: What is at work; empty where nothing is.
    """

    last: Mapping[str, str] = field(default_factory=dict)
    debt: int | None = None
    commits: int = 0
    files: int = 0
    bytes: int = 0
    running: str = ""


@dataclass(frozen=True, kw_only=True)
class PipelineFacts:
    """One pipeline.

    Args:
        name: Its name, as people are told it.
        slug: Its page's name.
        file: Its YAML, relative to the project.
        due: When its runs are due, in words.
        reads: Names of the tables that it reads, the main source first.
        upstream: Slugs of the pipelines whose targets it reads, itself left out.
        unread: How many records of runs cannot be read.
    """

    name: str
    slug: str
    file: str
    standing: Standing
    owner: str = ""
    description: str = ""
    due: str = ""
    tags: tuple[str, ...] = ()
    target: str = ""
    path: str = ""
    table_type: str = ""
    reads: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    runs: tuple[Run, ...] = ()
    unread: int = 0
    backfills: tuple[Backfill, ...] = ()
    can_backfill: bool = False
    services: Services | None = None
    details: Details = NO_DETAILS


@dataclass(frozen=True, kw_only=True)
class ProjectFacts:
    """A project in one environment, at one moment.

    Args:
        name: Name of its folder.
        made: When it was looked at, in seconds since 1970.
        version: freshet's.
        pipelines: Upstream before downstream; those whose files are wrong come last.
        problems: What is wrong with files that belong to no single pipeline.
    """

    name: str
    env: str
    made: float
    version: str
    pipelines: tuple[PipelineFacts, ...] = ()
    problems: tuple[FileProblem, ...] = ()
