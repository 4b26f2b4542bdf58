"""What became of a pipeline's runs: what they recorded, and the commits of the table that no record tells of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from freshet.credentials import tree_without_credentials, without_credentials
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import BACKFILL_KEY, CHECKS_KEY, COMPARED_KEY, MIGRATION_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.table import CommitInfo, Instant, StateReader, TableState
from freshet.project.model.hidden import without_older
from freshet.project.model.paths import place_before
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.records import read_records
from freshet.run.result import row_counts

_OF_HUDI = {"COMPACT": "compaction", "LOG_COMPACT": "compaction", "CLUSTER": "clustering"}
_OF_ORIGIN = {"override": "checkpoint", "replay": "replay", "backfill": "backfill", "index": "index", "repair": "repair"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run, or some of them that were idle one after the other.

    Args:
        begun: When, UTC, as Hudi names instants; of a commit that no record tells of, its request time.
        what: ``run``, ``checkpoint``, ``replay``, ``backfill``, ``index``, ``migrate``, ``service``, ``audit``, ``repair``,
            ``compaction``, ``clustering`` or ``other writer``.
        outcome: ``committed``, ``done``, ``idle``, ``failed``, ``skipped`` or ``killed``.
        seconds: Wall time as ``total``, and by phase where that was recorded; empty of a commit that no record tells of, and of
            a run that was killed.
        rows: ``inserts``, ``updates``, ``deletes``, ``moves``, ``quarantined``, and ``mixed`` (see ``RunResult``); ``read``
            where that is known; of a backfill the rows ``written``.
        checks: Name, status and bad rows of each check.
        error: Code, and the first line of what it says; None where nothing failed.
        reason: Why it was idle, skipped or killed.
        commits: Completion times.
        run_id: As it stands in the commit.
        count: How many runs the entry is of.
        last: When the last of them began.
        more: What else is known: of a backfill its range and chunks, of a service what it did.
    """

    begun: str
    what: str
    outcome: str
    seconds: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[Mapping[str, Any], ...] = ()
    error: Mapping[str, str] | None = None
    reason: str = ""
    commits: tuple[str, ...] = ()
    run_id: str = ""
    count: int = 1
    last: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the entry as a JSON-serialisable mapping."""
        return {**vars(self), "checks": list(self.checks), "commits": list(self.commits), "last": self.last or self.begun}


def read_history(
    spec: PipelineSpec,
    state: StateReader,
    limit: int,
    since: str = "",
    failed: bool = False,
) -> tuple[list[Entry], list[str]]:
    """Return a pipeline's newest runs, the newest first, and the names of records that cannot be read.

    Args:
        spec: The pipeline.
        state: Reader of the tables.
        limit: How many at most.
        since: Time, UTC, from which on runs count.
        failed: Only those that did not end well.
    """
    records, unreadable = _records(spec, limit, since, failed)
    entries = [entry_of(_without_older(record, spec)) for record in records]
    target = None if failed else _table(spec, state, bool(records))
    if target is not None:
        told = {commit for entry in entries for commit in entry.commits}
        # What began before the oldest record that was read may be told of by one that was not.
        oldest = min(entry.begun for entry in entries) if len(records) == limit else ""
        for instant, info in _commits(target, since):
            if len(entries) >= limit + len(records) or instant.requested < oldest:
                break
            if instant.completed not in told and info.extra.get(PIPELINE_KEY, spec.name) not in spec.co_writers:
                entries.append(_of_commit(spec, instant, info))
    return sorted(entries, key=lambda entry: entry.last or entry.begun, reverse=True)[:limit], unreadable


def _records(spec: PipelineSpec, limit: int, since: str, failed: bool) -> tuple[list[dict[str, Any]], list[str]]:
    found: list[dict[str, Any]] = []
    unreadable: list[str] = []
    ref = spec.target.ref
    # Runs of before a migration are told beside the table that there was then.
    while ref.path and len(found) < limit:
        records, names = read_records(ref, spec.name, limit - len(found), since, failed)
        found, unreadable, ref = found + records, unreadable + names, replace(ref, path=place_before(ref.path))
    return found, unreadable


def _table(spec: PipelineSpec, state: StateReader, is_told: bool) -> TableState | None:
    try:
        return state.table(spec.target.ref)
    except FreshetError:
        # What went wrong with the table is in the records.
        if is_told:
            return None
        raise


def _commits(target: TableState, since: str) -> Iterator[tuple[Instant, CommitInfo]]:
    for instant in reversed(target.commits):
        if instant.completed >= since:
            yield instant, target.info(instant)
    # The archive may be large; nobody who asks for a time needs what is older.
    if not target.commits or target.commits[0].completed >= since:
        archived = target.load_archived(since, frozenset(i.requested for i in target.commits))
        yield from sorted(archived, key=lambda pair: pair[0], reverse=True)


def _without_older(record: dict[str, Any], spec: PipelineSpec) -> dict[str, Any]:
    """Return a record without the secret of before in what it says of the pipeline's paths."""
    if not spec.hidden:
        return record
    error = {key: without_older(str(value), spec.hidden) for key, value in (record.get("error") or {}).items()}
    reason = without_older(str(record.get("reason") or ""), spec.hidden)
    return {**record, **({"error": error} if error else {}), **({"reason": reason} if reason else {})}


