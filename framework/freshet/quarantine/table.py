"""The table for rows that a check dropped: an ordinary Hudi table, one for each pipeline. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from freshet.errors import StateError
from freshet.hudi.checkpoint import (
    BACKFILL_KEY,
    CHECKS_KEY,
    FINGERPRINT_KEY,
    METADATA_PREFIX,
    ORIGIN_KEY,
    PIPELINE_KEY,
    RUN_ID_KEY,
)
from freshet.hudi.kept_texts import field_of
from freshet.hudi.options import DEFAULTS, IS_DELETED
from freshet.hudi.table import CommitInfo, StateReader, TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import Window, counted
from freshet.types.columns import Atomic, Column

ID, RULE, REASON, RUN, POSITION, ROW, VERSION, DATE = (
    f"_quarantine_{name}" for name in ("id", "rule", "reason", "run_id", "position", "row", "version", "date")
)
#: Of a run, of a backfill's chunk, or of a command on the quarantine itself: whose unfinished rows a writer may take away.
ORIGINS = ("run", "chunk", "command")
# Of the target's commits, whose metadata a plan reads to tell what was sent here.
_NEWEST = 20


def columns_of(spec: PipelineSpec) -> tuple[Column, ...]:
    """Return the quarantine's columns: the target's, and why and whence a row is here."""
    own = [Column(name=c.name, type=c.type) for c in spec.target.columns if c.name != IS_DELETED]
    added = [
        Column(name=name, type=Atomic("bigint" if name == VERSION else "string"))
        for name in (ID, RULE, REASON, RUN, POSITION, ROW, VERSION, DATE)
    ]
    return (*own, *added, Column(name=IS_DELETED, type=Atomic("boolean")))


def options_of(spec: PipelineSpec, run_id: str, origin: str) -> Mapping[str, str]:
    """Return every option of the Hudi writer of the quarantine, the commit's metadata included.

    Args:
        spec: The pipeline.
        run_id: Of the run that writes; its rows count once the target has a commit of that run.
        origin: One of ``ORIGINS``.
    """
    server = "hoodie.embed.timeline.server"
    return {
        **DEFAULTS,
        **({server: spec.write_options[server]} if server in spec.write_options else {}),
        "hoodie.table.name": spec.quarantine.name.split(".")[-1],
        "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": ID,
        "hoodie.datasource.write.partitionpath.field": DATE,
        "hoodie.datasource.write.precombine.field": VERSION,
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        # A column that the DDL has lost stays, for the rows that have it.
        "hoodie.write.set.null.for.missing.columns": "true",
        "hoodie.datasource.write.commitmeta.key.prefix": METADATA_PREFIX,
        PIPELINE_KEY: spec.name,
        FINGERPRINT_KEY: spec.fingerprint,
        ORIGIN_KEY: origin,
        RUN_ID_KEY: run_id,
    }


def origin_of(window: Window) -> str:
    """Return whose rows a window's are in the quarantine."""
    return "chunk" if window.kind == "backfill" else "run"


def unpublished_run(name: str, quarantine: TableState | None, target: TableState | None, origin: str) -> str:
    """Return the run whose rows stand in the quarantine though its commit on the target never came; empty where none does.

    Dropped rows are written first. A run that is killed before its own commit is repeated from the same checkpoint, and finds
    the same rows again: what it wrote here must not count twice.

    Args:
        name: The pipeline.
        quarantine: The quarantine's state.
        target: The target's state.
        origin: ``run`` or ``chunk``: of which only one writes at a time.
    """
    written = (
        next(
            (
                (instant, info.extra.get(RUN_ID_KEY, ""))
                for instant, info in quarantine.newest_first()
                if info.extra.get(ORIGIN_KEY) == origin
            ),
            None,
        )
        if quarantine is not None
        else None
    )
    if written is None:
        return ""
    instant, run = written
    for commit, info in target.newest_first() if target else ():
        if _writes(info, name, origin):
            # Whoever committed after it has looked, too, so that only the last can be left.
            return "" if info.extra.get(RUN_ID_KEY) == run or commit.completed > instant.completed else run
    return run


def _writes(info: CommitInfo, name: str, origin: str) -> bool:
    kind = info.extra.get(ORIGIN_KEY)
    others = ("backfill", "override", "replay", "start_at_latest", "index", "repair")
    same = kind == "backfill" if origin == "chunk" else kind not in others
    return same and info.extra.get(PIPELINE_KEY) == name


def hidden_runs(spec: PipelineSpec, state: StateReader) -> tuple[str, ...]:
    """Return the runs whose rows in the quarantine do not count, as ``unpublished_run`` and ``runs_left`` tell them."""
    quarantine, target = state.table(spec.quarantine), state.table(spec.target.ref)
    hidden = _unpublished(spec.name, quarantine, target)
    left = runs_left(spec.name, quarantine, target)
    if left is not None and quarantine is not None:
        gone = {
            info.extra.get(RUN_ID_KEY, "") for _, info in quarantine.newest_first() if info.extra.get(ORIGIN_KEY) in ORIGINS[:2]
        }
        hidden += tuple(sorted(gone - left))
    return hidden


