"""What the page of one pipeline shows besides its standing and its runs, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.site.tone import Tone


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One reason of a verdict."""

    code: str
    place: str
    message: str
    hint: str = ""
    example: str = ""
    accepted: str = ""


@dataclass(frozen=True, kw_only=True)
class NextRun:
    """What the next run will do; see ``plan.stages.Plan``.

    Args:
        window: What is read, in words.
        before, after: The checkpoint's main position.
        changes: Of the schema.
        notices: Code and words of what a person should know.
        stages: What it does, in order.
        refused: Why there is none; empty where there is one.
    """

    window: str = ""
    before: str = ""
    after: str = ""
    changes: tuple[str, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()
    stages: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, kw_only=True)
class Position:
    """How far one input has been read: its name in the SQL, its table, and the position's parts."""

    input: str
    table: str
    kind: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class OlderCheckpoint:
    """A checkpoint of an earlier commit."""

    commit: str
    position: str
    origin: str
    rows: int
    run_id: str


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """What one check found in the newest commits.

    Args:
        name: The check; ``severity`` and ``rule`` as the YAML has them.
        found: Status and bad rows for each commit of ``Details.check_commits``; None where it was not asked.
    """

    name: str
    severity: str
    rule: str
    found: tuple[tuple[str, int] | None, ...]


@dataclass(frozen=True, kw_only=True)
class KeptOut:
    """A row that waits in the quarantine; see ``quarantine.peek.WaitingRow``."""

    rule: str
    reason: str
    run_id: str
    position: str
    row: str


@dataclass(frozen=True, kw_only=True)
class Quarantined:
    """The rows that checks kept out.

    Args:
        table: The quarantine.
        sent: Rows by the target's newest commits: completion time and rows.
        inserted, deleted: Rows that the quarantine's own commits of its active timeline wrote and deleted.
        rows: Some that wait, where they were asked for.
        is_cut: True where there are more of them.
        unread: Why they could not be read, in words.
    """

    table: str
    sent: tuple[tuple[str, int], ...] = ()
    inserted: int = 0
    deleted: int = 0
    rows: tuple[KeptOut, ...] = ()
    is_cut: bool = False
    unread: str = ""


@dataclass(frozen=True, kw_only=True)
class From:
    """A column of a table that a column of the target comes from; ``column`` is empty where which rows there are decides.

    Args:
        table: The table's name.
        pipeline: Slug of the pipeline that writes it; empty where none of the project does.
    """

    table: str
    column: str
    pipeline: str = ""


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """A column of the target, as its DDL declares it.

    Args:
        marks: What it is besides: ``record key``, ``partition``, ``ordering``, ``not null``.
        sources: What its values come from, as the SQL says.
        known: False where the SQL does not tell.
    """

    name: str
    type: str
    comment: str = ""
    marks: tuple[str, ...] = ()
    sources: tuple[From, ...] = ()
    known: bool = False


@dataclass(frozen=True, kw_only=True)
class FileText:
    """One file of a pipeline.

    Args:
        name: Relative to the project.
        kind: ``yaml``, ``ddl``, ``sql`` or ``python``.
        text: The text, variables in place.
        note: What is to be known of it.
    """

    name: str
    kind: str
    text: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Details:
    """What the page of one pipeline shows besides its standing and runs.

    Args:
        verdict: In one line; empty where there is none.
        verdict_tone: How it is to be taken.
        scope: The pieces of the result, in words.
        not_asked: Questions that could not be asked, in words.
        reads: How each input is read, by its name in the SQL.
        index: Which index the target has, and why it finds every row.
        missing: What could not be read, in words.
    """

    plan: NextRun = NextRun()
    verdict: str = ""
    verdict_tone: Tone = "idle"
    findings: tuple[Finding, ...] = ()
    scope: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
    reads: tuple[tuple[str, str], ...] = ()
    index: str = ""
    checkpoint: tuple[Position, ...] = ()
    checkpoints: tuple[OlderCheckpoint, ...] = ()
    check_commits: tuple[str, ...] = ()
    checks: tuple[CheckRow, ...] = ()
    quarantine: Quarantined | None = None
    columns: tuple[ColumnFacts, ...] = ()
    files: tuple[FileText, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


NO_DETAILS = Details()