def entry_of(record: Mapping[str, Any]) -> Entry:
    """Return what a record tells of a run."""
    known = {key: record[key] for key in ("begun", "what", "outcome")}
    given = {key: record[key] for key in ("seconds", "rows", "error", "reason", "run_id", "count", "last") if record.get(key)}
    told = ("backfill", "chunks", "done", "skipped", "failed", "conflicts", "ended", "source_commits", "waited_seconds")
    more = {key: record[key] for key in told if key in record}
    if not given.get("seconds"):
        # Of one that failed, or was interrupted, nobody has timed the phases.
        given["seconds"] = _between(record.get("last") or record["begun"], record.get("ended", ""))
    return Entry(**known, **given, checks=tuple(record.get("checks", ())), commits=tuple(record.get("commits", ())), more=more)


def _between(begun: str, ended: str) -> dict[str, float]:
    try:
        first, last = (datetime.strptime(f"{moment}000", "%Y%m%d%H%M%S%f") for moment in (begun, ended))
    except ValueError:
        return {}
    return {"total": round(max(0.0, (last - first).total_seconds()), 3)}


def _chunk(text: str) -> dict[str, Any]:
    try:
        found = tree_without_credentials(json.loads(text))
    except (ValueError, RecursionError):
        # ``freshet backfill`` refuses it by BACKFILL_UNREADABLE; here the commit is one like others.
        found = {}
    return found if isinstance(found, dict) else {}


def _of_commit(spec: PipelineSpec, instant: Instant, info: CommitInfo) -> Entry:
    service = _OF_HUDI.get(info.operation)
    own = PIPELINE_KEY in info.extra or ORIGIN_KEY in info.extra
    migrates = bool(info.extra.keys() & {MIGRATION_KEY, COMPARED_KEY})
    origin = "migrate" if migrates else _OF_ORIGIN.get(info.extra.get(ORIGIN_KEY, ""), "run")
    what = service or (origin if own else "other writer")
    rows: dict[str, Any] = {}
    if not service:
        counts = row_counts(spec, info)
        rows = {**vars(counts), "mixed": list(counts.mixed), "quarantined": 0}
    found = tree_without_credentials(json.loads(info.extra.get(CHECKS_KEY) or "{}")) if own else {}
    rows |= {"quarantined": found["quarantined"]} if found.get("quarantined") else {}
    checks = tuple(
        {"name": name, "status": one.get("status", ""), "rows": one.get("rows", 0)}
        for name, one in found.get("checks", {}).items()
    )
    chunk = _chunk(info.extra.get(BACKFILL_KEY) or "{}")
    failed = chunk.get("state") == "failed"
    words = f"chunk {chunk.get('start', '?')} to {chunk.get('end', '?')}"
    error = {"code": str(chunk.get("error", "")), "message": words} if failed else None
    return Entry(
        begun=instant.requested,
        what=what,
        outcome="failed" if failed else "done" if service else "committed",
        rows=rows,
        checks=checks,
        error=error,
        commits=(instant.completed,),
        run_id=without_credentials(info.extra.get(RUN_ID_KEY, "")),
        more={key: chunk[key] for key in ("backfill", "start", "end") if key in chunk},
    )