def runs_left(name: str, quarantine: TableState | None, target: TableState | None) -> frozenset[str] | None:
    """Return the runs whose rows stay in the quarantine after a full refresh that has not cleared it.

    What a refresh drops has come there again with it, so that the rows of earlier runs count no more. It takes them out after
    its commit; where it could not, whoever drops rows next does.

    Args:
        name: The pipeline.
        quarantine: The quarantine's state.
        target: The target's state.

    Returns:
        The runs, those at work included; None where there is nothing to clear.
    """
    if quarantine is None or target is None:
        return None
    later: set[str] = set()
    looked = ""
    for instant, info in target.newest_first():
        if instant.completed <= looked:
            return None
        run = info.extra.get(RUN_ID_KEY, "")
        later.add(run)
        if _writes(info, name, "chunk") and _drops(info):
            # Its commit alone may be later than a refresh that it did not see; of a garbled one nobody knows what it saw.
            looked = max(looked, field_of(info.extra.get(BACKFILL_KEY), "base", garbled="9"))
        if not _writes(info, name, "run"):
            continue
        if info.operation == "INSERT_OVERWRITE_TABLE" and info.extra.get(ORIGIN_KEY) == "whole_table":
            cleared = any(
                (one.extra.get(RUN_ID_KEY), one.extra.get(ORIGIN_KEY)) == (run, "command")
                for _, one in quarantine.newest_first()
            )
            return None if cleared else frozenset({*later, *_unpublished(name, quarantine, target)})
        if _drops(info):
            return None
    return None


def lost_words(spec: PipelineSpec, state: StateReader, target: TableState | None) -> str:
    """Say that rows are gone which the target's commits sent to the quarantine, with its folder or its newest commits.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        target: The target's state; None before the first run. Of its commits the newest 20 that are not archived are looked at.

    Returns:
        The words; empty where none are gone.
    """
    if target is None:
        return ""
    quarantine = state.table(spec.quarantine)
    known = {quarantine.info(i).extra.get(RUN_ID_KEY, "") for i in quarantine.commits} if quarantine is not None else set()
    sent = _sent(spec, target, known)
    if not sent:
        return ""
    if quarantine is not None and not sent.keys() <= known:
        known |= {info.extra.get(RUN_ID_KEY, "") for _, info in quarantine.load_archived("")}
    lost = {run: rows for run, rows in sent.items() if run not in known}
    if not lost:
        return ""
    what = "was brought back from an older copy" if quarantine is not None else "is gone"
    return (
        f"{spec.name}: the quarantine {spec.quarantine.path} {what}: {counted(sum(lost.values()), 'row')} that "
        f"{counted(len(lost), 'commit')} of {spec.target.ref.name} sent to it {'is' if sum(lost.values()) == 1 else 'are'} "
        f"not there. Restore it; or have them there again: freshet run {spec.name} --full-refresh"
    )


def quarantine_of(spec: PipelineSpec, state: StateReader, target: TableState | None) -> TableState | None:
    """Return the quarantine's state; None where no row was ever sent to it.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        target: The target's state; None before the first run.

    Raises:
        StateError: QUARANTINE_LOST: there is no such table, and rows were sent to it.
    """
    found = state.table(spec.quarantine)
    lost = lost_words(spec, state, target) if found is None else ""
    if lost:
        raise StateError("QUARANTINE_LOST", lost, "Nothing was read or written.", path=spec.quarantine.path)
    return found


def may_drop(spec: PipelineSpec) -> bool:
    """Say whether a check of the pipeline sends rows to the quarantine."""
    return any(check.severity == "drop" for check in spec.checks)


def _sent(spec: PipelineSpec, target: TableState, known: Collection[str]) -> dict[str, int]:
    """Return how many rows the newest commits sent to the quarantine, by their runs; none from before a full refresh.

    What came there before a run that is known there came there, too.
    """
    sent: dict[str, int] = {}
    for instant in reversed(target.commits[-_NEWEST:]):
        info = target.info(instant)
        if info.extra.get(PIPELINE_KEY) != spec.name:
            continue
        rows = json.loads(info.extra.get(CHECKS_KEY) or "{}").get("quarantined", 0)
        run = info.extra.get(RUN_ID_KEY, "")
        if rows and run in known:
            break
        if rows:
            sent[run] = rows
        if info.operation == "INSERT_OVERWRITE_TABLE" and info.extra.get(ORIGIN_KEY) == "whole_table":
            break
    return sent


def _unpublished(name: str, quarantine: TableState | None, target: TableState | None) -> tuple[str, ...]:
    return tuple(run for origin in ORIGINS[:2] if (run := unpublished_run(name, quarantine, target, origin)))


def _drops(info: CommitInfo) -> bool:
    """Say whether a commit is of a run that may drop rows, and so has looked at the quarantine first."""
    checks = json.loads(info.extra.get(CHECKS_KEY) or "{}").get("checks", {})
    return any(one.get("severity") == "drop" for one in checks.values())
