"""Runs and backfills of a pipeline, as the pages show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from freshet.backfill.record import chunk_commits
from freshet.hudi.instants import readable
from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.history import Entry, read_history
from freshet.site.facts import Backfill, LogLine, Run
from freshet.sources.hudi.reads import counted

_COUNTED = {
    "inserts": "inserted",
    "updates": "updated",
    "deletes": "deleted",
    "moves": "moved",
    "written": "written",
    "quarantined": "to the quarantine",
    "read": "read",
}
_MIXED = {"updates": "inserted or updated", "deletes": "deleted, moved rows among them", "inserts": "inserted, moved ones too"}


def runs_of(
    spec: PipelineSpec, state: StateReader, limit: int, log: Mapping[str, tuple[LogLine, ...]]
) -> tuple[tuple[Run, ...], int]:
    """Return a pipeline's newest runs, the newest first, and how many records cannot be read.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        limit: How many at most.
        log: Events of runs, by the runs' ids.
    """
    entries, unreadable = read_history(spec, state, limit)
    return tuple(_run(one, log.get(one.run_id, ())) for one in entries), len(unreadable)


def _run(entry: Entry, log: tuple[LogLine, ...]) -> Run:
    error = entry.error or {}
    mixed = entry.rows.get("mixed") or ()
    counts = ((_MIXED[kind] if kind in mixed else word, entry.rows.get(kind)) for kind, word in _COUNTED.items())
    return Run(
        begun=entry.begun,
        last=entry.last or entry.begun,
        what=entry.what,
        outcome=entry.outcome,
        count=entry.count,
        seconds=entry.seconds.get("total"),
        phases=tuple((name, took) for name, took in entry.seconds.items() if name != "total"),
        rows=tuple((word, count) for word, count in counts if count),
        checks=tuple((str(one["name"]), str(one["status"]), int(one["rows"])) for one in entry.checks),
        code=str(error.get("code", "")),
        message=str(error.get("message", "")),
        reason=entry.reason,
        commits=entry.commits,
        run_id=entry.run_id,
        details=tuple(_details(entry)),
        log=log,
    )


def _details(entry: Entry) -> Iterator[str]:
    more = entry.more
    if "chunks" in more:
        start, end, _ = str(more["backfill"]).split("/")
        yield f"{start[:10]} to {end[:10]}: {more['done']} of {counted(more['chunks'], 'chunk')} done"
        yield from (f"chunk {label} failed: {code}" for label, code in (more.get("failed") or {}).items())
    elif "start" in more:
        yield f"chunk {more['start']} to {more['end']}"
    done = more.get("done")
    if isinstance(done, dict):
        yield from (f"{service}: {readable(what)}" for service, what in done.items())
    if more.get("source_commits"):
        yield f"read {counted(more['source_commits'], 'commit')} of the source"
    if more.get("conflicts"):
        yield f"{counted(more['conflicts'], 'conflict')} with another writer"
    if more.get("waited_seconds"):
        yield f"waited {more['waited_seconds']} s for its target"


def backfills_of(spec: PipelineSpec, state: StateReader, running: bool, command: Callable[[str], str]) -> tuple[Backfill, ...]:
    """Return a pipeline's backfills by the commits of its target's active timeline, the newest first.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        running: True where one goes on now.
        command: Makes a command of what stands behind ``freshet``.
    """
    target = state.table(spec.target.ref) if spec.backfill is not None else None
    found = chunk_commits(target, spec.name, archived=False) if target else []
    made: list[Backfill] = []
    for name in dict.fromkeys(one.record.backfill for one in found):
        commits = [one for one in found if one.record.backfill == name]
        # The newest commit of a chunk says what has become of it.
        latest = {one.record.start: one.record for one in reversed(commits)}
        start, end, chunk = name.split("/")
        done = sum(one.state == "done" for one in latest.values())
        chunks = commits[0].record.chunks
        failed = [one.error for one in latest.values() if one.state == "failed"]
        again = f"backfill {spec.name} --start {_day(start)} --end {_day(end)} --chunk {chunk}"
        again += " --reprocess failed" if failed and done + len(failed) == chunks else ""
        made.append(
            Backfill(
                start=start,
                end=end,
                chunk=chunk,
                chunks=chunks,
                done=done,
                failed=len(failed),
                last=commits[0].instant.completed,
                errors=tuple(dict.fromkeys(failed)),
                running=running and not made,
                command=command(again) if done < chunks else "",
            )
        )
    return tuple(made)


def _day(moment: str) -> str:
    return moment.removesuffix("T00:00:00")
